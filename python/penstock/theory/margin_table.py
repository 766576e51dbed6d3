"""The margins of all schemes over flows, rates and delays, for one star: a table.

Schemes have the settings with which the arenas run them at a rate. These are a profile of their makers, or else the
constants of 10 Gb/s with lengths of queues that are the same in time. Those that need a round-trip time get that of
the star, and three of them the variant that has a model. Whether there is an equilibrium, and its phase margin,
follows from linear theory alone: nothing is integrated.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from penstock import _core
from penstock.arenas.arena_file import OWN, Competitor, read
from penstock.catalogue import schemes
from penstock.errors import ArgumentError
from penstock.scenario import Scenario
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configuration
from penstock.theory.linear_stability import margins
from penstock.theory.linearisation import is_at_rest, linearise
from penstock.theory.margin import marks_jump, modes_beside, why_confined
from penstock.theory.models import model_of
from penstock.theory.models.base import FluidModel
from penstock.theory.models.smcc import Smcc

_ROUND_TRIP = {"hpcc": "base_rtt", "powertcp": "base_rtt", "dcqcn-window": "window_time", "nscc": "network_rtt"}
"""The parameter of a scheme that is to be the round-trip time of the empty network."""

_COVERED: Mapping[str, Mapping[str, float | str | bool]] = {
    "bcn": {"drift": False},
    "timely": {"law": "patched", "beta": 0.008},
    "dcqcn": {"alpha_update": "per-cnp", "counters": "both", "decrease_time": 0.0},
}
"""Settings of a scheme for which there is a model, where those of the arena have none."""

_STAR = """question = "How far is each scheme from instability?"
duration = "10 ms"
scheme = "{scheme}"
[topology.star]
hosts = {hosts}
link_rate = "{rate}"
link_delay = "{delay}"
buffer = "64 MB"
[[flow]]
from = "h0..h{last}"
to = "h{flows}"
"""


@dataclass(frozen=True)
class Case:
    """A column of the table.

    Attributes:
        flows: sources that share a link of the star.
        rate_bps: rate of all links, bit/s.
        delay_s: delay of each link, s.
    """

    flows: int
    rate_bps: float
    delay_s: float


@dataclass(frozen=True)
class Cell:
    """The verdict of linear theory on a scheme in a case.

    Attributes:
        phase_rad: phase margin of the worse side; infinite where no frequency has a gain of 1, NaN without an
            equilibrium that has a margin.
        kind: ``margin``, ``cycle`` (the equilibrium lies on a switching line), ``jump`` (it needs more marks than p_max
            allows), or ``none``.
        reason: why there is no margin; empty where there is one.
    """

    phase_rad: float
    kind: str
    reason: str = ""


@dataclass(frozen=True)
class MarginTable:
    """The table.

    Attributes:
        cases: its columns.
        rows: for each scheme that has a model its cells, in the order of the cases.
    """

    cases: tuple[Case, ...]
    rows: dict[str, tuple[Cell, ...]]


def margin_table(flows: Sequence[int], rates: Sequence[str], delays_s: Sequence[float]) -> MarginTable:
    """Return the margins of all schemes that have a model.

    Args:
        flows: numbers of sources.
        rates: names of arenas, such as ``10g``: the rate of all lines, and the schemes' settings.
        delays_s: delays of each link, s.

    Raises:
        ArgumentError: no arena has a rate.
    """
    unknown = [rate for rate in rates if rate not in OWN]
    if unknown:
        raise ArgumentError(f"rates = {unknown[0]!r}: no arena has this rate; write {', '.join(OWN)}")
    competitors = {rate: {one.name: one for one in read(rate).competitors} for rate in rates}
    columns = [(n, rate, delay) for rate in rates for delay in delays_s for n in flows]
    named: list[str] = [entry["name"] for entry in schemes() if entry["fluid"]]
    rows = {
        name: tuple(_cell(name, competitors[rate].get(name), n, _bps(rate), delay) for n, rate, delay in columns)
        for name in named
    }
    return MarginTable(tuple(Case(n, _bps(rate), delay) for n, rate, delay in columns), rows)


def _bps(rate: str) -> float:
    return float(rate.removesuffix("g")) * 1e9


def _cell(scheme: str, competitor: Competitor | None, flows: int, rate_bps: float, delay_s: float) -> Cell:
    text = _STAR.format(
        scheme=scheme,
        hosts=flows + 1,
        rate=_core.write_quantity(rate_bps, "bit/s"),
        delay=_core.write_quantity(delay_s, "s"),
        last=flows - 1,
        flows=flows,
    )
    scenario = Scenario.from_toml(text, name="star")
    own = {} if competitor is None else competitor.settings
    for key, value in own.items():
        if key.startswith(f"schemes.{scheme}."):
            scenario.set(key, value)
    try:
        given = configuration(scenario)
        changes = dict(_COVERED.get(scheme, {}))
        if scheme in _ROUND_TRIP:
            # The trip of a frame and its acknowledgement; no shorter than the paths', as the schemes ask.
            changes[_ROUND_TRIP[scheme]] = math.ceil(given.round_trip_s * 1e9) / 1e9
        with np.errstate(all="ignore"):
            return _of(replace(given, parameters={**given.parameters, **changes}))
    except UnsuitedScenarioError as why:
        return Cell(math.nan, "none", str(why))


def _of(given: Configuration) -> Cell:
    model = model_of(given)
    without = model.why_no_margin() or _why_none(model)
    if without is not None:
        return Cell(math.nan, "cycle", without)
    confined = why_confined(model)
    if confined is not None:
        return Cell(math.nan, "none", "; ".join(confined))
    if bool(np.any(marks_jump(model))):
        return Cell(math.nan, "jump", "the equilibrium needs more marks than p_max allows")
    modes = modes_beside(model)
    if not modes or not all(bool(is_at_rest(model, mode)) for mode in modes):
        return Cell(math.nan, "none", "there is no equilibrium within the limits of queue and rates")
    return Cell(min(float(margins(linearise(model, mode)).phase_rad) for mode in modes), "margin")


def _why_none(model: FluidModel) -> str | None:
    return "the equilibrium lies on the switching lines" if isinstance(model, Smcc) else None
