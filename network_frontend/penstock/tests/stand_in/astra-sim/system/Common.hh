// A stand-in for ASTRA-sim's header of this name, for tests: the types of AstraNetworkAPI's arguments.
#ifndef STAND_IN_ASTRA_COMMON_HH
#define STAND_IN_ASTRA_COMMON_HH

#include <cstdint>

namespace AstraSim {

enum time_type_e { SE = 0, MS, US, NS, FS };

struct timespec_t {
    time_type_e time_res;
    long double time_val;
};

struct sim_request;

}  // namespace AstraSim

#endif
