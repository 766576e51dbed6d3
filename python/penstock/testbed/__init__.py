"""The testbed: a scenario on Linux, with real frames, unmodified applications, and the schemes' own state machines.

Each node of the scenario is a process that reads and writes frames; each host has a separate network namespace. The
results are those of a simulation, in the same tables::

    from penstock import Scenario
    from penstock.testbed import run

    result = run(Scenario.load("two-senders.toml"), out="results/two-senders")
    result.summary["testbed"]["valid"], result.queues

It needs Linux, and the right to make network namespaces. ``__init__.pyi`` declares the names.
"""

from penstock.lazy_names import attach
from penstock.testbed.errors import TestbedError as TestbedError
from penstock.testbed.errors import need_linux

# Other systems lack what the other names are built on.
__getattr__, __dir__ = attach(__name__, __file__, before=need_linux)
