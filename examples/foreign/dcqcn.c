/*
 * DCQCN (Zhu et al., SIGCOMM 2015) as a shared library for Penstock.
 *
 *     cc -O2 -shared -fPIC -I crates/foreign/include -o libdcqcn.so examples/foreign/dcqcn.c
 *     penstock run SCENARIO --scheme ./libdcqcn.so
 *
 * Queues mark with a probability that grows with their length. A destination answers a mark by a congestion notification packet, a CNP, at
 * most one an interval. Each CNP cuts the rate RC by alpha / 2; byte counter and timer raise it again towards the target rate RT.
 *
 * The rules are the paper's. A cut rounds the reduction down, and a rise rounds the mean of RC and RT up, so that the line's rate is reached.
 */
#include "penstock_scheme.h"

enum { K_MIN, K_MAX, P_MAX, CNP_INTERVAL, G_INVERSE, ALPHA0, ALPHA_TIME, F, BYTE_RESET, TIME_RESET, R_AI, R_HAI, MIN_RATE };
#define US UINT64_C(1000000)
#define MBPS UINT64_C(1000000)
static const penstock_parameter parameters[] = {
    {"k_min", PENSTOCK_THRESHOLD, {10000}, {0}, {INT32_MAX}, NULL, "for 10 Gb/s; section 5 has 5 KB, Kmin", "Queue length up to which no frame is marked.", NULL, NULL},
    {"k_max", PENSTOCK_THRESHOLD, {100000}, {100}, {INT32_MAX}, NULL, "for 10 Gb/s; section 5 has 200 KB, Kmax", "Queue length above which every frame is marked.", NULL, NULL},
    {"p_max", PENSTOCK_REAL, {.real = 0.1}, {.real = 0}, {.real = 1}, NULL, "for 10 Gb/s; section 5 has 0.01, Pmax", "Probability of a mark at k_max.", NULL, NULL},
    {"cnp_interval", PENSTOCK_TIME, {50 * US}, {0}, {1000000 * US}, NULL, "section 3.2, N", "Least time between two CNPs for a flow.", NULL, NULL},
    {"g_inverse", PENSTOCK_COUNT, {256}, {1}, {65536}, NULL, "section 5, g = 1/256", "1/g: how slowly alpha follows.", NULL, NULL},
    {"alpha0", PENSTOCK_REAL, {.real = 1}, {.real = 0}, {.real = 1}, NULL, "section 3.2", "Alpha at the start.", NULL, NULL},
    {"alpha_time", PENSTOCK_TIME, {55 * US}, {US}, {1000000 * US}, NULL, "equation (2), K", "Time without CNP after which alpha falls.", NULL, NULL},
    {"f", PENSTOCK_COUNT, {5}, {1}, {1000}, NULL, "section 3.2, F", "Stages of Fast Recovery.", NULL, NULL},
    {"byte_reset", PENSTOCK_OCTETS, {10000000}, {64}, {UINT64_C(1000000000000)}, NULL, "section 5, B", "Octets of a cycle of the byte counter.", NULL, NULL},
    {"time_reset", PENSTOCK_TIME, {55 * US}, {US}, {1000000000 * US}, NULL, "section 5, T", "Length of a cycle of the timer.", NULL, NULL},
    {"r_ai", PENSTOCK_RATE, {10 * MBPS}, {0}, {1000000 * MBPS}, NULL, "for 10 Gb/s; section 5 has 40 Mb/s", "Step of Active Increase.", NULL, NULL},
    {"r_hai", PENSTOCK_RATE, {50 * MBPS}, {0}, {1000000 * MBPS}, NULL, "for 10 Gb/s; open in the paper", "Step of Hyper-Active Increase.", NULL, NULL},
    {"min_rate", PENSTOCK_RATE, {10 * MBPS}, {1000}, {1000000 * MBPS}, NULL, "open in the paper", "Least rate.", NULL, NULL},
};
static const penstock_variable cp_variables[] = {{"marked_frames_total", "frames marked since the start"}};
static const penstock_variable rp_variables[] = {
    {"target_rate_bps", "target rate RT, bit/s"},
    {"alpha_ppm", "alpha when it was last used, millionths"},
    {"byte_stage", "cycles of the byte counter since the last cut"},
    {"time_stage", "cycles of the timer since the last cut"},
};

