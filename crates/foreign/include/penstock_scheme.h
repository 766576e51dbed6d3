/*
 * penstock_scheme.h - a congestion-management scheme for Penstock in C, C++, or any language with the calls of C.
 *
 * A shared library exports one function:
 *
 *     const penstock_scheme *penstock_scheme_describe(void);
 *
 * It returns a description that lasts as long as the process. The engine reads it once, and refuses the library if the description's
 * version is not PENSTOCK_SCHEME_VERSION.
 *
 *             data frame + tag                          data frame + tag
 *   +-----------------+        +----------------------+        +--------------------+
 *   | reaction point  | =====> | congestion point     | =====> | notification point |
 *   | rp: at a source |        | cp: an output queue  |        | np: of a flow, at  |
 *   +-----------------+        +----------------------+        | its destination    |
 *            ^                        | signal                 +--------------------+
 *            +------------------------+-----------------------------+ signal, acknowledgement with echo
 *
 * Rules
 *
 *  1. Units: octets, bit/s, picoseconds since the start of the run.
 *  2. A point's memory is given by the engine: as many octets as the description says, zero at first, aligned to 8. The engine may
 *     copy it and use the copy as another point, so it holds no pointer into itself. What it refers to outside, `clone` copies and
 *     `destroy` frees.
 *  3. The same calls with the same random words give the same answers. No clock, no random numbers but `draw`, no global that changes.
 *     Points of one run may be called from several threads, each point from one at a time.
 *  4. Pointers that a function gets are valid until it returns.
 *  5. `timeout` is when the point's timer runs out: PENSTOCK_NEVER for no timer. The engine clears it before it calls a timer
 *     function, which sets it again, later than now, or leaves it.
 *  6. A reaction point's rate is from 0 to the line's. A window is PENSTOCK_NO_WINDOW or at least 0; only a scheme with
 *     acknowledgements has one. A value beyond ends the run, with the name of the function.
 *  7. A function returns, and no exception leaves it. One that runs for 10 s ends the process, with its name; so does one that crashes or
 *     throws.
 *  8. `configure` has new parameters, which may equal the old ones: all state stays, and rates and windows stay within new bounds.
 *     A point without any input so far starts as `create` would make it now.
 *  9. A departure is reported before an arrival at the same time. On arrival the queue includes the frame, unless it was dropped; on
 *     departure and at the start of a transmission it does not.
 */
#ifndef PENSTOCK_SCHEME_H
#define PENSTOCK_SCHEME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PENSTOCK_SCHEME_VERSION 2u
#define PENSTOCK_NEVER UINT64_MAX
#define PENSTOCK_NO_WINDOW INT64_C(-1)
#define PENSTOCK_WORDS 4
#define PENSTOCK_PARAMETERS 64
#define PENSTOCK_VARIABLES 16

/* The value of a parameter. A choice is the index of its word, a switch 0 or 1. */
typedef union penstock_value {
    uint64_t whole;
    double real;
} penstock_value;

/* The field that a data frame carries from its source to its destination. */
typedef struct penstock_tag {
    uint64_t word[PENSTOCK_WORDS]; /* for the scheme alone */
    uint8_t label;                 /* form on the wire: PENSTOCK_BARE, as a source without a reaction point sends, _ECN, _ROCE, _CN_TAG */
    uint8_t marked;                /* 1: a queue was congested */
    uint8_t reserved[6];
} penstock_tag;
enum { PENSTOCK_BARE = 0, PENSTOCK_ECN = 1, PENSTOCK_ROCE = 2, PENSTOCK_CN_TAG = 3 };

/* The field that an acknowledgement carries back. */
typedef struct penstock_echo {
    uint64_t word[PENSTOCK_WORDS];
    uint8_t marked; /* 1: the frame was marked */
    uint8_t reserved[7];
} penstock_echo;

