/*
 * Touches memory and says where its pages lie, as the kernel answers from inside the
 * program: what nearfar reports from outside is held against it.
 *
 * toucher [-t THREADS] [-m MIB] [-h MILLISECONDS] [-u WEIGHT,..] [-H] [-c]
 *
 *   -t  threads, each of which touches its part; 1: the main thread touches all of it.
 *       With OpenMP (cc -fopenmp) the threads are its own, as many as it starts.
 *   -m  memory in MiB, 64 where not given
 *   -h  how long the threads go on reading their parts before they look at their CPUs a last time
 *   -u  stay until the pages lie by these weights of nodes 0, 1, .., at most 120 s
 *   -H  leave the size of pages to the kernel; without it they are base pages
 *   -c  the last word: a child of this program, by fork and exec, does what the others say
 *
 * One line of JSON on standard output: `pages` by node of its memory, at the end; `unknown` for
 * those without an answer; `touched_by` pages by the CPU that touched them; for each thread `cpus`,
 * which it may use at the end, and `seen`, on which it was found.
 *
 * Needs Linux and glibc; move_pages(2) or, where that is refused, get_mempolicy(2).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MOST_CPUS = 1024, MOST_NODES = 64, MOST_THREADS = 256, AT_ONCE = 512, MOST_WAIT_MS = 120000 };
enum { POLICY_NODE = 1, POLICY_OF_ADDRESS = 2 };

struct part {
    volatile char *first;
    size_t pages;
    cpu_set_t allowed;
    char seen[MOST_CPUS];
    size_t touched_by[MOST_CPUS];
};

static struct part parts[MOST_THREADS];
#ifndef _OPENMP
static pthread_barrier_t all_started;
#endif
static size_t page_bytes;
static long hold_ms;

static int current_cpu(void) {
    int cpu = sched_getcpu();
    return cpu < 0 || cpu >= MOST_CPUS ? 0 : cpu;
}

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Touches the part, then reads a page of it every millisecond. */
static void *work(void *argument) {
    struct part *part = argument;
    for (size_t page = 0; page < part->pages; page++) {
        int cpu = current_cpu();
        part->first[page * page_bytes] = (char)(page + 1);
        part->touched_by[cpu]++;
        part->seen[cpu] = 1;
    }
    long until = now_ms() + hold_ms;
    for (size_t page = 0; now_ms() < until; page = (page + 1) % part->pages) {
        (void)part->first[page * page_bytes];
        usleep(1000);
        part->seen[current_cpu()] = 1;
    }
    sched_getaffinity(0, sizeof part->allowed, &part->allowed);
    return NULL;
}

#ifndef _OPENMP
/* A thread works when all are there: none ends before the last one has begun. */
static void *begin(void *part) {
    pthread_barrier_wait(&all_started);
    return work(part);
}
#endif

/* Cuts memory into equal parts, the first ones a page longer where it does not come out even. */
static void cut(char *memory, size_t pages, int threads) {
    for (int thread = 0; thread < threads; thread++) {
        size_t longer = (size_t)thread < pages % threads;
        parts[thread].first = memory;
        parts[thread].pages = pages / threads + longer;
        memory += parts[thread].pages * page_bytes;
    }
}

/* The threads that worked. */
static int work_together(char *memory, size_t pages, int threads) {
#ifdef _OPENMP
    (void)threads;
    int started = 0;
#pragma omp parallel
    {
#pragma omp single
        {
            started = omp_get_num_threads();
            if (started > MOST_THREADS) exit(1);
            cut(memory, pages, started);
        }
        work(&parts[omp_get_thread_num()]);
    }
    return started;
#else
    pthread_t handles[MOST_THREADS];
    cut(memory, pages, threads);
    if (threads == 1) {
        work(&parts[0]);
        return 1;
    }
    pthread_barrier_init(&all_started, NULL, (unsigned)threads);
    for (int thread = 0; thread < threads; thread++) {
        if (pthread_create(&handles[thread], NULL, begin, &parts[thread]) != 0) exit(1);
    }
    for (int thread = 0; thread < threads; thread++) pthread_join(handles[thread], NULL);
    return threads;
#endif
}

/* The nodes of pages that follow each other; -1 where there is no answer. */
static void find_nodes(char *first, size_t pages, int *nodes) {
    void *addresses[AT_ONCE];
    for (size_t page = 0; page < pages; page++) {
        addresses[page] = first + page * page_bytes;
        nodes[page] = -1;
    }
    if (syscall(SYS_move_pages, 0, pages, addresses, NULL, nodes, 0) == 0) return;
    long flags = POLICY_NODE | POLICY_OF_ADDRESS;
    for (size_t page = 0; page < pages; page++) {
        if (syscall(SYS_get_mempolicy, &nodes[page], NULL, 0L, addresses[page], flags) != 0)
            nodes[page] = -1;
    }
}

