"""Makes the documentation's source: a copy of docs/ with the parts that the program itself gives.

    python tools/generate_docs.py .build [--draft]

writes .build/docs and .build/mkdocs.yml. In the former, lines such as `{{ commands }}` are replaced, and figures are
drawn. A page is added for each core (its rtl/NAME/doc/README.md), and for each scheme, with what its folder in
crates/schemes/src has: page.md, and states.toml for its state diagram and a run. The latter is mkdocs.yml with each
folder of its navigation replaced by the pages in it, for a site in site/.

With --draft, as `make test` asks, one figure of the study of training, with one seed, stands for all of them, and one
map of stability for all maps; the site is .build/pages/site. It shows that all pages can be made, and is not for
readers.

Every whole scenario in the pages is read: one that Penstock refuses fails the build. So does a command
`penstock … --out NAME.svg` (or .png) in a block of shell; its drawing is images/NAME.svg.
"""

import inspect
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import penstock
import penstock.exchange
import yaml
from penstock import _core, dcb, wire, workloads
from penstock.arenas import prose
from penstock.arenas.arena_file import OWN as ARENAS
from penstock.arenas.arena_file import read as read_arena
from penstock.figures.comparison import pauses
from penstock.figures.style import save
from penstock.metrics.registry import COMPARED
from penstock.metrics.seeds import groups
from penstock.quantity_text import bit_rate, count, duration
from penstock.sweeps.design import KEYS as SWEEP_KEYS

import state_diagram
from command_pages import commands
from gallery import gallery
from key_page import all_keys, default
from lab_links import run_it, with_runs
from paper_searches import HEAD, searches
from pictures import Pictures
from scheme_names import code, heading, hearing, scheme_table, table
from training_page import training

ROOT = Path(__file__).resolve().parent.parent
FIGURES = {
    "eight-sources": "scenarios/netfpga/eight-sources-100us.toml",
    "one-source": "scenarios/netfpga/one-source-100us.toml",
}
# The lines of the comparison on the page about priority flow control, and their scenarios.
VICTIM_FLOW = {"Nothing": "none", "PFC alone": "pfc", "QCN alone": "qcn", "PFC and QCN": "pfc-qcn"}
# A run whose result has every table.
SPECIMEN = """
question = "Which columns are there?"
duration = "1 ms"
scheme = "{scheme}"
schemes = {{ {settings} }}
topology.star = {{ hosts = 3, link_rate = "10 Gbps", buffer = "1 GB" }}
flow = [{{ from = "h0..h1", to = "h2" }}, {{ from = "h0", to = "h2", size = "10 KB", transport = "tcp" }}]
record = {{ arrivals = true }}
"""


