/* Congestion-management schemes of data-center Ethernet, and the calculators of their hardware.
 *
 * A scheme has up to three points. Events go in, decisions come out; the caller has the clock, the queue and the wire:
 *
 *      data frame + label                 data frame + label
 *   +--------------+          +------------------+          +--------------------+
 *   | penstock_rp  | =======> | penstock_cp      | =======> | penstock_np        |
 *   | at a source  |          | one a queue      |          | at the destination |
 *   +--------------+          +------------------+          +--------------------+
 *          ^                          | message                      | message, echo
 *          +--------------------------+------------------------------+
 *
 * Rules
 *   1. Times are picoseconds since a start of the caller's choice, and never go back for one object.
 *   2. Rates are bit/s, lengths octets. An Ethernet frame counts with its FCS, without preamble and gap.
 *   3. After every call of a point ask again for its next time-out, and a reaction point for its allowance. A time-out that
 *      comes early does nothing.
 *   4. A departure at time t is reported before an arrival at t. On arrival the queue's state includes the frame, unless it
 *      was dropped; on departure it does not.
 *   5. Memory is allocated in ..._create and ..._configure alone. No function throws, unwinds, blocks or prints.
 *   6. An object belongs to one thread at a time; objects share nothing. A handle may be null: the call does nothing.
 *   7. The same calls with the same random words give the same answers, here, in the simulator, and in the cores of rtl/.
 *
 * Link with -lpenstock; see docs/how-to/call-schemes-from-c.md. */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. penstock_version() is that of the library; they must be equal. */
#define PENSTOCK_VERSION 1u

/* No time, no window. */
#define PENSTOCK_NONE UINT64_MAX

typedef enum penstock_status {
    PENSTOCK_OK = 0,
    PENSTOCK_NULL = 1,              /* a pointer is null */
    PENSTOCK_UNKNOWN_SCHEME = 2,    /* no scheme of this name, or it was not built into the library */
    PENSTOCK_UNKNOWN_PARAMETER = 3, /* no such parameter or profile */
    PENSTOCK_BAD_VALUE = 4,         /* a value that is not readable, or out of its range */
    PENSTOCK_NOT_OFFERED = 5,       /* the scheme has no such point or message, or one that these structures cannot hold */
    PENSTOCK_BAD_TEXT = 6,          /* text that is not UTF-8 */
    PENSTOCK_BAD_NUMBER = 7         /* a number that no such object can have */
} penstock_status;

typedef struct penstock_scheme penstock_scheme;
typedef struct penstock_rp penstock_rp;
typedef struct penstock_cp penstock_cp;
typedef struct penstock_np penstock_np;
typedef struct penstock_rate_calculator penstock_rate_calculator;
typedef struct penstock_sampler penstock_sampler;
typedef struct penstock_token_bucket penstock_token_bucket;

/* The content of a control frame. Fields that its kind has not are 0. */
typedef enum penstock_message_kind {
    PENSTOCK_MESSAGE_NONE = 0,
    PENSTOCK_MESSAGE_CNM = 1,          /* 802.1Qau: cp, feedback, q_off, q_delta (octets) */
    PENSTOCK_MESSAGE_SMCC = 2,         /* cp, q_off, q_delta (octets) */
    PENSTOCK_MESSAGE_BCN = 3,          /* cp, q_off, q_delta (64 octets) */
    PENSTOCK_MESSAGE_RATE_PROBE = 4,   /* FECN: number, cp, rate_bps if PRESENT, RETURNED */
    PENSTOCK_MESSAGE_PATH_PROBE = 5,   /* E2CM: time_ps, q_off if PRESENT, RETURNED */
    PENSTOCK_MESSAGE_CIM = 6,          /* 802.1Qcz: number, carried */
    PENSTOCK_MESSAGE_FAIR_RATE = 7,    /* RoCC: cp, rate_bps */
    PENSTOCK_MESSAGE_SOURCE_PAUSE = 8, /* source flow control: cp, time_ps */
    PENSTOCK_MESSAGE_CNP = 9           /* RoCEv2 */
} penstock_message_kind;

#define PENSTOCK_MESSAGE_RETURNED 1u /* the destination has sent it back */
#define PENSTOCK_MESSAGE_PRESENT 2u  /* rate_bps or q_off is there */

typedef struct penstock_message {
    uint32_t kind;
    uint32_t flags;
    uint64_t cp;
    int64_t q_off;
    int64_t q_delta;
    uint64_t rate_bps;
    uint64_t time_ps;
    uint32_t feedback; /* |Fb| in 1/256 of a quantisation step, at most 64 steps */
    uint32_t number;
    uint32_t carried;
    uint32_t reserved;
} penstock_message;

