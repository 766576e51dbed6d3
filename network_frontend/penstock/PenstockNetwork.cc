// Penstock as the network of ASTRA-sim: the functions of PenstockNetwork.hh, on penstock_engine.h.
#include "PenstockNetwork.hh"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace penstock {

namespace {

/// Receives that a message about a standstill names.
constexpr size_t NAMED = 3;

/// Picoseconds of each unit of AstraSim::time_type_e, in its order.
constexpr long double PS_PER_UNIT[] = {1e12L, 1e9L, 1e6L, 1e3L, 1e-3L};

std::string between(int from, int to, int tag) {
    return "from rank " + std::to_string(from) + " to rank " + std::to_string(to) + ", tag " + std::to_string(tag);
}

}  // namespace

Fabric::Fabric(const std::string& toml, const std::string& name, const char* out) {
    if (penstock_engine_version() != PENSTOCK_ENGINE_VERSION) {
        throw std::runtime_error("libpenstock_engine has version " + std::to_string(penstock_engine_version()) +
                                 ", its header " + std::to_string(PENSTOCK_ENGINE_VERSION) +
                                 ": build both from one release");
    }
    const auto status = penstock_engine_create(toml.c_str(), name.c_str(), out, &engine);
    if (status != PENSTOCK_ENGINE_OK) {
        const std::string error = penstock_engine_error(engine);
        penstock_engine_destroy(engine);
        throw std::runtime_error(error);
    }
}

Fabric::~Fabric() {
    penstock_engine_destroy(engine);
}

uint32_t Fabric::ranks() const {
    return penstock_engine_ranks(engine);
}

uint64_t Fabric::now_ps() const {
    return penstock_engine_now(engine);
}

void Fabric::check(penstock_engine_status status) const {
    if (status != PENSTOCK_ENGINE_OK) {
        throw std::runtime_error(penstock_engine_error(engine));
    }
}

void Fabric::send(int from, int to, int tag, uint64_t octets, Handler sent) {
    check(penstock_engine_send(engine, static_cast<uint32_t>(from), static_cast<uint32_t>(to), octets, next_id));
    messages[next_id++] = {{tag, from, to}, octets, sent};
}

void Fabric::receive(int from, int to, int tag, uint64_t octets, Handler received) {
    if (octets == 0) {
        throw std::runtime_error("a receive " + between(from, to, tag) + " has no octets: it has 1 or more");
    }
    const Key key{tag, from, to};
    streams[key].waiting.push_back({octets, received});
    fill(key);
}

/// Fills the receives of a key with the octets that have arrived. Their handlers are called at this time, but not from
/// here.
void Fabric::fill(const Key& key) {
    auto& stream = streams[key];
    while (stream.arrived > 0 && !stream.waiting.empty()) {
        auto& first = stream.waiting.front();
        const auto octets = std::min(stream.arrived, first.missing);
        stream.arrived -= octets;
        first.missing -= octets;
        if (first.missing == 0) {
            schedule(0, first.received);
            stream.waiting.pop_front();
        }
    }
    if (stream.arrived == 0 && stream.waiting.empty()) {
        streams.erase(key);
    }
}

void Fabric::schedule(uint64_t delay_ps, Handler due) {
    check(penstock_engine_schedule(engine, delay_ps, next_id));
    alarms[next_id++] = due;
}

void Fabric::finished(int rank) {
    ended.insert(rank);
}

void Fabric::run() {
    while (ended.size() < ranks()) {
        penstock_engine_event event;
        check(penstock_engine_next(engine, &event));
        switch (event.kind) {
        case PENSTOCK_ENGINE_DELIVERED: {
            const auto& message = messages.at(event.id);
            const auto key = message.key;
            streams[key].arrived += message.octets;
            fill(key);
            break;
        }
        case PENSTOCK_ENGINE_ACKNOWLEDGED: {
            const auto sent = messages.at(event.id).sent;
            messages.erase(event.id);
            sent.call();
            break;
        }
        case PENSTOCK_ENGINE_ALARM: {
            const auto due = alarms.at(event.id);
            alarms.erase(event.id);
            due.call();
            break;
        }
        case PENSTOCK_ENGINE_END:
            throw std::runtime_error("the duration of the scenario has passed: a longer duration; " + waiting());
        default:
            throw std::runtime_error("nothing is under way: " + waiting());
        }
    }
}

/// Which ranks have not finished, and the first receives that wait.
std::string Fabric::waiting() const {
    const auto left = std::to_string(ranks() - ended.size());
    std::string text = left + " of " + std::to_string(ranks()) + " ranks have not finished";
    size_t named = 0;
    for (const auto& [key, stream] : streams) {
        if (!stream.waiting.empty() && named++ < NAMED) {
            const auto& [tag, from, to] = key;
            const auto missing = std::to_string(stream.waiting.front().missing);
            text += "; " + missing + " octets are missing " + between(from, to, tag);
        }
    }
    return text;
}

std::string Fabric::finish() {
    check(penstock_engine_finish(engine));
    return penstock_engine_summary(engine);
}

int Network::sim_send(void*, uint64_t count, int, int dst, int tag, AstraSim::sim_request*, void (*msg_handler)(void*),
                      void* fun_arg) {
    fabric.send(rank, dst, tag, count, {msg_handler, fun_arg});
    return 0;
}

int Network::sim_recv(void*, uint64_t count, int, int src, int tag, AstraSim::sim_request*, void (*msg_handler)(void*),
                      void* fun_arg) {
    fabric.receive(src, rank, tag, count, {msg_handler, fun_arg});
    return 0;
}

void Network::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void*), void* fun_arg) {
    const auto delay_ps = std::roundl(delta.time_val * PS_PER_UNIT[delta.time_res]);
    if (!(delay_ps >= 0 && delay_ps < 0x1p64L)) {
        throw std::runtime_error("an event is scheduled in " + std::to_string(delta.time_val) +
                                 " units of time: 0 or more, below 2^64 ps");
    }
    fabric.schedule(static_cast<uint64_t>(delay_ps), {fun_ptr, fun_arg});
}

AstraSim::timespec_t Network::sim_get_time() {
    return {AstraSim::NS, static_cast<long double>(fabric.now_ps()) / 1000};
}

}  // namespace penstock
