/*
 * Where to run a task whose data lies on these nodes, by a record.
 *
 *     cc -I crates/c-api/include crates/c-api/examples/rank.c target/debug/libnearfar_c.a \
 *         -lpthread -ldl -lm -o rank
 *     ./rank RECORD NODE=BYTES..
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearfar.h"

enum { MOST = 4096 };

static nearfar_touched touched[MOST];
static nearfar_ranked_place ranked[MOST];

static int fail(int32_t code)
{
    fprintf(stderr, "rank: %s: %s\n", nearfar_error_text(code), nearfar_error_detail());
    return 2;
}

/* Tells on standard error what must be known of the record. */
static void tell_cautions(uint32_t cautions)
{
    if (cautions & NEARFAR_SIMULATED)
        fprintf(stderr, "rank: SIMULATED: the figures were computed, not measured\n");
    if (cautions & NEARFAR_CHANGED)
        fprintf(stderr, "rank: WARNING: the record was changed after it was measured\n");
    if (cautions & NEARFAR_UNSEALED)
        fprintf(stderr, "rank: WARNING: the record is not sealed: whether it was changed is not known\n");
    if (cautions & NEARFAR_TORN)
        fprintf(stderr, "rank: note: the record's last line is torn and was left out\n");
}

static int show(const nearfar_ranking *ranking, size_t data)
{
    size_t count = 0;
    int32_t code = nearfar_rank(ranking, touched, data, NULL, 0, ranked, MOST, &count);
    if (code != NEARFAR_OK)
        return fail(code);
    printf("%zu of %zu places, the best first", count, nearfar_place_count(ranking));
    double noise = 0;
    if (nearfar_noise(ranking, &noise) == NEARFAR_OK)
        printf("; equally good up to %.6f times", 1 + noise);
    printf("\n");
    for (size_t i = 0; i < count; i++) {
        nearfar_place place;
        code = nearfar_describe_place(ranking, ranked[i].place, &place);
        if (code != NEARFAR_OK)
            return fail(code);
        printf("place %zu, initiator %" PRIu32 ", node ", ranked[i].place, place.initiator);
        if (place.cpu_node == NEARFAR_NO_CPU_NODE)
            printf("none");
        else
            printf("%" PRIu32, place.cpu_node);
        printf(", %" PRIu32 " CPUs: %.9f s, %.6f times the best\n", place.cpus, ranked[i].seconds,
               ranked[i].ratio);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc - 2 > MOST) {
        fprintf(stderr, "usage: rank RECORD NODE=BYTES..\n");
        return 2;
    }
    size_t data = (size_t)(argc - 2);
    for (size_t i = 0; i < data; i++) {
        int end = 0;
        const char *word = argv[i + 2];
        int found = sscanf(word, "%" SCNu32 "=%" SCNu64 "%n", &touched[i].node, &touched[i].bytes, &end);
        /* scanf reads a sign as well, and stops where a number does. */
        if (found != 2 || word[end] != '\0' || strpbrk(word, "+- ") != NULL) {
            fprintf(stderr, "rank: '%s' is no NODE=BYTES\n", word);
            return 2;
        }
    }
    nearfar_ranking *ranking = NULL;
    int32_t code = nearfar_open(argv[1], 0, &ranking);
    if (code != NEARFAR_OK)
        return fail(code);
    tell_cautions(nearfar_cautions(ranking));
    int status = show(ranking, data);
    nearfar_free(ranking);
    return status;
}
