"""Frames: decoded into layers and fields, encoded from values of fields."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from penstock._core import wire_decode, wire_encode, wire_formats
from penstock.errors import ArgumentError


@dataclass(frozen=True)
class EtherTypes:
    """EtherTypes of formats that were assigned none, or none that is public.

    Attributes:
        smcc: that of SMCC's messages.
        experimental: that of probes, BCN's messages and the others of ``penstock-wire``'s module ``experimental``.
        cim: one more of congestion isolation messages (802.1Qcz); ``None`` for none.
    """

    smcc: int = 0x88B5
    experimental: int = 0x88B6
    cim: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not 0x0600 <= value <= 0xFFFF:
                raise ArgumentError(f"{name}={value} is not an EtherType", "it is a number from 0x0600 to 0xffff")

    def _numbers(self) -> tuple[int, int, int | None]:
        return self.smcc, self.experimental, self.cim


@dataclass(frozen=True)
class Field:
    """A field of a layer.

    Attributes:
        name: its name here, such as ``q_offset``.
        label: its name in the standard, such as ``cnmQOffset``.
        value: its value as a number; ``None`` for an IPv6 address.
        text: its value as people read it.
    """

    name: str
    label: str
    value: int | None
    text: str


@dataclass(frozen=True)
class Layer:
    """A format within a frame; ``layer.q_offset`` is the value of its field of this name.

    Attributes:
        name: the format's name, such as ``cnm``; ``data``, ``padding`` and the like have no fields.
        title: the format's name as people know it.
        offset: octets of the frame before it.
        octets: its length, as far as it was captured.
        missing: its octets behind these, which were on the line and are not in the capture.
        encapsulated: it belongs to the sampled frame within a notification.
        fields: its fields in the order of the line.
        parts: pairs of name and text, of an LLDP TLV whose length differs: chassis, port, applications and others.
        fault: its first fault, or ``None``.
        unchecked: the check that needs octets which were not captured, or ``None``.
        notes: the things about it that are unusual and no fault.
    """

    name: str
    title: str | None
    offset: int
    octets: int
    missing: int
    encapsulated: bool
    fields: tuple[Field, ...]
    parts: tuple[tuple[str, str], ...]
    fault: str | None
    unchecked: str | None
    notes: tuple[str, ...]

    def __getattr__(self, name: str) -> int | str:
        # Called for names that are no attributes; while a copy is being made, there are no fields yet.
        fields: tuple[Field, ...] = self.__dict__.get("fields", ())
        for field in fields:
            if field.name == name:
                return field.text if field.value is None else field.value
        raise AttributeError(f"the layer has no field {name!r}; it has {', '.join(field.name for field in fields)}")


@dataclass(frozen=True)
class Frame:
    """A frame and its layers, outermost first; ``frame["cnm"]`` is the first layer of this name.

    Attributes:
        data: its octets, from destination address to padding, as many as were captured.
        layers: its layers, those of a sampled frame within a notification too.
        octets: the octets that it had on the line.
    """

    data: bytes
    layers: tuple[Layer, ...]
    octets: int

    def __getitem__(self, name: str) -> Layer:
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(layer.name == name for layer in self.layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers)

    @property
    def faults(self) -> list[str]:
        """The faults of all layers."""
        return [layer.fault for layer in self.layers if layer.fault is not None]


def decode(
    frame: bytes | bytearray | str, ether_types: EtherTypes | None = None, *, octets: int | None = None
) -> Frame:
    """Decode a frame of any octets; its layers tell faults.

    Args:
        frame: the octets from the destination address to the padding, without the check sequence; or the same as text,
            hexadecimal digits with blanks, colons or dashes between octets.
        ether_types: EtherTypes that stations have agreed on, if others than the usual ones.
        octets: the length on the line, if ``frame`` has the first octets alone. That the others are missing is no
            fault, and checks that need them are not made.

    Raises:
        ArgumentError: the text is not hexadecimal.
    """
    data = _octets(frame) if isinstance(frame, str) else bytes(frame)
    original = max(len(data), octets or 0)
    layers = json.loads(wire_decode(data, original, (ether_types or EtherTypes())._numbers()))
    return Frame(data, tuple(_layer(layer) for layer in layers), original)


def encode(kind: str, values: Mapping[str, Any] | None = None, /, **more: Any) -> bytes:
    """Return the octets of a frame, without its check sequence, padded to 60 octets.

    Args:
        kind: a kind of :func:`kinds`, such as ``cnm``, ``pfc`` or ``cnp``.
        values: values of fields by their names. ``vlan.vid`` names a field with its format; without it, the innermost
            format counts that has the field. A format that a kind can do without is there if one of its fields is
            named.
            EtherTypes, lengths and checksums that are not given are those that are right; given ones are written as
            they are. ``payload`` or ``msdu``, where a kind has it, are octets, or hexadecimal digits.
        more: the same as keyword arguments.

    Raises:
        ArgumentError: a kind, a field or a value is none.
    """
    pairs = [(key, _text(value)) for key, value in {**(values or {}), **more}.items()]
    try:
        return wire_encode(kind, pairs)
    except ValueError as error:
        raise ArgumentError(str(error)) from None


def formats() -> list[dict[str, Any]]:
    """Return every format: name, title, source, octets, and fields with the standard's names, offsets and meanings."""
    listed: list[dict[str, Any]] = _known()["formats"]
    return listed


def messages() -> list[dict[str, Any]]:
    """Return the formats of messages and tags that Wireshark and scapy do not know."""
    return [entry for entry in formats() if entry["message"] is not None]


def mrc_headers() -> list[dict[str, Any]]:
    """Return the formats of MRC behind RoCEv2's base transport header, each with ``opcode``, which announces it."""
    own = [entry for entry in formats() if entry["name"].startswith("mrc_")]
    return [{**entry, "opcode": decode(encode(entry["name"]))["bth"].opcode} for entry in own]


def kinds() -> list[dict[str, Any]]:
    """Return every kind of frame that :func:`encode` writes: name, title, formats, and parts that may follow them."""
    listed: list[dict[str, Any]] = _known()["kinds"]
    return listed


@cache
def _known() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(wire_formats())
    return known


def _layer(layer: dict[str, Any]) -> Layer:
    fields = tuple(Field(**field) for field in layer["fields"])
    parts = tuple((name, text) for name, text in layer["parts"])
    return Layer(**{**layer, "fields": fields, "parts": parts, "notes": tuple(layer["notes"])})


def _octets(text: str) -> bytes:
    digits = "".join(text.removeprefix("0x").split()).replace(":", "").replace("-", "")
    try:
        return bytes.fromhex(digits)
    except ValueError:
        hint = "write two digits for each octet, such as 0180c2000001 or 01:80:c2:00:00:01"
        raise ArgumentError("this is not a frame in hexadecimal digits", hint) from None


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return value.hex() if isinstance(value, bytes | bytearray) else str(value)
