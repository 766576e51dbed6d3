"""The report of an arena: a first page with the ranks, a page a workload, a page a competitor.

Each page is one file that needs nothing else; ``figures`` has the figures as SVG.
"""

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock import PenstockError, __version__
from penstock.arenas import prose, reasons
from penstock.arenas.arena_file import Competitor, Workload
from penstock.arenas.provenance import provenance
from penstock.arenas.standings import TIE_SHARE, Standing, Total
from penstock.catalogue import about
from penstock.figures import arena as figures
from penstock.figures.style import save
from penstock.files import write_text
from penstock.html import element, templates
from penstock.quantity_text import share
from penstock.variants import Variant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from penstock.arenas.arena import Arena, ArenaResults

_FIGURES = "figures"
_MOST_REASONS = 3
"""How many workloads a competitor's page explains, of those where it is best and of those where it is worst."""


def write(found: "Arena") -> Path:
    """Write the report into the arena's folder, and return its first page.

    Raises:
        OSError: a file cannot be written.
    """
    (found.path / _FIGURES).mkdir(exist_ok=True)
    if found.tuned is not None:
        _Report(found, found.tuned, "tuned-", "tuned.html").write()
    return _Report(found, found, "", "index.html").write()


@dataclass(frozen=True)
class _Report:
    """The pages of a board.

    Attributes:
        arena: the arena.
        board: the board, itself or its tuned one.
        before: the beginning of the names of pages and figures.
        first: the name of the first page.
    """

    arena: "Arena"
    board: "ArenaResults"
    before: str
    first: str

    def write(self) -> Path:
        """Write all of them, and return the first."""
        pages = templates("penstock.arenas")
        entries, folder = self.board.entries, self.arena.path
        common: dict[str, Any] = {
            "title": entries.title,
            "seeds": self.arena.seeds,
            "version": __version__,
            "first": self.first,
            "tuned": self.arena.tuned is not None,
        }
        for workload in entries.workloads:
            page = pages.get_template("workload.html.j2").render(**common, **self._workload(workload))
            write_text(folder / self._page(workload), page)
        for place, total in enumerate(self.board.totals, 1):
            page = pages.get_template("competitor.html.j2").render(
                **common, **self._competitor(total), place=place, of=len(self.board.totals)
            )
            write_text(folder / self._page(total.competitor), page)
        write_text(folder / self.first, pages.get_template("index.html.j2").render(**common, **self._index()))
        return folder / self.first

    def _index(self) -> dict[str, Any]:
        entries = self.board.entries
        return {
            "totals": [
                {
                    "name": total.competitor.name,
                    "link": self._page(total.competitor),
                    "title": about(total.competitor.scheme)["title"],
                    "mean_rank": f"{total.mean_rank:.1f} to {total.mean_last:.1f}",
                    "wins": total.wins,
                    "ratio": prose.times(total.ratio),
                    "completed": f"{total.completed} of {len(total.ranks)}",
                }
                for total in self.board.totals
            ],
            "workloads": [
                {
                    "title": workload.title,
                    "link": self._page(workload),
                    "question": workload.scenario.question,
                    "judge": prose.title(workload.judge.metric),
                    "says": prose.of_workload(self.board.standings[workload.name])[0],
                }
                for workload in entries.workloads
            ],
            "settings": [
                {"name": one.name, "link": self._page(one), "profile": from_.profile, "text": from_.text}
                for one in entries.competitors
                for from_ in [provenance(one, entries.workloads)]
            ],
            "notes": entries.notes,
            "tie": share(TIE_SHARE) if self.arena.seeds == 1 else "",
            "ranks": self._drawn("ranks", figures.ranks(self.board.totals, entries.workloads)),
        }

    def _workload(self, workload: Workload) -> dict[str, Any]:
        standings = self.board.standings[workload.name]
        keys = prose.shown(standings)
        sizes = figures.by_size(standings) if workload.judge.of_flows else None
        return {
            "workload": workload,
            "says": prose.of_workload(standings),
            "judge": prose.judge(workload.judge),
            "judge_title": prose.title(workload.judge.metric),
            "columns": [prose.title(key) for key in keys],
            "rows": [
                {
                    "rank": prose.rank(standing),
                    "name": standing.competitor.name,
                    "link": self._page(standing.competitor),
                    "value": prose.spread(standing) if standing.values else "did not run",
                    "ratio": prose.times(standing.ratio) if standing.values else "",
                    "numbers": [
                        prose.number(key, standing.shown[key]) if key in standing.shown else "" for key in keys
                    ],
                }
                for standing in standings
            ],
            "judged": self._drawn(f"{workload.name}-judged", figures.judged(standings)),
            "by_size": None if sizes is None else self._drawn(f"{workload.name}-by-size", sizes),
            "command": " ".join(filter(None, [f"penstock run {workload.source}", prose.settings(workload)])),
            "toml": workload.scenario.to_toml(),
        }

    def _competitor(self, total: Total) -> dict[str, Any]:
        competitor = total.competitor
        standings = {
            name: next(standing for standing in rows if standing.competitor is competitor)
            for name, rows in self.board.standings.items()
        }
        answer = self.arena.tunings.get(competitor.name)
        acted = {name: reasons.per_thousand(standing) for name, standing in standings.items() if standing.values}
        return {
            "competitor": competitor,
            "scheme": about(competitor.scheme),
            "says": prose.of_competitor(total, list(standings.values()), len(self.board.totals)),
            "beside": self._drawn(f"{competitor.name}-beside", figures.beside_the_best(standings)),
            "rows": [
                {
                    "title": standing.workload.title,
                    "link": self._page(standing.workload),
                    "rank": prose.rank(standing),
                    "value": prose.spread(standing) if standing.values else "did not run",
                    "judge": prose.title(standing.workload.judge.metric),
                    "ratio": prose.times(standing.ratio) if standing.values else "",
                }
                for standing in standings.values()
            ],
            "wins": [self._reason(one, reasons.wins) for one in _best(standings)],
            "loses": [self._reason(one, reasons.loses) for one in _worst(standings)],
            "actions": about(competitor.scheme)["actions"],
            "acted": [
                {
                    "title": standings[name].workload.title,
                    "numbers": [reasons.number(value).replace("no", "0") for value in counts.values()],
                }
                for name, counts in acted.items()
                if counts
            ],
            "provenance": provenance(competitor, self.board.entries.workloads).text,
            "parameters": _parameters(self.board.entries.workloads, competitor),
            "settings": prose.settings(competitor),
            "untuned": answer.why if self.before and answer is not None else "",
        }

    def _reason(self, standing: Standing, why: Callable[[Standing, Sequence[Standing]], str]) -> dict[str, str]:
        workload = standing.workload
        return {
            "title": workload.title,
            "link": self._page(workload),
            "says": " ".join(
                filter(
                    None,
                    [
                        prose.place(standing),
                        why(standing, self.board.standings[workload.name]),
                        reasons.actions(standing),
                    ],
                )
            ),
        }

    def _drawn(self, name: str, figure: "Figure") -> str:
        path = self.arena.path / _FIGURES / f"{self.before}{name}.svg"
        save(figure, path)
        return element(path.read_text(encoding="utf-8"), name)

    def _page(self, of: Workload | Competitor) -> str:
        kind = "workload" if isinstance(of, Workload) else "scheme"
        return f"{self.before}{kind}-{of.name.replace(' ', '-')}.html"


