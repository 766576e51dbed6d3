/* Every host sends 1 MB to every other one; prints when each has all of its messages. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "penstock_engine.h"

static const char SCENARIO[] =
    "question = \"How long does an all-to-all take?\"\nduration = \"1 s\"\nscheme = \"dcqcn\"\n"
    "[topology.star]\nhosts = 4\nlink_rate = \"100 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"4 MB\"\n"
    "[[job]]\ngraph = \"outside\"\ntransport = \"go-back-n\"\n";

static penstock_engine *engine;

static void check(penstock_engine_status status)
{
    if (status != PENSTOCK_ENGINE_OK) {
        fprintf(stderr, "%s\n", penstock_engine_error(engine));
        exit(1);
    }
}

int main(void)
{
    if (penstock_engine_version() != PENSTOCK_ENGINE_VERSION) {
        fprintf(stderr, "the library has version %" PRIu32 ", the header %u: build both from one release\n",
                penstock_engine_version(), PENSTOCK_ENGINE_VERSION);
        return 1;
    }
    check(penstock_engine_create(SCENARIO, "all-to-all", NULL, &engine));
    uint32_t hosts = penstock_engine_ranks(engine), *left = calloc(hosts, sizeof *left);
    for (uint32_t from = 0; from < hosts; from++)
        for (uint32_t to = 0; to < hosts; to++)
            if (from != to) {
                check(penstock_engine_send(engine, from, to, 1000000, to)); /* its id: who gets it */
                left[to]++;
            }
    penstock_engine_event event;
    do {
        check(penstock_engine_next(engine, &event));
        if (event.kind == PENSTOCK_ENGINE_DELIVERED && --left[event.id] == 0)
            printf("%s %" PRIu64 " ps\n", penstock_engine_host(engine, (uint32_t)event.id), event.time_ps);
    } while (event.kind != PENSTOCK_ENGINE_IDLE && event.kind != PENSTOCK_ENGINE_END);
    check(penstock_engine_finish(engine));
    penstock_engine_destroy(engine);
    free(left);
    return 0;
}
