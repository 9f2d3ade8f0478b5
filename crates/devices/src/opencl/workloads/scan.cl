// An exclusive prefix sum: sums of blocks, their scan (group_scan.cl), then each block from there.

// Elements of a group's block.
#define BLOCK 2048

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void block_sums(__global const uint *values, __global uint *sums) {
    __local uint room[GROUP];
    size_t first = get_group_id(0) * (size_t)BLOCK;
    uint sum = 0;
    for (uint at = get_local_id(0); at < BLOCK; at += GROUP)
        sum += values[first + at];
    uint total;
    sum_before(sum, room, &total);
    if (get_local_id(0) == 0)
        sums[get_group_id(0)] = total;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_blocks(__global const uint *values, __global const uint *sums, __global uint *scanned) {
    __local uint room[GROUP];
    size_t first = get_group_id(0) * (size_t)BLOCK;
    uint carried = sums[get_group_id(0)];
    for (uint tile = 0; tile < BLOCK; tile += GROUP) {
        size_t at = first + tile + get_local_id(0);
        uint total;
        uint before = sum_before(values[at], room, &total);
        scanned[at] = carried + before;
        carried += total;
    }
}
