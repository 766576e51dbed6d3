"""A workload and the settings of a scheme on faster lines."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from penstock import _core
from penstock.catalogue import about
from penstock.scenario import Scenario
from penstock.sweeps.axes import Value

# Times of traffic and of the run. Delays of links and times of protocols are those of the cables and devices.
_TIMES = frozenset(
    {"duration", "warmup", "start", "stop", "end", "every", "stagger", "at", "interval", "spread", "gap", "compute"}
)
_TRAFFIC = frozenset({"flow", "incast", "load", "burst", "collective", "change", "record"})


def faster_workload(scenario: Scenario, speed: int) -> dict[str, Value]:
    """Return the keys of a scenario with lines ``speed`` times as fast, and times of its traffic shorter by as much.

    Sizes of flows stay, so that a run has as many frames. Delays of links stay as well.
    """
    return dict(_scaled(tomllib.loads(scenario.to_toml()), "", speed))


def _scaled(value: object, path: str, speed: int) -> Iterator[tuple[str, Value]]:
    match value:
        case dict():
            for key, below in value.items():
                yield from _scaled(below, f"{path}.{key}" if path else key, speed)
        case list():
            for number, below in enumerate(value):
                yield from _scaled(below, f"{path}.{number}", speed)
        case str():
            first, *rest = path.split(".")
            if first == "topology" and (rest[-1] == "rate" or rest[-1].endswith("_rate")):
                yield path, _times(value, "bit/s", speed)
            elif (not rest or first in _TRAFFIC) and _TIMES.intersection(path.split(".")):
                yield path, _times(value, "s", 1 / speed)


def _times(text: str, unit: str, factor: float) -> str:
    return _core.write_quantity(_core.read_quantity(text, unit) * factor, unit)


def faster_scheme(scheme: str, settings: Mapping[str, Value], speed: int) -> dict[str, Value]:
    """Return the settings of a scheme for lines ``speed`` times as fast.

    Lengths of queues stay the same in time, and rates the same share of the line: both grow by ``speed``. Timers, byte
    counters and weights stay, and so does what follows the line by itself, such as ``"4 KB per Gbps"``.
    """
    if speed == 1:
        return {}
    entry = about(scheme)
    prefix = f"schemes.{entry['name']}."
    profile = settings.get(f"{prefix}profile")
    chosen: dict[str, Any] = next((one["settings"] for one in entry["profiles"] if one["name"] == profile), {})
    found: dict[str, Value] = {}
    for parameter in entry["parameters"]:
        name, unit = parameter["name"], parameter["unit"]
        if not (parameter["queue_length"] or unit == "bit/s"):
            continue
        own = settings.get(prefix + name)
        if own is None:
            value = chosen.get(name, parameter["default"])
        elif (absolute := _absolute(own, unit)) is not None:
            value = absolute
        else:
            continue
        if value:
            value *= speed
            found[prefix + name] = _core.write_quantity(value, unit)
    return found


def _absolute(value: Value, unit: str) -> float | None:
    """Return a value in its unit; ``None`` where it follows the line, as "auto", a time or "per Gbps" do."""
    if not isinstance(value, str):
        return float(value)
    try:
        return _core.read_quantity(value, unit)
    except ValueError:
        return None
