"""The output of `penstock dcb`."""

import json as jsonlib
from dataclasses import asdict
from itertools import groupby

import typer

from penstock import dcb
from penstock._core import dcb_show_member
from penstock.cli.locate import assignments, find
from penstock.cli.report import add_row, console, listing, print_fitting
from penstock.dcb.planning import DomainPlan, PlannedPoints, PlannedPort, Setting
from penstock.quantity_text import count
from penstock.terminal import printable_json


def show_objects(*, json: bool) -> None:
    """Print every managed object with its default."""
    if json:
        _print_json([asdict(table) for table in dcb.tables()])
        return
    out = console()
    for table in dcb.tables():
        typer.echo(f"\n{table.name}, one row per {table.per} (clause {table.clause}): {table.meaning}")
        listed = listing("object", "the standard's name", "clause", "values", "default", "meaning")
        for known in table.objects:
            default = f"{known.default} (Penstock's)" if known.default_origin == "own" else known.default
            add_row(listed, known.key, known.variable, known.clause, known.values, default, known.meaning)
        out.print(listed)


def show_scenario(name: str, *, scheme: str | None, profile: str | None, sets: list[str], json: bool) -> None:
    """Print the managed objects that stand for a scenario's parameters."""
    planned = dcb.plan(find(name, sets), scheme=scheme, profile=profile)
    if json:
        _print_json([asdict(points) for points in planned.points])
        return
    for points in planned.points:
        _print_points(points)


def show_device(name: str, *, json: bool) -> None:
    """Print the reaction points of a network interface."""
    _print_device(dcb.read(name), json=json)


def set_device(name: str, values: list[str], *, priorities: list[int] | None, json: bool) -> None:
    """Set values of a network interface's reaction points, and print all."""
    given = assignments(values, "", example="rpg_gd=7", once=True)
    chosen = range(8) if priorities is None else priorities
    _print_device(dcb.write(name, given, priorities=chosen), json=json)


def _print_device(device: dcb.Device, *, json: bool) -> None:
    if json:
        _print_json(asdict(device))
        return
    table = listing(device.name, *(f"priority {priority}" for priority in range(8)))
    for name, numbers in [*device.qcn.items(), *(device.stats or {}).items()]:
        add_row(table, name, *(dcb_show_member(name, number) for number in numbers))
    print_fitting(console(), table)


def show_plan(
    name: str,
    *,
    scheme: str | None,
    profile: str | None,
    outside: list[str],
    sets: list[str],
    limit: int,
    json: bool,
) -> None:
    """Print the domain of a scenario."""
    planned = dcb.plan(find(name, sets), scheme=scheme, profile=profile, outside=outside, limit=limit)
    if json:
        _print_json(planned.to_dict())
        return
    _print_ports(planned)
    for points in planned.points:
        _print_points(points)
        _print_devices(points, planned)
    for note in planned.notes:
        typer.echo(f"note: {note}")


def _print_ports(planned: DomainPlan) -> None:
    which = ", ".join(str(priority) for priority in planned.priorities)
    apart = f", outside {', '.join(planned.outside)}" if planned.outside else ""
    typer.echo(f"{planned.scenario}: congestion notification on priority {which}{apart}")
    table = listing("port", "priority", "defense mode", "alternate", "CN-TAG", "LLDP announces")
    for port in planned.ports:
        announced = ["CNPV"] * port.announces_cnpv + ["ready"] * port.announces_ready
        alternate = str(port.alternate_priority)
        add_row(
            table, port.port, str(port.priority), port.mode, alternate, port.cn_tag, ", ".join(announced) or "nothing"
        )
    console().print(table)
    kinds = sorted(planned.ports, key=_mode)
    counted = [f"{count(len(list(ports)))} {mode}" for mode, ports in groupby(kinds, key=_mode)]
    typer.echo(f"ports and priorities: {', '.join(counted) or 'none inside'}")


def _mode(port: PlannedPort) -> str:
    return port.mode


def _print_points(points: PlannedPoints) -> None:
    profile = f", profile {points.profile}" if points.profile else ""
    typer.echo(f"\npriority {points.priority}: {points.scheme}{profile}")
    table = listing("object", "value", "MIB's default", "parameter", "in the scenario")
    for setting in [*points.congestion_point, *points.reaction_point]:
        add_row(table, setting.name, setting.value, setting.default, setting.parameter, _wanted(setting))
    console().print(table)
    if points.without_object:
        text = ", ".join(f"{name} = {value}" for name, value in points.without_object.items())
        typer.echo(f"no managed object holds {text}")


def _wanted(setting: Setting) -> str | None:
    return setting.wanted if setting.exact else f"{setting.wanted}: not exactly"


def _print_devices(points: PlannedPoints, planned: DomainPlan) -> None:
    changed = [
        f"{setting.key}={setting.value}" for setting in points.congestion_point if setting.value != setting.default
    ]
    switches = dict.fromkeys(port.partition("->")[0] for port in points.congestion_points)
    hosts = dict.fromkeys(port.partition("->")[0] for port in points.reaction_points)
    if switches:
        rows = f"a row of ieee8021CnCompntPriTable for priority {points.priority}"
        others = f"; each congestion point: {', '.join(changed)}" if changed else "; congestion points as they are"
        typer.echo(f"on {_few(list(switches))}: {rows}{others}")
        typer.echo(f"  cnm_transmit_priority={planned.cnm_transmit_priority}")
    if hosts:
        typer.echo(f"on {_few(list(hosts))}:\n  {points.command}")


def _few(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, … {names[-1]} ({len(names)} nodes)"


def _print_json(document: object) -> None:
    typer.echo(printable_json(jsonlib.dumps(document, indent=2)))
