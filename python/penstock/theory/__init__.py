"""The theory of the schemes: fluid models, phase plane, sliding mode, stability; fed by the scenarios of the simulator.

Needs the extra ``theory`` (``pip install 'penstock[theory]'``).

    >>> from penstock import Scenario, theory
    >>> scenario = Scenario.named("baseline/ten-gig")
    >>> theory.margins(scenario, scheme="bcn").sides[0].phase_rad
    >>> theory.stability_map(scenario, "flows=1..40:40", "delay=20us..400us:40", scheme="bcn").plot("map.png")
    >>> theory.compare_with_packets(scenario, seeds=4).plot("overlay.png")

Packages that a function needs are imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.data_frames import MissingExtraError
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configuration, configurations

if TYPE_CHECKING:
    from penstock.theory.api import compare_with_packets, margins, phase_portrait, sliding_verdicts, stability_map
    from penstock.theory.maps import Map
    from penstock.theory.margin import MarginReport
    from penstock.theory.overlay import Overlay

__all__ = [
    "Configuration",
    "Map",
    "MarginReport",
    "Overlay",
    "UnsuitedScenarioError",
    "compare_with_packets",
    "configuration",
    "configurations",
    "margins",
    "phase_portrait",
    "sliding_verdicts",
    "stability_map",
]

_HOMES = {
    "Map": "penstock.theory.maps",
    "Overlay": "penstock.theory.overlay",
    "MarginReport": "penstock.theory.margin",
    "compare_with_packets": "penstock.theory.api",
    "margins": "penstock.theory.api",
    "phase_portrait": "penstock.theory.api",
    "sliding_verdicts": "penstock.theory.api",
    "stability_map": "penstock.theory.api",
}

_EXTRA = ("scipy",)


def __getattr__(name: str) -> Any:
    """Import ``name`` from its home on first use (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'penstock.theory' has no attribute {name!r}")
    try:
        value = getattr(import_module(home), name)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRA:
            raise
        raise MissingExtraError(package, "theory") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
