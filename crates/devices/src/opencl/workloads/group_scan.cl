// Sums over a work-group, and over few values by one.

#define GROUP 128

// The sum of what the group's earlier items give; `total` becomes that of all.
uint sum_before(uint value, __local uint *room, uint *total) {
    uint item = get_local_id(0);
    room[item] = value;
    for (uint step = 1; step < GROUP; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint other = item >= step ? room[item - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        room[item] += other;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *total = room[GROUP - 1];
    uint before = room[item] - value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return before;
}

// Puts the sum of the earlier ones in place of each value; by one group.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_in_place(__global uint *values, uint count) {
    __local uint room[GROUP];
    uint carried = 0;
    for (uint first = 0; first < count; first += GROUP) {
        uint at = first + get_local_id(0);
        uint value = at < count ? values[at] : 0;
        uint total;
        uint before = sum_before(value, room, &total);
        if (at < count)
            values[at] = carried + before;
        carried += total;
    }
}