#define PENSTOCK_TO_SOURCE 0u
#define PENSTOCK_TO_DESTINATION 1u
#define PENSTOCK_TO_PREVIOUS_HOP 2u
#define PENSTOCK_CLASS_DATA 0u
#define PENSTOCK_CLASS_CONTROL 1u

/* A control frame that a point sends. */
typedef struct penstock_signal {
    uint32_t to;
    uint32_t class_; /* the queue that it joins at each hop */
    uint32_t flow;
    uint32_t octets;
    penstock_message message;
} penstock_signal;

/* The caller's functions. Either may be null: then random words are 0, and signals are dropped. Neither may call the point. */
typedef struct penstock_host {
    void *context;
    uint32_t (*draw)(void *context);
    void (*send)(void *context, const penstock_signal *signal);
} penstock_host;

#define PENSTOCK_LABEL_NONE 0u
#define PENSTOCK_LABEL_CN_TAG 1u /* 802.1Qau */
#define PENSTOCK_LABEL_RLT 2u    /* BCN's rate-limited tag: cp */
#define PENSTOCK_LABEL_ECN 3u    /* RFC 3168: marked says Congestion Experienced */
#define PENSTOCK_LABEL_ROCE 4u   /* the same in a RoCEv2 packet */

/* What a data frame carries of a scheme. */
typedef struct penstock_label {
    uint32_t kind;
    uint32_t marked;
    uint64_t cp;
} penstock_label;

/* A frame that a source lets go. */
typedef struct penstock_release {
    uint32_t flow;
    uint32_t octets;
    uint64_t seq; /* octets that the flow has sent before */
    uint32_t last;
    uint32_t reserved;
} penstock_release;

#define PENSTOCK_FRAME_LAST 1u
#define PENSTOCK_FRAME_TRIMMED 2u

/* A data frame on its path. */
typedef struct penstock_frame {
    uint32_t flow;
    uint32_t octets;
    uint64_t seq;
    uint64_t sent_at_ps;
    uint32_t weight; /* 0 is taken as 1 */
    uint32_t flags;
    penstock_label label; /* a congestion point may change it */
} penstock_frame;

/* A queue at the time of a call. */
typedef struct penstock_queue {
    uint64_t octets;
    uint64_t rate_bps;
    uint64_t sent_octets;
    uint32_t frames;
    uint32_t paused;
} penstock_queue;

/* Where a congestion point is. */
typedef struct penstock_place {
    uint64_t cp; /* cnmCpId: 48 bits of address, 13 of port, 3 of priority */
    uint64_t line_bps;
    uint64_t capacity_octets;
    uint64_t phase_ps; /* offset of periodic measurements */
} penstock_place;

#define PENSTOCK_ECHO_MARKED 1u
#define PENSTOCK_ECHO_TRIMMED 2u
#define PENSTOCK_ECHO_EXHAUSTED 4u

/* What a destination says of an acknowledged frame. */
typedef struct penstock_echo {
    uint32_t flags;
    uint8_t hops;            /* switches that it has passed */
    uint8_t rx_buffer_level; /* of the destination's buffer, in 1/31 */
    uint16_t reserved;
} penstock_echo;

/* An acknowledgement for the source. */
typedef struct penstock_ack {
    uint64_t acked_octets; /* now known to have arrived */
    uint64_t lost_octets;  /* now known to be lost */
    uint64_t rtt_ps;
    penstock_echo echo;
} penstock_ack;

/* What a source may do now. */
typedef struct penstock_allowance {
    uint64_t rate_bps;      /* 0 stops it */
    uint64_t window_octets; /* that may be in flight; PENSTOCK_NONE where the scheme has no window */
} penstock_allowance;

uint32_t penstock_version(void);

/* A scheme by its name, with parameters such as "profile = hpcc-100g, k_min = 40 KB": names, ranges and profiles are those of
 * `penstock schemes NAME`. Where it is refused, `message` (which may be null) gets the reason, cut to `message_octets`. */
penstock_status penstock_scheme_create(const char *name, const char *parameters, penstock_scheme **scheme, char *message,
                                       size_t message_octets);
/* Points that were made from it go on. */
void penstock_scheme_destroy(penstock_scheme *scheme);

/* Reaction point: limits one source. (802.1Qau: RP) */
penstock_status penstock_rp_create(const penstock_scheme *scheme, uint64_t line_bps, const penstock_host *host,
                                   penstock_rp **rp);
