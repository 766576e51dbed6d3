// Penstock as the network of ASTRA-sim: one fabric for all ranks, and an AstraNetworkAPI for each.
//
//   penstock::Fabric fabric(toml, "training", nullptr);
//   penstock::Network network(fabric, rank);            // one a rank, handed to its Sys
//   ...                                                 // every workload begins
//   fabric.run();                                       // until every rank has called sim_notify_finished
//
// A message is matched by its tag, source and destination as a stream of octets: the octets of messages with one key
// fill the receives with that key in their order, whatever the sizes of either. A receive may be posted before or after
// its octets arrive. The handler of a send is called when the sender has the acknowledgement, that of a receive when
// its last octet is there. Handlers are called by run() alone, never by the function that posts them.
#ifndef PENSTOCK_NETWORK_HH
#define PENSTOCK_NETWORK_HH

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "astra-sim/common/AstraNetworkAPI.hh"
#include "penstock_engine.h"

namespace penstock {

/// A function of the caller, and its argument.
struct Handler {
    void (*function)(void*) = nullptr;
    void* argument = nullptr;

    void call() const {
        if (function != nullptr) {
            function(argument);
        }
    }
};

/// The network of a scenario, and what its ranks wait for. Errors are std::runtime_error with a sentence.
class Fabric {
  public:
    /// The network of the scenario `toml`, at time zero. The results go to the folder `out`, which must not exist, or
    /// nowhere.
    Fabric(const std::string& toml, const std::string& name, const char* out);
    ~Fabric();
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    /// The number of ranks.
    uint32_t ranks() const;

    /// Time, ps.
    uint64_t now_ps() const;

    /// A message begins; `sent` is called when it is acknowledged.
    void send(int from, int to, int tag, uint64_t octets, Handler sent);

    /// Octets are awaited; `received` is called when they have arrived.
    void receive(int from, int to, int tag, uint64_t octets, Handler received);

    /// `due` is called in `delay_ps`.
    void schedule(uint64_t delay_ps, Handler due);

    /// The workload of a rank has ended.
    void finished(int rank);

    /// Calls handlers, until every rank has finished.
    void run();

    /// Ends the run and writes its results. Returns its summary, as JSON.
    std::string finish();

  private:
    /// Tag, source, destination.
    using Key = std::tuple<int, int, int>;

    struct Message {
        Key key;
        uint64_t octets;
        Handler sent;
    };

    struct Receive {
        uint64_t missing;
        Handler received;
    };

    /// Octets that have arrived for no receive yet, or receives that wait for octets.
    struct Stream {
        uint64_t arrived = 0;
        std::deque<Receive> waiting;
    };

    void check(penstock_engine_status status) const;
    void fill(const Key& key);
    std::string waiting() const;

    penstock_engine* engine = nullptr;
    uint64_t next_id = 0;
    std::unordered_map<uint64_t, Message> messages;
    std::unordered_map<uint64_t, Handler> alarms;
    std::map<Key, Stream> streams;
    std::set<int> ended;
};

/// The network as a rank sees it.
class Network : public AstraSim::AstraNetworkAPI {
  public:
    Network(Fabric& fabric, int rank) : AstraNetworkAPI(rank), fabric(fabric) {}

    int sim_send(void* buffer, uint64_t count, int type, int dst, int tag, AstraSim::sim_request* request,
                 void (*msg_handler)(void*), void* fun_arg) override;

    int sim_recv(void* buffer, uint64_t count, int type, int src, int tag, AstraSim::sim_request* request,
                 void (*msg_handler)(void*), void* fun_arg) override;

    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void*), void* fun_arg) override;

    AstraSim::timespec_t sim_get_time() override;

    void sim_notify_finished() override { fabric.finished(rank); }

  private:
    Fabric& fabric;
};

}  // namespace penstock

#endif
