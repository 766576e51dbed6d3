"""`penstock compare FABRIC --measured FILE`: watermarks and counters of devices beside the runs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from penstock._core import read_quantity
from penstock.cli.failure import InputError
from penstock.cli.locate import assignments
from penstock.cli.report import add_row, console, listing
from penstock.comparison import Comparison
from penstock.devices import FORMATS
from penstock.errors import nearest
from penstock.files import write_text
from penstock.quantity_text import count, ratio
from penstock.scenario import Scenario
from penstock.telemetry import MEASURES, Overlay, PortNames, Sample, overlay, read, typed_columns
from penstock.telemetry.measures import in_unit, measure_named
from penstock.telemetry.overlay import combine

if TYPE_CHECKING:
    from penstock.cli.requests import CompareOptions

DOCUMENT = "measured.json"

_MOST_ROWS = 60
"""Rows of the table on the terminal."""


@dataclass(frozen=True)
class Telemetry:
    """What the options name: values, the fabric's ports, and the time of the measurement, s."""

    samples: list[Sample]
    names: PortNames
    over_s: float | None


def telemetry(given: "CompareOptions", scenarios: Sequence[Scenario]) -> Telemetry | None:
    """Read the files of ``--measured`` before anything runs; ``None`` without the option.

    Raises:
        InputError: an option is wrong, or more than one scenario is compared.
        TextFileError: a file is wrong.
    """
    if not given.measured:
        others = {
            "--measured-columns": given.measured_columns,
            "--measured-as": given.measured_as,
            "--measured-ports": given.measured_ports,
            "--measured-over": given.measured_over,
        }
        for option, value in others.items():
            if value is not None:
                raise InputError(f"{option}: there is no file of measured values", "add --measured FILE")
        return None
    if len(scenarios) != 1:
        raise InputError("--measured: values are of one fabric", "name one scenario")
    columns = None if given.measured_columns is None else typed_columns(given.measured_columns)
    if given.measured_as is not None and columns is None:
        raise InputError("--measured-as: the output of show commands says what it is", "add --measured-columns")
    try:
        measure = None if given.measured_as is None else measure_named(given.measured_as)
    except ValueError as error:
        raise InputError(f"--measured-as {error}") from error
    if given.measured_names not in FORMATS:
        hint = nearest(given.measured_names, FORMATS, f"write one of {', '.join(FORMATS)}")
        raise InputError(f"--measured-names {given.measured_names}: unknown format", hint)
    samples: list[Sample] = []
    for device, path in _files(given):
        samples += read(path, device=device, columns=columns, measure=measure)
    ports = [] if given.measured_ports is None else given.measured_ports.split(",")
    named = assignments(ports, "--measured-ports ", example="Ethernet0='leaf0->h0'", once=True)
    names = PortNames(scenarios[0], given.measured_names, named, limit=given.limit)
    found = Telemetry(samples, names, _over_s(given.measured_over))
    combine(found.samples, found.names, found.over_s)
    return found


def measured_files(given: "CompareOptions") -> list[Path]:
    """Return the files of ``--measured``."""
    return [path for _, path in _files(given)]


def _files(given: "CompareOptions") -> list[tuple[str | None, Path]]:
    """Return the files, each with the device that stands before it."""
    found: list[tuple[str | None, Path]] = []
    for text in given.measured:
        device, equals, name = text.partition("=")
        found.append((device or None, Path(name)) if equals and not Path(text).is_file() else (None, Path(text)))
    return found


def _over_s(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(read_quantity(text, "s"))
    except ValueError as error:
        raise InputError(f"--measured-over {text}: this is not a time", "write, for instance, '60 s'") from error
    if not seconds > 0:
        raise InputError(f"--measured-over {text}: a measurement takes time", "write, for instance, '60 s'")
    return seconds


def laid_over(found: Telemetry, comparison: Comparison, folder: Path) -> Overlay:
    """Put the measured values beside the comparison's runs, and write them into its folder."""
    runs = {label: results for label, results in comparison.runs.items() if results}
    own = overlay(found.samples, found.names, runs, over_s=found.over_s)
    comparison.document["measured"] = own.document()
    write_text(folder / DOCUMENT, json.dumps(own.document(), indent=2) + "\n")
    return own


def draw(found: Overlay, title: str, folder: Path) -> None:
    """Write the figure."""
    from penstock.figures.measured import write_measured

    write_measured(found, title, folder)


def print_overlay(found: Overlay) -> None:
    """Print the values, those first that differ most."""
    out = console()
    seeds = any(line.low is not None for row in found.rows for line in row.simulated.values())
    several = len(found.labels) > 1
    columns = [
        "port",
        "in the fabric",
        "priority",
        "watermark or counter",
        *(["line"] if several else []),
        "measured",
        "simulated",
    ]
    table = listing(*columns, *(["another seed"] if seeds else []), "ratio", *(["differs"] if seeds else []))
    rows = found.farthest_first()
    for row, label in rows[:_MOST_ROWS]:
        line = row.simulated[label]
        interval = None if line.low is None else f"{in_unit(line.low, row.unit)} .. {in_unit(line.high, row.unit)}"
        cells: list[str | None] = [f"{row.device} {row.port}", row.link, str(row.priority), MEASURES[row.measure].title]
        cells += [label] if several else []
        cells += [in_unit(row.measured, row.unit), in_unit(line.mean, row.unit)]
        cells += [interval] if seeds else []
        cells.append(None if line.ratio is None else ratio(line.ratio))
        cells += ["yes" if line.differs else "no" if line.differs is False else None] if seeds else []
        add_row(table, *cells)
    out.print(table)
    if len(rows) > _MOST_ROWS:
        out.print(f"{count(len(rows) - _MOST_ROWS)} more in {DOCUMENT}: those above differ most", style="dim")
    for label in found.labels if seeds else ():
        name = f"{escape(label)}: " if several else ""
        differing, judged = found.differing(label)
        words = "are outside of the interval in which another seed lies with 95 %: by chance, 1 of 20 is"
        out.print(f"{name}{differing} of {judged} values {words}", soft_wrap=True)
    for note in found.notes:
        out.print(f"note: {escape(note)}", style="dim", soft_wrap=True)
