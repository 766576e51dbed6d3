"""Maps: a metric of the theory over two parameters, and measurements of simulations at points of it.

A map of margins is one array calculation: configurations become one model whose parameters are arrays, that is
linearised, and :func:`penstock.theory.linear_stability.margins` works on all matrices at once, with NumPy or with JAX.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from penstock._core import ScenarioError, write_quantity
from penstock.catalogue import about
from penstock.scenario import Scenario
from penstock.theory.axes import Axis, apply, written
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configuration
from penstock.theory.limit_cycle import settled
from penstock.theory.linear_stability import Array, DelaySystem, margins
from penstock.theory.linearisation import is_at_rest, linearise
from penstock.theory.margin import modes_beside_each, restless, stack_models, why_confined
from penstock.theory.models import kind_of, model_of
from penstock.theory.models.base import FluidModel
from penstock.theory.planar import theorem_of

Metric = Literal["margin", "sliding", "amplitude", "utilization"]

METRICS: dict[Metric, tuple[str, str, float]] = {
    "margin": ("phase margin", "degrees", 0.0),
    "sliding": ("w/(pC) over 2T: from 1 on QCN slides from anywhere", "ratio", 1.0),
    "amplitude": ("amplitude of the queue's oscillation", "octets", np.nan),
    "utilization": ("share of the capacity that is used", "ratio", np.nan),
}
"""Metrics: meaning, unit, and the border between wanted and unwanted values."""

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from penstock.document import Flow, Schemes

Progress = Callable[[float], object]
"""Called with the share that is done."""

_NO_NUMBER = "the integration comes to no number"

Place = tuple[int, int]
Refused = dict[str, list[Place]]
"""Reasons, each with the points that have no value for it: row and column."""

_BATCH = 4000
"""Systems at a time: arrays that fit into a processor's cache, and a sign of life."""


@dataclass(frozen=True)
class Map:
    """A metric over two parameters.

    Attributes:
        scheme: name of the scheme.
        metric: which.
        x: the first parameter.
        y: the second.
        values: shape (len(y), len(x)), in the metric's unit; NaN where the model does not hold.
        refused: why, one reason for each kind of point that has no value.
        verdicts: of each point the number of its reason in ``refused``, shape of ``values``; -1 where it has a value.
    """

    scheme: str
    metric: Metric
    x: Axis
    y: Axis
    values: Array
    refused: tuple[str, ...]
    verdicts: Array

    def plot(self, path: str | PathLike[str] | None = None, *, title: str = "") -> "Figure":
        """Draw the map: colours for the metric, a line for its border; with ``path`` the figure is written there.

        Raises:
            OSError: the file cannot be written.
        """
        from penstock.figures.maps import map_figure
        from penstock.figures.style import save

        figure = map_figure(title or self.scheme, self, [])
        if path is not None:
            save(figure, Path(path))
        return figure

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        from penstock.figures.maps import map_figure

        return map_figure(self.scheme, self, [])._repr_png_()

    def __repr__(self) -> str:
        across, along = (f"{len(axis.values)} of {axis.name}" for axis in (self.x, self.y))
        return f"<Map of {METRICS[self.metric][0]}, {self.scheme!r}: {across} by {along}>"


@dataclass(frozen=True)
class Point:
    """Measurements of a packet simulation at a point of a map.

    Attributes:
        x: value of the first parameter.
        y: value of the second.
        amplitude_octets: half the distance between the longest and the shortest queue, octets.
        deviation_octets: standard deviation of the queue in time, octets.
        mean_octets: mean length of the queue, octets.
        utilization: of the bottleneck.
        value: the map's value there.
    """

    x: float
    y: float
    amplitude_octets: float
    deviation_octets: float
    mean_octets: float
    utilization: float
    value: float


def backend(name: str = "auto") -> Any:
    """The array library for margins: ``numpy``, ``jax``, or, for ``auto``, JAX where it finds a GPU.

    Raises:
        UnsuitedScenarioError: ``jax`` is asked for and not installed.
    """
    if name == "numpy":
        return np
    try:
        import jax
    except ImportError:
        if name == "jax":
            raise UnsuitedScenarioError("JAX is not installed", "pip install 'penstock[jax]', or take numpy") from None
        return np
    # To compile takes longer than NumPy takes for all of a map.
    if name == "auto" and jax.default_backend() == "cpu":
        return np
    jax.config.update("jax_enable_x64", True)
    return jax.numpy


