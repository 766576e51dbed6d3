"""Tables of the theory for the page of the laboratory, which interpolates them: margins, switching lines, trajectories.

The page runs in a browser, and the models are Python. They are not written a second time. For a scenario of its gallery
this module calculates the models over every pair of parameters, on a grid around the scenario's own values. The
page reads between the nodes. So there is one source for each formula. The price is that the page knows what is on the
grid: with more than two parameters away from the scenario's values it has no answer, and says which command has one.

Values are interpolated in the logarithms of both parameters. Switching lines are products of powers of most parameters,
so that the logarithms of their numbers are interpolated, and few nodes are enough.

`python tools/lab_tables.py FOLDER` writes them: a file for each scenario of lab/gallery.json and each scheme of its
`theory`, FOLDER/SCENARIO.SCHEME.json. `make lab` calls it.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from penstock.catalogue import about
from penstock.declared import Description
from penstock.scenario import Scenario
from penstock.theory import delay_integrator, hybrid_integrator
from penstock.theory.axes import Axis, apply, meaning
from penstock.theory.configuration import BITS_PER_OCTET, Configuration, UnsuitedScenarioError, configuration
from penstock.theory.linear_stability import Array
from penstock.theory.maps import compute_map
from penstock.theory.models import MODELS, kind_of, model_of
from penstock.theory.models.base import FluidModel
from penstock.theory.phase import follow
from penstock.theory.planar import plane_of, round_s, theorem_of

ROOT = Path(__file__).resolve().parent.parent

FACTOR = 20.0
"""The factor by which an axis goes down and up from the scenario's value, within the parameter's range."""

HALF = 12
"""Steps of an axis from the scenario's value to an end."""

_PATH_FACTORS = (0.25, 0.5, 2.0, 4.0)
_PATH_AXES = 5
_PATH_POINTS = 120
_SCALES = 60
_STEPS_A_SCALE = 4
_SHORT = 0.1
# The fields of a configuration that have axes; the others follow from the network, which the page does not change.
_FIELDS = ("flows", "capacity_bps", "round_trip_s")


def tables(scenario: Scenario, scheme: str | None = None) -> dict[str, Any]:
    """Return the tables of a scenario under its scheme or another one, as JSON has them.

    Keys: ``scheme``; ``queue``, the bottleneck; ``model`` and ``omits``; ``network``, of which the tables hold;
    ``parameters`` of the scheme; ``background_bps``, the part of others at the bottleneck; ``axes``, each with
    ``name``, ``unit``, ``base`` and ``values``; ``idle``, parameters that the model leaves out; ``maps``, one for each
    pair of axes, with ``values`` (phase margin, degrees; null where there is none) and the reasons for nulls; ``why``,
    where there are no margins. ``lines``: for each switching line a q + b y = c, with q the queue in octets and y the
    excess of all rates in bit/s. ``paths``: trajectories from an empty queue and sources at line rate, pairs of q
    and y.

    Raises:
        UnsuitedScenarioError: no model describes the scenario.
    """
    base = configuration(scenario, scheme=scheme)
    model = model_of(base, _first_form(base.scheme))
    axes, idle = _axes(scenario, base)
    pairs = list(combinations(range(len(axes)), 2))
    linear = kind_of(base.scheme).linear
    maps = [_map(scenario, base, axes, pair) for pair in pairs] if linear else []
    why = "" if linear else f"{base.scheme.upper()} has its equilibrium on its switching lines, and no margin there"
    return {
        "scheme": base.scheme,
        "queue": base.queue,
        "model": f"{model.form}: {model.source}",
        "omits": list(model.omits),
        "network": network_of(scenario.describe(scheme=scheme), base.queue),
        "parameters": dict(base.parameters),
        "background_bps": base.link_bps - base.capacity_bps,
        "axes": [
            {"name": axis.name, "unit": axis.unit, "base": _value(base, axis.name), "values": axis.values.tolist()}
            for axis in axes
        ],
        "idle": idle,
        "why": why,
        "maps": maps,
        "lines": _lines(scenario, base, axes, pairs),
        "paths": _paths(scenario, base, axes),
    }


