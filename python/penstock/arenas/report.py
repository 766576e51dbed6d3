"""The report of an arena: a first page with the ranks, a page a workload, a page a competitor.

Each page is one file that needs nothing else; ``figures`` has the figures as SVG.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock import PenstockError, __version__
from penstock.arenas import words
from penstock.arenas.entries import Competitor, Workload
from penstock.catalogue import about
from penstock.figures import arena as figures
from penstock.figures.style import save
from penstock.files import write_text
from penstock.html import element, templates
from penstock.variants import Variant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from penstock.arenas.arena import Arena

_FIGURES = "figures"


def write(found: "Arena") -> Path:
    """Write the report into the arena's folder, and return its first page.

    Raises:
        OSError: a file cannot be written.
    """
    pages = templates("penstock.arenas")
    entries = found.entries
    (found.path / _FIGURES).mkdir(exist_ok=True)
    common: dict[str, Any] = {"title": entries.title, "seeds": found.seeds, "version": __version__}
    first = pages.get_template("index.html.j2").render(
        **common,
        totals=[
            {
                "name": total.competitor.name,
                "link": _page(total.competitor),
                "title": about(total.competitor.scheme)["title"],
                "mean_rank": f"{total.mean_rank:.1f}",
                "wins": total.wins,
                "ratio": words.times(total.ratio),
                "unfinished": total.unfinished or "",
            }
            for total in found.totals
        ],
        workloads=[
            {
                "title": workload.title,
                "link": _page(workload),
                "question": workload.scenario.question,
                "judge": words.title(workload.judge.metric),
                "says": words.of_workload(found.standings[workload.name])[0],
            }
            for workload in entries.workloads
        ],
        ranks=_drawn(found, "ranks", figures.ranks(found.totals, entries.workloads)),
    )
    for workload in entries.workloads:
        write_text(
            found.path / _page(workload),
            pages.get_template("workload.html.j2").render(**common, **_workload(found, workload)),
        )
    for place, total in enumerate(found.totals, 1):
        page = pages.get_template("competitor.html.j2").render(
            **common, **_competitor(found, total.competitor), place=place, of=len(found.totals)
        )
        write_text(found.path / _page(total.competitor), page)
    write_text(found.path / "index.html", first)
    return found.path / "index.html"


def _workload(found: "Arena", workload: Workload) -> dict[str, Any]:
    standings = found.standings[workload.name]
    keys = words.shown(standings)
    sizes = figures.by_size(standings) if workload.judge.of_flows else None
    return {
        "workload": workload,
        "says": words.of_workload(standings),
        "judge": words.judge(workload.judge),
        "judge_title": words.title(workload.judge.metric),
        "columns": [words.title(key) for key in keys],
        "rows": [
            {
                "rank": standing.rank,
                "name": standing.competitor.name,
                "link": _page(standing.competitor),
                "value": words.spread(standing) if standing.values else "did not run",
                "ratio": words.times(standing.ratio) if standing.values else "",
                "numbers": [words.number(key, standing.shown[key]) if key in standing.shown else "" for key in keys],
            }
            for standing in standings
        ],
        "judged": _drawn(found, f"{workload.name}-judged", figures.judged(standings)),
        "by_size": None if sizes is None else _drawn(found, f"{workload.name}-by-size", sizes),
        "command": " ".join(filter(None, [f"penstock run {workload.source}", words.settings(workload)])),
        "toml": workload.scenario.to_toml(),
    }


def _competitor(found: "Arena", competitor: Competitor) -> dict[str, Any]:
    standings = {
        name: next(standing for standing in rows if standing.competitor is competitor)
        for name, rows in found.standings.items()
    }
    total = next(total for total in found.totals if total.competitor is competitor)
    scheme = about(competitor.scheme)
    return {
        "competitor": competitor,
        "scheme": scheme,
        "says": words.of_competitor(total, list(standings.values()), len(found.totals)),
        "beside": _drawn(found, f"{competitor.name}-beside", figures.beside_the_best(standings)),
        "rows": [
            {
                "title": standing.workload.title,
                "link": _page(standing.workload),
                "rank": standing.rank,
                "value": words.spread(standing) if standing.values else "did not run",
                "judge": words.title(standing.workload.judge.metric),
                "ratio": words.times(standing.ratio) if standing.values else "",
            }
            for standing in standings.values()
        ],
        "parameters": _parameters(found.entries.workloads, competitor),
        "settings": words.settings(competitor),
    }


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
                "description": entry["description"],
                "source": entry["source"],
            }
        )
    return found


def _assigned(workload: Workload, competitor: Competitor) -> dict[str, str]:
    """Return the parameters with which a competitor runs on a workload, as a scenario file has them."""
    choice = competitor.choice
    try:
        scenario = choice.of(workload.scenario) if isinstance(choice, Variant) else workload.scenario
        resolved = tomllib.loads(scenario.resolved(scheme=competitor.scheme))
    except PenstockError:
        return {}
    own = resolved.get("schemes", {}).get(competitor.scheme, {})
    return {name: words.value(value) for name, value in own.items() if name != "profile"}


def _drawn(found: "Arena", name: str, figure: "Figure") -> str:
    path = found.path / _FIGURES / f"{name}.svg"
    save(figure, path)
    return element(path.read_text(encoding="utf-8"), name)


def _page(of: Workload | Competitor) -> str:
    kind = "workload" if isinstance(of, Workload) else "scheme"
    return f"{kind}-{of.name.replace(' ', '-')}.html"