/* A control frame. Its recorded variables are its first words, as signed numbers. */
typedef struct penstock_signal {
    uint64_t word[PENSTOCK_WORDS];
    uint16_t octets; /* length with FCS, 64 to 1522 */
    uint8_t kind;    /* PENSTOCK_NOTIFICATION, PENSTOCK_PROBE, PENSTOCK_REPLY */
    uint8_t reserved[5];
} penstock_signal;
enum { PENSTOCK_NOTIFICATION = 0, PENSTOCK_PROBE = 1, PENSTOCK_REPLY = 2 };

/* A data frame at a congestion or notification point. */
typedef struct penstock_frame {
    uint64_t seq;      /* octets that the flow had sent before it */
    uint64_t sent_at;  /* when it was released */
    penstock_tag *tag; /* edits travel on with the frame */
    uint32_t flow;
    uint16_t octets;
    uint16_t weight;
    uint8_t last;    /* 1: the flow ends with it */
    uint8_t trimmed; /* 1: a full queue cut it down to its header */
    uint8_t dropped; /* on arrival, 1: it is lost, or its header alone goes on */
    uint8_t reserved[5];
} penstock_frame;

/* An output queue: one priority of a port. */
typedef struct penstock_queue {
    uint64_t len;  /* octets in it */
    uint64_t sent; /* octets that have left it */
    uint64_t rate; /* of the port */
    uint32_t frames;
    uint8_t paused; /* 1: flow control has stopped it */
    uint8_t reserved[3];
} penstock_queue;

/* Where a congestion point sits. */
typedef struct penstock_place {
    uint64_t cp;       /* identity, as cnmCpId of 802.1Qau */
    uint64_t line;     /* rate of the line */
    uint64_t capacity; /* size of the queue */
    uint64_t phase;    /* offset of periodic measurements */
} penstock_place;

/* Thresholds of a queue (WRED): 0 marks up to k_min, p_max at k_max, every frame beyond; a step at k_max where k_min is not below it. */
typedef struct penstock_ramp {
    uint64_t k_min, k_max; /* octets */
    uint64_t p_max;        /* probability times 2^32 */
} penstock_ramp;

/* A data frame that a reaction point lets go. */
typedef struct penstock_release {
    uint64_t seq;
    uint32_t flow;
    uint16_t octets;
    uint8_t last;
    uint8_t reserved;
} penstock_release;

/* An acknowledgement. */
typedef struct penstock_ack {
    uint64_t acked; /* octets that are now known to have arrived */
    uint64_t lost;  /* octets that are now known to be lost */
    uint64_t rtt;   /* time since the release of the acknowledged frame */
    penstock_echo echo;
} penstock_ack;

/* What a reaction point allows. The engine reads it after each call; it keeps its values from call to call. At first: the line's rate,
 * no window, no timer, and 0. */
typedef struct penstock_limits {
    int64_t rate;
    int64_t window;   /* octets in flight */
    uint64_t timeout;
    uint8_t limiting; /* 1: a rate limiter is installed */
    uint8_t gate;     /* 0: a frame goes that fits the window as a whole; 1: any, while less is in flight */
    uint8_t gap;      /* 0: a new rate stretches the rest of the gap between frames; 1: all of it */
    uint8_t reserved[5];
} penstock_limits;

/* Time, random words and signals of a call. */
typedef struct penstock_call penstock_call;
struct penstock_call {
    uint64_t now;
    /* The next random word, uniform over 2^32 values. */
    uint32_t (*draw)(penstock_call *call);
    /* Sends a signal to a point of `flow`: PENSTOCK_SOURCE, _DESTINATION or _PREVIOUS_HOP, in the queue of PENSTOCK_DATA or _CONTROL. */
    void (*send)(penstock_call *call, uint32_t to, uint32_t flow, uint32_t queue, const penstock_signal *signal);
    void *reserved[4];
};
enum { PENSTOCK_SOURCE = 0, PENSTOCK_DESTINATION = 1, PENSTOCK_PREVIOUS_HOP = 2 };
enum { PENSTOCK_DATA = 0, PENSTOCK_CONTROL = 1 };

