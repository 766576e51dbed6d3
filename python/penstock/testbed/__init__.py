"""The testbed: a scenario on Linux, with real frames, unmodified applications, and the schemes' own state machines.

Each node of the scenario is a process that reads and writes frames; each host has a separate network namespace. The
results are those of a simulation, in the same tables::

    from penstock import Scenario
    from penstock.testbed import run

    result = run(Scenario.load("two-senders.toml"), out="results/two-senders")
    result.summary["testbed"]["valid"], result.queues

It needs Linux, and the right to make network namespaces.
"""

from typing import TYPE_CHECKING, Any

from penstock.testbed.errors import TestbedError

if TYPE_CHECKING:
    from penstock.testbed.cleanup import down
    from penstock.testbed.runner import run, up

__all__ = ["TestbedError", "down", "run", "up"]

_HOMES = {"down": "penstock.testbed.cleanup", "run": "penstock.testbed.runner", "up": "penstock.testbed.runner"}


def __getattr__(name: str) -> Any:
    """Import ``name`` on first use: other systems than Linux lack what it is built on."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module 'penstock.testbed' has no attribute {name!r}")
    need_linux()
    return getattr(import_module(_HOMES[name]), name)


def need_linux() -> None:
    """Refuse other systems.

    Raises:
        TestbedError: the system is not Linux.
    """
    import sys

    if sys.platform != "linux":
        raise TestbedError("the testbed needs Linux: it makes network namespaces")
