/*
 * Does what programs do with processes, threads and memory, as often as it is told: what `nearfar run`
 * costs is measured beside it, and what it reports is held against it.
 *
 * load REPEAT forks N           N processes, one after the other, which end at once
 * load REPEAT programs N        the same, each of which becomes /bin/true
 * load REPEAT waves N W         N threads, W at a time, which end at once
 * load REPEAT threads N         N threads that live at the same time
 * load REPEAT unborn N          N processes, one after the other, each of which ends while a thread of it starts
 * load REPEAT writes N          N writes of 64 bytes to /dev/null
 * load 1 copies N MIB MS        N children that have MIB MiB of this process's memory unchanged for MS ms
 * load 1 leaderless MIB MS      a thread that has MIB MiB for MS ms, after the first thread has ended
 * load 1 mapped FILE MS         changes every page of a private mapping of FILE for MS ms
 * load 1 unmapped FILE MS       reads all of a mapping of FILE, unmaps it, and waits MS ms
 * load 1 shared MIB MS          shared memory without a file, for MS ms
 * load 1 kinds MIB MS           MIB MiB of each kind of shared memory: System V, POSIX, memfd, without a file, and, where
 *                               the kernel has pages, huge ones; for MS ms
 *
 * load 1 tree SHAPE N MIB MS    processes that have MIB MiB each for MS ms: at-once (N children), in-turn (N children, one
 *                               after the other), staggered (one begins each 20 ms), changed (a child changes all pages
 *                               of its parent), daemon (one that has lost its parent, while its starter waits), chain
 *                               (N programs, each started by the one before, which becomes another program itself),
 *                               threads (N threads of one process)
 *
 * Needs Linux and glibc.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void fail(const char *what) {
    perror(what);
    exit(2);
}

static void rest(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static char *memory(size_t bytes, int flags) {
    char *found = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) fail("mmap");
    madvise(found, bytes, MADV_NOHUGEPAGE);
    memset(found, 1, bytes);
    return found;
}

static void wait_for(pid_t child) {
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) fail("a child");
}

static void forks(long count) {
    for (long number = 0; number < count; number++) {
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (child == 0) _exit(0);
        wait_for(child);
    }
}

static void programs(long count) {
    char *words[] = {"true", NULL};
    for (long number = 0; number < count; number++) {
        pid_t child;
        if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) != 0) fail("posix_spawn");
        wait_for(child);
    }
}

static pthread_barrier_t all_live;

static void *nothing(void *none) { return none; }

static void *live(void *none) {
    pthread_barrier_wait(&all_live);
    return none;
}

/* Small stacks, as programs with many threads give them. */
static void wave(long count, void *(*run)(void *)) {
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    for (long number = 0; number < count; number++)
        if (pthread_create(&threads[number], &attributes, run, NULL) != 0) fail("pthread_create");
    for (long number = 0; number < count; number++) pthread_join(threads[number], NULL);
    pthread_attr_destroy(&attributes);
    free(threads);
}

static void waves(long count, long width) {
    for (; count > 0; count -= width) wave(width < count ? width : count, nothing);
}

static void threads(long count) {
    pthread_barrier_init(&all_live, NULL, (unsigned)count);
    wave(count, live);
    pthread_barrier_destroy(&all_live);
}

static void *unborn(void *none) {
    return none;
}

static void unborns(long count) {
    for (long number = 0; number < count; number++) {
        pid_t child = fork();
        if (child < 0) fail("fork");
        if (child == 0) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, unborn, NULL) != 0) fail("pthread_create");
            _exit(0);
        }
        wait_for(child);
    }
}

static void writes(long count) {
    static const char bytes[64];
    int out = open("/dev/null", O_WRONLY);
    for (long number = 0; number < count; number++)
        if (write(out, bytes, sizeof bytes) != sizeof bytes) fail("write");
    close(out);
}

static void copies(long count, long mib, long ms) {
    memory((size_t)mib << 20, MAP_PRIVATE);
    for (long number = 0; number < count; number++)
        if (fork() == 0) {
            rest(ms);
            _exit(0);
        }
    while (wait(NULL) > 0) {}
}

struct hold {
    size_t bytes;
    long ms;
    pthread_t first;
};

static void *hold_alone(void *what) {
    struct hold *hold = what;
    pthread_join(hold->first, NULL);
    memory(hold->bytes, MAP_PRIVATE);
    rest(hold->ms);
    exit(0);
}

static void leaderless(long mib, long ms) {
    static struct hold hold;
    hold = (struct hold){(size_t)mib << 20, ms, pthread_self()};
    pthread_t other;
    if (pthread_create(&other, NULL, hold_alone, &hold) != 0) fail("pthread_create");
    pthread_exit(NULL);
}

