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

    from penstock import dcb, theory, wire
    from penstock._core import LimitError, OutputError, PenstockError, ScenarioError, __version__
    from penstock.arenas.arena import Arena, arena
    from penstock.arenas.arena_file import ArenaError
    from penstock.catalogue import keys, scenarios, schema, schemes
    from penstock.comparison import Comparison, compare
    from penstock.data_frames import MissingExtraError
    from penstock.errors import ArgumentError, DeviceError
    from penstock.executors.local import LocalExecutor
    from penstock.executors.ray_cluster import RayExecutor
    from penstock.open_folder import open_folder as open
    from penstock.reproduction.contents import papers
    from penstock.reproduction.paper_file import PaperError
    from penstock.reproduction.reproduce import Reproduction, reproduce
    from penstock.reproduction.search import Search, search_readings
    from penstock.result import Claim, ClaimError, FrameLossError, IdleSchemeError, Result
    from penstock.runs import RunCallbacks, printing
    from penstock.scenario import Scenario
    from penstock.sweeps.axes import SweepError
    from penstock.sweeps.sweep import Sweep, sweep
    from penstock.tuning.tuning import Tuning, tune
    from penstock.variants import Variant

__all__ = [
    "Arena",
    "ArenaError",
    "ArgumentError",
    "Claim",
    "ClaimError",
    "Comparison",
    "DeviceError",
    "FrameLossError",
    "IdleSchemeError",
    "LimitError",
    "LocalExecutor",
    "MissingExtraError",
    "OutputError",
    "PaperError",
    "PenstockError",
    "RayExecutor",
    "Reproduction",
    "Result",
    "RunCallbacks",
    "Scenario",
    "ScenarioError",
    "Search",
    "Sweep",
    "SweepError",
    "Tuning",
    "Variant",
    "__version__",
    "arena",
    "compare",
    "dcb",
    "keys",
    "open",
    "papers",
    "printing",
    "reproduce",
    "scenarios",
    "schema",
    "schemes",
    "search_readings",
    "sweep",
    "theory",
    "tune",
    "wire",
]

_HOMES = {
    "Arena": "penstock.arenas.arena",
    "ArenaError": "penstock.arenas.arena_file",
    "ArgumentError": "penstock.errors",
    "Claim": "penstock.result",
    "ClaimError": "penstock.result",
    "Comparison": "penstock.comparison",
    "LocalExecutor": "penstock.executors.local",
    "DeviceError": "penstock.errors",
    "FrameLossError": "penstock.result",
    "IdleSchemeError": "penstock.result",
    "LimitError": "penstock._core",
    "MissingExtraError": "penstock.data_frames",
    "OutputError": "penstock._core",
    "PaperError": "penstock.reproduction.paper_file",
    "PenstockError": "penstock._core",
    "RayExecutor": "penstock.executors.ray_cluster",
    "Reproduction": "penstock.reproduction.reproduce",
    "Result": "penstock.result",
    "Scenario": "penstock.scenario",
    "ScenarioError": "penstock._core",
    "Search": "penstock.reproduction.search",
    "Sweep": "penstock.sweeps.sweep",
    "SweepError": "penstock.sweeps.axes",
    "Tuning": "penstock.tuning.tuning",
    "Variant": "penstock.variants",
    "RunCallbacks": "penstock.runs",
    "printing": "penstock.runs",
    "__version__": "penstock._core",
    "arena": "penstock.arenas.arena",
    "compare": "penstock.comparison",
    "keys": "penstock.catalogue",
    "open": "penstock.open_folder",
    "papers": "penstock.reproduction.contents",
    "reproduce": "penstock.reproduction.reproduce",
    "scenarios": "penstock.catalogue",
    "schema": "penstock.catalogue",
    "schemes": "penstock.catalogue",
    "search_readings": "penstock.reproduction.search",
    "sweep": "penstock.sweeps.sweep",
    "tune": "penstock.tuning.tuning",
}

# A module-level name would hide the built-in one in its own file.
_NAMES = {"open": "open_folder"}


def __getattr__(name: str) -> "Any":
    """Import ``name`` from its home on first use (PEP 562)."""
    from importlib import import_module

    if name in ("dcb", "theory", "wire"):
        return import_module(f"penstock.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    try:
        value = getattr(import_module(home), _NAMES.get(name, name))
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package != "scipy":
            raise
        from penstock.data_frames import MissingExtraError

        raise MissingExtraError(package, "tune") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