def main(build: Path, *, draft: bool) -> None:
    """Writes everything below `build`."""
    docs = build / "docs"
    shutil.rmtree(docs, ignore_errors=True)
    shutil.copytree(ROOT / "docs", docs)
    schemes = json.loads(_core.schemes())
    keys = json.loads(_core.reference())
    specimens = {s["name"]: penstock.Scenario.from_toml(specimen(s["name"])).run() for s in schemes}
    page_of_laboratory = Path("how-to/use-the-laboratory.md")
    generated = {
        "commands": commands(),
        "workloads": workload_list(),
        "schemes": scheme_table(schemes, lambda name: f"reference/schemes/{name}.md"),
        "gallery": gallery(docs, Path("gallery.md")),
        "laboratory": " ".join(run_it(penstock.Scenario.named("baseline/ten-gig"), page_of_laboratory)),
        "python": python_api(),
        "scenario": scenario_keys(keys),
        "limits": table(
            ["At most", "Kind", "Meaning"],
            ([count(limit["most"]), limit["what"], limit["meaning"]] for limit in json.loads(_core.limits())),
        ),
        "tables": tables(specimens),
        "objects": objects(),
        "actions": actions(schemes),
        "metrics": table(["Metric", "Title", "Meaning"], ([code(m.name), m.title, m.description] for m in COMPARED)),
        "victim_flow": victim_flow(docs / "images/victim-flow.svg"),
        "sweep_keys": table(
            ["Key", "Value", "Default", "Meaning"],
            ([code(key), value, default, meaning] for key, value, default, meaning in SWEEP_KEYS),
        ),
        **arena(build, docs),
        "cores": cores(),
        "searches": table(HEAD, searches(ROOT / "papers")),
        **training(ROOT / "papers/training", docs, draft=draft),
        "formats": formats(),
        "managed_objects": managed_objects(),
        "kinds": table(["Kind", "Frame"], ([code(kind["name"]), kind["title"]] for kind in wire.kinds())),
        "summary": f"```json\n{json.dumps(specimens['qcn'].summary, indent=1)}\n```",
    }
    shown = FIGURES | {"victim-flow": "scenarios/victim-flow/pfc-qcn.toml"}
    linked = {name: penstock.Scenario.load(ROOT / scenario) for name, scenario in shown.items()}
    maps = Pictures(draft=draft)
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text()
        read_scenarios(text)
        draw_commands(text, docs / "images", maps)
        whole = re.sub(r"^{{ (\w+) }}$", lambda match: generated[match[1]], text, flags=re.MULTILINE)
        # Decisions explain; a reader who searches for a word wants the page on it first.
        if page.parent.name == "decisions":
            whole = "---\nsearch:\n  boost: 0.2\n---\n\n" + whole
        page.write_text(with_runs(whole, page.relative_to(docs), linked))
    for scheme in schemes:
        write(docs / f"reference/schemes/{scheme['name']}.md", scheme_page(scheme, keys, docs))
    write(docs / "reference/keys.md", all_keys(keys))
    for name, scenario in FIGURES.items():
        draw(scenario, docs / f"images/{name}.svg")

    core_pages(docs)
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    config |= {"docs_dir": "docs", "site_dir": str((build if draft else ROOT).resolve() / "site")}
    config["hooks"] = [str(ROOT / hook) for hook in config["hooks"]]
    config["nav"] = [expand(entry, docs) for entry in config["nav"]]
    write(build / "mkdocs.yml", yaml.safe_dump(config, sort_keys=False, allow_unicode=True))


def arena(build: Path, docs: Path) -> dict[str, str]:
    """The workloads and the competitors of the arena, and its report, where `make arena` has made one."""
    entries = read_arena()
    judged = [
        f"{prose.title(w.judge.metric)}{f' of `{w.judge.group}`' if w.judge.group else ''}" for w in entries.workloads
    ]
    made = [rate for rate in ARENAS if (build / "arena" / rate / "index.html").is_file()]
    for rate in made:
        (docs / "arena" / rate).mkdir(parents=True)
        for page in (build / "arena" / rate).glob("*.html"):
            shutil.copy(page, docs / "arena" / rate)
    links = ", ".join(f"[{read_arena(rate).title}](../arena/{rate}/index.html)" for rate in made)
    return {
        "arena_report": f"The reports: {links}." if made else "`make arena docs` adds the reports to these pages.",
        "arena_workloads": table(
            ["Workload", "Scenario", "Set", "Judged by", "Question"],
            (
                [code(w.name), code(w.source), prose.settings(w).replace("--set ", ""), judge, w.scenario.question]
                for w, judge in zip(entries.workloads, judged, strict=True)
            ),
        ),
        "arena_competitors": table(
            ["Competitor", "Scheme", "Set", "About", "Source"],
            (
                [code(c.name), code(c.scheme), prose.settings(c).replace("--set ", ""), c.about, c.source]
                for c in entries.competitors
                if c.settings or c.source
            ),
        ),
    }


def workload_list() -> str:
    """Every workload, with the first line of its file."""
    folder = ROOT / "python/penstock/workloads"
    rows = []
    for name in workloads.names():
        known = workloads.distribution(name)
        about = (folder / f"{name}.cdf").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").rstrip(".")
        rows.append([code(name), f"{known.mean_octets:,.10g} octets".replace(",", " "), str(len(known.points)), about])
    return table(["Name", "Mean", "Points", "Source"], rows)


def formats() -> str:
    """Every format of frames, with the offsets of its fields."""
    parts = []
    for entry in wire.formats():
        rows = []
        for part in entry["fields"]:
            octet, bit = divmod(part["first_bit"], 8)
            place = str(octet) if part["bits"] % 8 == 0 and bit == 0 else f"{octet}, bit {7 - bit}"
            rows.append([place, str(part["bits"]), code(part["name"]), part["label"], part["meaning"]])
        head = ["Octet", "Bits", "Field", "Name in the standard", "Meaning"]
        parts += [f"### `{entry['name']}`: {entry['title']}", f"{entry['source']}.", table(head, rows)]
    return "\n\n".join(parts)


