"""The standings of an arena as text: numbers as people read them, and sentences on workloads and competitors."""

import math
from collections.abc import Mapping, Sequence

from penstock.arenas.arena_file import Competitor, Judge, Workload
from penstock.arenas.standings import LEFT_SHARE, SHOWN, Standing, Total
from penstock.metrics import seeds
from penstock.metrics.registry import TITLED
from penstock.metrics.seeds import written
from penstock.quantity_text import bit_rate, count, duration, octets, share
from penstock.sweeps.axes import Value

NEAR = 1.1
"""Up to this many times the best is near it."""
_FAR = 2.0
_MOST_NAMED = 4

SLOWDOWN = "flow completion time over that on an empty network"


def number(key: str, value: float) -> str:
    """Write a number of :data:`penstock.metrics.registry.COMPARED`."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "not completed"
    kind = TITLED[key].kind
    if kind == "count":
        return count(round(value))
    writers = {"octets": octets, "rate": bit_rate, "time": duration, "share": share}
    return writers[kind](value) if kind in writers else f"{value:.3f}" if kind == "index" else _figures(value)


def title(key: str) -> str:
    """Return the title of a number."""
    return TITLED[key].title


def spread(standing: Standing) -> str:
    """Write the judging number: its spread over several seeds, and the least and most of them."""
    key, values = standing.workload.judge.metric, standing.values
    if len(values) < 2 or not math.isfinite(standing.mean):
        return number(key, standing.mean)
    text = written(seeds.spread(values), lambda value: number(key, value))
    return f"{text}, {number(key, min(values))} to {number(key, max(values))}"


def rank(standing: Standing) -> str:
    """Write a rank with its interval."""
    return str(standing.rank) if standing.last == standing.rank else f"{standing.rank} to {standing.last}"


def place(standing: Standing) -> str:
    """Say where a competitor stands on a workload."""
    judged = number(standing.workload.judge.metric, standing.mean)
    behind = "" if standing.rank == 1 else f", {times(standing.ratio)} the best"
    if math.isinf(standing.ratio):
        behind = ""
    return f"Rank {rank(standing)} of {standing.among}, {title(standing.workload.judge.metric)} {judged}{behind}."


def times(ratio: float) -> str:
    """Write a ratio to the best."""
    return "∞" if math.isinf(ratio) else f"{_figures(ratio)} ×"


def judge(of: Judge) -> str:
    """Say which number judges a workload."""
    metric = TITLED[of.metric]
    whose = f" of the flows {of.group}" if of.group else ""
    direction = "less is better" if of.better == "less" else "more is better"
    if not of.of_flows:
        return (
            f"{metric.title}{whose}: {metric.description[0].lower()}{metric.description[1:].rstrip('.')}; {direction}."
        )
    return (
        f"{metric.title}{whose}: {SLOWDOWN}; {direction}. It counts as not completed where more than "
        f"{share(LEFT_SHARE)} of the flows have not completed at the end."
    )


def shown(standings: Sequence[Standing]) -> list[str]:
    """Return the numbers that stand in a workload's table: those that some competitor has, and that differ."""
    found: list[str] = []
    for key in SHOWN:
        values = {round(standing.shown[key], 12) for standing in standings if key in standing.shown}
        if len(values) > 1 and key != standings[0].workload.judge.metric:
            found.append(key)
    return found


def of_workload(standings: Sequence[Standing]) -> list[str]:
    """Say in sentences how a workload went."""
    workload = standings[0].workload
    ran = [standing for standing in standings if standing.values]
    done = [standing for standing in ran if math.isfinite(standing.mean)]
    if not done:
        return ["No competitor completes it."]
    first = [standing for standing in done if standing.rank == 1]
    key = workload.judge.metric
    what = f"{title(key)} {number(key, first[0].mean)}"
    verb = "is" if len(first) == 1 else "are"
    found = [f"{_names(first)} {verb} first: {what}."]
    near = [standing for standing in done if standing.rank > 1 and standing.ratio <= NEAR]
    if near:
        found.append(f"{_names(near)} {'is' if len(near) == 1 else 'are'} within a tenth of that.")
    none = next((standing for standing in ran if standing.competitor.name == "none"), None)
    if none is not None and none.rank > 1:
        worse = [standing for standing in ran if standing.rank >= none.rank and standing is not none]
        without = (
            "Without any control more than a hundredth of the flows do not complete"
            if math.isinf(none.mean)
            else f"Without any control it is {number(key, none.mean)}, {times(none.ratio)} the best"
        )
        found.append(f"{without}{f'; {_names(worse)} {_do(worse)} no better' if worse else ''}.")
    lost = [standing for standing in ran if standing.shown.get("frames_lost") == 0]
    if 0 < len(lost) < len(ran):
        found.append(f"No frame is lost under {_names(lost)}.")
    left = [standing for standing in ran if math.isinf(standing.mean) and standing.competitor.name != "none"]
    if left:
        found.append(f"Flows are left under {_names(left)}.")
    faults = [standing for standing in standings if not standing.values]
    found += [f"{standing.competitor.name} did not run: {standing.fault}." for standing in faults]
    return found


def of_competitor(total: Total, standings: Sequence[Standing], among: int) -> list[str]:
    """Say in sentences where a competitor wins and where it loses; ``among`` is the number of competitors."""
    ran = [standing for standing in standings if standing.values]
    first = [standing.workload for standing in ran if standing.rank == 1]
    near = [standing.workload for standing in ran if standing.rank > 1 and standing.ratio <= NEAR]
    far = sorted((s for s in ran if math.isfinite(s.ratio) and s.ratio > _FAR), key=lambda standing: -standing.ratio)
    left = [standing.workload for standing in ran if math.isinf(standing.ratio)]
    found = [
        f"Its mean rank over {len(standings)} workloads is {total.mean_rank:.1f} of {among}; "
        + (f"it is first on {len(first)}: {_titles(first)}." if first else "it is first on none.")
    ]
    if near:
        found.append(f"It is within a tenth of the best on {_titles(near)}.")
    if far:
        worst = far[0]
        found.append(
            f"It loses most on {worst.workload.title}: {number(worst.workload.judge.metric, worst.mean)}, "
            f"{times(worst.ratio)} the best."
            + (
                f" It is more than twice as bad as the best on {_titles([s.workload for s in far[1:]])}, too."
                if far[1:]
                else ""
            )
        )
    if left:
        found.append(f"More than a hundredth of the flows do not complete on {_titles(left)}.")
    found += [f"It did not run on {s.workload.title}: {s.fault}." for s in standings if not s.values]
    return found


def settings(of: Workload | Competitor) -> str:
    """Write the keys that the arena sets, as the command line takes them."""
    return options(of.settings)


def options(keys: Mapping[str, Value]) -> str:
    """Write keys as the command line takes them."""
    return " ".join(f"--set '{key}={value(entry)}'" for key, entry in keys.items())


def value(entry: object) -> str:
    """Write the value of a key as the command line takes it."""
    return str(entry).lower() if isinstance(entry, bool) else str(entry)


def _figures(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else count(round(value))


def _names(standings: Sequence[Standing]) -> str:
    names = [standing.competitor.name for standing in standings]
    return (
        _listed(names)
        if len(names) <= 2 * _MOST_NAMED
        else f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} others"
    )


def _titles(workloads: Sequence[Workload]) -> str:
    return _listed([workload.title for workload in workloads])


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _do(standings: Sequence[Standing]) -> str:
    return "does" if len(standings) == 1 else "do"
