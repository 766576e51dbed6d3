"""Writes the page of documentation with the ranks of arenas that have run.

    for rate in 10g 100g 400g; do penstock arena $rate --seeds 3 --out results/arena/$rate; done
    penstock arena 10g --seeds 3 --tune 32 --out results/arena/10g --resume
    python tools/arena_page.py results/arena/10g results/arena/100g results/arena/400g > PAGE

PAGE is docs/measurements/arena-ranks.md. All that is on it follows from the folders.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator
from math import exp, inf, log
from pathlib import Path
from statistics import mean

from penstock import Arena
from penstock.arenas import prose, reasons
from penstock.arenas.arena import ArenaResults
from penstock.arenas.arena_file import OWN, read
from penstock.arenas.standings import Total
from penstock.arenas.tuned_competitors import SCENARIO, SUFFIX

_HEAD = """\
# Ranks of the arenas

[Compare all schemes](../how-to/run-the-arena.md) has the rules. A rank is one more than the number of competitors of
which every seed is better than each of one's own; its interval ends at the number of those that are not surely worse.
Means are over the workloads. "Times the best" is a geometric mean over those that a competitor completed, so two
are comparable only where both completed the same ones.

<!-- not run: it takes from minutes to hours; make arena runs it -->
```sh
for rate in 10g 100g 400g; do penstock arena $rate --seeds {seeds} --out results/arena/$rate; done{tuned}
python tools/arena_page.py results/arena/10g results/arena/100g results/arena/400g > PAGE
```

The last command writes this page.
"""
_TUNED = """
penstock arena {arena} --seeds {seeds} --tune {trials} --out results/arena/{arena} --resume"""


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="folders of `penstock arena`")
    arenas = [Arena.open(folder) for folder in parser.parse_args().folders]
    seeds = min(found.seeds for found in arenas)
    tuned = [
        _TUNED.format(arena=found.path.name, seeds=found.seeds, trials=found.trials) for found in arenas if found.tuned
    ]
    print(_HEAD.format(seeds=seeds, tuned="".join(tuned)))
    for found in arenas:
        print("\n".join(_section(found, found)))
        if found.tuned:
            print("\n".join(_section(found, found.tuned)))


def _section(arena: Arena, found: ArenaResults) -> Iterator[str]:
    """Yield the lines of a board of an arena: the ranks, what each workload came to, and why the first is first."""
    totals, count = found.totals, len(found.entries.workloads)
    seeds = "one seed" if arena.seeds == 1 else f"{arena.seeds} seeds"
    tuned = ", tuned" if found is arena.tuned else ""
    yield f"## {arena.entries.title.partition(':')[0]}{tuned}\n"
    every = {own.title: len(own.workloads) for own in map(read, OWN)}.get(arena.entries.title, count)
    ran = f"{count} workloads" if count == every else f"{count} of its {every} workloads"
    yield f"{len(totals)} competitors, {ran}, {seeds}.\n"
    if tuned:
        gained = sum(bool(answer.settings) for answer in arena.tunings.values())
        yield (
            f"{len(arena.tunings)} competitors have something to tune; the goal is the queue's 99th percentile in "
            f"`{SCENARIO}`. For {gained} a gain is shown on seeds that the search never used: those are `-tuned`.\n"
        )
        yield f"{_elsewhere(arena, found)}\n"
    yield "| | Competitor | Mean rank | First on | Times the best | Completed |"
    yield "|---|---|---|---|---|---|"
    for place, total in enumerate(totals, 1):
        yield (
            f"| {place} | `{total.competitor.name}` | {total.mean_rank:.1f} to {total.mean_last:.1f} | {total.wins} | "
            f"{prose.times(total.ratio)} | {total.completed} of {count} |"
        )
    yield f"\n| Workload | First | Where `{totals[0].competitor.name}` stands, and why |"
    yield "|---|---|---|"
    for workload in found.entries.workloads:
        says = prose.of_workload(found.standings[workload.name])[0]
        yield f"| {workload.title} | {says} | {_first(found, totals[0], workload.name)} |"
    yield ""


def _elsewhere(arena: Arena, tuned: ArenaResults) -> str:
    """Say what came of the tuned competitors on the workloads, of which none was that of the search."""
    logs = defaultdict[str, list[float]](list)
    for workload in arena.entries.workloads:
        before = {standing.competitor.name: mean(standing.values) for standing in arena.standings[workload.name]}
        for standing in tuned.standings[workload.name]:
            name, value = standing.competitor.name.removesuffix(SUFFIX), mean(standing.values)
            if standing.competitor.name != name and 0 < value < inf and 0 < before[name] < inf:
                logs[name].append(log(value / before[name]) * (1 if workload.judge.better == "less" else -1))
    times = sorted((exp(mean(own)), name) for name, own in logs.items())
    fallen = sum(ratio < 1 for ratio, _ in times)
    (least, best), (most, worst) = times[0], times[-1]
    return (
        f"What suits that workload need not suit these. The number that judges is better for {fallen} of {len(times)} "
        f"and worse for the others, by its geometric mean over the workloads that both completed. The extremes are "
        f"`{best}`, {least:.2f} times, and `{worst}`, {most:.2f} times."
    )


def _first(found: ArenaResults, total: Total, workload: str) -> str:
    """Say where a competitor stands on a workload, why, and what it did."""
    rows = found.standings[workload]
    own = next(standing for standing in rows if standing.competitor is total.competitor)
    why = reasons.wins(own, rows) if own.rank == 1 else reasons.loses(own, rows)
    return " ".join(filter(None, [prose.place(own), why, reasons.actions(own)]))


if __name__ == "__main__":
    main()