static void mapped(const char *path, long ms, int is_changed) {
    struct stat about;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &about) != 0) fail(path);
    size_t bytes = (size_t)about.st_size;
    char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED) fail("mmap");
    volatile char sum = 0;
    for (size_t at = 0; at < bytes; at += 4096) {
        if (is_changed) map[at] = 1;
        sum += map[at];
    }
    if (!is_changed) munmap(map, bytes);
    rest(ms);
}

static void fill(int file, size_t bytes) {
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0) fail("a file of shared memory");
    char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) fail("mmap");
    memset(map, 1, bytes);
}

static void kinds(size_t bytes, long ms) {
    int segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
    char *at = segment < 0 ? (char *)-1 : shmat(segment, NULL, 0);
    if (at == (char *)-1) fail("shmat");
    shmctl(segment, IPC_RMID, NULL);
    memset(at, 1, bytes);
    char name[64];
    snprintf(name, sizeof name, "/nearfar-load-%d", (int)getpid());
    int named = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    fill(named, bytes);
    fill(memfd_create("load", 0), bytes);
    memory(bytes, MAP_SHARED);
    char *huge = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (huge != MAP_FAILED) memset(huge, 1, bytes);
    rest(ms);
    shm_unlink(name);
}

/* A child with memory of its own. */
static void hold_in_child(size_t bytes, long ms) {
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        memory(bytes, MAP_PRIVATE);
        rest(ms);
        _exit(0);
    }
}

static void *hold_in_thread(void *what) {
    struct hold *hold = what;
    memory(hold->bytes, MAP_PRIVATE);
    rest(hold->ms);
    return NULL;
}

static void tree(char **words) {
    const char *shape = words[3];
    long count = atol(words[4]), ms = atol(words[6]);
    size_t bytes = (size_t)atol(words[5]) << 20;
    if (strcmp(shape, "changed") == 0) {
        char *before = memory(bytes, MAP_PRIVATE);
        rest(ms / 4);
        if (fork() == 0) {
            rest(ms / 4);
            memset(before, 2, bytes);
            rest(ms);
            _exit(0);
        }
    } else if (strcmp(shape, "daemon") == 0) {
        if (fork() == 0) {
            setsid();
            hold_in_child(bytes, ms);
            _exit(0);
        }
        while (wait(NULL) > 0) {}
        /* It cannot wait for it. */
        rest(ms + ms / 2);
    } else if (strcmp(shape, "chain") == 0) {
        hold_in_child(bytes, ms);
        char left[32];
        snprintf(left, sizeof left, "%ld", count - 1);
        words[4] = left;
        if (count > 1 && fork() == 0) {
            execv("/proc/self/exe", words);
            fail("execv");
        }
    } else if (strcmp(shape, "threads") == 0) {
        struct hold hold = {bytes, ms, 0};
        pthread_t *all = calloc((size_t)count, sizeof *all);
        for (long number = 0; number < count; number++)
            if (pthread_create(&all[number], NULL, hold_in_thread, &hold) != 0) fail("pthread_create");
        for (long number = 0; number < count; number++) pthread_join(all[number], NULL);
        free(all);
    } else
        for (long number = 0; number < count; number++) {
            hold_in_child(bytes, ms);
            if (strcmp(shape, "in-turn") == 0) wait(NULL);
            if (strcmp(shape, "staggered") == 0) rest(20);
        }
    while (wait(NULL) > 0) {}
}

int main(int count, char **words) {
    if (count == 7 && strcmp(words[2], "tree") == 0) {
        tree(words);
        return 0;
    }
    if (count < 4) {
        fputs("see the head of load.c\n", stderr);
        return 2;
    }
    const char *what = words[2];
    long number = atol(words[3]), second = count > 4 ? atol(words[4]) : 0;
    long third = count > 5 ? atol(words[5]) : 0;
    for (long repeat = atol(words[1]); repeat > 0; repeat--) {
        if (strcmp(what, "forks") == 0) forks(number);
        else if (strcmp(what, "programs") == 0) programs(number);
        else if (strcmp(what, "waves") == 0) waves(number, second);
        else if (strcmp(what, "threads") == 0) threads(number);
        else if (strcmp(what, "unborn") == 0) unborns(number);
        else if (strcmp(what, "writes") == 0) writes(number);
        else if (strcmp(what, "copies") == 0) copies(number, second, third);
        else if (strcmp(what, "leaderless") == 0) leaderless(number, second);
        else if (strcmp(what, "mapped") == 0) mapped(words[3], second, 1);
        else if (strcmp(what, "unmapped") == 0) mapped(words[3], second, 0);
        else if (strcmp(what, "shared") == 0) {
            memory((size_t)number << 20, MAP_SHARED);
            rest(second);
        } else if (strcmp(what, "kinds") == 0) kinds((size_t)number << 20, second);
        else return 2;
    }
    return 0;
}