void penstock_rp_destroy(penstock_rp *rp);
/* New parameters of the same scheme; rates, stages and timers stay. */
penstock_status penstock_rp_configure(penstock_rp *rp, const penstock_scheme *scheme);
/* The round-trip time of the empty network, before the first flow starts, by callers that know it. */
void penstock_rp_round_trip(penstock_rp *rp, uint64_t round_trip_ps);
void penstock_rp_start(penstock_rp *rp, uint64_t now_ps, uint32_t flow);
void penstock_rp_stop(penstock_rp *rp, uint64_t now_ps, uint32_t flow);
penstock_status penstock_rp_message(penstock_rp *rp, uint64_t now_ps, uint32_t flow, const penstock_message *message);
penstock_status penstock_rp_ack(penstock_rp *rp, uint64_t now_ps, uint32_t flow, const penstock_ack *ack);
void penstock_rp_silence(penstock_rp *rp, uint64_t now_ps, uint32_t flow, uint64_t lost_octets);
void penstock_rp_send(penstock_rp *rp, uint64_t now_ps, const penstock_release *frame, penstock_label *label);
void penstock_rp_timeout(penstock_rp *rp, uint64_t now_ps);
uint64_t penstock_rp_next_timeout(penstock_rp *rp);
void penstock_rp_allowance(penstock_rp *rp, penstock_allowance *allowance);
/* False before the first signal, and after the limiter's release: the rate is the line's. */
bool penstock_rp_limiting(penstock_rp *rp);

/* Congestion point: watches one output queue. (802.1Qau: CP) */
penstock_status penstock_cp_create(const penstock_scheme *scheme, const penstock_place *place, const penstock_host *host,
                                   penstock_cp **cp);
void penstock_cp_destroy(penstock_cp *cp);
penstock_status penstock_cp_configure(penstock_cp *cp, const penstock_scheme *scheme);
void penstock_cp_arrival(penstock_cp *cp, uint64_t now_ps, bool dropped, penstock_frame *frame, const penstock_queue *queue);
/* Once a frame, after its arrival or as its transmission starts; `queue_octets` includes it. */
bool penstock_cp_mark(penstock_cp *cp, uint64_t now_ps, uint64_t queue_octets, penstock_frame *frame);
void penstock_cp_transmission(penstock_cp *cp, uint64_t now_ps, penstock_frame *frame, const penstock_queue *queue);
void penstock_cp_departure(penstock_cp *cp, uint64_t now_ps, penstock_frame *frame, const penstock_queue *queue);
/* A probe towards the destination leaves; the point may write into it. */
penstock_status penstock_cp_probe_departure(penstock_cp *cp, uint64_t now_ps, penstock_message *message,
                                            const penstock_queue *queue);
void penstock_cp_timeout(penstock_cp *cp, uint64_t now_ps, const penstock_queue *queue);
uint64_t penstock_cp_next_timeout(penstock_cp *cp);

/* Notification point of one flow at its destination. (RoCEv2: NP) */
penstock_status penstock_np_create(const penstock_scheme *scheme, uint32_t flow, const penstock_host *host, penstock_np **np);
void penstock_np_destroy(penstock_np *np);
penstock_status penstock_np_configure(penstock_np *np, const penstock_scheme *scheme);
void penstock_np_frame(penstock_np *np, uint64_t now_ps, penstock_frame *frame);
/* After penstock_np_frame: whether the frame is acknowledged now. The acknowledgement covers all frames up to it. */
bool penstock_np_acknowledge(penstock_np *np, uint64_t now_ps, penstock_frame *frame, penstock_echo *echo);
penstock_status penstock_np_message(penstock_np *np, uint64_t now_ps, const penstock_message *message);
void penstock_np_timeout(penstock_np *np, uint64_t now_ps);
uint64_t penstock_np_next_timeout(penstock_np *np);

/* Parts of QCN as cores in hardware have them. Random words are arguments, used in order; beyond their end they are 0. Calls
 * answer how many they used: two at the most. */
typedef struct penstock_rate_state {
    uint64_t current_bps;
    uint64_t target_bps;
    int64_t byte_count; /* octets left of the byte counter's cycle */
    uint64_t timer_ps;  /* when the timer's cycle ends, or PENSTOCK_NONE */
    uint32_t byte_stage;
    uint32_t time_stage;
    uint32_t phase; /* 0 Fast Recovery, 1 Active Increase, 2 Hyper-Active Increase */
    uint32_t reserved;
} penstock_rate_state;

penstock_status penstock_rate_calculator_create(const penstock_scheme *qcn, uint64_t line_bps,
                                                penstock_rate_calculator **calculator);
