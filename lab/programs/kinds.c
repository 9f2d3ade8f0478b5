/*
 * Maps memory of one kind, reads or writes it, and says on which nodes its pages are, as the kernel answers from
 * inside the program: the verdict of nearfar run is held against it.
 *
 * kinds KIND MIB MILLISECONDS [PATH]
 *
 *   KIND  private, shared, memfd, sysv, huge (out of the pool), hugefile (PATH in a pool's file system), and those that
 *         map PATH as it is, if it is large enough, else they write it first: tmpfs and file read a shared mapping,
 *         written reads a private one and writes a page in 64, rewritten writes all pages of a private one
 *
 * One line on standard output: node and pages of every node that has some, "0:12 1:500". Then it stays.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, NODES = 64, AT_ONCE = 512 };

static void fail(const char *what) {
    perror(what);
    exit(3);
}

/* The file with at least so many bytes, whoever wrote them. */
static int opened(const char *path, size_t bytes) {
    int file = open(path, O_RDWR | O_CREAT, 0666);
    struct stat about;
    if (file < 0 || fstat(file, &about)) fail(path);
    static char block[1 << 20];
    memset(block, 1, sizeof block);
    for (size_t at = about.st_size; at < bytes; at += sizeof block)
        if (pwrite(file, block, sizeof block, at) != sizeof block) fail(path);
    return file;
}

int main(int count, char **arguments) {
    if (count < 4) return 2;
    const char *kind = arguments[1];
    size_t bytes = strtoull(arguments[2], 0, 10) << 20;
    int writes_all = !strcmp(kind, "rewritten"), writes_some = !strcmp(kind, "written");
    int is_read = !strcmp(kind, "file") || !strcmp(kind, "tmpfs") || writes_some;
    int file = -1, flags = MAP_SHARED, is_mapped = 1;
    char *memory = 0;
    if (!strcmp(kind, "private")) flags = MAP_PRIVATE | MAP_ANONYMOUS;
    else if (!strcmp(kind, "shared")) flags = MAP_SHARED | MAP_ANONYMOUS;
    else if (!strcmp(kind, "huge")) flags = MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB;
    else if (!strcmp(kind, "memfd")) {
        file = memfd_create("kinds", 0);
        if (file < 0 || ftruncate(file, bytes)) fail("memfd_create");
    } else if (!strcmp(kind, "hugefile") && count > 4) {
        file = open(arguments[4], O_RDWR | O_CREAT, 0666);
        if (file < 0 || ftruncate(file, bytes)) fail(arguments[4]);
    } else if ((is_read || writes_all) && count > 4) {
        file = opened(arguments[4], bytes);
        if (writes_all || writes_some) flags = MAP_PRIVATE;
    }
    else if (!strcmp(kind, "sysv")) {
        int segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
        memory = segment < 0 ? (void *)-1 : shmat(segment, 0, 0);
        if (memory == (void *)-1) fail("shmat");
        shmctl(segment, IPC_RMID, 0);
        is_mapped = 0;
    } else return 2;
    if (is_mapped) {
        memory = mmap(0, bytes, PROT_READ | (is_read && !writes_some ? 0 : PROT_WRITE), flags, file, 0);
        if (memory == MAP_FAILED) fail("mmap");
    }
    volatile char sum = 0;
    for (size_t at = 0; at < bytes; at += PAGE) {
        if (is_read) sum += memory[at];
        if (!is_read || (writes_some && at / PAGE % 64 == 0)) memory[at] = 1;
    }
    static void *pages[AT_ONCE];
    static int status[AT_ONCE];
    size_t on[NODES] = {0};
    for (size_t at = 0; at < bytes; at += AT_ONCE * (size_t)PAGE) {
        for (int page = 0; page < AT_ONCE; page++) pages[page] = memory + at + page * (size_t)PAGE;
        if (syscall(SYS_move_pages, 0, AT_ONCE, pages, 0, status, 0)) fail("move_pages");
        for (int page = 0; page < AT_ONCE; page++)
            if (status[page] >= 0 && status[page] < NODES) on[status[page]]++;
    }
    for (int node = 0; node < NODES; node++)
        if (on[node]) printf("%d:%zu ", node, on[node]);
    printf("\n");
    fflush(stdout);
    long ms = atol(arguments[3]);
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, 0);
    return 0;
}
