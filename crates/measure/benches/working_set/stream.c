/* STREAM's copy and triad by OpenMP over arrays that the threads touch first: stream KERNEL BYTES PASSES, bytes of all
   arrays; prints the best pass by STREAM's count, bytes/s. OMP_NUM_THREADS and OMP_PROC_BIND are the caller's. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

static double *array(size_t elements) {
    size_t bytes = elements * sizeof(double);
    char *start = mmap(0, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) exit(4);
    start += (HUGE_PAGE - (size_t)start % HUGE_PAGE) % HUGE_PAGE;
    madvise(start, bytes, MADV_HUGEPAGE);
    return (double *)start;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    int is_triad = !strcmp(arguments[1], "triad");
    size_t arrays = is_triad ? 3 : 2, passes = strtoull(arguments[3], 0, 10);
    size_t elements = strtoull(arguments[2], 0, 10) / arrays / sizeof(double);
    double *restrict a = array(elements), *restrict b = array(elements), *restrict c = is_triad ? array(elements) : b;
#pragma omp parallel for schedule(static)
    for (size_t j = 0; j < elements; j++) a[j] = 0, b[j] = 1, c[j] = 2;
    double best = 0;
    for (size_t pass = 0; pass < passes; pass++) {
        double begun = omp_get_wtime();
        if (is_triad) {
#pragma omp parallel for schedule(static)
            for (size_t j = 0; j < elements; j++) a[j] = b[j] + 3.0 * c[j];
        } else {
#pragma omp parallel for schedule(static)
            for (size_t j = 0; j < elements; j++) a[j] = b[j];
        }
        double rate = arrays * elements * sizeof(double) / (omp_get_wtime() - begun);
        if (rate > best) best = rate;
    }
    printf("%.6e\n", best);
    return a[elements / 2] == (is_triad ? 7.0 : 2.0) || a[elements / 2] == 1.0 ? 0 : 5;
}
