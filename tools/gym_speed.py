"""Measures what a step of an environment costs, and what a hop costs natively, in Python and under agents.

    python tools/gym_speed.py [--check] [--seconds 4]

The scenario has two senders and one receiver. CPU seconds count, user and system of the whole process, so that others
on the machine matter little. A hop is a frame that crosses a link. With --check the exit status says whether a core
takes 100 000 steps a second, of 20 us at 1 Gb/s, one environment alone and many together.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from penstock import Scenario, gym

LEAST_STEPS_A_SECOND = 100_000
STEP_S = 20e-6
TOGETHER = 64
PYTHON_SCHEME = f"{Path(__file__).parents[1]}/examples/foreign/dctcp.py:Dctcp"
TEXT = """\
question = "What does a step cost?"
duration = "20 ms"
scheme = "none"

[topology.star]
hosts = 3
link_rate = "{rate}"
link_delay = "1 us"
buffer = "150 KB"

[[flow]]
from = "h0..h1"
to = "h2"
"""


def main() -> int:
    """Measures, prints, and returns the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seconds", type=float, default=4.0)
    given = parser.parse_args()
    quick = True
    print("line | environment | steps/s and core")
    for rate in ("1 Gbps", "10 Gbps"):
        for name, make in ENVIRONMENTS.items():
            steps, spent_s = repeated(make(scenario(rate)), given.seconds)
            print(f"{rate} | {name} | {steps / spent_s:.0f}", flush=True)
            quick &= rate != "1 Gbps" or not name.startswith("HostRates") or steps / spent_s >= LEAST_STEPS_A_SECOND
    print("run of 10 Gb/s | ns of CPU time a hop")
    for name, make in RUNS.items():
        hops, spent_s = repeated(make(scenario("10 Gbps")), given.seconds)
        print(f"{name} | {spent_s / hops * 1e9:.0f}", flush=True)
    return 1 if given.check and not quick else 0


def scenario(rate: str) -> Scenario:
    """Returns the scenario with lines of this rate."""
    return Scenario.from_toml(TEXT.format(rate=rate), name="speed")


def repeated(call: Callable[[], int], seconds: float) -> tuple[int, float]:
    """Returns what calls add up to in this time, and their CPU seconds."""
    call()
    total, begun_s = 0, time.process_time()
    while time.process_time() - begun_s < seconds:
        total += call()
    return total, time.process_time() - begun_s


def hosts(base: Scenario) -> Callable[[], int]:
    """Episodes of one environment."""
    env = gym.HostRates(base, step_s=STEP_S)
    action = np.array([0.4, 0.5])
    return lambda: gym.play(env, lambda _: action).steps


def vector(env: Any) -> Callable[[], int]:
    """A thousand steps of many environments together."""
    env.reset(seed=1)
    actions = env.hold() * 0.45

    def steps() -> int:
        for _ in range(1000):
            env.step(actions)
        return 1000 * int(env.num_envs)

    return steps


def flows(base: Scenario) -> Callable[[], int]:
    """Episodes of an environment with an agent for each flow; each step decides for both."""
    env = gym.FlowRates(base, step_s=STEP_S)
    return lambda: gym.play(env).steps


def plain(base: Scenario, scheme: str) -> Callable[[], int]:
    """Plain runs under a scheme."""
    return lambda: hops_of(base.run(scheme=scheme).summary)


def played(base: Scenario, scheme: str) -> Callable[[], int]:
    """The same as episodes of steps, whose agent changes nothing."""
    env = gym.HostRates(base, step_s=STEP_S, scheme=scheme)
    return lambda: hops_of(gym.play(env).summary)


def scripted(base: Scenario) -> Callable[[], int]:
    """DCQCN as a scripted agent, with a step for each of its decisions."""
    env = gym.FlowRates(base, step_s=1.0, scheme="dcqcn", action="share", signals=True)
    policy = gym.Dcqcn(env)
    return lambda: hops_of(gym.play(env, policy).summary)


def hops_of(summary: Any) -> int:
    """Returns the frames that have crossed links in a run."""
    return int(summary["totals"]["packet_hops"])


ENVIRONMENTS: dict[str, Callable[[Scenario], Callable[[], int]]] = {
    "HostRates": hosts,
    f"HostRatesVector of {TOGETHER}": lambda base: vector(
        gym.HostRatesVector(base, TOGETHER, step_s=STEP_S, threads=1)
    ),
    "FlowRates, both flows at once": flows,
    f"FlowRatesVector of {TOGETHER} flows": lambda base: vector(
        gym.FlowRatesVector(base, TOGETHER, step_s=STEP_S, threads=1)
    ),
}

RUNS: dict[str, Callable[[Scenario], Callable[[], int]]] = {
    "DCTCP, native": lambda base: plain(base, "dctcp"),
    "DCTCP, a class in Python": lambda base: plain(base, PYTHON_SCHEME),
    "DCQCN, native": lambda base: plain(base, "dcqcn"),
    "DCQCN, native, in steps of 20 us": lambda base: played(base, "dcqcn"),
    "DCQCN, a scripted agent": scripted,
}

if __name__ == "__main__":
    sys.exit(main())