def compute_map(
    scenario: Scenario,
    x: Axis,
    y: Axis,
    metric: Metric,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    at_s: float | None = None,
    xp: Any = np,
    progress: Progress | None = None,
) -> Map:
    """Calculate a map.

    Args:
        scenario: has the parameters that are not axes.
        x: the first axis.
        y: the second axis.
        metric: the metric to calculate.
        scheme: instead of the scenario's.
        profile: the scheme's named settings.
        at_s: the time whose period counts, s; by default the longest.
        xp: array library for margins, see :func:`backend`.
        progress: called with the share that is done.

    Raises:
        UnsuitedScenarioError: the metric has no meaning for the scheme, or no point has a model.
    """
    base = configuration(scenario, scheme=scheme, profile=profile, at_s=at_s)
    report = progress or (lambda _: None)
    if metric == "margin" and not kind_of(base.scheme).linear:
        reason = f"{base.scheme.upper()}'s equilibrium lies on its switching lines and has no margin"
        raise UnsuitedScenarioError(reason, 'take metric="amplitude"')
    if metric == "sliding" and theorem_of(base.scheme) != 2:
        raise UnsuitedScenarioError(
            f"{base.scheme}: a map of sliding is one of theorem 2, on QCN", 'take metric="amplitude"'
        )
    shape = len(y.values), len(x.values)
    grid = [(row, column) for row in range(shape[0]) for column in range(shape[1])]
    values = np.full(shape, np.nan)
    refused: Refused = {}
    configurations: dict[tuple[int, int], Configuration] = {}
    for done, (row, column) in enumerate(grid):
        try:
            configurations[row, column] = apply(
                scenario, base, {x.name: float(x.values[column]), y.name: float(y.values[row])}
            )
        except (UnsuitedScenarioError, ScenarioError) as error:
            refused.setdefault(_reason(error), []).append((row, column))
        if done % _BATCH == 0:
            report(0.2 * done / len(grid))
    if metric == "sliding":
        found = _sliding(configurations, refused)
    else:
        models: dict[tuple[int, int], FluidModel] = {}
        for done, (index, given) in enumerate(configurations.items()):
            try:
                model = model_of(given)
            except UnsuitedScenarioError as error:
                refused.setdefault(_reason(error), []).append(index)
                continue
            confined = why_confined(model)
            if confined is not None:
                refused.setdefault(confined[0], []).append(index)
            else:
                models[index] = model
            if done % _BATCH == 0:
                report(0.2 + 0.2 * done / len(grid))
        found = _measured(models, metric, xp, refused, lambda share: report(0.4 + 0.6 * share))
    if not found:
        raise UnsuitedScenarioError(f"no point of the map has a model: {next(iter(refused), 'no reason known')}")
    for index, value in found.items():
        values[index] = value
    verdicts = np.full(shape, -1)
    for number, indices in enumerate(refused.values()):
        verdicts[tuple(np.array(indices).T)] = number
    report(1.0)
    return Map(base.scheme, metric, x, y, values, tuple(refused), verdicts)


def simulate(
    scenario: Scenario,
    drawn: Map,
    side: int,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    at_s: float | None = None,
    duration_s: float = 0.2,
    seed: int = 1,
    progress: Progress | None = None,
) -> list[Point]:
    """Run the packet simulator at ``side`` times ``side`` points of a map.

    Each run is a dumbbell that has the point's configuration, see :func:`as_scenario`; it lasts ``duration_s`` seconds
    of which the second half is measured.
    """
    base = configuration(scenario, scheme=scheme, profile=profile, at_s=at_s)
    columns = np.unique(np.round(np.linspace(0, len(drawn.x.values) - 1, side + 2)[1:-1]).astype(int))
    rows = np.unique(np.round(np.linspace(0, len(drawn.y.values) - 1, side + 2)[1:-1]).astype(int))
    points = []
    for done, (row, column) in enumerate((r, c) for r in rows for c in columns):
        x, y = float(drawn.x.values[column]), float(drawn.y.values[row])
        given = apply(scenario, base, {drawn.x.name: x, drawn.y.name: y})
        result = as_scenario(given, duration_s, seed=seed).run()
        if result.interrupted:
            raise KeyboardInterrupt
        (queue,) = (entry for entry in result.summary["queues"] if entry["name"] == "sw0->sw1")
        points.append(
            Point(
                x,
                y,
                amplitude_octets=(queue["max_octets"] - queue["min_octets"]) / 2,
                deviation_octets=float(queue["std_octets"]),
                mean_octets=float(queue["mean_octets"]),
                utilization=float(queue["utilization"]),
                value=float(drawn.values[row, column]),
            )
        )
        if progress is not None:
            progress((done + 1) / (len(rows) * len(columns)))
    return points


