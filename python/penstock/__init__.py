"""Penstock: a workbench for congestion management in data-center Ethernet.

A scenario is a TOML file (or the same keys as keyword arguments); a run of it is a result with Arrow tables:

    >>> import penstock
    >>> result = penstock.Scenario.named("netfpga/eight-sources-100us").run(seed=1)
    >>> result.summary["jain_index"]
    >>> result.plot("overview.png")

Numbers carry their unit: in the text of a scenario (``"150 KB"``, ``"10 Gbps"``), and at the end of the names of
columns and keys in a result (``time_s``, ``queue_octets``, ``rate_bps``).

Names are imported when they are first used, so that the command line answers before the engine and NumPy are loaded.
"""

# Known to type checkers by its name. The module typing takes long to load, and until then nothing obeys Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from penstock import theory
    from penstock._core import LimitError, OutputError, PenstockError, ScenarioError, __version__
    from penstock.catalogue import scenarios, schema, schemes
    from penstock.comparison import Comparison
    from penstock.frames import MissingExtraError
    from penstock.result import FrameLossError, Result
    from penstock.scenario import Scenario

__all__ = [
    "Comparison",
    "FrameLossError",
    "LimitError",
    "MissingExtraError",
    "OutputError",
    "PenstockError",
    "Result",
    "Scenario",
    "ScenarioError",
    "__version__",
    "scenarios",
    "schema",
    "schemes",
    "theory",
]

_HOMES = {
    "Comparison": "penstock.comparison",
    "MissingExtraError": "penstock.frames",
    "FrameLossError": "penstock.result",
    "LimitError": "penstock._core",
    "OutputError": "penstock._core",
    "PenstockError": "penstock._core",
    "Result": "penstock.result",
    "Scenario": "penstock.scenario",
    "ScenarioError": "penstock._core",
    "__version__": "penstock._core",
    "scenarios": "penstock.catalogue",
    "schema": "penstock.catalogue",
    "schemes": "penstock.catalogue",
}


def __getattr__(name: str) -> "Any":
    """Import ``name`` from its home on first use (PEP 562)."""
    from importlib import import_module

    if name == "theory":
        return import_module("penstock.theory")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