/* What a point is made from. */
typedef struct penstock_setup {
    uint64_t user;                /* of the description */
    const penstock_value *values; /* of the parameters, in their order */
} penstock_setup;

/* The functions. One that is NULL is not called. A scheme with parameters has `configure` beside `create`; one with acknowledgements
 * has np_acknowledge and rp_on_ack; one with signals to its sources has rp_on_signal. */
typedef struct penstock_functions {
    void (*cp_create)(void *cp, const penstock_setup *, const penstock_place *, uint64_t *timeout);
    void (*cp_configure)(void *cp, const penstock_setup *, const penstock_place *, uint64_t *timeout);
    /* The scenario gives the queue its own thresholds: marks follow these from now on, whatever the parameters say. */
    void (*cp_set_thresholds)(void *cp, const penstock_ramp *);
    void (*cp_on_arrival)(void *cp, penstock_call *, penstock_frame *, const penstock_queue *, uint64_t *timeout);
    /* 1: the frame is marked now; the function writes the mark into the tag. `len` octets are in the queue, it included. */
    uint32_t (*cp_mark)(void *cp, penstock_call *, penstock_frame *, uint64_t len);
    void (*cp_on_transmission)(void *cp, uint64_t now, penstock_frame *, const penstock_queue *);
    void (*cp_on_departure)(void *cp, uint64_t now, penstock_frame *, const penstock_queue *, uint64_t *timeout);
    /* The transmission of a signal towards a destination starts: the point may edit it. */
    void (*cp_on_probe_departure)(void *cp, uint64_t now, penstock_signal *, const penstock_queue *);
    void (*cp_on_signal)(void *cp, penstock_call *, uint32_t flow, const penstock_signal *, const penstock_queue *, uint64_t *timeout);
    void (*cp_on_timer)(void *cp, penstock_call *, const penstock_queue *, uint64_t *timeout);
    void (*cp_variables)(const void *cp, int64_t *row);
    void (*np_create)(void *np, const penstock_setup *, uint32_t flow, uint64_t *timeout);
    void (*np_configure)(void *np, const penstock_setup *, uint64_t *timeout);
    void (*np_on_frame)(void *np, penstock_call *, penstock_frame *, uint64_t *timeout);
    /* Writes the echo; 0 acknowledges nothing now. The last frame of a flow must be acknowledged. */
    uint32_t (*np_acknowledge)(void *np, uint64_t now, penstock_frame *, penstock_echo *);
    void (*np_on_signal)(void *np, penstock_call *, uint32_t flow, const penstock_signal *, uint64_t *timeout);
    void (*np_on_timer)(void *np, penstock_call *, uint64_t *timeout);
    void (*rp_create)(void *rp, const penstock_setup *, uint64_t line, penstock_limits *);
    void (*rp_configure)(void *rp, const penstock_setup *, uint64_t line, penstock_limits *);
    void (*rp_on_round_trip)(void *rp, uint64_t round_trip, penstock_limits *);
    void (*rp_on_start)(void *rp, penstock_call *, uint32_t flow, penstock_limits *);
    void (*rp_on_stop)(void *rp, uint64_t now, uint32_t flow, penstock_limits *);
    void (*rp_on_signal)(void *rp, penstock_call *, uint32_t flow, const penstock_signal *, penstock_limits *);
    void (*rp_on_ack)(void *rp, penstock_call *, uint32_t flow, const penstock_ack *, penstock_limits *);
    /* No acknowledgement has come for so long that all octets in flight count as lost. */
    void (*rp_on_silence)(void *rp, uint64_t now, uint32_t flow, uint64_t lost, penstock_limits *);
    void (*rp_on_send)(void *rp, penstock_call *, const penstock_release *, penstock_tag *, penstock_limits *);
    void (*rp_on_timer)(void *rp, penstock_call *, penstock_limits *);
    void (*rp_variables)(const void *rp, int64_t *row);
    void (*clone)(void *point);
    void (*destroy)(void *point);
} penstock_functions;

