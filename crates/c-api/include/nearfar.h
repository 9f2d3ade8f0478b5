/*
 * nearfar: where to run a task by where its data lives, and where to put data by who will touch it,
 * from a record that `nearfar characterize` wrote. docs/runtime-library.md says what the figures mean.
 *
 * Link with -lnearfar_c (and -lpthread -ldl -lm for the static library).
 *
 * Errors     Functions that can fail return NEARFAR_OK or a code. nearfar_error_text says what a code
 *            means, nearfar_error_detail what went wrong in the thread's last call that failed.
 *            Nothing but the ranking that nearfar_open makes has to be freed.
 * Threads    A ranking is never changed after nearfar_open: any number of threads may ask it at the
 *            same time. It must not be freed while one does.
 * Arrays     The caller owns them. An array of n elements may be NULL where n is 0. Answers are
 *            written as far as there is room; *count says how many there are, the best first.
 *            Where there is too little room the code is NEARFAR_NO_ROOM and what was written holds.
 * Places     Where tasks can run: initiators of CPUs (or L3 domains, or cores, as the record was
 *            measured). They are counted from 0 to nearfar_place_count - 1. Memory nodes have the
 *            numbers that the system gives them.
 */
#ifndef NEARFAR_H
#define NEARFAR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; nearfar_version says the library's. */
#define NEARFAR_VERSION "0.1.0"
#define NEARFAR_VERSION_MAJOR 0
#define NEARFAR_VERSION_MINOR 1
#define NEARFAR_VERSION_PATCH 0

/* What a function returns. */
enum {
    NEARFAR_OK = 0,
    NEARFAR_NULL_POINTER = 1,   /* a pointer is NULL that must not be */
    NEARFAR_NO_RECORD = 2,      /* there is no record, or it cannot be read */
    NEARFAR_NOT_IN_RECORD = 3,  /* the record does not hold what is needed */
    NEARFAR_NO_NODE = 4,        /* the record's machine has no such memory node */
    NEARFAR_NO_PLACE = 5,       /* there is no such place */
    NEARFAR_BAD_THREADS = 6,    /* a number of threads that is none */
    NEARFAR_NO_FLOW = 7,        /* several threads run, and the ranking knows nothing of sharing */
    NEARFAR_UNKNOWN_RUNNING = 8, /* nothing is known of a pair on which threads run */
    NEARFAR_NO_ROOM = 9,        /* the array is too short */
    NEARFAR_INTERNAL = 10       /* an error of the library itself; please report it */
};

/* What must be known of a record before its figures are believed; nearfar_cautions adds them up. */
enum {
    NEARFAR_SIMULATED = 1, /* the figures were computed, not measured */
    NEARFAR_CHANGED = 2,   /* it was changed after it was measured, as its seals tell */
    NEARFAR_UNSEALED = 4,  /* it has no seals: whether it was changed is not known */
    NEARFAR_TORN = 8       /* its last line is torn and was left out */
};

/* A record made ready for questions. */
typedef struct nearfar_ranking nearfar_ranking;

/* What nearfar_describe_place writes of a node that there is not. */
#define NEARFAR_NO_CPU_NODE UINT32_MAX

/* Where tasks can run. */
typedef struct nearfar_place {
    uint32_t cpu_group; /* its number among its kind, as in the record */
    uint32_t initiator; /* the initiator that it belongs to: CPUs with the same local memory */
    uint32_t cpu_node;  /* lowest node with CPUs of that initiator, or NEARFAR_NO_CPU_NODE */
    uint32_t cpus;      /* how many CPUs it has; nearfar_place_cpus lists them */
} nearfar_place;

/* Data of a task on a memory node. Nodes that are named several times add up. */
typedef struct nearfar_touched {
    uint64_t bytes; /* that the task reads or writes there; 0 counts for nothing */
    uint32_t node;
} nearfar_touched;

/* Threads that run already. */
typedef struct nearfar_running {
    size_t place;   /* where */
    double threads; /* how many, from 0 to 1e6; half of one's time is 0.5 */
    uint32_t node;  /* the memory node that they access */
} nearfar_running;

/* Threads that will touch data together. */
typedef struct nearfar_user {
    size_t place;   /* where they run */
    double threads; /* how many, above 0 */
    uint64_t bytes; /* that they touch, all of them together; 0 counts for nothing */
} nearfar_user;

