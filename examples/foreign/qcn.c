/*
 * QCN (IEEE 802.1Qau) as a shared library for Penstock.
 *
 *     cc -O2 -shared -fPIC -I crates/foreign/include -o libqcn.so examples/foreign/qcn.c
 *     penstock run SCENARIO --scheme ./libqcn.so
 *
 * A queue samples its frames and sends the source of a sample |Fb| in six bits. The source cuts its rate in proportion and raises it by
 * byte counter and timer: Fast Recovery, Active Increase, Hyper-Active Increase.
 *
 * It has the readings of Penstock's profiles pan-10g and ieee-2010. Rates and halves of cycles are rounded down.
 */
#include "penstock_scheme.h"

enum {
    Q_EQ, W, SAMPLE_BASE, SAMPLE_TABLE, SAMPLE_JITTER, GD_INVERSE, MIN_DEC_FAC, THRESHOLD, FR_CYCLES, TIMER_ON, TIME_RESET, CYCLE_HALVING,
    RP_JITTER, AI_RATE, HAI_RATE, HAI_MULTIPLIER, MIN_RATE, MAX_RATE, BYTE_RESET, RL_CREATE
};
#define US UINT64_C(1000000)
#define MBPS UINT64_C(1000000)
static const penstock_parameter parameters[] = {
    {"q_eq", PENSTOCK_THRESHOLD, {26000}, {100}, {UINT32_MAX}, NULL, "cpQSp", "Set point of the queue.", NULL, NULL},
    {"w", PENSTOCK_REAL, {.real = 2}, {.real = 0}, {.real = 1024}, NULL, "cpW", "Weight of the queue's growth, rounded to 1/1024.", NULL, NULL},
    {"sample_base", PENSTOCK_OCTETS, {150000}, {10000}, {1000000000}, NULL, "cpSampleBase", "Octets between samples at |Fb| 0.", NULL, NULL},
    {"sample_table", PENSTOCK_CHOICE, {0}, {0}, {0}, "paper|harmonic", "Kabbani and Yasuda 2010 table 1; 802.1Qau", "Intervals of the table.", NULL, NULL},
    {"sample_jitter", PENSTOCK_REAL, {.real = 0.15}, {.real = 0}, {.real = 0.99}, NULL, "Kabbani and Yasuda 2010", "Spread of the intervals.", NULL, NULL},
    {"gd_inverse", PENSTOCK_COUNT, {128}, {64}, {65536}, NULL, "rpgGd", "1/Gd: |Fb| of n cuts the rate by n Gd.", NULL, NULL},
    {"rpg_min_dec_fac", PENSTOCK_COUNT, {50}, {1}, {100}, NULL, "rpgMinDecFac", "Least share that a cut leaves, in percent.", NULL, NULL},
    {"rpg_threshold", PENSTOCK_COUNT, {5}, {1}, {1000}, NULL, "rpgThreshold", "Cycles of Fast Recovery.", NULL, NULL},
    {"fr_cycles", PENSTOCK_CHOICE, {0}, {0}, {0}, "threshold|threshold-less-one", "802.1Qau figure 32-2", "Active Increase begins beyond them, or with the last.", NULL, NULL},
    {"timer_on", PENSTOCK_SWITCH, {1}, {0}, {1}, NULL, "option", "Whether the timer exists.", NULL, NULL},
    {"rpg_time_reset", PENSTOCK_TIME, {15000 * US}, {US}, {1000000000 * US}, NULL, "rpgTimeReset", "Length of a timer cycle.", NULL, "timer_on = true"},
    {"cycle_halving", PENSTOCK_CHOICE, {0}, {0}, {0}, "per-counter|hai-only", "Kabbani and Yasuda 2010", "When cycles are halved.", NULL, NULL},
    {"rp_jitter", PENSTOCK_REAL, {.real = 0.15}, {.real = 0}, {.real = 0.99}, NULL, "Kabbani and Yasuda 2010", "Spread of the cycles.", NULL, NULL},
    {"rpg_ai_rate", PENSTOCK_RATE, {5 * MBPS}, {0}, {1000000 * MBPS}, NULL, "rpgAiRate", "Step of Active Increase.", NULL, NULL},
    {"rpg_hai_rate", PENSTOCK_RATE, {50 * MBPS}, {0}, {1000000 * MBPS}, NULL, "rpgHaiRate", "Step of Hyper-Active Increase.", NULL, NULL},
    {"hai_multiplier", PENSTOCK_CHOICE, {0}, {0}, {0}, "min-count|min-count-plus-one", "Pan; 802.1Qau", "The factor of that step.", NULL, NULL},
    {"rpg_min_rate", PENSTOCK_RATE, {5 * MBPS}, {1000}, {1000000 * MBPS}, NULL, "rpgMinRate", "Least rate.", "at most line", NULL},
    {"rpg_max_rate", PENSTOCK_RATE, {0}, {0}, {10000000 * MBPS}, NULL, "rpgMaxRate", "Largest rate; 0 for the line's.", NULL, NULL},
    {"rpg_byte_reset", PENSTOCK_OCTETS, {150000}, {64}, {UINT64_C(10000000000)}, NULL, "rpgByteReset", "Octets of a byte-counter cycle.", NULL, NULL},
    {"rl_create", PENSTOCK_CHOICE, {0}, {0}, {0}, "above-set-point|any", "Pan; 802.1Qau", "The notification that makes a limiter.", NULL, NULL},
};
static const penstock_setting ieee[] = {
    {"q_eq", {26000}}, {"sample_table", {1}}, {"fr_cycles", {1}}, {"cycle_halving", {1}}, {"hai_multiplier", {1}}, {"rl_create", {1}}};
