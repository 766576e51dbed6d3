"""Findings in a configuration, and a configuration that has been read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from penstock.devices.model import Device
from penstock.errors import TextFileError

Kind = Literal["syntax", "reference", "range", "sum", "meaning"]


class ConfigurationError(TextFileError):
    """A configuration that cannot be read at all: it names the file, the line and the reason."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A fault of a configuration.

    Attributes:
        line: the line, counted from 1; ``None`` if something is missing from the whole.
        where: the setting, as in ``BUFFER_PROFILE|pg_lossless|xoff``.
        severity: an error, a warning, or a note on what was not checked.
        kind: what is wrong with it.
        message: the fault.
        remedy: what to write instead.
        scenario: text of a scenario that shows it.
        scenario_file: the file to which that was written.
    """

    line: int | None
    where: str
    severity: Literal["error", "warning", "note"]
    kind: Kind
    message: str
    remedy: str = ""
    scenario: str | None = None
    scenario_file: str | None = None


@dataclass(frozen=True)
class Place:
    """Where a value stands: line and setting."""

    line: int | None
    where: str


@dataclass(kw_only=True)
class Reading:
    """A configuration that has been read.

    Attributes:
        device: the device, as far as it could be read.
        places: where each value stands, by a key such as ``("ingress", port, priority)``.
        findings: faults of syntax, references and ranges.
    """

    device: Device
    places: Mapping[tuple[object, ...], Place] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def place(self, *key: object) -> Place:
        """Return where a value stands."""
        return self.places.get(key, Place(None, "|".join(str(part) for part in key)))