def managed_objects() -> str:
    """Every table of IEEE8021-CN-MIB with its objects, and the members of Linux's structures."""
    parts = []
    for entry in dcb.tables():
        rows = []
        for known in entry.objects:
            default = f"{known.default} (Penstock's)" if known.default_origin == "own" else known.default or "-"
            sets = code(known.parameter) if known.parameter else "-"
            names = f"{code(known.name)}, {code(known.variable)}"
            rows.append([code(known.key), names, known.clause, known.values, default, sets, known.meaning])
        head = ["Object", "Names in the MIB and the standard", "Clause", "Values", "Default", "Parameter", "Meaning"]
        parts += [
            f"### `{entry.name}`",
            f"One row per {entry.per}; clause {entry.clause}. {entry.meaning}",
            table(head, rows),
        ]
    for structure in ("qcn", "qcn_stats"):
        rows = [[code(one.name), str(8 * one.octets), one.unit or "-"] for one in dcb.members(structure)]
        parts += [f"### `ieee_{structure}` of Linux", table(["Member", "Octets of its eight entries", "Unit"], rows)]
    return "\n\n".join(parts)


def cores() -> str:
    """The cores in rtl/, as their core.toml files say, each with its page."""
    read = [(path, tomllib.loads(path.read_text())) for path in sorted((ROOT / "rtl").glob("*/core.toml"))]
    rows = []
    for path, core in read:
        name = path.parent.name
        folder = code(f"rtl/{name}")
        page = f"[{folder}](cores/{name}.md)" if (path.parent / "doc/README.md").exists() else folder
        rows.append([page, core["title"], core["says"], core.get("source", "")])
    return table(["Folder", "Core", "Purpose", "Source"], rows)


def core_pages(docs: Path) -> None:
    """Copies the pages of the cores, and of what they share, from rtl/ to reference/cores/."""
    sources = {ROOT / "rtl/README.md": "conventions.md"}
    sources |= {page: f"{page.parents[1].name}.md" for page in sorted((ROOT / "rtl").glob("*/doc/README.md"))}
    for source, name in sources.items():
        write(docs / "reference/cores" / name, with_links(source, sources))


def with_links(source: Path, pages: Mapping[Path, str]) -> str:
    """The text of a page of rtl/, with links to other such pages; a file that is no page is named without a link."""

    def link(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        file, mark, anchor = target.partition("#")
        if target.startswith(("http://", "https://", "#")):
            return found[0]
        page = pages.get((source.parent / file).resolve())
        return f"[{words}]({page}{mark}{anchor})" if page else words

    # A block of code has no links.
    parts = re.split(r"(^```.*?^```)", source.read_text(), flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, part) for part in parts)


def write(path: Path, text: str) -> None:
    """Writes a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def expand(entry: Any, docs: Path) -> Any:
    """An entry of the navigation with each folder (`…/`) replaced by the pages in it, sorted."""
    if isinstance(entry, dict):
        return {title: expand(inner, docs) for title, inner in entry.items()}
    if isinstance(entry, list):
        return [expand(inner, docs) for inner in entry]
    if entry.endswith("/"):
        return [str(page.relative_to(docs)) for page in sorted((docs / entry).glob("*.md"))]
    return entry


def read_scenarios(page: str) -> None:
    """Reads every TOML block that is a whole scenario; the exception of one that is refused ends the build."""
    for block in re.findall(r"^```toml\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        if block.startswith("question"):
            _core.Scenario.parse(block).resolved()


def draw_commands(page: str, images: Path, maps: Pictures) -> None:
    """Runs every command of a shell block that writes a figure, `penstock … --out NAME.svg` or .png, into `images`."""
    for block in re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            name, *arguments = shlex.split(line, comments=True) or [""]
            if name == "penstock" and arguments[-2:-1] == ["--out"] and arguments[-1].endswith((".svg", ".png")):
                target = images / arguments[-1]
                target.parent.mkdir(parents=True, exist_ok=True)
                if arguments[:2] == ["theory", "map"] and maps.stands_in(target):
                    continue
                command = [str(Path(sys.executable).with_name(name)), *arguments[:-1], str(target)]
                subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def draw(
    scenario: str,
    target: Path,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    seed: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Runs a scenario and draws the overview of its result."""
    target.parent.mkdir(parents=True, exist_ok=True)
    chosen = penstock.Scenario.load(ROOT / scenario)
    for key, value in (settings or {}).items():
        chosen.set(key, value)
    chosen.run(scheme=scheme, profile=profile, seed=seed).plot(target)


