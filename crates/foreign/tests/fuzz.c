/*
 * Random callers of a scheme's table: legal values of its parameters, and legal calls of its functions, in any order.
 *
 *     cc -fsanitize=address,undefined -I crates/foreign/include -o fuzz crates/foreign/tests/fuzz.c examples/foreign/dctcp.c
 *     ./fuzz 2000
 *
 * Each point has as much memory as the description says, and not an octet more. A rate, a window or a timer beyond its bounds ends the
 * program with status 1. The calls are the same each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "penstock_scheme.h"

static uint64_t state = 88172645463325252u;
static uint64_t word(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
static uint64_t below(uint64_t n) { return n ? word() % n : 0; }
/* From low to high: an end, or one in between, small ones as often as large ones. */
static uint64_t between(uint64_t low, uint64_t high) {
    uint64_t kind = below(4), x = (word() >> below(64)) % (high - low == UINT64_MAX ? UINT64_MAX : high - low + 1);
    return kind == 0 ? low : kind == 1 ? high : low + x;
}

static const penstock_scheme *scheme;
static uint64_t line, sent;

static uint32_t draw(penstock_call *call) {
    (void)call;
    return (uint32_t)word();
}
static penstock_signal last_signal;
static void take(penstock_call *call, uint32_t to, uint32_t flow, uint32_t queue, const penstock_signal *signal) {
    (void)call, (void)flow;
    if (to > PENSTOCK_PREVIOUS_HOP || queue > PENSTOCK_CONTROL || signal->octets < 64 || signal->octets > 1522) exit(1);
    last_signal = *signal;
    sent++;
}

static void broken(const char *function, const char *what, long long value) {
    fprintf(stderr, "%s: %s is %lld\n", function, what, value);
    exit(1);
}
static void check(const char *function, const penstock_limits *limits) {
    if (limits->rate < 0 || (uint64_t)limits->rate > line) broken(function, "the rate", (long long)limits->rate);
    if (limits->window < PENSTOCK_NO_WINDOW) broken(function, "the window", (long long)limits->window);
}

static void values(penstock_value *value) {
    uint64_t defaults = below(2);
    for (uint32_t i = 0; i < scheme->parameter_count; i++) {
        const penstock_parameter *own = &scheme->parameters[i];
        value[i] = own->standard;
        if (defaults || below(3)) continue;
        uint64_t words = 1;
        for (const char *c = own->words; c && *c; c++) words += *c == '|';
        switch (own->unit) {
        case PENSTOCK_CHOICE: value[i].whole = below(words); break;
        case PENSTOCK_SWITCH: value[i].whole = below(2); break;
        case PENSTOCK_REAL:
            value[i].real = own->minimum.real + (own->maximum.real - own->minimum.real) * (double)below(1001) / 1000;
            break;
        default: value[i].whole = between(own->minimum.whole, own->maximum.whole);
        }
        if (own->bound && !strcmp(own->bound, "at most line") && value[i].whole > line) value[i].whole = line;
    }
    for (uint32_t i = 0; i < scheme->parameter_count; i++) {
        const char *bound = scheme->parameters[i].bound;
        for (uint32_t j = 0; bound && !strncmp(bound, "at least ", 9) && j < scheme->parameter_count; j++)
            if (!strcmp(bound + 9, scheme->parameters[j].name) && value[i].whole < value[j].whole) value[i] = value[j];
    }
}

/* Memory that ends where it says. */
static void *point(uint32_t octets) {
    void *made = calloc(1, octets ? octets : 1);
    if (!made) exit(1);
    return made;
}
static void *copy(void *of, uint32_t octets) {
    void *made = point(octets);
    memcpy(made, of, octets);
    if (scheme->functions.clone) scheme->functions.clone(made);
    if (scheme->functions.destroy) scheme->functions.destroy(of);
    free(of);
    return made;
}

#define CALL(name, ...) \
    if (f->name) f->name(__VA_ARGS__)
