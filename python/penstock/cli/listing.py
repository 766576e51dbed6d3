"""`penstock schemes`, `scenarios` and `schema`: lists of all that exist."""

import json as jsonlib
from itertools import groupby
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from penstock import ScenarioError, library
from penstock.catalogue import about, keys, schema, schemes
from penstock.cli.failure import InputError
from penstock.cli.report import add_row, console, listing
from penstock.declared import Parameter, Scheme
from penstock.errors import ArgumentError, nearest
from penstock.scenario import Scenario

_SCHEME_KEYS = ("name", "title", "source", "parameters")
_PARAMETER_KEYS = ("name", "unit", "default", "minimum", "maximum", "source", "description")


def show_schemes(name: str | None, parameter: str | None, *, json: bool) -> None:
    """Print the schemes, or the parameters and profiles of one, or one ``parameter`` of it."""
    known = schemes() if name is None else [about(name)]
    if parameter is not None:
        names = [entry["name"] for entry in known[0]["parameters"]]
        if parameter not in names:
            missing = f"{parameter}: {name} has no such parameter"
            raise ArgumentError(missing, nearest(parameter, names, f"`penstock schemes {name}` lists them"))
        known = [{**known[0], "parameters": [known[0]["parameters"][names.index(parameter)]]}]
    if json:
        typer.echo(jsonlib.dumps([_contract(scheme) for scheme in known], indent=2))
    elif name is None:
        _print_schemes(known)
    elif parameter is not None:
        _print_parameter(known[0])
    else:
        _print_scheme(known[0])


def show_scenarios(folder: Path | None, *, json: bool) -> None:
    """Print the scenario files in ``folder`` and below, or all that have a name, with their questions."""
    if folder is not None and not folder.is_dir():
        raise InputError(
            f"{folder}: the folder does not exist", "leave it out to list ./scenarios and the scenarios of Penstock"
        )
    files = library.known() if folder is None else {name: folder / f"{name}.toml" for name in library.names(folder)}
    entries = [_entry(name, path) for name, path in files.items()]
    if json:
        typer.echo(jsonlib.dumps(entries, indent=2))
        return
    table = listing("scenario", "question", "scheme")
    for entry in entries:
        if entry["error"] is None:
            add_row(table, entry["name"], entry["question"], entry["scheme"])
        else:
            add_row(table, entry["name"], f"not readable: {entry['error']}", "-")
    console().print(table)


def show_keys(wanted: str | None, *, json: bool) -> None:
    """Print the keys of a scenario file, or of one section, for people, or their JSON schema."""
    if json:
        typer.echo(jsonlib.dumps(schema(wanted), indent=2))
        return
    out = console()
    for section, group in groupby(keys(wanted), key=lambda key: key["section"]):
        entries = list(group)
        out.print(f"\n[bold]{escape(section) or 'scenario'}[/bold]  {escape(entries[0]['section_description'])}")
        table = listing("key", "value", "default", "meaning")
        for key in entries:
            default = "required" if key["required"] else key["default"] or "-"
            add_row(table, key["key"], key["unit"], default, key["description"])
        out.print(table)


def _contract(scheme: Scheme) -> dict[str, Any]:
    """Return the part of a scheme's entry that other tools build on."""
    entry: dict[str, Any] = {key: scheme[key] for key in _SCHEME_KEYS}  # type: ignore[literal-required]
    entry["parameters"] = [
        {key: parameter[key] for key in _PARAMETER_KEYS}  # type: ignore[literal-required]
        for parameter in scheme["parameters"]
    ]
    return entry


def _entry(name: str, path: Path) -> dict[str, str | None]:
    entry: dict[str, str | None] = {
        "name": name,
        "path": path.as_posix(),
        "question": None,
        "scheme": None,
        "error": None,
    }
    try:
        scenario = Scenario.load(path)
        entry["question"], entry["scheme"] = scenario.question, scenario.scheme
    except ScenarioError as error:
        entry["error"] = error.message
    return entry


def _print_schemes(known: list[Scheme]) -> None:
    """Print a line each."""
    out = console()
    table = listing("scheme", "title", "source")
    for scheme in known:
        add_row(table, scheme["name"], scheme["title"], scheme["source"])
    # The source is cut where the terminal ends; the page of one scheme has the whole.
    *whole, source = table.columns
    for column in whole:
        column.no_wrap = True
    source.no_wrap, source.overflow, source.max_width = True, "ellipsis", 1
    others = out.measure(table, options=out.options.update_width(10_000)).maximum - 1
    source.max_width = max(1, out.width - others)
    out.print(table)
    out.print("\n`penstock schemes NAME` shows the parameters and profiles of one", style="dim")


def _print_parameter(scheme: Scheme) -> None:
    """Print the one parameter that is left of a scheme."""
    out, (parameter,) = console(), scheme["parameters"]
    written = parameter["written"]
    out.print(f"[bold]{parameter['name']}[/bold]  {escape(parameter['description'])}")
    table = listing("", "")
    table.show_header = False
    add_row(table, "default", written["default"])
    add_row(table, "range", _range(parameter))
    add_row(table, "source", parameter["source"])
    for profile in scheme["profiles"]:
        if parameter["name"] in profile["written"]:
            add_row(table, profile["name"], profile["written"][parameter["name"]])
    out.print(table)


def _range(parameter: Parameter) -> str:
    """Return the ends of a parameter's range, or its choices."""
    written = parameter["written"]
    return parameter["unit"] if parameter["minimum"] is None else f"{written['minimum']} to {written['maximum']}"


def _print_scheme(scheme: Scheme) -> None:
    out = console()
    out.print(f"[bold]{scheme['name']}[/bold]  {escape(scheme['title'])}  ({escape(scheme['source'])})")
    out.print(escape(scheme["description"]))
    if scheme["parameters"]:
        # Values as a file would have them, exact: a reader must be able to write the ends of a range.
        table = listing("parameter", "unit", "default", "range", "meaning", "source", title="parameters")
        for parameter in scheme["parameters"]:
            unit = "-" if parameter["minimum"] is None else parameter["unit"]
            what, source = parameter["description"], parameter["source"]
            add_row(table, parameter["name"], unit, parameter["written"]["default"], _range(parameter), what, source)
        out.print(table)
        out.print("source `option`: no source decides it; the default is Penstock's choice", style="dim")
    if scheme["profiles"]:
        table = listing("profile", "meaning", "settings", title="profiles")
        for profile in scheme["profiles"]:
            settings = "\n".join(f"{key} = {value}" for key, value in profile["written"].items())
            add_row(table, profile["name"], profile["description"], settings or "the defaults")
        out.print(table)