static const penstock_setting pan[] = {{"q_eq", {33000}}};
static const penstock_profile profiles[] = {
    {"ieee-2010", "IEEE 802.1Qau-2010 with the defaults of its MIB.", ieee, sizeof ieee / sizeof *ieee},
    {"pan-10g", "R. Pan's pseudo-code at 10 Gb/s.", pan, 1},
};
static const penstock_variable cp_variables[] = {
    {"fb", "quantised |Fb| of the last sample, 0 to 63"},
    {"q_old_octets", "queue length that the next q_delta refers to, octets"},
};
static const penstock_variable rp_variables[] = {
    {"target_rate_bps", "target rate TR, bit/s"},
    {"byte_stage", "cycles of the byte counter since the last notification"},
    {"time_stage", "cycles of the timer since the last notification"},
};
static const penstock_variable signal_variables[] = {
    {"fb", "quantised |Fb|, 0 to 63"},
    {"q_off_octets", "queue length less the set point, octets"},
    {"q_delta_octets", "growth of the queue since the sample before, octets"},
};

/* `base` spread evenly by a fraction with 16 fraction bits. */
static uint64_t spread(uint64_t base, uint64_t fraction, uint32_t word) {
    unsigned __int128 span = (unsigned __int128)base * fraction * 2, low = (unsigned __int128)base * (65536 - fraction);
    return (uint64_t)((low + (span * word >> 32)) >> 16);
}
static uint64_t fraction_of(double x) { return (uint64_t)(x * 65536 + 0.5); }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

typedef struct {
    uint64_t id, q_eq, jitter, intervals[8], q_old, fb;
    int64_t w, fb_max, left; /* w in 1/1024, fb_max in 1/1024 octets */
} cp;

static void cp_configure(void *point, const penstock_setup *setup, const penstock_place *place, uint64_t *timeout) {
    static const uint64_t paper[8] = {150000, 75000, 50000, 37500, 30000, 25000, 21500, 18500};
    const penstock_value *values = setup->values;
    cp *own = point;
    (void)timeout;
    own->id = place->cp;
    own->q_eq = values[Q_EQ].whole;
    own->w = (int64_t)(values[W].real * 1024 + 0.5);
    own->fb_max = (2 * own->w + 1024) * (int64_t)own->q_eq;
    own->jitter = fraction_of(values[SAMPLE_JITTER].real);
    for (unsigned k = 0; k < 8; k++)
        own->intervals[k] = values[SAMPLE_TABLE].whole ? values[SAMPLE_BASE].whole / (k + 1) : values[SAMPLE_BASE].whole * paper[k] / 150000;
}

static void cp_create(void *point, const penstock_setup *setup, const penstock_place *place, uint64_t *timeout) {
    ((cp *)point)->left = (int64_t)setup->values[SAMPLE_BASE].whole;
    cp_configure(point, setup, place, timeout);
}

