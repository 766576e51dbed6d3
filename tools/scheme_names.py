"""How README and documentation name schemes: the headings of their pages, and the table of all of them."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def heading(scheme: dict[str, Any]) -> str:
    """Return the name of a scheme as its paper spells it, and what it stands for."""
    name, title = scheme["name"], scheme["title"]
    parts = name.split("-")
    spelled_out = len(parts) > 1 and max(map(len, parts)) > 4
    if name == "none" or spelled_out or title.lower().replace(" ", "-").startswith(name):
        return str(title)
    spelled = re.search(rf"\b{re.escape(name)}\b", scheme["source"], re.IGNORECASE)
    return f"{spelled[0] if spelled else name.upper()}: {title}"


def hearing(scheme: dict[str, Any]) -> str:
    """Return the messages with which a scheme notifies a source."""
    signals = scheme["signals"]
    ways = {"backward": "from the congestion point", "by destination": "through the destination"}
    return f"{ways[signals['path']]}, in frames of {signals['octets']} octets" if signals else "none"


def scheme_table(schemes: Sequence[dict[str, Any]], link: Callable[[str], str] | None = None) -> str:
    """Return the table of all schemes and what each can be used for, with a link to each page where there is one."""
    rows = []
    for scheme in schemes:
        name = scheme["name"]
        title = f"[{heading(scheme)}]({link(name)})" if link else heading(scheme)
        cores = ", ".join(code(core) for core in scheme["cores"])
        has = ("yes" if scheme[key] else "" for key in ("capture", "testbed"))
        rows.append(
            [title, code(name), "yes", *has, cores, *("yes" if scheme[key] else "" for key in ("fluid", "tuned"))]
        )
    return table(["Scheme", "Name", "Simulator", "Capture", "Testbed", "Cores", "Fluid", "Tuning"], rows)


def uses_table(schemes: Sequence[dict[str, Any]], link: Callable[[str], str]) -> str:
    """Return the table of what schemes can be used for: the uses, each with its schemes; the first has links."""
    uses: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
        ("Simulator, arena, laboratory, your own Python", lambda scheme: True),
        ("Captures that show all that frames carry", lambda scheme: scheme["capture"]),
        ("Testbed, with real frames", lambda scheme: scheme["testbed"]),
        ("Cores in SystemVerilog", lambda scheme: scheme["cores"]),
        ("Fluid models: margins, maps, phase planes", lambda scheme: scheme["fluid"]),
        ("Search for parameters", lambda scheme: scheme["tuned"]),
    ]
    linked = [(scheme, f"[{code(scheme['name'])}]({link(scheme['name'])})") for scheme in schemes]
    rows = []
    for use, has in uses:
        names = [shown if use is uses[0][0] else code(scheme["name"]) for scheme, shown in linked if has(scheme)]
        without = [code(scheme["name"]) for scheme in schemes if not has(scheme)]
        most = without and len(without) < len(names) / 2
        rows.append([use, str(len(names)), f"all but {', '.join(without)}" if most else ", ".join(names)])
    return table(["", "Schemes", ""], rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *cells])


def code(value: Any) -> str:
    """A value as code; nothing for None."""
    return "" if value is None else f"`{value}`"
