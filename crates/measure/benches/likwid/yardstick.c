/* What programs copy with: glibc's memcpy, and the loops of STREAM 5.10 (stream.c, `tuned_STREAM_Copy` and
   `tuned_STREAM_Triad`) over arrays of its type, as gcc -O3 -march=native compiles them. gcc stores past
   the caches only by intrinsics, which STREAM has none of: it reads each line before it is written.

   yardstick KERNEL CPU BYTES PASSES: bytes of all arrays; prints bytes/s by STREAM's count. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define KEEP(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

static size_t elements;
static double *a, *b, *c;

static void copy(void) {
    double *restrict to = a, *restrict from = b;
    for (size_t j = 0; j < elements; j++) to[j] = from[j];
}

static void triad(void) {
    double *restrict to = a, *restrict one = b, *restrict two = c;
    for (size_t j = 0; j < elements; j++) to[j] = one[j] + 3.0 * two[j];
}

static void copy_by_memcpy(void) { memcpy(a, b, elements * sizeof *a); }

static double *array(double value) {
    size_t bytes = elements * sizeof(double);
    char *start = mmap(0, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) exit(4);
    start += (HUGE_PAGE - (size_t)start % HUGE_PAGE) % HUGE_PAGE;
    madvise(start, bytes, MADV_HUGEPAGE);
    double *values = (double *)start;
    for (size_t j = 0; j < elements; j++) values[j] = value + (double)(j % 4093);
    return values;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    int is_triad = !strcmp(arguments[1], "triad");
    void (*kernel)(void) = is_triad ? triad : !strcmp(arguments[1], "copy") ? copy : copy_by_memcpy;
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    CPU_SET(atoi(arguments[2]), &cpu);
    if (sched_setaffinity(0, sizeof cpu, &cpu)) return 3;
    size_t arrays = is_triad ? 3 : 2, passes = strtoull(arguments[4], 0, 10);
    elements = strtoull(arguments[3], 0, 10) / arrays / sizeof(double);
    a = array(0), b = array(1), c = is_triad ? array(2) : b;
    kernel();
    KEEP(a);
    double begun = now();
    for (size_t pass = 0; pass < passes; pass++) {
        kernel();
        KEEP(a);
    }
    double seconds = now() - begun;
    for (size_t j = 0; j < elements; j += 511) {
        if (a[j] != (is_triad ? b[j] + 3.0 * c[j] : b[j])) return 5;
    }
    printf("%.0f\n", (double)(arrays * elements * sizeof(double) * passes) / seconds);
    return 0;
}
