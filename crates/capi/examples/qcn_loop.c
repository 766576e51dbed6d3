/* Two sources of 1 Gb/s and one line of 1 Gb/s under QCN: the queue settles at its set point. Each source sends a frame when its
 * reaction point's rate lets it; each frame is asked of the congestion point, whose messages go back at once. */
#include <inttypes.h>
#include <penstock.h>
#include <stdio.h>

enum { SOURCES = 2, OCTETS = 1518 };
#define SECOND UINT64_C(1000000000000)
#define LINE UINT64_C(1000000000)

static penstock_rp *points[SOURCES];
static uint64_t now;

/* A linear congruential generator serves both ends. */
static uint32_t draw(void *context)
{
    uint64_t *state = context;
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static void deliver(void *context, const penstock_signal *signal)
{
    (void)context;
    if (signal->to == PENSTOCK_TO_SOURCE && signal->flow < SOURCES)
        penstock_rp_message(points[signal->flow], now, signal->flow, &signal->message);
}

int main(void)
{
    if (penstock_version() != PENSTOCK_VERSION) {
        fprintf(stderr, "the library has version %" PRIu32 ", the header %u: build both from one release\n",
                penstock_version(), PENSTOCK_VERSION);
        return 1;
    }
    char said[160];
    uint64_t random = 1;
    penstock_scheme *scheme;
    if (penstock_scheme_create("qcn", "q_eq = 33 KB", &scheme, said, sizeof said) != PENSTOCK_OK) {
        fprintf(stderr, "%s\n", said);
        return 1;
    }
    const penstock_host host = {&random, draw, deliver};
    const penstock_place place = {.cp = 8, .line_bps = LINE, .capacity_octets = 150000};
    penstock_cp *cp;
    if (penstock_cp_create(scheme, &place, &host, &cp) != PENSTOCK_OK)
        return 1;
    for (int i = 0; i < SOURCES; i++) {
        if (penstock_rp_create(scheme, LINE, &host, &points[i]) != PENSTOCK_OK)
            return 1;
        penstock_rp_start(points[i], 0, (uint32_t)i);
    }
    penstock_scheme_destroy(scheme);

    uint64_t next[SOURCES] = {0}, sent[SOURCES] = {0}, left = 0, queued = 0, line_free = 0;
    double area = 0;
    uint64_t samples = 0;
    while (now < SECOND / 2) {
        int i = next[1] < next[0];
        uint64_t at = next[i];
        /* Whatever comes first: a departure, a timer, a frame. */
        if (queued && line_free <= at) {
            now = line_free;
            queued -= OCTETS;
            left += OCTETS;
            line_free = now + OCTETS * 8 * (SECOND / LINE);
            continue;
        }
        int timer = -1;
        for (int j = 0; j < SOURCES; j++) {
            if (penstock_rp_next_timeout(points[j]) <= at) {
                at = penstock_rp_next_timeout(points[j]);
                timer = j;
            }
        }
        now = at;
        if (timer >= 0) {
            penstock_rp_timeout(points[timer], now);
            continue;
        }
        if (!queued)
            line_free = now + OCTETS * 8 * (SECOND / LINE);
        const penstock_release release = {.flow = (uint32_t)i, .octets = OCTETS, .seq = sent[i]};
        penstock_frame frame = {.flow = (uint32_t)i, .octets = OCTETS, .seq = sent[i], .sent_at_ps = now, .weight = 1};
        penstock_rp_send(points[i], now, &release, &frame.label);
        sent[i] += OCTETS;
        bool dropped = queued + OCTETS > 150000;
        if (!dropped)
            queued += OCTETS;
        const penstock_queue queue = {
            .octets = queued, .rate_bps = LINE, .sent_octets = left, .frames = (uint32_t)(queued / OCTETS)};
        penstock_cp_arrival(cp, now, dropped, &frame, &queue);
        if (now > SECOND / 10) {
            area += (double)queued;
            samples++;
        }
        penstock_allowance allowance;
        penstock_rp_allowance(points[i], &allowance);
        next[i] = now + OCTETS * 8 * SECOND / allowance.rate_bps;
    }
    for (int i = 0; i < SOURCES; i++) {
        printf("source %d sent %" PRIu64 " octets\n", i, sent[i]);
        penstock_rp_destroy(points[i]);
    }
    penstock_cp_destroy(cp);
    printf("mean queue %.0f octets\n", area / (double)samples);
    return 0;
}