def victim_flow(target: Path) -> str:
    """The comparison of scenarios/victim-flow/ as a table and the figure `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    runs = {
        label: penstock.Scenario.load(ROOT / f"scenarios/victim-flow/{name}.toml").run()
        for label, name in VICTIM_FLOW.items()
    }
    rows = []
    for label, result in runs.items():
        totals = result.summary["totals"]
        lost = totals["frames_dropped"] + totals["frames_lost_on_link"]
        stopped = [queue for queue in result.summary["queues"] if queue["paused_s"] > 0]
        delivered = {flow["name"]: flow["throughput_bps"] for flow in result.summary["flows"]}
        of_groups = [bit_rate(sum(delivered[flow] for flow in group.flows)) for group in groups(result)]
        longest = max((queue["paused_s"] for queue in stopped), default=0.0)
        rows.append([label, *of_groups, count(lost), str(len(stopped)), duration(longest)])
    head = ["Control", "The victim gets", "The incast gets", "Frames lost", "Ports stopped", "Longest time stopped"]
    save(pauses({label: [result] for label, result in runs.items()}), target)
    shown = "![Stopped ports and throughput, with and without PFC and QCN](../images/victim-flow.svg)"
    return f"{table(head, rows)}\n\n{shown}"


def python_api() -> str:
    """Return the docstring of each public name, methods and properties included: of the package and its parts."""
    parts = api("", penstock)
    names = "artifacts theory exchange wire dcb headroom reports telemetry workloads testbed"
    for name in names.split():
        module = getattr(penstock, name)
        parts += [f"## `{name}`", as_markdown(module), *api(f"{name}.", module)]
    return "\n\n".join(parts)


def api(before: str, module: ModuleType) -> list[str]:
    """Return the docstrings of a module's public names, as they are called behind `before`."""
    parts = []
    for name in module.__all__:
        about = getattr(module, name)
        if not callable(about):
            continue
        full = f"{before}{name}"
        parts += [f"## `{full}`", *called(full, about), as_markdown(about)]
        if inspect.isclass(about) and not issubclass(about, Exception):
            bases = [base for base in reversed(about.__mro__) if base.__module__.startswith("penstock")]
            for member, value in {key: value for base in bases for key, value in vars(base).items()}.items():
                # A field without a default is no member of its class: the docstring of the class names it.
                if not member.startswith("_") and (callable(value) or inspect.isdatadescriptor(value)):
                    inner = f"{full}.{member}"
                    parts += [f"### `{inner}`", *called(inner, getattr(value, "__func__", value)), as_markdown(value)]
                elif isinstance(value, classmethod) and not member.startswith("_"):
                    inner = f"{full}.{member}"
                    parts += [f"### `{inner}`", *called(inner, value.__func__), as_markdown(value)]
    return parts


def called(name: str, about: Any) -> list[str]:
    """How a function is called, as a block of code; nothing for a class, whose docstring says how one is made."""
    if not inspect.isfunction(about):
        return []
    text = re.sub(r"\((self|cls)(, )?", "(", str(inspect.signature(about)), count=1)
    text = re.sub(r"(->|:) '([^']+)'", r"\1 \2", text)
    return [f"```python\n{name}{text}\n```"]


def as_markdown(about: Any) -> str:
    """A docstring as Markdown: examples are indented as they are, `Args:`, `Raises:` and `Attributes:` become lists."""
    text = (inspect.getdoc(about) or "").replace("``", "`")
    text = re.sub(r":\w+:`([^`]+)`", r"`\1`", text)
    parts = []
    for paragraph in text.split("\n\n"):
        head, _, rest = paragraph.partition("\n")
        if head in ("Args:", "Raises:", "Attributes:"):
            entries = re.sub(r"\n {8}", " ", f"\n{rest}")
            paragraph = f"{head}\n" + re.sub(r"\n    (\w+): ", r"\n- `\1`: ", entries)
        parts.append(paragraph)
    return "\n\n".join(parts)


