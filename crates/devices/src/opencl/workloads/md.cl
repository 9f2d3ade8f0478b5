// Forces between atoms by Lennard-Jones' potential (epsilon = sigma = 1) below a cutoff, over lists
// of neighbours: the k-th neighbours of all atoms lie side by side.

#define NEIGHBOURS 128
#define CUTOFF 3.0f

__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void md(__global const float4 *positions, __global const uint *neighbours, __global float4 *forces) {
    size_t atom = get_global_id(0), atoms = get_global_size(0);
    float4 here = positions[atom];
    float4 force = (float4)(0.0f);
    for (uint k = 0; k < NEIGHBOURS; k++) {
        float4 apart = here - positions[neighbours[k * atoms + atom]];
        float squared = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z;
        // Where a list is short the atom itself stands in it.
        if (squared > 0.0f && squared < CUTOFF * CUTOFF) {
            float inverse = 1.0f / squared;
            float sixth = inverse * inverse * inverse;
            force += apart * (inverse * sixth * (48.0f * sixth - 24.0f));
        }
    }
    forces[atom] = force;
}