def network_of(plan: Description, queue: str) -> dict[str, Any]:
    """Return the properties of a plan that tables hold for, at any rate of the bottleneck and under any flows."""
    flows = {
        f"{','.join(hop['link'] for hop in flow['hops'])} {flow['frame_octets']}"
        for flow in plan["flows"]
        if flow["controlled"]
    }
    links = [
        [
            link["name"],
            0 if link["name"] == queue else link["rate_bps"],
            link["latency_s"],
            link["buffer_octets"],
            link["buffer_frames"],
        ]
        for link in plan["links"]
    ]
    return {
        "feedback_s": plan["feedback_s"],
        "wire_overhead_octets": plan["wire_overhead_octets"],
        "links": links,
        "flows": sorted(flows),
    }


def _first_form(scheme: str) -> str:
    return next(model.form for model in MODELS if model.scheme == scheme)


def _value(given: Configuration, name: str) -> float:
    return float(getattr(given, name)) if name in _FIELDS else given.number(name)


# Axes.


def _axes(scenario: Scenario, base: Configuration) -> tuple[list[Axis], list[str]]:
    """Return the axes, and the parameters that change nothing in the model."""
    ranges = {
        entry["name"]: (float(entry["minimum"]), float(entry["maximum"]))
        for entry in about(base.scheme)["parameters"]
        if entry["minimum"] is not None and entry["maximum"] is not None
    }
    tuned = {name for names in about(base.scheme)["tuned"] for name in names}
    axes = [_axis(base, name, 1.0 if name == "flows" else 0.0, np.inf) for name in _FIELDS if _value(base, name) > 0]
    idle = []
    for name, (least, most) in ranges.items():
        if base.number(name) <= 0:
            continue
        axis = _axis(base, name, least, most)
        try:
            if _is_idle(scenario, base, axis):
                idle.append(name)
            elif name in tuned:
                axes.append(axis)
        except UnsuitedScenarioError:
            # It may not change alone: the page takes it as it is.
            continue
    return axes, idle


def _axis(base: Configuration, name: str, least: float, most: float) -> Axis:
    value, unit = _value(base, name), meaning(name, base.scheme)[1]
    low, high = max(least, value / FACTOR), min(most, value * FACTOR)
    values = np.concatenate([np.geomspace(low, value, HALF + 1)[:-1], [value], np.geomspace(value, high, HALF + 1)[1:]])
    return Axis(name, name, unit, np.unique(np.round(values)) if unit == "count" else np.unique(values), log=True)


def _is_idle(scenario: Scenario, base: Configuration, axis: Axis) -> bool:
    """Whether a parameter changes no margin, switching line or trajectory from one end of its axis to the other.

    Raises:
        UnsuitedScenarioError: at neither end, or at one of them, is there a model.
    """
    if kind_of(base.scheme).linear:
        alone = Axis("flows", "flows", "count", np.array([float(base.flows)]), log=True)
        ends = replace(axis, values=axis.values[[0, -1]])
        margins = compute_map(scenario, ends, alone, "margin", scheme=base.scheme).values[0]
        if not np.array_equal(margins, np.resize(margins[:1], 2), equal_nan=True):
            return False
    low, high = (
        replace(base, parameters={**base.parameters, axis.name: float(value)}) for value in axis.values[[0, -1]]
    )
    return lines_of(low) == lines_of(high) and path_of(low) == path_of(high)


# Margins.


def _map(scenario: Scenario, base: Configuration, axes: Sequence[Axis], pair: tuple[int, int]) -> dict[str, Any]:
    x, y = (axes[place] for place in pair)
    try:
        drawn = compute_map(scenario, x, y, "margin", scheme=base.scheme)
    except UnsuitedScenarioError as why:
        return {"x": pair[0], "y": pair[1], "values": [], "verdicts": [], "refused": [str(why)]}
    values = [[None if np.isnan(value) else round(float(value), 1) for value in row] for row in drawn.values]
    verdicts = drawn.verdicts.tolist() if drawn.refused else []
    return {"x": pair[0], "y": pair[1], "values": values, "verdicts": verdicts, "refused": list(drawn.refused)}


