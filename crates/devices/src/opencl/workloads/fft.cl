// Transforms of 512 points, one a group: radix 2, from one half of local memory into the other
// (Stockham), so that no order of bits is turned round.

#define POINTS 512
#define GROUP 64

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void fft(__global const float2 *signal, __global const float2 *roots, __global float2 *spectrum) {
    __local float2 points[2][POINTS];
    uint item = get_local_id(0);
    size_t first = get_group_id(0) * (size_t)POINTS;
    for (uint at = item; at < POINTS; at += GROUP)
        points[0][at] = signal[first + at];
    uint from = 0;
    for (uint span = 1; span < POINTS; span *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint pair = item; pair < POINTS / 2; pair += GROUP) {
            uint within = pair & (span - 1);
            float2 root = roots[within * (POINTS / 2 / span)];
            float2 a = points[from][pair];
            float2 b = points[from][pair + POINTS / 2];
            b = (float2)(b.x * root.x - b.y * root.y, b.x * root.y + b.y * root.x);
            uint to = 2 * pair - within;
            points[1 - from][to] = a + b;
            points[1 - from][to + span] = a - b;
        }
        from = 1 - from;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint at = item; at < POINTS; at += GROUP)
        spectrum[first + at] = points[from][at];
}