static int64_t within_32_bits(int64_t x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x; }

static void cp_on_arrival(void *point, penstock_call *call, penstock_frame *frame, const penstock_queue *queue, uint64_t *timeout) {
    cp *own = point;
    (void)timeout;
    frame->tag->label = PENSTOCK_CN_TAG; /* a source without a reaction point leaves it bare */
    if ((own->left -= frame->octets) >= 0) return;
    int64_t q_off = (int64_t)queue->len - (int64_t)own->q_eq, q_delta = (int64_t)queue->len - (int64_t)own->q_old;
    int64_t congestion = q_off * 1024 + own->w * q_delta;
    if (congestion > own->fb_max) congestion = own->fb_max;
    own->fb = congestion > 0 ? (uint64_t)(congestion * 63 / own->fb_max) : 0;
    if (own->fb) {
        penstock_signal cnm = {.octets = 64, .kind = PENSTOCK_NOTIFICATION};
        cnm.word[0] = own->fb, cnm.word[3] = own->id;
        cnm.word[1] = (uint64_t)within_32_bits(q_off), cnm.word[2] = (uint64_t)within_32_bits(q_delta);
        call->send(call, PENSTOCK_SOURCE, frame->flow, PENSTOCK_CONTROL, &cnm);
    }
    own->q_old = queue->len;
    own->left = (int64_t)spread(own->intervals[own->fb / 8], own->jitter, call->draw(call));
}

static void cp_row(const void *point, int64_t *row) {
    row[0] = (int64_t)((const cp *)point)->fb;
    row[1] = (int64_t)((const cp *)point)->q_old;
}

typedef struct {
    uint64_t gd_inverse, min_dec_fac, threshold, last, time_reset, jitter, ai, hai, min_rate, max_rate, byte_reset; /* time_reset 0: no timer */
    uint64_t hai_only, plus_one, any;
    uint64_t installed, current, target, byte_stage, time_stage, timer;
    int64_t byte_count;
} rp;

static void answer(const rp *own, penstock_limits *limits) {
    limits->rate = (int64_t)own->current;
    limits->limiting = own->installed != 0;
    limits->timeout = own->timer;
}

/* Back to the largest rate, without a limiter. */
static void reset(rp *own) {
    own->installed = own->byte_stage = own->time_stage = 0;
    own->current = own->target = own->max_rate;
    own->byte_count = (int64_t)own->byte_reset;
    own->timer = PENSTOCK_NEVER;
}

static void rp_configure(void *point, const penstock_setup *setup, uint64_t line, penstock_limits *limits) {
    const penstock_value *values = setup->values;
    rp *own = point;
    own->gd_inverse = values[GD_INVERSE].whole;
    own->min_dec_fac = values[MIN_DEC_FAC].whole;
    own->threshold = values[THRESHOLD].whole;
    own->last = own->threshold - values[FR_CYCLES].whole;
    own->time_reset = values[TIMER_ON].whole ? values[TIME_RESET].whole : 0;
    own->jitter = fraction_of(values[RP_JITTER].real);
    own->ai = values[AI_RATE].whole;
    own->hai = values[HAI_RATE].whole;
    own->max_rate = values[MAX_RATE].whole ? least(values[MAX_RATE].whole, line) : line;
    own->min_rate = least(values[MIN_RATE].whole, own->max_rate);
    own->byte_reset = values[BYTE_RESET].whole;
    own->hai_only = values[CYCLE_HALVING].whole;
    own->plus_one = values[HAI_MULTIPLIER].whole;
    own->any = values[RL_CREATE].whole;
    if (own->installed) {
        own->current = least(most(own->current, own->min_rate), own->max_rate);
        own->target = most(own->target, own->min_rate);
        if (!own->time_reset) own->time_stage = 0, own->timer = PENSTOCK_NEVER;
    } else {
        reset(own);
    }
    answer(own, limits);
}

