// A queue that marks at random between two thresholds (RED), and sources that halve their rate: a scheme in C++.
//
//     c++ -O2 -shared -fPIC -I crates/foreign/include -o libred.so examples/foreign/red.cpp
//     penstock run SCENARIO --scheme ./libred.so

#include <algorithm>

#include "penstock_scheme.h"

namespace {

enum { K_MIN, K_MAX, STEP };
const penstock_parameter parameters[] = {
    {"k_min", PENSTOCK_THRESHOLD, {30000}, {0}, {1000000000}, nullptr, "Floyd and Jacobson 1993", "No frame is marked below.", nullptr, nullptr},
    {"k_max", PENSTOCK_THRESHOLD, {90000}, {64}, {1000000000}, nullptr, "Floyd and Jacobson 1993", "Every frame is marked above.", nullptr, nullptr},
    {"step", PENSTOCK_RATE, {5000000}, {1000}, {1000000000}, nullptr, "option", "Added to the rate with each acknowledgement.", nullptr, nullptr},
};

struct Cp {
    uint64_t low, high;
};
struct Rp {
    int64_t line, step;
};

void cp_configure(void *point, const penstock_setup *setup, const penstock_place *, uint64_t *) {
    auto *own = static_cast<Cp *>(point);
    own->low = setup->values[K_MIN].whole;
    own->high = std::max(setup->values[K_MAX].whole, own->low + 1);
}

uint32_t cp_mark(void *point, penstock_call *call, penstock_frame *frame, uint64_t len) {
    const auto *own = static_cast<const Cp *>(point);
    if (len <= own->low) return 0;
    const uint64_t share = std::min(len, own->high) - own->low;
    if (len < own->high && call->draw(call) >= (share << 32) / (own->high - own->low)) return 0;
    frame->tag->label = PENSTOCK_ECN;
    return frame->tag->marked = 1;
}

uint32_t np_acknowledge(void *, uint64_t, penstock_frame *frame, penstock_echo *echo) {
    echo->marked = frame->tag->marked;
    return 1;
}

void rp_configure(void *point, const penstock_setup *setup, uint64_t line, penstock_limits *) {
    *static_cast<Rp *>(point) = {static_cast<int64_t>(line), static_cast<int64_t>(setup->values[STEP].whole)};
}

void rp_on_ack(void *point, penstock_call *, uint32_t, const penstock_ack *ack, penstock_limits *limits) {
    const auto *own = static_cast<const Rp *>(point);
    if (ack->echo.marked) {
        limits->rate = std::max<int64_t>(limits->rate / 2, 1000000);
        limits->limiting = 1;
    } else {
        limits->rate = std::min(limits->rate + own->step, own->line);
    }
}

void rp_on_send(void *, penstock_call *, const penstock_release *, penstock_tag *tag, penstock_limits *) {
    tag->label = PENSTOCK_ECN;
}

}  // namespace

const penstock_scheme *penstock_scheme_describe(void) {
    static penstock_scheme scheme = {};
    scheme.version = PENSTOCK_SCHEME_VERSION;
    scheme.size = sizeof(penstock_scheme);
    scheme.name = "red";
    scheme.title = "Random early marking";
    scheme.source = "Floyd and Jacobson 1993";
    scheme.description = "Queues mark at random between two thresholds; a mark halves the rate.";
    scheme.parameters = parameters;
    scheme.parameter_count = sizeof parameters / sizeof *parameters;
    scheme.cp_octets = sizeof(Cp);
    scheme.rp_octets = sizeof(Rp);
    scheme.properties = PENSTOCK_ACKNOWLEDGES | PENSTOCK_RAISES_ON_SIGNAL | PENSTOCK_INTEGER_STATE;
    scheme.actions = PENSTOCK_ACTION_MARKS | PENSTOCK_ACTION_CUTS | PENSTOCK_ACTION_RAISES;
    scheme.functions.cp_create = scheme.functions.cp_configure = cp_configure;
    scheme.functions.cp_mark = cp_mark;
    scheme.functions.np_acknowledge = np_acknowledge;
    scheme.functions.rp_create = scheme.functions.rp_configure = rp_configure;
    scheme.functions.rp_on_ack = rp_on_ack;
    scheme.functions.rp_on_send = rp_on_send;
    return &scheme;
}
