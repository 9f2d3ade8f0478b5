// The sum of all values modulo 2^32: one of each group, then one group over these.

#define GROUP 128

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void add_up(__global const uint *values, __global uint *sums, uint count) {
    __local uint room[GROUP];
    uint item = get_local_id(0);
    uint sum = 0;
    for (size_t at = get_global_id(0); at < count; at += get_global_size(0))
        sum += values[at];
    room[item] = sum;
    for (uint width = GROUP / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width)
            room[item] += room[item + width];
    }
    if (item == 0)
        sums[get_group_id(0)] = room[0];
}
