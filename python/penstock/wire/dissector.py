"""The dissector for Wireshark and tshark: one file in Lua, made of the formats, and where it goes."""

import json
from pathlib import Path
from typing import Any

from penstock.errors import ArgumentError
from penstock.files import whole
from penstock.wire.frame import messages, mrc_headers

_NAME = "penstock.lua"
_OURS = "-- Penstock's dissector"


def dissector() -> str:
    """Return the dissector as text."""
    shared = ("name", "title", "octets", "message")
    formats = [
        {
            **{key: entry[key] for key in shared},
            "own": entry["source"].startswith("Penstock's own"),
            "list": _listed(entry),
        }
        for entry in messages()
    ]
    about = ("name", "title", "octets", "opcode")
    mrc = [{**{key: entry[key] for key in about}, "list": _listed(entry)} for entry in mrc_headers()]
    text = Path(__file__).with_name("dissector.lua").read_text(encoding="utf-8")
    return text.replace("@FORMATS@", _lua(formats, "\n")).replace("@MRC@", _lua(mrc, "\n"))


def _listed(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of a format, with all that the dissector needs of them."""
    keys = ("name", "label", "first_bit", "bits", "shown_as", "reserved", "usual", "fixed")
    return [{key: part[key] for key in keys} for part in entry["fields"]]


def _lua(value: Any, newline: str) -> str:
    """Write a value of JSON as one of Lua."""
    if isinstance(value, list):
        inner = newline + "  "
        return "{" + "".join(f"{inner}{_lua(one, inner)}," for one in value) + newline + "}"
    if isinstance(value, dict):
        named = (f"{key} = {_lua(one, newline)}" for key, one in value.items() if one is not None)
        return "{ " + ", ".join(named) + " }"
    return json.dumps(value, ensure_ascii=False)


def install_dissector(folder: str | Path | None = None) -> Path:
    """Write the dissector to where Wireshark and tshark find it, and return its file.

    Args:
        folder: the folder of plugins; by default one's own, ``~/.local/lib/wireshark/plugins``.

    Raises:
        ArgumentError: another file has its name there.
        OSError: it cannot be written.
    """
    place = Path(folder) if folder is not None else Path.home() / ".local" / "lib" / "wireshark" / "plugins"
    target = place / _NAME
    if target.exists() and not target.read_text(encoding="utf-8", errors="replace").startswith(_OURS):
        raise ArgumentError(f"{target}: this file is not Penstock's", "move it away, or name another folder")
    place.mkdir(parents=True, exist_ok=True)
    with whole(target) as partial:
        partial.write_text(dissector(), encoding="utf-8")
    return target
