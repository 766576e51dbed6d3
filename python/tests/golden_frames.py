"""The golden frames of `crates/wire/tests/golden.txt`: octets and values that were written by hand."""

from dataclasses import dataclass, field
from pathlib import Path

from penstock import wire
from penstock.wire.frame import messages

_FILE = Path(__file__).resolve().parents[2] / "crates" / "wire" / "tests" / "golden.txt"


@dataclass
class Golden:
    """A frame.

    Attributes:
        name: its name.
        data: its octets.
        values: pairs of ``layer.field`` and the value as text, or of ``layer`` and octets, in the order of the line.
    """

    name: str
    data: bytes = b""
    values: list[tuple[str, str]] = field(default_factory=list)

    def of(self, layer: str) -> dict[str, str]:
        """Return the values of a layer that is there once, by the names of its fields."""
        return {name.partition(".")[2]: value for name, value in self.values if name.startswith(f"{layer}.")}


def golden() -> list[Golden]:
    """Return all of them."""
    frames: list[Golden] = []
    for line in map(str.strip, _FILE.read_text(encoding="utf-8").splitlines()):
        if line.startswith("["):
            frames.append(Golden(line.strip("[]")))
        elif line.startswith("hex:"):
            frames[-1].data += bytes.fromhex(line.removeprefix("hex:").replace(" ", ""))
        elif line and not line.startswith("#"):
            name, _, value = line.partition(" = ")
            frames[-1].values.append((name, value))
    return frames


def made_frames() -> list[tuple[str, bytes]]:
    """Return a frame of each message and tag, whose fields have values that differ, with the format's name."""
    frames = []
    for entry in messages():
        values: dict[str, object] = {}
        for at, part in enumerate(entry["fields"]):
            if not (
                part["fixed"]
                or part["reserved"]
                or part["name"] in ("ether_type", (entry["message"]["sampled"] or {}).get("length"))
            ):
                value = 0x0123456789ABCDEF * (2 * at + 3) & (1 << part["bits"] - (part["shown_as"] == "signed")) - 1
                is_address = part["shown_as"] == "mac"
                values[f"{entry['name']}.{part['name']}"] = value.to_bytes(6, "big").hex(":") if is_address else value
        frames.append((entry["name"], wire.encode("data" if entry["name"] == "cn_tag" else entry["name"], values)))
    return frames


def by_name(name: str) -> Golden:
    """Return one of them."""
    (found,) = (frame for frame in golden() if frame.name == name)
    return found


def number(text: str) -> int:
    """Return a value's number: of decimal, hexadecimal, and MAC or IPv4 addresses."""
    if ":" in text:
        return int(text.replace(":", ""), 16)
    if text.count(".") == 3:
        return int.from_bytes(bytes(map(int, text.split("."))), "big")
    return int(text, 0)
