"""The dissector for Wireshark and tshark: where it is, and where it goes."""

from pathlib import Path

from penstock.errors import ArgumentError
from penstock.files import whole

DISSECTOR = Path(__file__).with_name("penstock.lua")
"""The dissector as it comes with Penstock: one file in Lua."""

_OURS = "-- Penstock's dissector"


def install_dissector(folder: str | Path | None = None) -> Path:
    """Copy the dissector to where Wireshark and tshark find it, and return its file.

    Args:
        folder: the folder of plugins; by default one's own, ``~/.local/lib/wireshark/plugins``.

    Raises:
        ArgumentError: another file has its name there.
        OSError: it cannot be written.
    """
    place = Path(folder) if folder is not None else Path.home() / ".local" / "lib" / "wireshark" / "plugins"
    target = place / DISSECTOR.name
    text = DISSECTOR.read_text(encoding="utf-8")
    if target.exists() and not target.read_text(encoding="utf-8", errors="replace").startswith(_OURS):
        raise ArgumentError(f"{target}: this file is not Penstock's", "move it away, or name another folder")
    place.mkdir(parents=True, exist_ok=True)
    with whole(target) as partial:
        partial.write_text(text, encoding="utf-8")
    return target