def scenario_keys(reference: list[dict[str, Any]]) -> str:
    """Every key of a scenario file, section by section; the schemes' parameters have separate pages."""
    sections: dict[str, list[dict[str, Any]]] = {}
    for key in reference:
        if not key["section"].startswith("schemes"):
            sections.setdefault(key["section"], []).append(key)
    parts = []
    for section, keys in sections.items():
        parts += [f"## `[{section}]`" if section else "## At the top", keys[0]["section_description"]]
        rows = [[code(key["key"]), key["unit"], default(key), key["description"]] for key in keys]
        parts.append(table(["Key", "Value", "Default", "Meaning"], rows))
    return "\n\n".join(part for part in parts if part)


def scheme_page(scheme: dict[str, Any], reference: list[dict[str, Any]], docs: Path) -> str:
    """Return the text on a scheme, its states and a run as figures below `docs`, its parameters and profiles."""
    traits = {
        "recovers_alone": "Without signals, the rate returns to line rate by itself",
        "raises_on_signal": "A signal can raise the rate",
        "integer_state": "State is integer only, so that hardware can be held to it bit for bit",
        "needs_order": "Frames of a flow must come in order",
    }
    name = scheme["name"]
    parts = [
        f"# {heading(scheme)}",
        scheme["description"],
        f"Name: `{name}`. Source: {scheme['source'].rstrip('.')}.",
        table(
            ["Property", ""],
            [*([text, "yes" if scheme[key] else "no"] for key, text in traits.items()), *facts(scheme)],
        ),
        *scheme_prose(name),
        *scheme_figures(name, docs),
        "## Parameters",
    ]
    keys = {key["key"]: key for key in reference if key["section"] == f"schemes.{name}"}
    rows = []
    for p in scheme["parameters"]:
        key = keys[p["name"]]
        span = "" if key["minimum"] is None else f"{code(key['minimum'])} to {code(key['maximum'])}"
        rows.append([code(p["name"]), key["unit"], code(key["default"]), span, p["description"], p["source"]])
    if rows:
        parts.append(f"Keys of `[schemes.{name}]`. Where sources disagree, each reading is an option.")
        parts.append(table(["Parameter", "Value", "Default", "Range", "Meaning", "Source"], rows))
    else:
        parts.append("None.")
    for profile in scheme["profiles"]:
        text = specimen(name, f"{name}.profile = '{profile['name']}'")
        values = tomllib.loads(_core.Scenario.parse(text).resolved())["schemes"][name]
        parts += [f"## Profile `{profile['name']}`", profile["description"], "Differences from the defaults:"]
        parts.append(table(["Parameter", "Value"], ([code(key), code(values[key])] for key in profile["settings"])))
    # A search for a scheme leads to its page.
    # More than pages with the scheme's name in their title, and less than an answer to a question with its name.
    return "---\nsearch:\n  boost: 1.2\n---\n\n" + "\n\n".join(parts) + "\n"


def facts(scheme: dict[str, Any]) -> list[list[str]]:
    """Return other texts on a scheme, by their kind."""
    taken = (code(action["name"]) for action in scheme["actions"])
    sets = (" with ".join(code(name) for name in group) for group in scheme["tuned"])
    return [
        ["The parameter that sets the length of the queue", code(scheme["set_point"]) or "none"],
        ["Messages to sources", hearing(scheme)],
        ["Its actions, which `summary.json` counts", ", ".join(taken) or "none"],
        ["The parameters that an operator sets", ", ".join(sets) or "nothing"],
    ]


def scheme_folder(name: str) -> Path:
    """Return the folder of a scheme, which has its page and its diagram beside its state machines."""
    return ROOT / "crates/schemes/src" / name.replace("-", "_")


def scheme_prose(name: str) -> list[str]:
    """Return the text of a scheme's page.md."""
    written = scheme_folder(name) / "page.md"
    return [written.read_text().strip()] if written.exists() else []


