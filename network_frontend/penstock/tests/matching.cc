// How sends and receives of one key fill each other, on a scenario of two hosts: prints "ok", or the first thing that
// is wrong.
//
//   matching SCENARIO.toml
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "PenstockNetwork.hh"

namespace {

/// What has happened, in its order.
std::vector<std::string> happened;

/// A handler that notes a text, and then does something.
struct Note {
    std::string text;
    std::function<void()> then = [] {};

    static void call(void* note) {
        happened.push_back(static_cast<Note*>(note)->text);
        static_cast<Note*>(note)->then();
    }
};

void expect(const std::string& what, const std::vector<std::string>& wanted) {
    if (happened != wanted) {
        std::string text = what + ":";
        for (const auto& one : happened) {
            text += " " + one;
        }
        throw std::runtime_error(text);
    }
    happened.clear();
}

/// Two ranks on a fresh network.
struct Pair {
    penstock::Fabric fabric;
    penstock::Network zero{fabric, 0}, one{fabric, 1};

    explicit Pair(const std::string& toml) : fabric(toml, "matching", nullptr) {}

    void send(uint64_t octets, int tag, Note& note, int to = 1) {
        zero.sim_send(nullptr, octets, 0, to, tag, nullptr, Note::call, &note);
    }

    void receive(uint64_t octets, int tag, Note& note) {
        one.sim_recv(nullptr, octets, 0, 0, tag, nullptr, Note::call, &note);
    }

    void after(long double ns, Note& note) { zero.sim_schedule({AstraSim::NS, ns}, Note::call, &note); }

    /// Runs until `note` is called, which ends the workloads of both.
    void run_to(Note& note) {
        note.then = [this] {
            zero.sim_notify_finished();
            one.sim_notify_finished();
        };
        fabric.run();
    }
};

void refuses(const std::string& what, const std::string& part, const std::function<void()>& act) {
    try {
        act();
    } catch (const std::runtime_error& error) {
        if (std::string(error.what()).find(part) == std::string::npos) {
            throw std::runtime_error(what + ": " + error.what());
        }
        return;
    }
    throw std::runtime_error(what + " is not refused");
}

void all(const std::string& toml) {
    Note a{"a"}, b{"b"}, c{"c"}, sent{"sent"}, end{"end"};
    {
        // Three receives on one key, two sends: the octets fill them in order, and the third lacks some.
        Pair pair(toml);
        pair.receive(100, 7, a);
        pair.receive(150, 7, b);
        pair.receive(60, 7, c);
        pair.send(200, 7, sent);
        pair.send(100, 7, sent);
        pair.after(1e6L, end);
        pair.run_to(end);
        expect("receives in order", {"a", "b", "sent", "sent", "end"});
    }
    {
        // Octets that are there before their receives, and another tag, which gets none of them.
        Pair pair(toml);
        Note late{"late", [&] {
                      pair.receive(100, 7, a);
                      pair.receive(100, 8, c);
                      pair.receive(200, 7, b);
                  }};
        pair.send(300, 7, sent);
        pair.after(1e6L, late);
        pair.after(2e6L, end);
        pair.run_to(end);
        expect("octets first", {"sent", "late", "a", "b", "end"});
    }
    {
        // A receive that needs several messages, and events of one time in the order of their calls.
        Pair pair(toml);
        Note first{"first"}, second{"second"};
        pair.receive(300, 7, a);
        for (int i = 0; i < 3; i++) {
            pair.send(100, 7, sent);
        }
        pair.after(1e6L, first);
        pair.zero.sim_schedule({AstraSim::US, 1e3L}, Note::call, &second);
        pair.after(1e6L, end);
        pair.run_to(end);
        expect("several messages", {"a", "sent", "sent", "sent", "first", "second", "end"});
    }
    {
        // 3 GiB, which 32 bits do not hold: the receive of the last octet is not filled by a size that was cut off.
        Pair pair(toml);
        const uint64_t large = (3ULL << 30) + 5;
        pair.receive(large - 1, 7, a);
        pair.receive(1, 7, b);
        pair.send(large, 7, sent);
        b.then = [&pair] {
            const auto ns = pair.zero.sim_get_time().time_val;
            if (ns < 8e9L * 3 * 1.07L / 100 || ns > 8e9L * 3 * 1.2L / 100) {
                throw std::runtime_error("3 GiB at 100 Gb/s arrived at " + std::to_string(ns) + " ns");
            }
        };
        pair.run_to(sent);
        expect("3 GiB", {"a", "b", "sent"});
        b.then = [] {};
        sent.then = [] {};
    }
    {
        // The run ends with the last rank that has finished, and not with the first.
        Pair pair(toml);
        Note first{"first", [&pair] { pair.zero.sim_notify_finished(); }};
        pair.after(1e3L, first);
        refuses("one rank alone", "1 of 2 ranks have not finished", [&] { pair.fabric.run(); });
        pair.after(2e3L, a);
        Note last{"last", [&pair] { pair.one.sim_notify_finished(); }};
        pair.after(3e3L, last);
        pair.fabric.run();
        expect("all ranks", {"first", "a", "last"});
    }
    {
        // A workload that waits for octets that nobody sends, one that its scenario's duration ends, and wrong calls.
        Pair pair(toml);
        pair.receive(100, 9, a);
        pair.send(60, 9, sent);
        refuses("a standstill", "40 octets are missing from rank 0 to rank 1, tag 9", [&] { pair.fabric.run(); });
        pair.after(9e9L, end);
        refuses("the end", "duration", [&] { pair.fabric.run(); });
        refuses("a send after it", "ended", [&] { pair.send(1, 1, a); });
        Pair other(toml);
        refuses("no octets", "0 octets", [&] { other.send(0, 1, a); });
        refuses("a receive of none", "no octets", [&] { other.receive(0, 1, a); });
        refuses("an unknown rank", "no rank 5", [&] { other.send(1, 1, a, 5); });
        refuses("a time before now", "0 or more", [&] { other.after(-1.0L, a); });
        refuses("a wrong scenario", "q_equ", [&] { Pair wrong(toml + "\n[schemes.qcn]\nq_equ = 3\n"); });
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cerr << "matching SCENARIO.toml\n";
        return 2;
    }
    try {
        std::ifstream text(argv[1]);
        all({std::istreambuf_iterator<char>(text), std::istreambuf_iterator<char>()});
        std::cout << "ok\n";
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
