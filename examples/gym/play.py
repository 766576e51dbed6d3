"""Plays a workload of the arena with the policy that `train.py` has trained, beside schemes that decide themselves.

    python play.py [--weights policy.json] [--published rlcc_nn_model] [--schemes dcqcn timely ...] [--step-us 20]

The workload is `arena/permutation`, which the policy has never seen: 32 flows of 25 MB over a leaf-spine network whose
hash puts too many of them onto some lines. The judge is the arena's, the 99th percentile of slowdowns.
"""

import argparse
from pathlib import Path

from penstock import Scenario, gym
from penstock.summary import Summary
from policy import Policy, Published

SCHEMES = ("none", "qcn", "dcqcn", "timely", "swift", "hpcc", "dctcp")
SEGMENT = {"schemes.timely.segment": "1500 octets"}


def main() -> None:
    """Plays, and prints a line each."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--weights", type=Path, default=Path(__file__).with_name("policy.json")
    )
    parser.add_argument("--published", type=Path)
    parser.add_argument("--schemes", nargs="*", default=SCHEMES)
    parser.add_argument("--step-us", type=float, default=20.0)
    given = parser.parse_args()
    scenario = Scenario.named("arena/permutation")
    for scheme in given.schemes:
        show(scheme, scenario.run(scheme=scheme).summary)
    env = gym.FlowRates(
        scenario.with_({"scheme": "timely", **SEGMENT}), step_s=given.step_us * 1e-6
    )
    show("the policy", gym.play(env, Policy(given.weights)).summary)
    if given.published is not None:
        show("RL-CC's", gym.play(env, Published(given.published)).summary)


def show(name: str, summary: Summary) -> None:
    """Prints the slowdowns of a run."""
    of_all = summary["completions"][0]
    p99, mean = (
        of_all["slowdown_p99"] or float("inf"),
        of_all["slowdown_mean"] or float("inf"),
    )
    print(
        f"{name:12} p99 {p99:.2f}, mean {mean:.2f}, {of_all['completed']} of {of_all['flows']} flows, "
        f"{summary['totals']['frames_dropped']} frames dropped",
        flush=True,
    )


if __name__ == "__main__":
    main()
