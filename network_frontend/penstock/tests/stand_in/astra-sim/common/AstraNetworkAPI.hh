// A stand-in for ASTRA-sim's header of this name, for tests: the members that PenstockNetwork.hh overrides, with their types.
// It is no copy. A build for ASTRA-sim takes the header of that project (commit 518bd51 has these signatures).
#ifndef STAND_IN_ASTRA_NETWORK_API_HH
#define STAND_IN_ASTRA_NETWORK_API_HH

#include "astra-sim/system/Common.hh"

namespace AstraSim {

class AstraNetworkAPI {
  public:
    explicit AstraNetworkAPI(int own) : rank(own) {}
    virtual ~AstraNetworkAPI() = default;

    virtual int sim_send(void*, uint64_t, int, int, int, sim_request*, void (*)(void*), void*) = 0;
    virtual int sim_recv(void*, uint64_t, int, int, int, sim_request*, void (*)(void*), void*) = 0;
    virtual void sim_schedule(timespec_t, void (*)(void*), void*) = 0;
    virtual timespec_t sim_get_time() = 0;
    virtual void sim_notify_finished() {}

    int rank;
};

}  // namespace AstraSim

#endif
