// A sparse matrix by rows (CSR) times a vector, a row by each group.

#define GROUP 32

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void spmv(__global const float *values, __global const uint *columns, __global const uint *starts,
          __global const float *vector, __global float *product) {
    __local float room[GROUP];
    uint item = get_local_id(0);
    size_t row = get_group_id(0);
    float sum = 0.0f;
    for (uint at = starts[row] + item; at < starts[row + 1]; at += GROUP)
        sum += values[at] * vector[columns[at]];
    room[item] = sum;
    for (uint width = GROUP / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < width)
            room[item] += room[item + width];
    }
    if (item == 0)
        product[row] = room[0];
}