/* Pages by node; the last number is of those without an answer. */
static void count_pages(char *memory, size_t pages, size_t *by_node) {
    int nodes[AT_ONCE];
    memset(by_node, 0, (MOST_NODES + 1) * sizeof *by_node);
    for (size_t page = 0; page < pages; page += AT_ONCE) {
        size_t count = pages - page < AT_ONCE ? pages - page : AT_ONCE;
        find_nodes(memory + page * page_bytes, count, nodes);
        for (size_t at = 0; at < count; at++) {
            int is_known = nodes[at] >= 0 && nodes[at] < MOST_NODES;
            by_node[is_known ? nodes[at] : MOST_NODES]++;
        }
    }
}

/* Waits until each node has its part of the pages, but for one in 256, and none moves any more. */
static void await_weights(const size_t *weights, char *memory, size_t pages) {
    size_t before[MOST_NODES + 1] = {0}, by_node[MOST_NODES + 1], all = 0;
    for (int node = 0; node < MOST_NODES; node++) all += weights[node];
    int same = 0;
    for (long until = now_ms() + MOST_WAIT_MS; same < 3 && now_ms() < until; usleep(50000)) {
        count_pages(memory, pages, by_node);
        same = memcmp(before, by_node, sizeof before) == 0 ? same + 1 : 0;
        for (int node = 0; node < MOST_NODES; node++) {
            size_t wanted = pages * weights[node] / all, found = by_node[node];
            if ((found > wanted ? found - wanted : wanted - found) > pages / 256) same = 0;
        }
        memcpy(before, by_node, sizeof before);
    }
}

/* Weights by node, from text such as 4,2,1. */
static void read_weights(char *text, size_t *weights) {
    for (int node = 0; node < MOST_NODES && *text; node++) {
        weights[node] = strtoul(text, &text, 10);
        if (*text == ',') text++;
    }
}

static void print_pages(char *memory, size_t pages) {
    size_t by_node[MOST_NODES + 1];
    count_pages(memory, pages, by_node);
    printf("{\"pages\":{");
    const char *comma = "";
    for (int node = 0; node < MOST_NODES; node++) {
        if (by_node[node] == 0) continue;
        printf("%s\"%d\":%zu", comma, node, by_node[node]);
        comma = ",";
    }
    printf("},\"unknown\":%zu", by_node[MOST_NODES]);
}

static void print_touches(int threads) {
    printf(",\"touched_by\":{");
    const char *comma = "";
    for (int cpu = 0; cpu < MOST_CPUS; cpu++) {
        size_t pages = 0;
        for (int thread = 0; thread < threads; thread++) pages += parts[thread].touched_by[cpu];
        if (pages == 0) continue;
        printf("%s\"%d\":%zu", comma, cpu, pages);
        comma = ",";
    }
    printf("}");
}

static void print_threads(int threads) {
    printf(",\"threads\":[");
    for (int thread = 0; thread < threads; thread++) {
        printf("%s{\"cpus\":[", thread == 0 ? "" : ",");
        const char *comma = "";
        for (int cpu = 0; cpu < MOST_CPUS; cpu++) {
            if (!CPU_ISSET(cpu, &parts[thread].allowed)) continue;
            printf("%s%d", comma, cpu);
            comma = ",";
        }
        printf("],\"seen\":[");
        comma = "";
        for (int cpu = 0; cpu < MOST_CPUS; cpu++) {
            if (!parts[thread].seen[cpu]) continue;
            printf("%s%d", comma, cpu);
            comma = ",";
        }
        printf("]}");
    }
    printf("]}\n");
}

/* Starts this program again by other words; ends as that ends. */
static int pass_on(char **arguments) {
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child) return 1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int count, char **arguments) {
    int threads = 1, huge = 0, by_child = 0, option;
    size_t mib = 64, weights[MOST_NODES] = {0};
    while ((option = getopt(count, arguments, "t:m:h:u:Hc")) != -1) {
        switch (option) {
        case 't': threads = atoi(optarg); break;
        case 'm': mib = strtoul(optarg, NULL, 10); break;
        case 'h': hold_ms = atol(optarg); break;
        case 'u': read_weights(optarg, weights); break;
        case 'H': huge = 1; break;
        case 'c': by_child = 1; break;
        default: return 2;
        }
    }
    if (threads < 1 || threads > MOST_THREADS || mib < 1) return 2;
    if (by_child) {
        arguments[count - 1] = NULL;
        return pass_on(arguments);
    }
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t pages = (mib << 20) / page_bytes;
    void *memory =
        mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    if (!huge) madvise(memory, mib << 20, MADV_NOHUGEPAGE);
    int started = work_together(memory, pages, threads);
    if (weights[0]) await_weights(weights, memory, pages);
    print_pages(memory, pages);
    print_touches(started);
    print_threads(started);
    return 0;
}
