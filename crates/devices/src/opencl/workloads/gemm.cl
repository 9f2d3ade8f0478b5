// C = A B of square matrices by rows, a tile of C by each group.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE * TILE, 1, 1)))
void gemm(__global const double *a, __global const double *b, __global double *c, uint n) {
    __local double of_a[TILE][TILE], of_b[TILE][TILE];
    uint tiles = n / TILE;
    uint row = get_local_id(0) / TILE, column = get_local_id(0) % TILE;
    size_t line = (get_group_id(0) / tiles * TILE + row) * n + column;
    size_t right = get_group_id(0) % tiles * TILE;
    double sum = 0.0;
    for (uint tile = 0; tile < n; tile += TILE) {
        of_a[row][column] = a[line + tile];
        of_b[row][column] = b[(size_t)(tile + row) * n + right + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++)
            sum += of_a[row][k] * of_b[k][column];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[line + right] = sum;
}
