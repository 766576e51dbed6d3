/*
 * A scheme in C to start from: a window that grows by a segment a round trip and that a loss halves.
 *
 *     cc -O2 -shared -fPIC -I crates/foreign/include -o libaimd.so examples/foreign/aimd.c
 *     penstock run SCENARIO --scheme ./libaimd.so
 */
#include "penstock_scheme.h"

enum { SEGMENT };
static const penstock_parameter parameters[] = {
    {.name = "segment",
     .unit = PENSTOCK_OCTETS,
     .standard = {1500},
     .minimum = {64},
     .maximum = {16384},
     .source = "RFC 5681, section 3.1, SMSS",
     .description = "Octets of a segment."},
};

/* The memory of a reaction point. */
typedef struct {
    uint64_t segment, window;
} rp;

static void rp_configure(void *point, const penstock_setup *setup, uint64_t line, penstock_limits *limits) {
    rp *own = point;
    (void)line;
    own->segment = setup->values[SEGMENT].whole;
    if (own->window < own->segment) own->window = own->segment;
    limits->window = (int64_t)own->window;
}

static void rp_create(void *point, const penstock_setup *setup, uint64_t line, penstock_limits *limits) {
    ((rp *)point)->window = 10 * setup->values[SEGMENT].whole;
    rp_configure(point, setup, line, limits);
}

static void rp_on_ack(void *point, penstock_call *call, uint32_t flow, const penstock_ack *ack, penstock_limits *limits) {
    rp *own = point;
    (void)call, (void)flow;
    if (ack->lost > 0) {
        own->window = own->window / 2 > own->segment ? own->window / 2 : own->segment;
        limits->limiting = 1;
    } else {
        own->window += own->segment * ack->acked / own->window;
    }
    limits->window = (int64_t)own->window;
}

static uint32_t np_acknowledge(void *point, uint64_t now, penstock_frame *frame, penstock_echo *echo) {
    (void)point, (void)now, (void)frame, (void)echo;
    return 1; /* every frame */
}

static const penstock_scheme scheme = {
    .version = PENSTOCK_SCHEME_VERSION,
    .size = sizeof(penstock_scheme),
    .name = "aimd",
    .title = "Additive increase, multiplicative decrease",
    .source = "Chiu and Jain 1989",
    .description = "A loss halves the window, a round trip without one adds a segment.",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .rp_octets = sizeof(rp),
    .properties = PENSTOCK_ACKNOWLEDGES | PENSTOCK_NEEDS_ORDER | PENSTOCK_INTEGER_STATE,
    .actions = PENSTOCK_ACTION_CUTS | PENSTOCK_ACTION_RAISES,
    .functions = {
        .np_acknowledge = np_acknowledge, .rp_create = rp_create, .rp_configure = rp_configure, .rp_on_ack = rp_on_ack},
};

const penstock_scheme *penstock_scheme_describe(void) { return &scheme; }
