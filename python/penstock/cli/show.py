"""`penstock show`: what a scenario's network is built of, and a picture of it."""

import json as jsonlib
from dataclasses import asdict
from pathlib import Path

import typer

from penstock.cli.failure import say
from penstock.cli.locate import RESULTS, file_to_write, find
from penstock.cli.report import console, print_table
from penstock.declared import Outline
from penstock.fabrics import PortKind, SwitchMemory, memory, port_kinds
from penstock.reports import fabric


def show(name: str, sets: list[str], *, out: Path | None, json: bool, figure: bool, limit: int) -> None:
    """Print the ports by kind, the memory of switches, and the notes of the plan; draw the network."""
    scenario = find(name, sets)
    outline = scenario.outline(limit=limit)
    kinds, chips = port_kinds(outline), memory(outline)
    if json:
        document = {
            "ports": outline["links"],
            "kinds": [asdict(kind) for kind in kinds],
            "memory": outline["memory"],
            "nodes": outline["nodes"],
            "notes": outline["notes"],
        }
        typer.echo(jsonlib.dumps(document, indent=2))
    else:
        _print(outline, kinds, chips)
    if figure or out is not None:
        from penstock.figures.fabric import fabric_figure
        from penstock.figures.style import save

        path = out or RESULTS / f"{scenario.name}-fabric.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        save(fabric_figure(outline), file_to_write(path))
        say(f"drawn: {path}")


def _print(outline: Outline, kinds: list[PortKind], chips: list[SwitchMemory]) -> None:
    screen = console()
    screen.print(f"{outline['name']}: {fabric.in_words(outline)}")
    print_table(screen, fabric.ports(kinds))
    for chip in chips:
        screen.print(fabric.memory_in_words(chip))
    subscribed = {node["oversubscription"] for node in outline["nodes"]} - {None}
    if subscribed:
        screen.print(f"oversubscription: {', '.join(f'{value:.3g}' for value in sorted(subscribed))} to 1")  # type: ignore[type-var]
    for note in outline["notes"]:
        say(f"note: {note}")