# Switching lines.

Line = tuple[float, float, float]
"""(a, b, c) of a q + b y = c: q is the queue, octets, y the excess of all rates over the capacity, bit/s."""


def _lines(
    scenario: Scenario, base: Configuration, axes: Sequence[Axis], pairs: Sequence[tuple[int, int]]
) -> list[dict[str, Any]]:
    """Return each switching line with its numbers at the base, and on few nodes of each pair where they change."""
    found: list[dict[str, Any]] = [
        {"name": name, "base": list(line), "grids": []} for name, line in lines_of(base).items()
    ]
    for pair in pairs:
        x, y = (axes[place] for place in pair)
        nodes = [[_lines_at(scenario, base, {x.name: along, y.name: up}) for along in few(x)] for up in few(y)]
        for entry in found:
            rows = [[node.get(entry["name"]) for node in row] for row in nodes]
            known = [node for row in rows for node in row if node is not None]
            if not all(np.allclose(node, entry["base"], rtol=1e-9) for node in known):
                values = [[_short(node) for node in row] for row in rows]
                grid = {"x": pair[0], "y": pair[1], "xs": few(x).tolist(), "ys": few(y).tolist(), "values": values}
                entry["grids"].append(grid)
    return found


def _lines_at(scenario: Scenario, base: Configuration, settings: Mapping[str, float]) -> dict[str, Line]:
    try:
        return lines_of(apply(scenario, base, settings))
    except UnsuitedScenarioError:
        return {}


def _short(node: Line | None) -> list[float] | None:
    return None if node is None else [float(f"{part:.7g}") for part in node]


def few(axis: Axis) -> Array:
    """Return the nodes of an axis at which the numbers of switching lines are tabled: nine, both ends among them."""
    places = np.unique(np.round(np.linspace(0, len(axis.values) - 1, 9)).astype(int))
    chosen: Array = axis.values[places]
    return chosen


def lines_of(given: Configuration) -> dict[str, Line]:
    """Return the switching lines of a configuration, by their names.

    Those of the planar model where the scheme has one; of other models the tangents at the equilibrium.
    """
    if theorem_of(given.scheme) is None:
        model = model_of(given, _first_form(given.scheme))
        lines = {name: _tangent(given, model, number) for number, name in enumerate(model.lines)}
        return {name: line for name, line in lines.items() if line is not None}
    plane = plane_of(given)
    model = model_of(given, _first_form(given.scheme))
    point = float(np.max(np.asarray(model.set_point_octets())))
    if plane.on_axes:
        return {"offset": (1.0, 0.0, point), "growth": (0.0, 1.0, 0.0)}
    by_x, by_y = plane.gradient(0.0, 0.0)
    wire = BITS_PER_OCTET * (given.frame_octets + given.wire_overhead_octets)
    return {"Fb": (1.0, float(by_y / by_x) * given.frame_octets / wire, point)}


def _tangent(given: Configuration, model: FluidModel, number: int) -> Line | None:
    """Return a switching line of a model where it passes its equilibrium, or None if it passes elsewhere."""
    rest = np.array(model.state_at_rest(), dtype=float)
    rate, queue = given.capacity_bps / given.flows, float(rest[0])
    if not 0 < queue < given.buffer_octets:
        return None

    def switch(q: float, y: float) -> float:
        state = rest.copy()
        state[0], state[1] = q, rate + y / given.flows
        return float(model.switches(state, (state,) * len(model.delays_s))[number])

    # Central differences over a thousandth of queue and capacity.
    dq, dy = 1e-3 * max(queue, given.frame_octets), 1e-3 * given.capacity_bps
    by_q = (switch(queue + dq, 0.0) - switch(queue - dq, 0.0)) / (2 * dq)
    by_y = (switch(queue, dy) - switch(queue, -dy)) / (2 * dy)
    if not (np.isfinite(by_q) and np.isfinite(by_y)) or by_q == by_y == 0:
        return None
    if by_q == 0:
        return 0.0, 1.0, -switch(queue, 0.0) / by_y
    return 1.0, float(by_y / by_q), queue - switch(queue, 0.0) / by_q


