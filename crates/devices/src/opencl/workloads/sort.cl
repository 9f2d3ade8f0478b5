// A pass of a stable radix sort by 4 bits: how often each digit is in each group's part, the scan of
// these counts (group_scan.cl), then each pair to its place.

#define DIGITS 16

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void count_digits(__global const uint *keys, __global uint *counts, uint part, uint shift) {
    __local uint bins[DIGITS];
    uint item = get_local_id(0);
    if (item < DIGITS)
        bins[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t first = get_group_id(0) * (size_t)part;
    for (uint at = item; at < part; at += GROUP)
        atomic_inc(&bins[keys[first + at] >> shift & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < DIGITS)
        counts[item * get_num_groups(0) + get_group_id(0)] = bins[item];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scatter(__global const uint *keys, __global const uint *values, __global const uint *starts,
             __global uint *to_keys, __global uint *to_values, uint part, uint shift) {
    __local uint next[DIGITS];
    __local uchar digits[GROUP];
    uint item = get_local_id(0);
    if (item < DIGITS)
        next[item] = starts[item * get_num_groups(0) + get_group_id(0)];
    size_t first = get_group_id(0) * (size_t)part;
    for (uint tile = 0; tile < part; tile += GROUP) {
        size_t at = first + tile + item;
        uint key = keys[at];
        uchar digit = key >> shift & 15;
        digits[item] = digit;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint place = next[digit];
        for (uint earlier = 0; earlier < item; earlier++)
            place += digits[earlier] == digit;
        to_keys[place] = key;
        to_values[place] = values[at];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < DIGITS) {
            uint seen = 0;
            for (uint of = 0; of < GROUP; of++)
                seen += digits[of] == item;
            next[item] += seen;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