/* Units of parameters. */
enum {
    PENSTOCK_OCTETS = 0,
    PENSTOCK_THRESHOLD = 1, /* a queue length, octets */
    PENSTOCK_TIME = 2,      /* ps */
    PENSTOCK_RATE = 3,      /* bit/s */
    PENSTOCK_COUNT = 4,
    PENSTOCK_REAL = 5,
    PENSTOCK_CHOICE = 6,
    PENSTOCK_SWITCH = 7
};

/* A parameter: a key of [schemes.NAME]. */
typedef struct penstock_parameter {
    const char *name;  /* small letters, digits, '_' */
    uint64_t unit;
    penstock_value standard, minimum, maximum; /* the value of a scenario without this key, and the legal range */
    const char *words; /* of a choice, separated by '|' */
    const char *source;
    const char *description;
    const char *bound; /* a limit besides the range: "at least NAME" of another parameter, "at most line" of a rate; or NULL */
    const char *when;  /* where alone it has an effect: "NAME = WORD | WORD" of a choice or a switch; or NULL */
} penstock_parameter;

/* A named set of values, which a scenario chooses by `profile`. */
typedef struct penstock_setting {
    const char *parameter;
    penstock_value value;
} penstock_setting;
typedef struct penstock_profile {
    const char *name; /* small letters, digits, '-' */
    const char *description;
    const penstock_setting *settings;
    uint64_t setting_count;
} penstock_profile;

/* A recorded variable: a column of the results. */
typedef struct penstock_variable {
    const char *name;
    const char *description;
} penstock_variable;

/* Properties. */
enum {
    PENSTOCK_ACKNOWLEDGES = 1,       /* destinations acknowledge data frames */
    PENSTOCK_SIGNALS_BACKWARD = 2,   /* congestion points send signals to sources */
    PENSTOCK_SIGNALS_FORWARD = 4,    /* destinations send signals to sources */
    PENSTOCK_REMEMBERS_FLOWS = 8,    /* a congestion point may signal another flow than that of its frame */
    PENSTOCK_NEEDS_TRIMMING = 16,    /* switches cut frames down that find no room */
    PENSTOCK_NEEDS_ORDER = 32,       /* a late frame counts as lost */
    PENSTOCK_RECOVERS_ALONE = 64,    /* without signals the rate returns to the line's */
    PENSTOCK_RAISES_ON_SIGNAL = 128, /* a signal can raise the rate */
    PENSTOCK_INTEGER_STATE = 256     /* no floating point */
};

/* Actions, which the engine counts. */
enum {
    PENSTOCK_ACTION_MARKS = 1,
    PENSTOCK_ACTION_NOTIFICATIONS = 2,
    PENSTOCK_ACTION_REPLIES = 4,
    PENSTOCK_ACTION_CUTS = 8,
    PENSTOCK_ACTION_RAISES = 16,
    PENSTOCK_ACTION_TRIMS = 32,
    PENSTOCK_ACTION_NEIGHBOUR_MESSAGES = 64
};

/* The description of a scheme. */
typedef struct penstock_scheme {
    uint32_t version;   /* PENSTOCK_SCHEME_VERSION */
    uint32_t size;      /* sizeof(penstock_scheme) */
    const char *name;   /* small letters, digits, '-'; none of Penstock's own names */
    const char *title;
    const char *source;
    const char *description;
    const penstock_parameter *parameters;
    const penstock_profile *profiles;
    const penstock_variable *cp_variables, *rp_variables, *signal_variables;
    const char *set_point; /* the threshold at which the queue is to be held, or NULL */
    uint64_t user;
    uint32_t parameter_count, cp_variable_count, rp_variable_count, signal_variable_count, profile_count;
    uint32_t cp_octets, np_octets, rp_octets; /* memory of a point */
    uint32_t properties;
    uint32_t actions;
    uint16_t tag_octets;    /* by which a tag lengthens a data frame */
    uint16_t echo_octets;   /* by which an echo lengthens an acknowledgement */
    uint16_t signal_octets; /* length of the signal that reaches a source */
    uint8_t reserved[2];
    penstock_functions functions;
} penstock_scheme;