def scheme_figures(name: str, docs: Path) -> list[str]:
    """The state diagram and the run that a scheme's states.toml describes, drawn below `docs`."""
    source = scheme_folder(name) / "states.toml"
    if not source.exists():
        return []
    images = docs / "images/schemes"
    images.mkdir(parents=True, exist_ok=True)
    parts = []
    document = tomllib.loads(source.read_text())
    if "machine" in document:
        state_diagram.draw(source, images / f"{name}-states.svg")
        parts += ["## States", f"![State diagram of {name}](../../images/schemes/{name}-states.svg)"]
    if "run" in document:
        run = Run(**document["run"])
        draw(
            run.scenario, images / f"{name}-run.svg", scheme=name, profile=run.profile, seed=run.seed, settings=run.set
        )
        shown = f"![A run of {name}](../../images/schemes/{name}-run.svg)"
        link = run_it(run.prepared(name), Path(f"reference/schemes/{name}.md"))
        parts += ["## A run", run.caption.strip(), shown, *link, f"```sh\n{run.command(name)}\n```"]
    return parts


@dataclass(frozen=True)
class Run:
    """The run that a scheme's page shows: the table `run` of its states.toml."""

    scenario: str
    caption: str
    profile: str | None = None
    seed: int | None = None
    set: dict[str, str] = field(default_factory=dict)

    def prepared(self, scheme: str) -> penstock.Scenario:
        """The scenario with all that this run sets."""
        scenario = penstock.Scenario.load(ROOT / self.scenario).set("scheme", scheme)
        for key, value in self.set.items():
            scenario.set(key, value)
        if self.profile:
            scenario.set(f"schemes.{scheme}.profile", self.profile)
        return scenario if self.seed is None else scenario.set("seed", self.seed)

    def command(self, scheme: str) -> str:
        """The command that gives this run."""
        options = [f"--scheme {scheme}"]
        options += [f"--profile {self.profile}"] if self.profile else []
        options += [f"--seed {self.seed}"] if self.seed is not None else []
        options += [f"--set {shlex.quote(f'{key}={value}')}" for key, value in self.set.items()]
        return " ".join(["penstock run", self.scenario, *options])


def specimen(scheme: str, settings: str = "") -> str:
    """A short scenario."""
    return SPECIMEN.format(scheme=scheme, settings=settings)


def tables(specimens: dict[str, penstock.Result]) -> str:
    """The columns of each table, those of each scheme included."""
    head = ["Column", "Type", "Unit", "Meaning"]
    parts = []
    job = '[[collective]]\nkind = "barrier"\nsize = "1 octets"\nhosts = "h0..h1"\n'
    everything = penstock.Scenario.from_toml(f"{specimen('none')}\npfc = {{}}\n{job}").run()
    for about in json.loads(_core.tables()):
        name, common = about["name"], {column["name"] for column in about["columns"]}
        everywhere = [row for column, row in columns(everything, name).items() if column in common]
        parts += [f"## `{name}`", about["description"], table(head, everywhere)]
        for scheme, result in specimens.items():
            if name in ("jobs", "paths", "links"):
                continue
            own = [row for key, row in columns(result, name).items() if key not in common]
            if own:
                parts += [f"With `{scheme}` also:", table(head, own)]
    return "\n\n".join(parts)


def objects() -> str:
    """The keys of each object of a summary, the whole first."""
    parts = []
    for about in reversed(json.loads(_core.objects())):
        rows = []
        for key in about["keys"]:
            kind = f"{key['type']}, optional" if key["optional"] else key["type"]
            rows.append([code(key["name"]), kind, key["unit"], key["description"]])
        name = about["name"]
        parts += [f"### `{name}`", about["description"], table(["Key", "Type", "Unit", "Meaning"], rows)]
    return "\n\n".join(parts)


def actions(schemes: list[dict[str, Any]]) -> str:
    """The actions that schemes declare, and which schemes do."""
    found = {action["name"]: action for scheme in schemes for action in scheme["actions"]}
    rows = []
    for name, action in found.items():
        takers = [code(scheme["name"]) for scheme in schemes if action in scheme["actions"]]
        rows.append([code(name), action["description"], "yes" if action["effect"] else "no", ", ".join(takers)])
    return table(["Action", "Its count", "An effect", "Schemes that take it"], rows)


def columns(result: penstock.Result, name: str) -> dict[str, list[str]]:
    """For each column of a table of `result`, its row of the reference."""
    schema = getattr(result, name).schema
    rows = {}
    for column in schema.names:
        field = schema.field(column)
        about = field.metadata_str
        kind = str(field.type).removeprefix("arro3.core.DataType<").strip(">\n")
        rows[column] = [code(column), kind, about.get("unit", ""), about.get("description", "")]
    return rows


if __name__ == "__main__":
    main(Path(sys.argv[1]), draft=sys.argv[2:] == ["--draft"])
