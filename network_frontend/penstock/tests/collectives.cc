// Plays an all-reduce of a stub of Sys on every rank of a scenario. Prints when the last octet arrived, ps, and then
// the summary.
//
//   collectives SCENARIO.toml ring|tree OCTETS [RESULTS]
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <vector>

#include "PenstockNetwork.hh"
#include "stub_sys.hh"

namespace {

int play(const char* file, bool ring, uint64_t octets, const char* out) {
    std::ifstream text(file);
    const std::string toml{std::istreambuf_iterator<char>(text), std::istreambuf_iterator<char>()};
    penstock::Fabric fabric(toml, "collectives", out);
    const int ranks = static_cast<int>(fabric.ranks());
    std::vector<std::unique_ptr<penstock::Network>> networks;
    std::vector<std::unique_ptr<stub::Sys>> all;
    for (int rank = 0; rank < ranks; rank++) {
        networks.push_back(std::make_unique<penstock::Network>(fabric, rank));
        auto& network = *networks.back();
        if (ring) {
            all.push_back(std::make_unique<stub::Ring>(network, ranks, octets));
        } else {
            all.push_back(std::make_unique<stub::DoubleTree>(network, ranks, octets));
        }
    }
    for (auto& sys : all) {
        sys->fire();
    }
    fabric.run();
    long long last_ps = 0;
    for (const auto& sys : all) {
        last_ps = std::max(last_ps, sys->last_ps);
    }
    std::cout << last_ps << "\n" << fabric.finish() << "\n";
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::cerr << "collectives SCENARIO.toml ring|tree OCTETS [RESULTS]\n";
        return 2;
    }
    try {
        const bool ring = std::strcmp(argv[2], "ring") == 0;
        return play(argv[1], ring, std::strtoull(argv[3], nullptr, 10), argc > 4 ? argv[4] : nullptr);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
