// A step of a stencil of nine points on a square grid whose border stays.

#define CENTRE 0.25f
#define SIDE 0.15f
#define CORNER 0.05f

__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void stencil2d(__global const float *from, __global float *to, uint n) {
    size_t at = get_global_id(0);
    uint row = at / n, column = at % n;
    if (row == 0 || column == 0 || row == n - 1 || column == n - 1) {
        to[at] = from[at];
        return;
    }
    float sides = from[at - n] + from[at + n] + from[at - 1] + from[at + 1];
    float corners = from[at - n - 1] + from[at - n + 1] + from[at + n - 1] + from[at + n + 1];
    to[at] = CENTRE * from[at] + SIDE * sides + CORNER * corners;
}