typedef struct { penstock_ramp ramp; uint64_t own, marked; } cp; /* own: the ramp is the queue's, not that of the parameters */
typedef struct { uint64_t interval, next; } np;              /* the interval of the last CNP ends at next */
typedef struct {
    uint64_t g_inverse, alpha_time, f, byte_reset, time_reset, r_ai, r_hai;
    uint64_t line, least, current, target;
    uint64_t alpha, alpha_at; /* alpha has 30 fraction bits, and is right for the time up to alpha_at + alpha_time; never before the first CNP */
    uint64_t bytes, byte_stage, time_stage;
} rp;

static void cp_configure(void *point, const penstock_setup *setup, const penstock_place *place, uint64_t *timeout) {
    cp *own = point;
    (void)place, (void)timeout;
    if (own->own) return;
    own->ramp.k_min = setup->values[K_MIN].whole;
    own->ramp.k_max = setup->values[K_MAX].whole;
    own->ramp.p_max = (uint64_t)(setup->values[P_MAX].real * 4294967296.0);
}

static void cp_set_thresholds(void *point, const penstock_ramp *ramp) {
    ((cp *)point)->ramp = *ramp;
    ((cp *)point)->own = 1;
}

static uint32_t cp_mark(void *point, penstock_call *call, penstock_frame *frame, uint64_t len) {
    cp *own = point;
    /* The word is below p_max (len - k_min) / (k_max - k_min), without the division. */
    const penstock_ramp *ramp = &own->ramp;
    if (len <= ramp->k_max) {
        if (len <= ramp->k_min || call->draw(call) * (ramp->k_max - ramp->k_min) >= ramp->p_max * (len - ramp->k_min)) return 0;
    }
    own->marked++;
    frame->tag->label = PENSTOCK_ROCE; /* A source without a reaction point leaves it bare. */
    return frame->tag->marked = 1;
}

static void cp_row(const void *point, int64_t *row) { row[0] = (int64_t)((const cp *)point)->marked; }

static void np_configure(void *point, const penstock_setup *setup, uint64_t *timeout) {
    (void)timeout;
    ((np *)point)->interval = setup->values[CNP_INTERVAL].whole;
}

static void np_create(void *point, const penstock_setup *setup, uint32_t flow, uint64_t *timeout) {
    (void)flow;
    np_configure(point, setup, timeout);
}

static void np_on_frame(void *point, penstock_call *call, penstock_frame *frame, uint64_t *timeout) {
    static const penstock_signal cnp = {.octets = 78, .kind = PENSTOCK_NOTIFICATION};
    np *own = point;
    (void)timeout;
    if (!frame->tag->marked || call->now < own->next) return;
    own->next = call->now + own->interval;
    call->send(call, PENSTOCK_SOURCE, frame->flow, PENSTOCK_CONTROL, &cnp);
}

static void answer(const rp *own, penstock_limits *limits) {
    limits->rate = (int64_t)own->current;
    limits->limiting = own->current < own->line;
    if (!limits->limiting) limits->timeout = PENSTOCK_NEVER;
}

static void rp_configure(void *point, const penstock_setup *setup, uint64_t line, penstock_limits *limits) {
    rp *own = point;
    const penstock_value *values = setup->values;
    own->g_inverse = values[G_INVERSE].whole;
    own->alpha_time = values[ALPHA_TIME].whole;
    own->f = values[F].whole;
    own->byte_reset = values[BYTE_RESET].whole;
    own->time_reset = values[TIME_RESET].whole;
    own->r_ai = values[R_AI].whole;
    own->r_hai = values[R_HAI].whole;
    own->least = values[MIN_RATE].whole < line ? values[MIN_RATE].whole : line;
    if (own->alpha_at == PENSTOCK_NEVER) own->alpha = (uint64_t)(values[ALPHA0].real * 1073741824.0 + 0.5);
    if (own->current < own->least) own->current = own->least;
    if (own->target < own->current) own->target = own->current;
    answer(own, limits);
}

static void rp_create(void *point, const penstock_setup *setup, uint64_t line, penstock_limits *limits) {
    rp *own = point;
    own->line = own->current = own->target = line;
    own->alpha_at = PENSTOCK_NEVER;
    rp_configure(point, setup, line, limits);
}

