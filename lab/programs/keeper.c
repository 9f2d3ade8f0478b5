/*
 * Writes memory all the while and checks what it wrote before: whoever moves its pages must lose
 * nothing.
 *
 * keeper [-m MIB] [-H] [-s MIB] [-p MIB] [-k MIB]
 *
 *   -m  memory of its own in MiB, 32 where not given, in base pages
 *   -H  leave the size of these pages to the kernel
 *   -s  shared memory without a file, which it alone maps, in MiB
 *   -p  memory out of the pool of huge pages, in MiB
 *   -k  memory that a child of it has unchanged as well, in MiB
 *
 * Two threads write, each its half. "ready" on standard output when all is written once; at SIGTERM a
 * last check, "checked PAGES rounds ROUNDS wrong WORDS", and status 0 where none was wrong.
 *
 * Needs Linux.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { PAGE = 4096, WORDS = PAGE / sizeof(uint64_t), MOST_AREAS = 3, THREADS = 2 };

struct area {
    uint64_t *words;
    size_t pages;
    uint32_t *versions;
};

static struct area areas[MOST_AREAS];
static int area_count;
static volatile sig_atomic_t is_to_end;
static pthread_barrier_t all_written;

struct part {
    int number;
    size_t rounds, wrong;
};

static void end(int signal) {
    (void)signal;
    is_to_end = 1;
}

/* What stands at a place after so many writes (the finaliser of splitmix64). */
static uint64_t content(uint64_t place, uint64_t version) {
    uint64_t z = place * 0x9e3779b97f4a7c15u + version * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 31);
}

/* Behind it lies a page that nobody may touch: what is mapped next to it is another mapping. */
static void *map(size_t mib, int flags) {
    size_t guard = flags & MAP_HUGETLB ? 0 : PAGE;
    char *memory = mmap(NULL, (mib << 20) + guard, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + (mib << 20), guard, PROT_NONE) != 0) {
        perror("mmap");
        exit(1);
    }
    return memory;
}

static void add_area(size_t mib, int flags, int is_small) {
    if (mib == 0) return;
    struct area *area = &areas[area_count++];
    area->pages = (mib << 20) / PAGE;
    area->words = map(mib, flags);
    area->versions = calloc(area->pages, sizeof *area->versions);
    if (is_small) madvise(area->words, mib << 20, MADV_NOHUGEPAGE);
}

static size_t check(const struct area *area, size_t page) {
    size_t wrong = 0;
    const uint64_t *words = area->words + page * WORDS;
    for (size_t at = 0; at < WORDS; at++)
        wrong += words[at] != content(page * WORDS + at, area->versions[page]);
    return wrong;
}

static void write_page(struct area *area, size_t page) {
    uint64_t *words = area->words + page * WORDS;
    area->versions[page]++;
    for (size_t at = 0; at < WORDS; at++)
        words[at] = content(page * WORDS + at, area->versions[page]);
}

static void *keep(void *argument) {
    struct part *part = argument;
    for (; !is_to_end || part->rounds == 0; part->rounds++) {
        for (int number = 0; number < area_count; number++) {
            struct area *area = &areas[number];
            for (size_t page = (size_t)part->number; page < area->pages; page += THREADS) {
                if (part->rounds > 0) part->wrong += check(area, page);
                write_page(area, page);
            }
        }
        if (part->rounds == 0) pthread_barrier_wait(&all_written);
    }
    for (int number = 0; number < area_count; number++) {
        const struct area *area = &areas[number];
        for (size_t page = (size_t)part->number; page < area->pages; page += THREADS)
            part->wrong += check(area, page);
    }
    return NULL;
}

int main(int count, char **arguments) {
    size_t own = 32, shared = 0, pool = 0, kept = 0;
    int huge = 0, option;
    while ((option = getopt(count, arguments, "m:Hs:p:k:")) != -1) {
        switch (option) {
        case 'm': own = strtoul(optarg, NULL, 10); break;
        case 'H': huge = 1; break;
        case 's': shared = strtoul(optarg, NULL, 10); break;
        case 'p': pool = strtoul(optarg, NULL, 10); break;
        case 'k': kept = strtoul(optarg, NULL, 10); break;
        default: return 2;
        }
    }
    if (kept > 0) {
        volatile char *memory = map(kept, MAP_PRIVATE);
        madvise((void *)memory, kept << 20, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < kept << 20; at += PAGE) memory[at] = 1;
        pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;) pause();
        }
    }
    add_area(own, MAP_PRIVATE, !huge);
    add_area(shared, MAP_SHARED, 1);
    add_area(pool, MAP_PRIVATE | MAP_HUGETLB, 0);
    signal(SIGTERM, end);
    pthread_barrier_init(&all_written, NULL, THREADS + 1);
    struct part parts[THREADS] = {{.number = 0}, {.number = 1}};
    pthread_t handles[THREADS];
    for (int number = 0; number < THREADS; number++) {
        if (pthread_create(&handles[number], NULL, keep, &parts[number]) != 0) return 1;
    }
    pthread_barrier_wait(&all_written);
    puts("ready");
    fflush(stdout);
    size_t wrong = 0, rounds = SIZE_MAX, pages = 0;
    for (int number = 0; number < THREADS; number++) {
        pthread_join(handles[number], NULL);
        wrong += parts[number].wrong;
        if (parts[number].rounds < rounds) rounds = parts[number].rounds;
    }
    for (int number = 0; number < area_count; number++) pages += areas[number].pages;
    printf("checked %zu rounds %zu wrong %zu\n", pages, rounds, wrong);
    return wrong > 0;
}
