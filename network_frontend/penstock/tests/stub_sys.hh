// A stub of ASTRA-sim's Sys for tests: a rank that plays its part of an all-reduce through an AstraNetworkAPI, and
// nothing else.
#ifndef STUB_SYS_HH
#define STUB_SYS_HH

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "astra-sim/common/AstraNetworkAPI.hh"

namespace stub {

/// Octets of part `at` of `parts`, which differ by one at the most.
inline uint64_t part(uint64_t octets, uint64_t parts, uint64_t at) {
    const auto end = [&](uint64_t n) { return octets / parts * n + octets % parts * n / parts; };
    return end(at + 1) - end(at);
}

/// A rank.
class Sys {
  public:
    Sys(AstraSim::AstraNetworkAPI& network, int ranks, uint64_t octets)
        : network(network), ranks(ranks), octets(octets) {}
    virtual ~Sys() = default;
    virtual void fire() = 0;

    /// When its last receive has ended, ps.
    long long last_ps = 0;

  protected:
    /// What a handler gets: the rank, and which of its receives has ended.
    struct Call {
        Sys* sys;
        int number;
    };

    virtual void received(int number) = 0;

    void send(int to, uint64_t size, int tag) {
        left++;
        network.sim_send(nullptr, size, 0, to, tag, nullptr, [](void* sys) { static_cast<Sys*>(sys)->ended(); }, this);
    }

    void receive(int from, uint64_t size, int tag, int number) {
        left++;
        calls.push_back(std::make_unique<Call>(Call{this, number}));
        const auto handler = [](void* argument) {
            const auto* call = static_cast<Call*>(argument);
            call->sys->last_ps = std::llroundl(call->sys->network.sim_get_time().time_val * 1000);
            call->sys->received(call->number);
            call->sys->ended();
        };
        network.sim_recv(nullptr, size, 0, from, tag, nullptr, handler, calls.back().get());
    }

    /// A send or a receive has ended.
    void ended() {
        if (--left == 0) {
            network.sim_notify_finished();
        }
    }

    int rank() const { return network.rank; }

    AstraSim::AstraNetworkAPI& network;
    int ranks;
    uint64_t octets;

  private:
    int left = 0;
    std::vector<std::unique_ptr<Call>> calls;
};

/// A ring: in each of 2 (n - 1) steps a part goes to the next rank, as soon as that of the step before is there. All
/// messages have one tag, so that a rank has several receives outstanding with one key.
class Ring : public Sys {
  public:
    using Sys::Sys;

    void fire() override {
        for (int step = 0; step < steps(); step++) {
            receive((rank() + ranks - 1) % ranks, size((rank() + ranks - 1) % ranks, step), TAG, step);
        }
        send((rank() + 1) % ranks, size(rank(), 0), TAG);
    }

  private:
    static constexpr int TAG = 7;

    int steps() const { return 2 * (ranks - 1); }

    uint64_t size(int of, int step) const { return part(octets, ranks, (of + 2 * ranks - 1 - step) % ranks); }

    void received(int step) override {
        if (step + 1 < steps()) {
            send((rank() + 1) % ranks, size(rank(), step + 1), TAG);
        }
    }
};

/// A rank's neighbours in a tree; -1: none.
struct Branch {
    int up = -1;
    std::array<int, 2> down{-1, -1};
};

/// The first of NCCL's two binary trees.
inline Branch first_tree(int ranks, int rank) {
    int bit = 1;
    while (bit < ranks && (rank & bit) == 0) {
        bit <<= 1;
    }
    Branch branch;
    if (rank == 0) {
        branch.down[1] = ranks > 1 ? bit >> 1 : -1;
        return branch;
    }
    const int above = (rank ^ bit) | (bit << 1);
    branch.up = above >= ranks ? rank ^ bit : above;
    int half = bit >> 1;
    branch.down[0] = half > 0 ? rank - half : -1;
    while (half > 0 && rank + half >= ranks) {
        half >>= 1;
    }
    branch.down[1] = half > 0 ? rank + half : -1;
    return branch;
}

/// Both: the second is the first one mirrored, or shifted if the number of ranks is odd.
inline std::array<Branch, 2> both_trees(int ranks, int rank) {
    const bool even = ranks % 2 == 0;
    const auto other = [=](int at) { return at < 0 ? at : even ? ranks - 1 - at : (at + 1) % ranks; };
    const auto first = first_tree(ranks, even ? ranks - 1 - rank : (rank + ranks - 1) % ranks);
    return {first_tree(ranks, rank), Branch{other(first.up), {other(first.down[0]), other(first.down[1])}}};
}

/// The double binary tree: each half of the data goes up one tree, and down again. Each tree and direction has a tag.
class DoubleTree : public Sys {
  public:
    using Sys::Sys;

    void fire() override {
        trees = both_trees(ranks, rank());
        for (int tree = 0; tree < 2; tree++) {
            for (int child : trees[tree].down) {
                if (child >= 0) {
                    receive(child, part(octets, 2, tree), 2 * tree, 2 * tree);
                    children[tree]++;
                }
            }
            if (trees[tree].up >= 0) {
                receive(trees[tree].up, part(octets, 2, tree), 2 * tree + 1, 2 * tree + 1);
            }
            if (children[tree] == 0) {
                climb(tree);
            }
        }
    }

  private:
    /// All children of the rank have sent.
    void climb(int tree) {
        if (trees[tree].up >= 0) {
            send(trees[tree].up, part(octets, 2, tree), 2 * tree);
        } else {
            descend(tree);
        }
    }

    void descend(int tree) {
        for (int child : trees[tree].down) {
            if (child >= 0) {
                send(child, part(octets, 2, tree), 2 * tree + 1);
            }
        }
    }

    /// `number` is twice the tree, and one more for the message of the parent.
    void received(int number) override {
        const int tree = number / 2;
        if (number % 2 == 1) {
            descend(tree);
        } else if (--children[tree] == 0) {
            climb(tree);
        }
    }

    std::array<Branch, 2> trees;
    std::array<int, 2> children{0, 0};
};

}  // namespace stub

#endif