/* Makes up for the intervals without CNP that have ended: alpha needs no timer. */
static void fall(rp *own, uint64_t now) {
    while (own->alpha_at + own->alpha_time <= now && own->alpha >= own->g_inverse) {
        own->alpha -= own->alpha / own->g_inverse;
        own->alpha_at += own->alpha_time;
    }
}

static void rp_on_signal(void *point, penstock_call *call, uint32_t flow, const penstock_signal *cnp, penstock_limits *limits) {
    rp *own = point;
    (void)flow, (void)cnp;
    if (own->alpha_at != PENSTOCK_NEVER) fall(own, call->now);
    /* alpha / 2 of the rate, rounded down, in two parts: the product has more than 64 bits. */
    uint64_t cut = (own->current >> 31) * own->alpha + ((own->current & INT32_MAX) * own->alpha >> 31);
    own->target = own->current;
    own->current = own->current - cut > own->least ? own->current - cut : own->least;
    own->alpha += (UINT64_C(1) << 30) / own->g_inverse - own->alpha / own->g_inverse;
    own->alpha_at = call->now;
    own->bytes = own->byte_stage = own->time_stage = 0;
    limits->timeout = call->now + own->time_reset;
    answer(own, limits);
}

static void increase(rp *own, penstock_limits *limits) {
    uint64_t slow = own->byte_stage < own->time_stage ? own->byte_stage : own->time_stage;
    uint64_t fast = own->byte_stage + own->time_stage - slow;
    if (slow > own->f) own->target += own->r_hai * (slow - own->f);
    else if (fast >= own->f) own->target += own->r_ai;
    own->current += (own->target - own->current + 1) / 2;
    if (own->current > own->line) own->current = own->line;
    answer(own, limits);
}

static void rp_on_send(void *point, penstock_call *call, const penstock_release *release, penstock_tag *tag, penstock_limits *limits) {
    rp *own = point;
    (void)call;
    tag->label = PENSTOCK_ROCE;
    if (own->current == own->line || (own->bytes += release->octets) < own->byte_reset) return;
    own->bytes = 0;
    own->byte_stage++;
    increase(own, limits);
}

static void rp_on_timer(void *point, penstock_call *call, penstock_limits *limits) {
    rp *own = point;
    own->time_stage++;
    limits->timeout = call->now + own->time_reset;
    increase(own, limits);
}

static void rp_row(const void *point, int64_t *row) {
    const rp *own = point;
    row[0] = (int64_t)own->target;
    row[1] = (int64_t)(own->alpha * 1000000 >> 30);
    row[2] = (int64_t)own->byte_stage;
    row[3] = (int64_t)own->time_stage;
}

static const penstock_scheme scheme = {
    .version = PENSTOCK_SCHEME_VERSION,
    .size = sizeof(penstock_scheme),
    .name = "dcqcn-c",
    .title = "Data Center QCN",
    .source = "Zhu et al., SIGCOMM 2015",
    .description = "Switches mark frames, destinations answer marks, sources cut their rate by an estimate of how often that happens.",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .cp_variables = cp_variables,
    .cp_variable_count = 1,
    .rp_variables = rp_variables,
    .rp_variable_count = 4,
    .cp_octets = sizeof(cp),
    .np_octets = sizeof(np),
    .rp_octets = sizeof(rp),
    .properties = PENSTOCK_SIGNALS_FORWARD | PENSTOCK_RECOVERS_ALONE | PENSTOCK_INTEGER_STATE,
    .actions = PENSTOCK_ACTION_MARKS | PENSTOCK_ACTION_NOTIFICATIONS | PENSTOCK_ACTION_CUTS | PENSTOCK_ACTION_RAISES,
    .signal_octets = 78,
    .functions = {
        .cp_create = cp_configure, .cp_configure = cp_configure, .cp_set_thresholds = cp_set_thresholds, .cp_mark = cp_mark, .cp_variables = cp_row,
        .np_create = np_create, .np_configure = np_configure, .np_on_frame = np_on_frame,
        .rp_create = rp_create, .rp_configure = rp_configure, .rp_on_signal = rp_on_signal, .rp_on_send = rp_on_send,
        .rp_on_timer = rp_on_timer, .rp_variables = rp_row,
    },
};

const penstock_scheme *penstock_scheme_describe(void) { return &scheme; }
