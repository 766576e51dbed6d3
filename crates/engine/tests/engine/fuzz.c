/* Random calls in a random order, right and wrong ones: the promises of the header hold, and a sanitizer finds nothing.
 *
 *   fuzz FIRST_SEED ROUNDS
 *
 * Prints how many calls were made and how many were refused. A broken promise ends it with status 1 and its seed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "penstock_engine.h"

#define IDS 512

static const char *const SCENARIOS[] = {
    "question = \"?\"\nduration = \"300 us\"\nscheme = \"none\"\n"
    "[topology.star]\nhosts = 3\nlink_rate = \"10 Gbps\"\nlink_delay = \"100 ns\"\nbuffer = \"100 KB\"\n",
    "question = \"?\"\nduration = \"200 us\"\nscheme = \"dcqcn\"\nwarmup = \"50 us\"\n"
    "[topology.star]\nhosts = 4\nlink_rate = \"100 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"150 KB\"\n"
    "[[job]]\ngraph = \"outside\"\ntransport = \"go-back-n\"\nhosts = \"h0..h2\"\n"
    "ranks_per_host = 2\nlocal_rate = \"400 Gbps\"\n",
    "question = \"?\"\nduration = \"200 us\"\nscheme = \"dctcp\"\n"
    "[topology.star]\nhosts = 4\nlink_rate = \"10 Gbps\"\nlink_delay = \"1 us\"\nbuffer = \"120 KB\"\n"
    "[[flow]]\nfrom = \"h0\"\nto = \"h3\"\ntraffic = \"constant\"\nrate = \"5 Gbps\"\n"
    "[[collective]]\nkind = \"all-reduce\"\nsize = \"10 KB\"\n"
    "[[job]]\ngraph = \"outside\"\ntransport = \"tcp\"\n",
};

static uint64_t state, seed;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 11) % below;
}

static void promise(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, what);
        exit(1);
    }
}

/* The state of each message and alarm: 0 unused, 1 sent, 2 delivered, 3 acknowledged; 4 alarm set, 5 gone off. */
static unsigned char fate[IDS];
static uint64_t ids, calls, refused;

static uint64_t size(void)
{
    static const uint64_t sizes[] = {0, 1, 64, 1500, 100000, 1ULL << 32, 1ULL << 62, 1ULL << 63, UINT64_MAX};
    return draw(2) ? draw(20000) : sizes[draw(sizeof sizes / sizeof *sizes)];
}

/* Takes an event; 0 where none can come any more. */
static int next(penstock_engine *engine)
{
    penstock_engine_event event = {9, 9, 0, 0};
    uint64_t before = penstock_engine_now(engine);
    if (penstock_engine_next(engine, &event) != PENSTOCK_ENGINE_OK)
        return 0;
    promise(event.kind <= PENSTOCK_ENGINE_END && event.reserved == 0, "an event is not of a kind");
    promise(event.time_ps >= before && event.time_ps == penstock_engine_now(engine), "time went back");
    if (event.kind == PENSTOCK_ENGINE_IDLE || event.kind == PENSTOCK_ENGINE_END)
        return 0;
    promise(event.id < ids, "an event has a number that nobody gave");
    uint32_t before_it = event.kind == PENSTOCK_ENGINE_ALARM ? 4 : event.kind;
    promise(fate[event.id] == before_it, "an event came twice, or out of order");
    fate[event.id]++;
    return 1;
}

static void call(penstock_engine *engine)
{
    penstock_engine_status status = PENSTOCK_ENGINE_OK;
    uint32_t ranks = penstock_engine_ranks(engine);
    calls++;
    switch (draw(10)) {
    case 0: case 1: case 2: case 3:
        if (ids < IDS) {
            status = penstock_engine_send(engine, (uint32_t)draw(ranks + 1), (uint32_t)draw(ranks + 1), size(), ids);
            fate[ids] = status == PENSTOCK_ENGINE_OK;
            ids += status == PENSTOCK_ENGINE_OK;
        }
        break;
    case 4:
        if (ids < IDS) {
            status = penstock_engine_schedule(engine, draw(20) ? draw(30000000) * draw(2) : UINT64_MAX - draw(9), ids);
            fate[ids] = status == PENSTOCK_ENGINE_OK ? 4 : 0;
            ids += status == PENSTOCK_ENGINE_OK;
        }
        break;
    case 5: case 6: case 7:
        next(engine);
        break;
    case 8: {
        uint32_t rank = (uint32_t)draw(ranks + 2);
        const char *host = penstock_engine_host(engine, rank);
        promise((host != NULL) == (rank < ranks), "a rank has no host, or no rank has one");
        promise(host == NULL || penstock_engine_rank(engine, host) <= rank, "the first rank of a host is a later one");
        promise(penstock_engine_rank(engine, "nobody") == PENSTOCK_ENGINE_NONE, "a host of no name has a rank");
        break;
    }
    default:
        promise(penstock_engine_next(engine, NULL) == PENSTOCK_ENGINE_NULL, "null is an event");
        promise(penstock_engine_send(NULL, 0, 1, 1, 1) == PENSTOCK_ENGINE_NULL, "null is an engine");
        if (!draw(30))
            status = penstock_engine_finish(engine);
    }
    promise(status != PENSTOCK_ENGINE_BROKEN && status != PENSTOCK_ENGINE_FAILED, penstock_engine_error(engine));
    promise(status == PENSTOCK_ENGINE_OK || *penstock_engine_error(engine), "a call was refused without an error");
    refused += status != PENSTOCK_ENGINE_OK;
}

static void play(void)
{
    const char *scenario = SCENARIOS[draw(sizeof SCENARIOS / sizeof *SCENARIOS)];
    char text[1024];
    size_t length = strlen(scenario);
    memcpy(text, scenario, length + 1);
    int wrong = draw(4) == 0;
    if (wrong)
        text[draw(length)] = (char)draw(256);
    memset(fate, 0, sizeof fate);
    ids = 0;
    penstock_engine *engine = NULL;
    penstock_engine_status status = penstock_engine_create(text, draw(2) ? "fuzz" : NULL, NULL, &engine);
    promise(engine != NULL, "no engine is handed out");
    promise(wrong || status == PENSTOCK_ENGINE_OK, penstock_engine_error(engine));
    promise(status != PENSTOCK_ENGINE_BROKEN, penstock_engine_error(engine));
    for (uint64_t left = draw(300); left > 0; left--)
        call(engine);
    while (draw(50) && next(engine)) {
    }
    if (draw(2)) {
        status = penstock_engine_finish(engine);
        promise(status != PENSTOCK_ENGINE_OK || penstock_engine_summary(engine), "a finished run has no summary");
    }
    penstock_engine_destroy(engine);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;
    for (seed = first; seed < first + rounds; seed++) {
        state = (seed + 1) * 0x9E3779B97F4A7C15u;
        play();
    }
    printf("%" PRIu64 " calls, %" PRIu64 " refused\n", calls, refused);
    return 0;
}