def as_scenario(given: Configuration, duration_s: float, *, seed: int = 1) -> Scenario:
    """A dumbbell that has a configuration: the same N, C, lines, delays, buffer and parameters.

    Feedback takes its time without a frame, and the traffic of others is one flow that nothing controls.
    """
    count = round(given.flows)
    background = given.link_bps - given.capacity_bps
    wire = (given.frame_octets + given.wire_overhead_octets) * 8 / given.line_rate_bps
    latency = max(0.0, given.forward_delay_s - wire)
    sources = count + (1 if background > 0 else 0)
    receiver, frame = f"h{sources}", write_quantity(given.frame_octets, "octets")
    flows: list[Flow] = [
        {
            "name": f"s0..s{count - 1}" if count > 1 else "s0",
            "from": f"h0..h{count - 1}" if count > 1 else "h0",
            "to": receiver,
            "frame": frame,
        }
    ]
    if background > 0:
        flows.append(
            {
                "name": "others",
                "from": f"h{count}",
                "to": receiver,
                "frame": frame,
                "traffic": "constant",
                "rate": write_quantity(background, "bit/s"),
                "controlled": False,
            }
        )
    return Scenario(
        name="map",
        question="What does the packet simulator do at a point of a map?",
        duration=write_quantity(duration_s, "s"),
        warmup=write_quantity(duration_s / 2, "s"),
        seed=seed,
        scheme=given.scheme,
        schemes=cast("Schemes", {given.scheme: _parameters(given)}),
        topology={
            "dumbbell": {
                "sources": sources,
                "receivers": 1,
                "link_rate": write_quantity(given.line_rate_bps, "bit/s"),
                "bottleneck_rate": write_quantity(given.link_bps, "bit/s"),
                "link_delay": write_quantity(latency, "s"),
                "bottleneck_delay": "1 us",
                "buffer": write_quantity(given.buffer_octets, "octets"),
            }
        },
        network={
            "wire_overhead": write_quantity(given.wire_overhead_octets, "octets"),
            "feedback": {"ideal": write_quantity(given.feedback_delay_s, "s")},
        },
        flow=flows,
        record={"interval": write_quantity(duration_s / 1000, "s"), "queues": ["sw0->sw1"]},
    )


def _parameters(given: Configuration) -> dict[str, Any]:
    """The scheme's parameters as a scenario has them."""
    units = {parameter["name"]: parameter["unit"] for parameter in about(given.scheme)["parameters"]}
    return {
        name: value if isinstance(value, bool | str) else written(value, units[name])
        for name, value in given.parameters.items()
    }


def _reason(error: Exception) -> str:
    return error.message if isinstance(error, ScenarioError) else str(error)


def _sliding(configurations: dict[tuple[int, int], Configuration], refused: Refused) -> dict[Any, float]:
    from penstock.theory.sliding import verdict

    found = {}
    for index, given in configurations.items():
        try:
            sides = verdict(given).sides
        except UnsuitedScenarioError as error:
            refused.setdefault(_reason(error), []).append(index)
            continue
        cycles, weight = sides[-1].left, sides[-1].right
        found[index] = weight / cycles if cycles > 0 else np.inf
    return found


def _measured(
    models: dict[tuple[int, int], FluidModel],
    metric: Metric,
    xp: Any,
    refused: Refused,
    report: Progress,
) -> dict[Any, float]:
    """The metric of each model; models of one kind are calculated together."""
    found: dict[Any, float] = {}
    indices = list(models)
    for start in range(0, len(indices), _BATCH):
        batch = indices[start : start + _BATCH]
        wide = stack_models([models[index] for index in batch])
        share = start / len(indices)
        with np.errstate(all="ignore"):
            if metric == "margin":
                values = _phase_degrees(wide, xp)
            else:
                part = len(batch) / len(indices)
                ends = settled(wide, progress=partial(_report, report, share, part))
                values = ends.amplitude_octets if metric == "amplitude" else ends.utilization
        found |= zip(batch, values.tolist(), strict=True)
        blank = np.isnan(values)
        if blank.any():
            for index, why in zip(
                batch, restless(wide) if metric == "margin" else [_NO_NUMBER] * len(batch), strict=True
            ):
                if np.isnan(found[index]):
                    refused.setdefault(why, []).append(index)
        report((start + len(batch)) / len(indices))
    return found


def _report(report: Progress, before: float, part: float, share: float) -> None:
    report(before + part * share)


def _phase_degrees(wide: FluidModel, xp: Any) -> Array:
    """The least phase margin of the modes beside each equilibrium, degrees, within a turn; NaN where there is none."""
    least: Array = np.array(np.inf)
    for mode, here in enumerate(modes_beside_each(wide)):
        if not np.any(here):
            continue
        phase = np.where(is_at_rest(wide, mode), _phase_rad(linearise(wide, mode), xp), np.nan)
        least = np.where(here, np.minimum(least, phase), least)
    return np.clip(np.degrees(least), -180.0, 180.0)


def _phase_rad(system: DelaySystem, xp: Any) -> Array:
    def phase(instant: Any, delayed: Any, delay_s: Any) -> Any:
        return margins(DelaySystem(instant, delayed, delay_s), xp).phase_rad

    if xp is not np:
        import jax

        phase = jax.jit(phase)
    return np.asarray(phase(*(xp.asarray(part) for part in (system.instant, system.delayed, system.delay_s))))