#define LIMITED(name, ...) \
    if (f->name) f->name(__VA_ARGS__), check(#name, &limits)

static void run(uint64_t calls) {
    static const uint64_t lines[] = {1000000000, 10000000000, 100000000000, 800000000000};
    const penstock_functions *f = &scheme->functions;
    /* Exactly as many as there are. */
    penstock_value *value = point(scheme->parameter_count * (uint32_t)sizeof *value);
    line = lines[below(4)];
    values(value);
    const penstock_setup setup = {scheme->user, value};
    const penstock_place place = {word(), line, 1 << 20, below(1000000)};
    void *cp = point(scheme->cp_octets), *np = point(scheme->np_octets), *rp = point(scheme->rp_octets);
    uint64_t cp_timer = PENSTOCK_NEVER, np_timer = PENSTOCK_NEVER, length = 0, left = 0;
    penstock_limits limits = {.rate = (int64_t)line, .window = PENSTOCK_NO_WINDOW, .timeout = PENSTOCK_NEVER};
    CALL(cp_create, cp, &setup, &place, &cp_timer);
    CALL(np_create, np, &setup, 7, &np_timer);
    LIMITED(rp_create, rp, &setup, line, &limits);
    LIMITED(rp_on_round_trip, rp, between(1, 1000000000), &limits);
    penstock_call call = {.now = 1, .draw = draw, .send = take};
    LIMITED(rp_on_start, rp, &call, 7, &limits);
    for (uint64_t i = 0; i < calls; i++) {
        call.now += between(0, UINT64_C(2000000000));
        uint16_t octets = (uint16_t)between(64, 9000);
        penstock_tag tag = {.label = PENSTOCK_BARE};
        penstock_queue queue = {.len = length, .sent = left, .rate = line, .frames = (uint32_t)(length / 64)};
        if (cp_timer <= call.now) {
            cp_timer = PENSTOCK_NEVER;
            CALL(cp_on_timer, cp, &call, &queue, &cp_timer);
            if (cp_timer <= call.now) broken("cp_on_timer", "the timer", (long long)cp_timer);
        }
        if (np_timer <= call.now) {
            np_timer = PENSTOCK_NEVER;
            CALL(np_on_timer, np, &call, &np_timer);
            if (np_timer <= call.now) broken("np_on_timer", "the timer", (long long)np_timer);
        }
        if (limits.timeout <= call.now) {
            limits.timeout = PENSTOCK_NEVER;
            LIMITED(rp_on_timer, rp, &call, &limits);
            if (limits.timeout <= call.now) broken("rp_on_timer", "the timer", (long long)limits.timeout);
        }
        switch (below(12)) {
        case 0:
            values(value);
            CALL(cp_configure, cp, &setup, &place, &cp_timer);
            CALL(np_configure, np, &setup, &np_timer);
            LIMITED(rp_configure, rp, &setup, line, &limits);
            break;
        case 1:
            cp = copy(cp, scheme->cp_octets);
            np = copy(np, scheme->np_octets);
            rp = copy(rp, scheme->rp_octets);
            break;
        case 2:
            if (sent) {
                LIMITED(rp_on_signal, rp, &call, 7, &last_signal, &limits);
                CALL(cp_on_signal, cp, &call, 7, &last_signal, &queue, &cp_timer);
                CALL(np_on_signal, np, &call, 7, &last_signal, &np_timer);
            }
            break;
        case 3: LIMITED(rp_on_silence, rp, call.now, 7, between(0, 1 << 24), &limits); break;
        case 4: {
            const penstock_ramp ramp = {between(0, 1 << 20), between(0, 1 << 20), between(0, UINT64_C(1) << 32)};
            if (below(16) == 0) CALL(cp_set_thresholds, cp, &ramp);
            break;
        }
        case 5:
            if (sent) CALL(cp_on_probe_departure, cp, call.now, &last_signal, &queue);
            break;
        default: {
            const penstock_release release = {.seq = 1500 * i, .flow = 7, .octets = octets};
            penstock_frame frame = {.seq = release.seq, .sent_at = call.now, .tag = &tag, .flow = 7, .octets = octets, .weight = 1};
            penstock_ack ack = {.acked = octets, .lost = below(8) ? 0 : between(0, 1 << 20), .rtt = between(1, UINT64_C(1) << 40)};
            LIMITED(rp_on_send, rp, &call, &release, &tag, &limits);
            frame.dropped = below(8) == 0;
            length = between(0, 1 << 20);
            queue.len = length;
            CALL(cp_on_arrival, cp, &call, &frame, &queue, &cp_timer);
            if (frame.dropped) break;
            CALL(cp_mark, cp, &call, &frame, length);
            CALL(cp_on_transmission, cp, call.now, &frame, &queue);
            left += octets;
            CALL(cp_on_departure, cp, call.now, &frame, &queue, &cp_timer);
            CALL(np_on_frame, np, &call, &frame, &np_timer);
            if (f->np_acknowledge && f->np_acknowledge(np, call.now, &frame, &ack.echo)) LIMITED(rp_on_ack, rp, &call, 7, &ack, &limits);
        }
        }
        int64_t row[PENSTOCK_VARIABLES];
        CALL(cp_variables, cp, row);
        CALL(rp_variables, rp, row);
    }
    LIMITED(rp_on_stop, rp, call.now, 7, &limits);
    void *points[] = {cp, np, rp};
    for (int i = 0; i < 3; i++) {
        CALL(destroy, points[i]);
        free(points[i]);
    }
    free(value);
}

int main(int count, char **arguments) {
    uint64_t runs = count > 1 ? strtoull(arguments[1], NULL, 10) : 100;
    scheme = penstock_scheme_describe();
    for (uint64_t i = 0; i < runs; i++) run(1 + below(400));
    printf("%s: %llu sequences\n", scheme->name, (unsigned long long)runs);
    return 0;
}
