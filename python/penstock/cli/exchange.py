"""`penstock import` and `penstock export`: files of other people's simulators, and configurations of devices."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from penstock import ScenarioError, devices
from penstock.cli.failure import InputError, as_options, say
from penstock.cli.locate import assignments, file_to_write, find
from penstock.cli.requests import ExportOptions, ImportOptions
from penstock.exchange import FORMATS, export, export_job, import_files, jobs, write
from penstock.fabrics import names_in_short
from penstock.result import Result
from penstock.scenario import Scenario

_MOST = 1000
"""The largest factor on the limits of what a scenario may ask for."""


def import_one(given: ImportOptions) -> None:
    """Write the scenario that other people's files describe."""
    out, scheme, transport = given.out, given.scheme, given.transport
    file_to_write(out, (".toml",))
    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder does not exist", "create it first")
    if out.exists() and not given.force:
        raise InputError(f"{out} exists", "replace it with --force, or take another name")
    for path in given.files:
        if not path.is_file():
            raise InputError(f"{path}: is not a file", "give the files of another simulator")
    carrier = None if transport is None else _transport(transport)
    imported = import_files(
        given.files,
        scheme=scheme,
        transport=carrier,
        pfc=given.pfc,
        name=out.stem,
        complete=given.complete,
        control_deps=given.control_deps,
    )
    for key, value in assignments(given.sets).items():
        imported.scenario.set(key, value)
    try:
        beyond = _check(imported.scenario)
    except ScenarioError as error:
        raise _unfit(error, given) from error
    imported.scenario.save(out)
    typer.echo(out)
    if not given.quiet:
        for note in [*imported.notes, *beyond]:
            say(f"note: {note}")
        say(f"run it with: penstock run {out}")


def _check(scenario: Scenario) -> list[str]:
    """Lay a scenario out; return a sentence if it asks for more than the usual limits allow.

    Raises:
        ScenarioError: the scenario would not run.
    """
    try:
        scenario.outline()
    except ScenarioError as error:
        scenario.outline(limit=_MOST)
        return [as_options(f"{error.key}: {error.message} ({error.hint})")]
    return []


def _unfit(error: ScenarioError, given: ImportOptions) -> InputError:
    """Return the error of a scenario that would not run, at the option or file that it comes from if that is known."""
    key, scheme, transport = error.key or "", given.scheme, given.transport
    _, of_transport, parameter = key.partition(".transport")
    if key == "scheme" and scheme is not None:
        place = f"--scheme {scheme}"
    elif of_transport and transport is not None:
        place = f"--transport {transport}{parameter and ': '}{parameter.removeprefix('.')}"
    elif key == "job.0.graph":
        files = ", ".join(map(str, given.files))
        return InputError(f"{files}: {error.message}", error.hint or "docs/reference/job-traces has what is read")
    else:
        place = f"the scenario of these files would not run: {key or error.file}"
    return InputError(f"{place}: {error.message}", error.hint or "")


def export_one(given: ExportOptions) -> None:
    """Write a scenario, or that of a results folder with its completed flows, or jobs, as other people's files."""
    source, folder, to = given.scenario, given.folder, given.to
    if to is None:
        _export_jobs(given)
        return
    formats = (*FORMATS, *devices.FORMATS)
    if given.messages:
        raise InputError(f"--messages with --to {to}: it is for files of jobs", "take one of them out")
    if to not in formats:
        raise InputError(f"--to {to}: unknown format", f"write {', '.join(formats)}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, not a folder", "name another folder")
    if to in devices.FORMATS:
        if Path(source).is_dir() or given.seed is not None:
            raise InputError(f"--to {to}: takes a scenario, and no seed", "give the scenario of the fabric")
        written, notes = _configurations(given, to)
    elif Path(source).is_dir():
        if given.sets or given.seed is not None:
            raise InputError("--set and --seed: a folder of results has its scenario", "export a scenario instead")
        written, notes = export(Result.open(source), to=to, limit=given.limit), {}
    else:
        written, notes = export(find(source, given.sets), to=to, seed=given.seed, limit=given.limit), {}
    _write(written, folder, given)
    for sentence, names in notes.items():
        say(f"note: {names_in_short(names)}: {sentence}")


def _write(written: Mapping[str, str | bytes], folder: Path, given: ExportOptions) -> None:
    """Write files into a folder, and print their names."""
    there = [name for name in written if (folder / name).exists()]
    if there and not given.force:
        raise InputError(f"{folder / there[0]} exists", "replace it with --force, or take another folder")
    for path in write(written, folder):
        typer.echo(path)


def _export_jobs(given: ExportOptions) -> None:
    """Write the jobs of a scenario, or a job of other people's files, as files of GOAL or Chakra."""
    source, name = Path(given.scenario), given.folder.name
    endings = [f".{ending}" for ending in jobs.FORMATS]
    if given.folder.suffix not in endings:
        hint = f"give --to, or a name that ends in {', '.join(endings)} for files of jobs"
        raise InputError(f"{given.folder}: no format is given", hint)
    about: Scenario | list[Path]
    if source.is_file() and source.suffix != ".toml" and jobs.is_job(source):
        if given.sets or given.seed is not None:
            raise InputError("--set and --seed: a file of a job has no scenario", "import it first")
        about = [source]
    elif source.is_dir():
        about = Scenario.from_toml(Result.open(source).scenario_toml)
    else:
        about = find(given.scenario, given.sets)
    written = export_job(about, name, messages=given.messages, seed=given.seed, limit=given.limit)
    _write(written.files, given.folder.parent, given)
    for note in written.notes:
        say(f"note: {note}")


def _configurations(given: ExportOptions, to: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the files of all devices, and the names of the devices that lack a setting, by the sentence on it."""
    written: dict[str, str] = {}
    notes: dict[str, list[str]] = {}
    scenario = find(given.scenario, given.sets)
    for name, configuration in devices.configurations(scenario, to=to, limit=given.limit).items():
        written |= configuration.files
        for sentence in configuration.lost:
            notes.setdefault(sentence, []).append(name)
    return written, notes


def _transport(text: str) -> str | Mapping[str, Any]:
    """Return a transport: the name of one, or a table of TOML with its parameters."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        table: Mapping[str, Any] = tomllib.loads(f"transport = {text}")["transport"]
    except tomllib.TOMLDecodeError as error:
        hint = "write, for instance, --transport '{ tcp = { congestion = \"dctcp\" } }'"
        raise InputError(f"--transport {text}: not a table of TOML: {error}", hint) from None
    return table
