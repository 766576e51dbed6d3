"""A configuration of any format, checked: faults with line, severity and remedy."""

import importlib
import os
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from penstock import files
from penstock.devices.findings import ConfigurationError, Finding, Reading
from penstock.devices.meaning import compare, examine, surroundings
from penstock.errors import ArgumentError, nearest
from penstock.scenario import Scenario

FORMATS = ("sonic", "nvue", "eos", "nxos", "junos", "mlnx_qos", "dcb")
"""The formats of devices' configurations."""

_OCTETS_MAX = 100_000_000

_SIGNS = (
    ("sonic", r"\s*[{\[]"),
    ("mlnx_qos", r"(?m)^\s*(sudo\s+)?(\S*/)?mlnx_qos\s|^(DCBX mode|Priority trust state):"),
    ("nvue", r"(?m)^\s*(\S+[#$]\s*)?nv\s+(set|config)\s"),
    ("junos", r"(?m)^\s*set\s+class-of-service\s"),
    ("nxos", r"(?m)^\s*(policy-map|class-map)\s+type\s|^\s*system\s+qos\b"),
    ("dcb", r"(?m)^\s*(sudo\s+)?(\S*/)?dcb\s+(pfc|buffer|app|ets)\s|^\s*(prio-pfc|prio-buffer)\s"),
    ("eos", r"(?m)^\s*(qos\s+(profile|map|trust)|priority-flow-control|uc-tx-queue|tx-queue)\s"),
)


def module_of(name: str) -> ModuleType:
    """Return the module that reads and writes a format.

    Raises:
        ArgumentError: there is no such format.
    """
    if name not in FORMATS:
        raise ArgumentError(f"format={name}: unknown format", nearest(name, FORMATS, f"write {', '.join(FORMATS)}"))
    return importlib.import_module(f"penstock.devices.{name}")


def detect(text: str, file: str = "configuration") -> str:
    """Return the format of a text.

    Raises:
        ConfigurationError: nothing of the text belongs to a format that is known.
    """
    if not text.strip():
        raise ConfigurationError(file, 1, "the file is empty; give a configuration")
    for name, sign in _SIGNS:
        if (re.match if name == "sonic" else re.search)(sign, text):
            return name
    raise ConfigurationError(file, 1, f"no format is known by it; name one with --format: {', '.join(FORMATS)}")


def read(text: str, *, file: str = "configuration", form: str | None = None) -> Reading:
    """Return the device that a text configures.

    Args:
        text: the configuration.
        file: stands in errors.
        form: one of :data:`FORMATS`; that which the text looks like without.

    Raises:
        ConfigurationError: the text cannot be read at all.
        ArgumentError: the format is not known.
    """
    module = module_of(form or detect(text, file))
    if not text.strip():
        raise ConfigurationError(file, 1, "the file is empty; give a configuration")
    reading: Reading = module.read(text, file)
    return reading


def read_file(path: str | os.PathLike[str], form: str | None = None) -> Reading:
    """Return the device that a file configures, as :func:`read`.

    Raises:
        ConfigurationError: the file is no text, or cannot be read as a configuration.
        OSError: it cannot be read.
    """
    text = files.read_text(Path(path), _OCTETS_MAX, ConfigurationError)
    return read(text, file=str(path), form=form)


def check(
    reading: Reading,
    *,
    fabric: Scenario | None = None,
    chip: str | None = None,
    other: Reading | None = None,
    load: bool = False,
) -> list[Finding]:
    """Return all findings in a configuration, those that name a line first, in the order of lines.

    Args:
        reading: the configuration.
        fabric: the scenario of the fabric: memory, cells, frames, response times, lossless priorities.
        chip: a chip of ``penstock schema switch``, or memory and cell as in ``64MB/256B``, instead of the fabric's.
        other: the configuration at the other side of a link.
        load: whether the fabric runs, so that watchdogs are compared with the longest stop under its own load.

    Raises:
        ScenarioError: the fabric or the chip is not legal.
        ArgumentError: the chip cannot be read, or there is no fabric that could run.
    """
    around = surroundings(fabric, chip)
    if load:
        if fabric is None:
            raise ArgumentError("load: there is no fabric that could run", "name its scenario")
        from penstock.what_ifs.measuring import longest_stop_s

        around = replace(around, longest_stop_s=longest_stop_s(fabric.run()))
    found = [*reading.findings, *examine(reading, around)]
    if other is not None:
        found += compare(reading, other)
    return sorted(found, key=lambda finding: (finding.severity == "note", finding.line is None, finding.line or 0))


def write_scenarios(findings: list[Finding], folder: Path) -> list[Finding]:
    """Write the scenario of each finding that has one into a folder; return the findings with their names.

    Raises:
        OSError: a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    named: list[Finding] = []
    for finding in findings:
        if finding.scenario is not None:
            stem = re.sub(r"[^A-Za-z0-9]+", "-", f"{len(named):02}-{finding.where}").strip("-").lower()[:80]
            path = folder / f"{stem}.toml"
            files.write_text(path, finding.scenario)
            finding = replace(finding, scenario_file=str(path))
        named.append(finding)
    return named