/* A place with what a task's data takes from there. */
typedef struct nearfar_ranked_place {
    size_t place;
    double seconds; /* to touch all of the data once; 0 without data */
    double ratio;   /* seconds / seconds of the best place; 1 without data */
} nearfar_ranked_place;

/* A memory node with what data takes there. */
typedef struct nearfar_ranked_node {
    double seconds; /* until the slowest user has touched its part; 0 without data */
    double ratio;   /* seconds / seconds of the best node; 1 without data */
    uint32_t node;
} nearfar_ranked_node;

/* The version of the library, such as "0.1.0". Never NULL, never to be freed. */
const char *nearfar_version(void);

/* What a code means, in a sentence. Never NULL, never to be freed. */
const char *nearfar_error_text(int32_t code);

/*
 * What went wrong in this thread's last call that returned a code; "" before any. Valid until this
 * thread's next call that returns one. Never NULL, never to be freed.
 */
const char *nearfar_error_detail(void);

/*
 * Reads a record and makes it ready; milliseconds to a second, most of it reading. path is the
 * record's file, or NULL for the newest of this host in ${XDG_STATE_HOME:-~/.local/state}/nearfar.
 * with_flow other than 0 also fits the flow model, without which questions of more than one thread
 * at a time have no answer; it needs a record of the suite standard or full. *ranking is to be freed
 * by nearfar_free, and is NULL where a code is returned.
 */
int32_t nearfar_open(const char *path, int32_t with_flow, nearfar_ranking **ranking);

/* Frees a ranking. NULL is allowed and does nothing. */
void nearfar_free(nearfar_ranking *ranking);

/* What must be known of the record: NEARFAR_SIMULATED and its like, added up; 0 for nothing, and for NULL. */
uint32_t nearfar_cautions(const nearfar_ranking *ranking);

/* How many places there are; 0 for NULL. */
size_t nearfar_place_count(const nearfar_ranking *ranking);

/* Describes a place. */
int32_t nearfar_describe_place(const nearfar_ranking *ranking, size_t place, nearfar_place *description);

/* Lists a place's CPUs, by the system's numbers, ascending. */
int32_t nearfar_place_cpus(const nearfar_ranking *ranking, size_t place, uint32_t *cpus,
                           size_t room, size_t *count);

/* Lists the record's memory nodes, by the system's numbers, ascending. */
int32_t nearfar_nodes(const nearfar_ranking *ranking, uint32_t *nodes, size_t room, size_t *count);

/*
 * What one thread alone moves between a place and a node, bytes/s. NEARFAR_NOT_IN_RECORD where that is
 * not known, and then nearfar_error_detail says why: such places are absent from answers.
 */
int32_t nearfar_lone_rate(const nearfar_ranking *ranking, size_t place, uint32_t node,
                          double *bytes_per_s);

/*
 * How far a ratio of answers must be from 1 to mean anything: places and nodes that are nearer to each
 * other are equally good. Without running threads it is the noise of the record, with them the least
 * difference. NEARFAR_NOT_IN_RECORD where the record has one round of each pair, NEARFAR_NO_FLOW where
 * the ranking was opened without the flow model.
 */
int32_t nearfar_noise(const nearfar_ranking *ranking, double *ratio);
int32_t nearfar_least_difference(const nearfar_ranking *ranking, double *ratio);

/*
 * Ranks the places for a task that touches this data, beside threads that run (running_count 0:
 * alone). Microseconds. Places of which a pair is not known are absent.
 */
int32_t nearfar_rank(const nearfar_ranking *ranking, const nearfar_touched *touched,
                     size_t touched_count, const nearfar_running *running, size_t running_count,
                     nearfar_ranked_place *ranked, size_t room, size_t *count);

/*
 * Ranks the memory nodes for data that these users touch at the same time, beside threads that run.
 * What a node has room for is not known. Nodes of which a pair is not known are absent.
 */
int32_t nearfar_rank_nodes(const nearfar_ranking *ranking, const nearfar_user *users,
                           size_t user_count, const nearfar_running *running, size_t running_count,
                           nearfar_ranked_node *ranked, size_t room, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
