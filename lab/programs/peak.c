/*
 * The most memory of their own that all processes ever had in whose environment MARK=VALUE stands, whoever their
 * parents are: what nearfar run reports of a program is held against it.
 *
 * peak MARK=VALUE PID
 *
 * Reads smaps_rollup of all of them again and again, where a page that several have in common counts once, until the
 * process PID has ended. Prints bytes and the number of processes that had them.
 *
 * Needs Linux 5.3 or later.
 */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_marked(const char *process, const char *mark) {
    char path[300], *variable = NULL;
    size_t room = 0;
    int found = 0;
    snprintf(path, sizeof path, "/proc/%s/environ", process);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    while (!found && getdelim(&variable, &room, 0, file) > 0) found = strcmp(variable, mark) == 0;
    free(variable);
    fclose(file);
    return found;
}

static long own_kib(const char *process) {
    char path[300], line[300];
    long kib = 0;
    snprintf(path, sizeof path, "/proc/%s/smaps_rollup", process);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Pss_Anon: %ld", &kib) == 1) break;
    fclose(file);
    return kib;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    long most = 0;
    int had = 0;
    while (kill(atoi(words[2]), 0) == 0) {
        long all = 0;
        int processes = 0;
        DIR *folder = opendir("/proc");
        struct dirent *entry;
        while (folder && (entry = readdir(folder))) {
            if (!isdigit((unsigned char)entry->d_name[0]) || !is_marked(entry->d_name, words[1])) continue;
            long kib = own_kib(entry->d_name);
            all += kib;
            processes += kib > 0;
        }
        if (folder) closedir(folder);
        if (all > most) {
            most = all;
            had = processes;
        }
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    printf("%ld %d\n", most * 1024, had);
    return 0;
}