static void rp_on_signal(void *point, penstock_call *call, uint32_t flow, const penstock_signal *cnm, penstock_limits *limits) {
    rp *own = point;
    uint64_t fb = cnm->word[0], before = own->current;
    (void)flow;
    if (!fb || (!own->installed && !own->any && (int64_t)cnm->word[1] <= 0)) return;
    own->installed = 1;
    own->current = before * (own->gd_inverse - fb) / own->gd_inverse;
    own->current = most(most(own->current, before * own->min_dec_fac / 100), own->min_rate);
    if (own->byte_stage) { /* else Extra Fast Recovery keeps target rate and byte counter */
        own->target = before;
        own->byte_count = (int64_t)own->byte_reset;
    }
    own->byte_stage = own->time_stage = 0;
    own->timer = own->time_reset ? call->now + own->time_reset : PENSTOCK_NEVER;
    answer(own, limits);
}

static void increase(rp *own) {
    uint64_t slow = least(own->byte_stage, own->time_stage), fast = most(own->byte_stage, own->time_stage);
    if ((own->byte_stage == 1 || own->time_stage == 1) && own->target > 10 * own->current) {
        own->target /= 8; /* Target Rate Reduction */
    } else if (slow > own->last) {
        uint64_t stages = slow + own->plus_one;
        own->target += own->hai * (stages > own->threshold ? stages - own->threshold : 1);
    } else if (fast > own->last) {
        own->target += own->ai;
    }
    uint64_t mean = own->current / 2 + own->target / 2 + (own->current & own->target & 1);
    own->current = least(most(mean, own->min_rate), own->max_rate);
}

/* Length of a cycle after number `stage` of its counter. */
static uint64_t cycle(const rp *own, uint64_t full, uint64_t stage, penstock_call *call) {
    int halved = own->hai_only ? least(own->byte_stage, own->time_stage) > own->last : stage >= own->threshold;
    return spread(halved ? full / 2 : full, own->jitter, call->draw(call));
}

static void rp_on_send(void *point, penstock_call *call, const penstock_release *release, penstock_tag *tag, penstock_limits *limits) {
    rp *own = point;
    tag->label = PENSTOCK_CN_TAG;
    if (!own->installed) return;
    if (own->current == own->max_rate) {
        reset(own);
    } else if ((own->byte_count -= release->octets) < 0) {
        own->byte_stage++;
        increase(own);
        own->byte_count = (int64_t)cycle(own, own->byte_reset, own->byte_stage, call);
    }
    answer(own, limits);
}

static void rp_on_timer(void *point, penstock_call *call, penstock_limits *limits) {
    rp *own = point;
    own->time_stage++;
    increase(own);
    own->timer = call->now + most(cycle(own, own->time_reset, own->time_stage, call), 1);
    answer(own, limits);
}

static void rp_row(const void *point, int64_t *row) {
    const rp *own = point;
    row[0] = (int64_t)own->target;
    row[1] = (int64_t)own->byte_stage;
    row[2] = (int64_t)own->time_stage;
}

static const penstock_scheme scheme = {
    .version = PENSTOCK_SCHEME_VERSION,
    .size = sizeof(penstock_scheme),
    .name = "qcn-c",
    .title = "Quantized Congestion Notification",
    .source = "IEEE 802.1Qau-2010",
    .description = "Switches sample frames and send the source |Fb|; sources cut their rate and recover it by byte counter and timer.",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .profiles = profiles,
    .profile_count = sizeof profiles / sizeof *profiles,
    .cp_variables = cp_variables,
    .cp_variable_count = 2,
    .rp_variables = rp_variables,
    .rp_variable_count = 3,
    .signal_variables = signal_variables,
    .signal_variable_count = 3,
    .set_point = "q_eq",
    .cp_octets = sizeof(cp),
    .rp_octets = sizeof(rp),
    .properties = PENSTOCK_SIGNALS_BACKWARD | PENSTOCK_RECOVERS_ALONE | PENSTOCK_INTEGER_STATE,
    .actions = PENSTOCK_ACTION_NOTIFICATIONS | PENSTOCK_ACTION_CUTS | PENSTOCK_ACTION_RAISES,
    .signal_octets = 64,
    .functions = {
        .cp_create = cp_create, .cp_configure = cp_configure, .cp_on_arrival = cp_on_arrival, .cp_variables = cp_row,
        .rp_create = rp_configure, .rp_configure = rp_configure, .rp_on_signal = rp_on_signal, .rp_on_send = rp_on_send,
        .rp_on_timer = rp_on_timer, .rp_variables = rp_row,
    },
};

const penstock_scheme *penstock_scheme_describe(void) { return &scheme; }
