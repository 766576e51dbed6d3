"""SONiC's configuration as YANG has it in JSON (RFC 7951), and its validation by ``yanglint``."""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.devices.findings import Finding
from penstock.devices.json_lines import LinedDict
from penstock.devices.sonic_tables import SHORT_NUMBERS, TABLES
from penstock.errors import ArgumentError

_BOOLEANS = re.compile(r"wred_\w+_enable")


def is_rfc7951(document: Mapping[str, Any]) -> bool:
    """Return whether a document has YANG's names instead of those of CONFIG_DB."""
    return bool(document) and all(":" in key for key in document)


def to_rfc7951(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return tables of CONFIG_DB as RFC 7951 has them; tables that are not known are left out."""
    document: dict[str, Any] = {}
    for name, entries in tables.items():
        if name == "DEVICE_METADATA":
            module: str = "sonic-device_metadata"
            body: Any = {f"{module}:{name}": entries}
        elif name in TABLES:
            module = TABLES[name].module
            rows = [_row(name, key, entry) for key, entry in entries.items()]
            body = {f"{module}:{name}": {f"{name}_LIST": rows}}
        else:
            continue
        document.setdefault(f"{module}:{module}", {}).update(body)
    return document


def _row(name: str, key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    table = TABLES[name]
    row: dict[str, Any] = dict(zip(table.keys, key.split("|"), strict=False))
    if table.inner is None:
        return row | {field: _typed(field, value) for field, value in entry.items()}
    (of_key, _), (of_value, _) = table.inner
    return row | {
        name: [{of_key: _typed(of_key, one), of_value: _typed(of_value, other)} for one, other in entry.items()]
    }


def _typed(field: str, value: Any) -> Any:
    if field in SHORT_NUMBERS and re.fullmatch(r"-?\d+", str(value)):
        return int(value)
    if _BOOLEANS.fullmatch(field):
        return str(value).lower() == "true"
    return str(value)


def of_rfc7951(document: LinedDict) -> LinedDict:
    """Return the tables of a document in the form of CONFIG_DB, with the lines of their keys."""
    tables = LinedDict()
    for module in document.values():
        if not isinstance(module, LinedDict):
            continue
        for long_name, body in module.items():
            name = long_name.partition(":")[2] or long_name
            entries = LinedDict()
            tables[name], tables.lines[name] = entries, module.lines[long_name]
            if not isinstance(body, LinedDict):
                tables[name] = body
                continue
            for key, value in body.items():
                rows = value if key.endswith("_LIST") and isinstance(value, list) else None
                if rows is None:
                    entries[key], entries.lines[key] = value, body.lines[key]
                    continue
                for row in rows:
                    _add_row(name, row, entries, body.lines[key])
    return tables


def _add_row(name: str, row: Any, entries: LinedDict, line: int) -> None:
    keys = TABLES[name].keys if name in TABLES else ("name",)
    if not isinstance(row, LinedDict) or any(key not in row for key in keys):
        entries[f"without {' and '.join(keys)}"], entries.lines[f"without {' and '.join(keys)}"] = row, line
        return
    key = "|".join(str(row[part]) for part in keys)
    entry = LinedDict()
    entry.repeated = row.repeated
    inner = TABLES[name].inner if name in TABLES else None
    for field, value in row.items():
        if field in keys:
            continue
        if inner is not None and field == name and isinstance(value, list):
            for one in value:
                if isinstance(one, LinedDict) and inner[0][0] in one:
                    of_key = str(one[inner[0][0]])
                    entry[of_key] = one.get(inner[1][0], "")
                    entry.lines[of_key] = one.lines[inner[0][0]]
        else:
            entry[field], entry.lines[field] = value, row.lines[field]
    if key in entries:
        entries.repeated.append((key, entries.lines[key], row.lines[keys[0]]))
    entries[key], entries.lines[key] = entry, row.lines[keys[0]]


def validate(tables: Mapping[str, Mapping[str, Any]], models: Path) -> list[Finding]:
    """Return what ``yanglint`` has against tables of CONFIG_DB, by SONiC's models in a folder.

    Args:
        tables: tables by name.
        models: the folder of sonic-yang-models, its templates rendered.

    Raises:
        ArgumentError: there is no yanglint, or the folder has no models.
    """
    program = shutil.which("yanglint")
    if program is None:
        raise ArgumentError("yanglint: no such program", "on Debian: apt install libyang2-tools")
    files = sorted(str(path.resolve()) for path in models.glob("*.yang"))
    if not any(path.endswith("/sonic-types.yang") for path in files):
        hint = "name the folder of sonic-yang-models with its templates rendered (sonic-types.yang is one)"
        raise ArgumentError(f"{models}: no sonic-types.yang in it", hint)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "config.json"
        data.write_text(json.dumps(to_rfc7951(tables), indent=1), encoding="utf-8")
        command = [program, "-p", str(models), "-f", "json", "-t", "config", *files, str(data)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        return []
    lines = [line for line in ended.stderr.splitlines() if line.startswith(("libyang err", "YANGLINT[E]"))]
    return [
        Finding(line=None, where="yanglint", severity="error", kind="range", message=line.partition(":")[2].strip())
        for line in lines or [f"YANGLINT[E]: ended with status {ended.returncode}"]
    ]