def _best(standings: Mapping[str, Standing]) -> list[Standing]:
    """Return the standings of a competitor that its page explains as good: within the better half, the best ones."""
    ran = [one for one in standings.values() if one.values and one.rank <= one.among / 2 and math.isfinite(one.ratio)]
    return sorted(ran, key=lambda one: (one.rank, one.last, one.ratio))[:_MOST_REASONS]


def _worst(standings: Mapping[str, Standing]) -> list[Standing]:
    """Return those that it explains as bad: surely behind the best by more than a tenth, the worst ratios."""
    ran = [one for one in standings.values() if one.values and one.rank > 1 and one.ratio > prose.NEAR]
    return sorted(ran, key=lambda one: (-one.ratio, -one.rank))[:_MOST_REASONS]


def _parameters(workloads: Sequence[Workload], competitor: Competitor) -> list[dict[str, str]]:
    """Return every parameter with its value, its source, and the workloads that set another value."""
    scheme = about(competitor.scheme)
    values: dict[str, dict[str, list[str]]] = {entry["name"]: {} for entry in scheme["parameters"]}
    for workload in workloads:
        own = _assigned(workload, competitor)
        for name, value in own.items():
            values[name].setdefault(value, []).append(workload.title)
    found = []
    for entry in scheme["parameters"]:
        by_value = sorted(values[entry["name"]].items(), key=lambda item: -len(item[1]))
        if not by_value:
            continue
        usual, *others = by_value
        found.append(
            {
                "name": entry["name"],
                "value": usual[0],
                "others": "; ".join(f"{value} on {', '.join(titles)}" for value, titles in others),
                "description": entry["description"].replace("`", ""),
                "source": entry["source"],
            }
        )
    return found


def _assigned(workload: Workload, competitor: Competitor) -> dict[str, str]:
    """Return the parameters with which a competitor runs on a workload, as a scenario file has them."""
    choice = competitor.on(workload.scenario)
    try:
        scenario = choice.of(workload.scenario) if isinstance(choice, Variant) else workload.scenario
        resolved = tomllib.loads(scenario.resolved(scheme=competitor.scheme))
    except PenstockError:
        return {}
    own = resolved.get("schemes", {}).get(about(competitor.scheme)["name"], {})
    return {name: prose.value(value) for name, value in own.items() if name != "profile"}
