/*
 * DCTCP (RFC 8257) as a shared library for Penstock.
 *
 *     cc -O2 -shared -fPIC -I crates/foreign/include -o libdctcp.so examples/foreign/dctcp.c
 *     penstock run SCENARIO --scheme ./libdctcp.so
 *
 * Queues mark above K, destinations echo the marks, sources cut their window by half of the share of octets that were marked.
 */
#include "penstock_scheme.h"

enum { K, G_INVERSE, SEGMENT, INITIAL_WINDOW };
static const penstock_parameter parameters[] = {
    {"k", PENSTOCK_THRESHOLD, {97500}, {64}, {1000000000}, NULL, "Alizadeh et al. 2010 section 4.1", "Queue length above which frames are marked.", NULL, NULL},
    {"g_inverse", PENSTOCK_COUNT, {16}, {1}, {1024}, NULL, "RFC 8257, section 4.2", "Inverse of the weight of the newest window in alpha.", NULL, NULL},
    {"segment", PENSTOCK_OCTETS, {1500}, {64}, {16384}, NULL, "RFC 5681, section 3.1, SMSS", "Octets of a segment.", NULL, NULL},
    {"initial_window", PENSTOCK_COUNT, {10}, {1}, {10000}, NULL, "RFC 6928, section 2", "Segments of the first window.", NULL, NULL},
};
static const penstock_variable cp_variables[] = {{"marked_frames_total", "frames marked since the start"}};
static const penstock_variable rp_variables[] = {
    {"cwnd_octets", "congestion window"},
    {"alpha_ppm", "estimate of the share of octets that are marked, in millionths"},
};

typedef struct { penstock_ramp ramp; uint64_t own, marked; } cp; /* own: the scenario's thresholds are the queue's own */
typedef struct {
    uint64_t segment, g_inverse, cwnd, ssthresh, alpha; /* alpha has 30 fraction bits */
    uint64_t sent, settled, window_end, acked, marked, cut_end, towards, reduced;
} rp;

static void cp_configure(void *point, const penstock_setup *setup, const penstock_place *place, uint64_t *timeout) {
    (void)place, (void)timeout;
    cp *own = point;
    if (!own->own) own->ramp.k_min = own->ramp.k_max = setup->values[K].whole;
}

static void cp_set_thresholds(void *point, const penstock_ramp *ramp) {
    ((cp *)point)->ramp = *ramp;
    ((cp *)point)->own = 1;
}

static uint32_t cp_mark(void *point, penstock_call *call, penstock_frame *frame, uint64_t len) {
    cp *own = point;
    const penstock_ramp *ramp = &own->ramp;
    if (len <= ramp->k_max) { /* k_min is k_max without WRED */
        if (len <= ramp->k_min || call->draw(call) * (ramp->k_max - ramp->k_min) >= ramp->p_max * (len - ramp->k_min)) return 0;
    }
    own->marked++;
    frame->tag->label = PENSTOCK_ECN; /* A source without a reaction point leaves it bare. */
    return frame->tag->marked = 1;
}

static void cp_row(const void *point, int64_t *row) { row[0] = (int64_t)((const cp *)point)->marked; }

static uint32_t np_acknowledge(void *point, uint64_t now, penstock_frame *frame, penstock_echo *echo) {
    (void)point, (void)now;
    echo->marked = frame->tag->marked;
    return 1;
}

static void rp_configure(void *point, const penstock_setup *setup, uint64_t line, penstock_limits *limits) {
    rp *own = point;
    (void)line;
    own->segment = setup->values[SEGMENT].whole;
    own->g_inverse = setup->values[G_INVERSE].whole;
    if (own->settled == 0) own->cwnd = own->segment * setup->values[INITIAL_WINDOW].whole;
    if (own->cwnd < own->segment) own->cwnd = own->segment;
    if (own->ssthresh < 2 * own->segment) own->ssthresh = 2 * own->segment;
    limits->window = (int64_t)own->cwnd;
    limits->limiting = own->ssthresh < UINT64_MAX;
}

static void rp_create(void *point, const penstock_setup *setup, uint64_t line, penstock_limits *limits) {
    ((rp *)point)->ssthresh = UINT64_MAX;
    ((rp *)point)->alpha = UINT64_C(1) << 30; /* the first mark halves the window */
    rp_configure(point, setup, line, limits);
}

