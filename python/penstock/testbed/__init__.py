"""The testbed: a scenario on Linux, with real frames, unmodified applications, and the schemes' own state machines.

Each node of the scenario is a process that reads and writes frames; each host has a network namespace of its own. The
results are those of a simulation, in the same tables::

    from penstock import Scenario
    from penstock.testbed import run

    result = run(Scenario.load("two-senders.toml"), out="results/two-senders")
    result.summary["testbed"]["valid"], result.queues

It needs Linux, and the right to make network namespaces.
"""

from penstock.testbed.faults import TestbedError
from penstock.testbed.leftovers import down
from penstock.testbed.running import run, up

__all__ = ["TestbedError", "down", "run", "up"]
