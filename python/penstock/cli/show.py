"""`penstock show`: what a scenario's network is built of, and a picture of it."""

import json as jsonlib
from dataclasses import asdict
from pathlib import Path

import typer

from penstock.cli.failure import say
from penstock.cli.locate import RESULTS, file_to_write, find
from penstock.cli.report import add_row, console, listing
from penstock.declared import Outline
from penstock.fabrics import PortKind, SwitchMemory, memory, port_kinds
from penstock.quantity_text import bit_rate, count, duration, octets


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


# Columns of links with credits and with retry.
_LOSSLESS = (("credits", "credit_octets"), ("replay buffer", "replay_octets"))


def _print(outline: Outline, kinds: list[PortKind], chips: list[SwitchMemory]) -> None:
    hosts = sum(node["kind"] == "host" for node in outline["nodes"])
    switches = len(outline["nodes"]) - hosts
    screen = console()
    screen.print(
        f"{outline['name']}: {count(hosts)} hosts, {count(switches)} switches, "
        f"{count(len(outline['links']) // 2)} links"
    )
    paused = any(kind.headroom_octets is not None for kind in kinds)
    columns = ["ports", "", "number", "rate", "cable", "delay"]
    columns += ["response", "XOFF alone", "XOFF all", "headroom", "needed"] if paused else []
    lossless = [(name, field) for name, field in _LOSSLESS if any(getattr(kind, field) is not None for kind in kinds)]
    table = listing(*columns, *(name for name, _ in lossless))
    for kind in kinds:
        cable = "-" if kind.cable_m is None else f"{kind.cable_m:g} m"
        row = [
            kind.nodes,
            f"-> {kind.peers}",
            count(len(kind.ports)),
            bit_rate(kind.rate_bps),
            cable,
            duration(kind.latency_s),
        ]
        if paused:
            sizes = (kind.xoff_octets, kind.xoff_together_octets, kind.headroom_octets, kind.headroom_needed_octets)
            row += ["-" if kind.response_s is None else duration(kind.response_s)]
            row += ["-" if size is None else octets(size) for size in sizes]
        row += ["-" if (size := getattr(kind, field)) is None else octets(size) for _, field in lossless]
        add_row(table, *row)
    screen.print(table)
    if paused:
        screen.print(
            "XOFF: where a line is paused if it holds memory alone, and if all lossless lines do; "
            "headroom: of one line and priority"
        )
    for chip in chips:
        _print_memory(chip)
    subscribed = {node["oversubscription"] for node in outline["nodes"]} - {None}
    if subscribed:
        screen.print(f"oversubscription: {', '.join(f'{value:.3g}' for value in sorted(subscribed))} to 1")  # type: ignore[type-var]
    for note in outline["notes"]:
        say(f"note: {note}")


def _print_memory(chip: SwitchMemory) -> None:
    parts = []
    for pool in chip.pools:
        alike = f"{pool['pool']} " if len(chip.pools) > 1 else ""
        lacks = pool["headroom_needed_octets"] > pool["headroom_octets"]
        needed = f" ({octets(pool['headroom_needed_octets'])} needed)" if lacks else ""
        parts.append(
            f"{alike}{octets(pool['headroom_octets'])} headroom{needed} + {octets(pool['reserved_octets'])} reserves + "
            f"{octets(pool['shared_octets'])} shared"
        )
    whole = "no [[switch]]" if chip.memory_octets is None else octets(chip.memory_octets)
    console().print(f"memory of {chip.switches}: {whole} = {' + '.join(parts)}")