static void reduce(rp *own, uint64_t to) {
    own->cwnd = own->ssthresh = to > 2 * own->segment ? to : 2 * own->segment;
    own->towards = 0, own->reduced = 1, own->cut_end = own->sent;
}

static void grow(rp *own, uint64_t acked) {
    uint64_t out = own->sent > own->settled ? own->sent - own->settled : 0;
    if (out + acked < own->cwnd / 2) return; /* the window does not limit */
    if (own->cwnd < own->ssthresh) {
        own->cwnd += acked;
    } else if ((own->towards += acked) >= own->cwnd) {
        own->towards -= own->cwnd;
        own->cwnd += own->segment;
    }
}

static void rp_on_ack(void *point, penstock_call *call, uint32_t flow, const penstock_ack *ack, penstock_limits *limits) {
    rp *own = point;
    (void)call, (void)flow;
    own->settled += ack->acked + ack->lost;
    own->acked += ack->acked;
    if (ack->echo.marked) own->marked += ack->acked;
    if (own->settled > own->window_end) { /* a window has passed: RFC 8257, section 3.3 */
        uint64_t share = (own->marked << 30) / (own->acked ? own->acked : 1);
        own->alpha = own->alpha - own->alpha / own->g_inverse + share / own->g_inverse;
        own->acked = own->marked = 0, own->window_end = own->sent;
    }
    if (own->settled > own->cut_end) own->reduced = 0;
    if (ack->lost && !own->reduced) reduce(own, own->cwnd / 2);
    else if (ack->echo.marked && !own->reduced) reduce(own, own->cwnd - (own->cwnd * own->alpha >> 31));
    else if (!ack->echo.marked) grow(own, ack->acked);
    limits->window = (int64_t)own->cwnd;
    limits->limiting = own->ssthresh < UINT64_MAX;
}

static void rp_on_silence(void *point, uint64_t now, uint32_t flow, uint64_t lost, penstock_limits *limits) {
    rp *own = point;
    (void)now, (void)flow;
    own->settled += lost;
    reduce(own, own->cwnd / 2);
    own->cwnd = own->segment;
    limits->window = (int64_t)own->cwnd;
    limits->limiting = 1;
}

static void rp_on_send(void *point, penstock_call *call, const penstock_release *release, penstock_tag *tag, penstock_limits *limits) {
    (void)call, (void)limits;
    ((rp *)point)->sent += release->octets;
    tag->label = PENSTOCK_ECN;
}

static void rp_row(const void *point, int64_t *row) {
    row[0] = (int64_t)((const rp *)point)->cwnd;
    row[1] = (int64_t)(((const rp *)point)->alpha * 1000000 >> 30);
}

static const penstock_scheme scheme = {
    .version = PENSTOCK_SCHEME_VERSION,
    .size = sizeof(penstock_scheme),
    .name = "dctcp-c",
    .title = "Data Center TCP",
    .source = "RFC 8257",
    .description = "Switches mark frames above a threshold; sources cut their window by half of the share of marked octets.",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .cp_variables = cp_variables,
    .cp_variable_count = 1,
    .rp_variables = rp_variables,
    .rp_variable_count = 2,
    .cp_octets = sizeof(cp),
    .rp_octets = sizeof(rp),
    .properties = PENSTOCK_ACKNOWLEDGES | PENSTOCK_NEEDS_ORDER | PENSTOCK_INTEGER_STATE,
    .actions = PENSTOCK_ACTION_MARKS | PENSTOCK_ACTION_CUTS | PENSTOCK_ACTION_RAISES,
    .functions = {
        .cp_create = cp_configure, .cp_configure = cp_configure, .cp_set_thresholds = cp_set_thresholds, .cp_mark = cp_mark, .cp_variables = cp_row,
        .np_acknowledge = np_acknowledge,
        .rp_create = rp_create, .rp_configure = rp_configure, .rp_on_ack = rp_on_ack, .rp_on_silence = rp_on_silence,
        .rp_on_send = rp_on_send, .rp_variables = rp_row,
    },
};

const penstock_scheme *penstock_scheme_describe(void) { return &scheme; }