# Trajectories.


def _paths(scenario: Scenario, base: Configuration, axes: Sequence[Axis]) -> list[dict[str, Any]]:
    paths: list[dict[str, Any]] = [{"axis": None, "value": None, "points": path_of(base)}]
    for place, axis in enumerate(axes[:_PATH_AXES]):
        if axis.name == "round_trip_s":
            continue
        for factor in _PATH_FACTORS:
            value = _value(base, axis.name) * factor
            if axis.unit == "count":
                value = round(value)
            if not axis.values[0] <= value <= axis.values[-1] or value == _value(base, axis.name):
                continue
            try:
                points = path_of(apply(scenario, base, {axis.name: value}))
            except UnsuitedScenarioError:
                continue
            paths.append({"axis": place, "value": value, "points": points})
    return paths


def path_of(given: Configuration) -> list[list[float]]:
    """Return a trajectory from an empty queue and sources at line rate: pairs of queue (octets) and excess (bit/s).

    Schemes with a planar model (theorems 2 and 3 of Jiang et al. 2015) follow it, others their fluid model.
    The model has its delay, if that is not short beside what the model calls its time scale.
    """
    model = model_of(given, _first_form(given.scheme))
    start = np.array(model.start(), dtype=float)
    if theorem_of(given.scheme) is not None:
        plane = plane_of(given)
        x, y = (float(value) for value in model.to_paper(start))
        limits = plane.limits
        x, y = max(x, limits.low_frames), min(max(y, limits.slowest_fps), limits.fastest_fps)
        found = follow(plane, x, y, 2 * round_s(plane))
        wire = BITS_PER_OCTET * (given.frame_octets + given.wire_overhead_octets)
        point = float(np.max(np.asarray(model.set_point_octets())))
        return _thin(found.x_frames * given.frame_octets + point, found.y_fps * wire)
    stop_s = _SCALES * model.time_scale_s
    longest = float(np.max(np.concatenate([np.atleast_1d(late) for late in model.delays_s])))
    if longest < _SHORT * model.time_scale_s:
        states = hybrid_integrator.integrate(model.without_delay(), start, stop_s).states
    else:
        states = delay_integrator.integrate(model, start, stop_s, step_s=model.time_scale_s / _STEPS_A_SCALE).states
    return _thin(states[0], given.flows * states[1] - given.capacity_bps)


def _thin(q: Array, y: Array) -> list[list[float]]:
    """Return pairs, at even distances along the diagonal, as a share of each axis."""
    size = np.hypot(np.diff(q) / (np.ptp(q) or 1.0), np.diff(y) / (np.ptp(y) or 1.0))
    way = np.concatenate([[0.0], np.cumsum(size)])
    at = np.linspace(0.0, way[-1], _PATH_POINTS)
    pairs = np.stack([np.interp(at, way, q), np.interp(at, way, y)], axis=1)
    return [[float(f"{part:.4g}") for part in pair] for pair in pairs]


def main() -> int:
    """Writes all tables."""
    if len(sys.argv) != 2:
        print("usage: python tools/lab_tables.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    for entry in json.loads((ROOT / "lab" / "gallery.json").read_text(encoding="utf-8")):
        for scheme in entry["theory"]:
            scenario = Scenario.load(ROOT / "scenarios" / f"{entry['scenario']}.toml")
            path = folder / f"{entry['scenario']}.{scheme}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(tables(scenario, scheme), separators=(",", ":"), allow_nan=False)
            path.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