void penstock_rate_calculator_destroy(penstock_rate_calculator *calculator);
uint32_t penstock_rate_calculator_start_timer(penstock_rate_calculator *calculator, uint64_t now_ps, const uint32_t *words,
                                              uint32_t count);
uint32_t penstock_rate_calculator_decrease(penstock_rate_calculator *calculator, uint64_t now_ps, uint32_t feedback,
                                           const uint32_t *words, uint32_t count);
uint32_t penstock_rate_calculator_count(penstock_rate_calculator *calculator, uint32_t octets, const uint32_t *words,
                                        uint32_t count);
uint32_t penstock_rate_calculator_timeout(penstock_rate_calculator *calculator, uint64_t now_ps, const uint32_t *words,
                                          uint32_t count);
void penstock_rate_calculator_state(const penstock_rate_calculator *calculator, penstock_rate_state *state);

penstock_status penstock_sampler_create(const penstock_scheme *qcn, penstock_sampler **sampler);
void penstock_sampler_destroy(penstock_sampler *sampler);
/* |Fb| as it travels, in 1/256 of a step, of a queue that had `old_octets` at the sample before. */
uint32_t penstock_sampler_feedback(const penstock_sampler *sampler, uint64_t queue_octets, uint64_t old_octets);
/* Whether the frame that comes now is sampled, while |Fb| is `steps`; `used` may be null. */
bool penstock_sampler_sample(penstock_sampler *sampler, uint32_t octets, uint32_t steps, const uint32_t *words,
                             uint32_t count, uint32_t *used);
uint32_t penstock_sampler_reload(penstock_sampler *sampler, uint32_t steps, const uint32_t *words, uint32_t count);

/* A full bucket that is refilled at whole multiples of the interval. */
penstock_status penstock_token_bucket_create(uint64_t depth_octets, uint64_t interval_ps, uint64_t granularity_bps,
                                             uint64_t rate_bps, penstock_token_bucket **bucket);
void penstock_token_bucket_destroy(penstock_token_bucket *bucket);
void penstock_token_bucket_set_rate(penstock_token_bucket *bucket, uint64_t now_ps, uint64_t rate_bps);
/* When a frame may go: now_ps or later, or PENSTOCK_NONE. */
uint64_t penstock_token_bucket_ready(penstock_token_bucket *bucket, uint64_t now_ps, uint32_t octets);
/* False, and nothing is taken, if the tokens are not there. */
bool penstock_token_bucket_take(penstock_token_bucket *bucket, uint64_t now_ps, uint32_t octets);
uint64_t penstock_token_bucket_octets(const penstock_token_bucket *bucket);

/* `base` times a number in [1 - spread, 1 + spread) that `word` draws, rounded down; `spread_2_16` is in 2^16ths. */
uint64_t penstock_jitter(uint64_t base, uint32_t spread_2_16, uint32_t word);

/* The layout, which both sides check when they are built. */
#ifdef __cplusplus
#define PENSTOCK_CHECK(condition) static_assert(condition, #condition)
#else
#define PENSTOCK_CHECK(condition) _Static_assert(condition, #condition)
#endif
PENSTOCK_CHECK(sizeof(penstock_status) == 4);
PENSTOCK_CHECK(sizeof(penstock_message) == 64 && offsetof(penstock_message, cp) == 8);
PENSTOCK_CHECK(offsetof(penstock_message, time_ps) == 40 && offsetof(penstock_message, feedback) == 48);
PENSTOCK_CHECK(sizeof(penstock_signal) == 80 && offsetof(penstock_signal, message) == 16);
PENSTOCK_CHECK(sizeof(penstock_host) == 3 * sizeof(void *) && sizeof(penstock_label) == 16);
PENSTOCK_CHECK(sizeof(penstock_release) == 24 && offsetof(penstock_release, last) == 16);
PENSTOCK_CHECK(sizeof(penstock_frame) == 48 && offsetof(penstock_frame, weight) == 24);
PENSTOCK_CHECK(offsetof(penstock_frame, label) == 32);
PENSTOCK_CHECK(sizeof(penstock_queue) == 32 && offsetof(penstock_queue, frames) == 24);
PENSTOCK_CHECK(sizeof(penstock_place) == 32 && sizeof(penstock_allowance) == 16);
PENSTOCK_CHECK(sizeof(penstock_echo) == 8 && offsetof(penstock_echo, rx_buffer_level) == 5);
PENSTOCK_CHECK(sizeof(penstock_ack) == 32 && offsetof(penstock_ack, echo) == 24);
PENSTOCK_CHECK(sizeof(penstock_rate_state) == 48 && offsetof(penstock_rate_state, byte_stage) == 32);

#ifdef __cplusplus
}
#endif

#endif
