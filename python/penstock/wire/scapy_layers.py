"""Layers for scapy: CN-TAG, CNM, and the messages that have no assigned EtherType, in Penstock's layouts.

    >>> from scapy.layers.l2 import Ether
    >>> from penstock.wire.scapy_layers import CNM, CNTag
    >>> bytes(Ether() / CNTag(flow_identifier=5) / CNM(quantized_feedback=25))

Each message and tag of ``penstock wire formats`` is a layer: a class with the format's abbreviation as its name, and
with its fields. So is each header of MRC, as ``MRCSack``, behind scapy's ``BTH``. Importing this module registers the
EtherTypes and opcodes. Scapy itself has the layers of 802.1Q, PFC, LLDP, IP and RoCE. The module comes with the extra
``penstock[wire]``.
"""

from typing import TYPE_CHECKING, Any

from penstock.data_frames import MissingExtraError
from penstock.wire.frame import messages, mrc_headers

try:
    from scapy.contrib.roce import BTH
    from scapy.fields import (
        BitField,
        ByteField,
        FieldLenField,
        IP6Field,
        MACField,
        SignedIntField,
        SignedLongField,
        SignedShortField,
        XBitField,
        XShortEnumField,
        XStrLenField,
    )
    from scapy.layers.inet import IP
    from scapy.layers.inet6 import HBHOptUnknown, IPv6, _hbhoptcls
    from scapy.layers.l2 import Dot1Q, Ether
    from scapy.packet import Packet, Padding, Raw, bind_layers
except ModuleNotFoundError as _error:
    raise MissingExtraError("scapy", "wire") from _error

_KNOWN = {0x0800: IP, 0x86DD: IPv6, 0x8100: Dot1Q}
_TYPES = {number: layer.__name__ for number, layer in _KNOWN.items()}
_SIGNED = {16: SignedShortField, 32: SignedIntField, 64: SignedLongField}


class _Message(Packet):
    """A message whose rest is the frame's padding."""

    def guess_payload_class(self, payload: bytes) -> Any:
        return Padding


def _fields(entry: dict[str, Any]) -> list[Any]:
    """Return the fields of a format."""
    sampled = (entry["message"] or {}).get("sampled") or {"length": None}
    made: list[Any] = []
    for field in entry["fields"]:
        name, bits, usual = field["name"], field["bits"], field["usual"]
        if name == sampled["length"]:
            made.append(FieldLenField(name, None, fmt="H", length_of=sampled["name"]))
        elif name == "ether_type":
            made.append(XShortEnumField(name, usual, _TYPES))
        elif field["shown_as"] == "mac":
            made.append(MACField(name, usual.to_bytes(6, "big")))
        elif field["shown_as"] == "signed":
            made.append(_SIGNED[bits](name, usual))
        else:
            made.append((XBitField if field["shown_as"] == "hex" else BitField)(name, usual, bits))
    if sampled["length"]:
        length = sampled["length"]
        made.append(XStrLenField(sampled["name"], b"", length_from=lambda packet: getattr(packet, length)))
    return made


def _layer(entry: dict[str, Any], name: str) -> type[Packet]:
    """Return the class of a format whose abbreviation is ``name``."""
    first, *rest = name.split("-")
    about = {
        "__doc__": f"{entry['title']}: {entry['source']}.",
        "__module__": __name__,
        "name": entry["title"].partition(" (")[0],
        "fields_desc": _fields(entry),
    }
    base = Packet if "ether_type" in _names(entry) else _Message
    return type(first + "".join(part.capitalize() for part in rest), (base,), about)


def _names(entry: dict[str, Any]) -> dict[str, Any]:
    return {field["name"]: field for field in entry["fields"]}


class Experimental(Packet):
    """The messages of an EtherType that they share, distinguished by their subtype."""

    name = "Experimental"

    @classmethod
    def dispatch_hook(cls, octets: bytes | None = None, *_: Any, **__: Any) -> Any:
        """Return the class of the message at the start of ``octets``."""
        return _SUBTYPES.get(octets[0] & 0xF, Raw) if octets else cls


FastCNPOption = type(
    "FastCNPOption",
    (HBHOptUnknown,),
    {
        "__doc__": "The option of a Fast CNP in IPv6 Destination Options: the destination of the flow's frames.",
        "__module__": __name__,
        "name": "Fast CNP",
        "fields_desc": [
            ByteField("otype", 0x1E),
            ByteField("optlen", 16),
            IP6Field("original_destination", "fd00::3"),
        ],
    },
)
_hbhoptcls[0x1E] = FastCNPOption  # type: ignore[assignment]

_LAYERS = [(entry, _layer(entry, entry["message"]["abbreviation"])) for entry in messages()]
_MRC = [(entry, _layer(entry, entry["name"].replace("mrc_", "MRC-").replace("_", "-"))) for entry in mrc_headers()]
_SUBTYPES = {_names(entry)["subtype"]["usual"]: layer for entry, layer in _LAYERS if "subtype" in _names(entry)}
_TYPES |= {entry["message"]["ether_type"]: layer.__name__ for entry, layer in _LAYERS if "subtype" not in _names(entry)}
globals().update({layer.__name__: layer for _, layer in _LAYERS + _MRC})
for _entry, _above in _MRC:
    bind_layers(BTH, _above, opcode=_entry["opcode"])

_BELOW: list[type[Packet]] = [Ether, Dot1Q, *(layer for entry, layer in _LAYERS if "ether_type" in _names(entry))]
for _below in _BELOW:
    _key = "type" if _below in (Ether, Dot1Q) else "ether_type"
    for _entry, _above in _LAYERS:
        _type = {_key: _entry["message"]["ether_type"]}
        bind_layers(_below, _above, **_type)
        # A received one goes through the dispatcher, whose binding must be the first that is found.
        if "subtype" in _names(_entry) and (_type, Experimental) not in _below.payload_guess:
            _below.payload_guess.insert(0, (_type, Experimental))
    if _key == "ether_type":
        for _number, _above in _KNOWN.items():
            bind_layers(_below, _above, ether_type=_number)

if TYPE_CHECKING:

    def __getattr__(name: str) -> type[Packet]: ...