/* The one function that a library exports. */
#if defined(_WIN32)
#define PENSTOCK_EXPORT __declspec(dllexport)
#else
#define PENSTOCK_EXPORT __attribute__((visibility("default")))
#endif
PENSTOCK_EXPORT const penstock_scheme *penstock_scheme_describe(void);

/* The layout, which both sides check when they are built. */
#ifdef __cplusplus
#define PENSTOCK_CHECK(condition) static_assert(condition, #condition)
#else
#define PENSTOCK_CHECK(condition) _Static_assert(condition, #condition)
#endif
PENSTOCK_CHECK(sizeof(void *) == 8);
PENSTOCK_CHECK(sizeof(penstock_value) == 8);
PENSTOCK_CHECK(sizeof(penstock_tag) == 40 && offsetof(penstock_tag, label) == 32 && offsetof(penstock_tag, marked) == 33);
PENSTOCK_CHECK(sizeof(penstock_echo) == 40 && offsetof(penstock_echo, marked) == 32);
PENSTOCK_CHECK(sizeof(penstock_signal) == 40 && offsetof(penstock_signal, octets) == 32 && offsetof(penstock_signal, kind) == 34);
PENSTOCK_CHECK(sizeof(penstock_frame) == 40 && offsetof(penstock_frame, tag) == 16 && offsetof(penstock_frame, flow) == 24);
PENSTOCK_CHECK(offsetof(penstock_frame, octets) == 28 && offsetof(penstock_frame, weight) == 30);
PENSTOCK_CHECK(offsetof(penstock_frame, last) == 32 && offsetof(penstock_frame, dropped) == 34);
PENSTOCK_CHECK(sizeof(penstock_queue) == 32 && offsetof(penstock_queue, frames) == 24 && offsetof(penstock_queue, paused) == 28);
PENSTOCK_CHECK(sizeof(penstock_place) == 32 && offsetof(penstock_place, phase) == 24);
PENSTOCK_CHECK(sizeof(penstock_ramp) == 24 && offsetof(penstock_ramp, p_max) == 16);
PENSTOCK_CHECK(sizeof(penstock_release) == 16 && offsetof(penstock_release, octets) == 12 && offsetof(penstock_release, last) == 14);
PENSTOCK_CHECK(sizeof(penstock_ack) == 64 && offsetof(penstock_ack, echo) == 24);
PENSTOCK_CHECK(sizeof(penstock_limits) == 32 && offsetof(penstock_limits, timeout) == 16);
PENSTOCK_CHECK(offsetof(penstock_limits, limiting) == 24 && offsetof(penstock_limits, gap) == 26);
PENSTOCK_CHECK(sizeof(penstock_call) == 56 && offsetof(penstock_call, draw) == 8 && offsetof(penstock_call, send) == 16);
PENSTOCK_CHECK(sizeof(penstock_setup) == 16 && sizeof(penstock_variable) == 16);
PENSTOCK_CHECK(sizeof(penstock_parameter) == 80 && offsetof(penstock_parameter, standard) == 16);
PENSTOCK_CHECK(offsetof(penstock_parameter, words) == 40 && offsetof(penstock_parameter, bound) == 64);
PENSTOCK_CHECK(sizeof(penstock_setting) == 16 && sizeof(penstock_profile) == 32 && offsetof(penstock_profile, settings) == 16);
PENSTOCK_CHECK(sizeof(penstock_functions) == 30 * 8);
PENSTOCK_CHECK(sizeof(penstock_scheme) == 144 + 30 * 8 && offsetof(penstock_scheme, functions) == 144);
PENSTOCK_CHECK(offsetof(penstock_scheme, profiles) == 48 && offsetof(penstock_scheme, parameter_count) == 96);
PENSTOCK_CHECK(offsetof(penstock_scheme, tag_octets) == 136);

#ifdef __cplusplus
}
#endif

#endif
