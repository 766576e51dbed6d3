"""Layers for scapy: CN-TAG, CNM, and the messages that have no assigned EtherType, in Penstock's layouts.

    >>> from scapy.layers.l2 import Ether
    >>> from penstock.wire.scapy_layers import CNM, CNTag
    >>> bytes(Ether() / CNTag(flow_identifier=5) / CNM(quantized_feedback=25))

Fields have the names of ``penstock wire formats``. Importing this module tells scapy of the EtherTypes. Scapy itself
has the layers of 802.1Q, PFC, LLDP, IP and RoCE. The module comes with the extra ``penstock[wire]``.
"""

from typing import Any, ClassVar

from penstock.data_frames import MissingExtraError

try:
    from scapy.fields import (
        BitField,
        FieldLenField,
        IntField,
        LongField,
        MACField,
        ShortField,
        SignedIntField,
        SignedLongField,
        SignedShortField,
        XBitField,
        XByteField,
        XIntField,
        XLongField,
        XShortEnumField,
        XStrLenField,
    )
    from scapy.layers.inet import IP
    from scapy.layers.inet6 import IPv6
    from scapy.layers.l2 import Dot1Q, Ether
    from scapy.packet import Packet, Padding, Raw, bind_layers
except ModuleNotFoundError as _error:
    raise MissingExtraError("scapy", "wire") from _error

CN_TAG = 0x22E9
CNM_TYPE = 0x22E7
SMCC_TYPE = 0x88B5
EXPERIMENTAL = 0x88B6
"""EtherTypes; the last two are local experimental ones (IEEE 802, clause 9.2.4)."""

_TYPES = {0x0800: "IPv4", 0x86DD: "IPv6", 0x8100: "VLAN", CN_TAG: "CN-TAG", CNM_TYPE: "CNM"}


class _Message(Packet):
    """A message whose rest is the frame's padding."""

    def guess_payload_class(self, payload: bytes) -> Any:
        return Padding


def _head(subtype: int) -> list[Any]:
    """The fields with which each message of EtherType 88B6 begins."""
    return [BitField("version", 0, 4), BitField("subtype", subtype, 4)]


class CNTag(Packet):
    """The CN-TAG of 802.1Qau, behind EtherType 22E9: the flow as its source numbers it."""

    name = "CN-TAG"
    fields_desc: ClassVar[list[Any]] = [ShortField("flow_identifier", 0), XShortEnumField("ether_type", 0xFFFF, _TYPES)]


class CNM(_Message):
    """The congestion notification message of 802.1Qau, behind EtherType 22E7."""

    name = "Congestion notification message"
    fields_desc: ClassVar[list[Any]] = [
        BitField("version", 0, 4),
        XBitField("reserved_v", 0, 6),
        BitField("quantized_feedback", 0, 6),
        XLongField("cp_id", 0),
        SignedShortField("q_offset", 0),
        SignedShortField("q_delta", 0),
        BitField("encapsulated_priority", 0, 3),
        XBitField("reserved_priority", 0, 13),
        MACField("encapsulated_destination", "00:00:00:00:00:00"),
        FieldLenField("encapsulated_msdu_length", None, fmt="H", length_of="encapsulated_msdu"),
        XStrLenField("encapsulated_msdu", b"", length_from=lambda packet: packet.encapsulated_msdu_length),
    ]


class SMCC(_Message):
    """SMCC's message, behind EtherType 88B5, as Penstock's cores have it."""

    name = "SMCC message"
    fields_desc: ClassVar[list[Any]] = [
        BitField("version", 0, 4),
        XBitField("reserved_v", 0, 12),
        XLongField("cp_id", 0),
        XIntField("unused", 0),
        BitField("encapsulated_priority", 0, 3),
        XBitField("reserved_priority", 0, 13),
        MACField("encapsulated_destination", "00:00:00:00:00:00"),
        ShortField("encapsulated_msdu_length", 0),
        SignedIntField("q_off", 0),
        SignedIntField("q_delta", 0),
    ]


class FECN(_Message):
    """A rate probe of FECN or E-FECN, behind EtherType 88B6."""

    name = "Rate probe"
    fields_desc: ClassVar[list[Any]] = [
        *_head(1),
        BitField("returned", 0, 1),
        XBitField("reserved", 0, 7),
        ShortField("rlq_id", 0),
        IntField("round", 0),
        LongField("rate", 2**64 - 1),
        XLongField("cp_id", 0),
    ]


class BCN(_Message):
    """A message of BCN, E-FECN or E2CM, behind EtherType 88B6."""

    name = "BCN message"
    fields_desc: ClassVar[list[Any]] = [
        *_head(2),
        XByteField("reserved", 0),
        XLongField("cp_id", 0),
        SignedShortField("q_off", 0),
        SignedShortField("q_delta", 0),
        ShortField("rlq_id", 0),
    ]


class RLT(Packet):
    """The rate-limited tag of BCN's data frames, behind EtherType 88B6."""

    name = "Rate-limited tag"
    fields_desc: ClassVar[list[Any]] = [
        *_head(3),
        XByteField("reserved", 0),
        ShortField("rlq_id", 0),
        XLongField("cp_id", 0),
        XShortEnumField("ether_type", 0xFFFF, _TYPES),
    ]


class E2CM(_Message):
    """A path probe of E2CM, behind EtherType 88B6."""

    name = "Path probe"
    fields_desc: ClassVar[list[Any]] = [
        *_head(5),
        BitField("returned", 0, 1),
        BitField("measured", 0, 1),
        XBitField("reserved", 0, 6),
        ShortField("rlq_id", 0),
        LongField("sent_at", 0),
        SignedLongField("q_off", 0),
    ]


class RoCC(_Message):
    """A message of RoCC, behind EtherType 88B6."""

    name = "Fair rate"
    fields_desc: ClassVar[list[Any]] = [
        *_head(6),
        XByteField("reserved", 0),
        ShortField("rlq_id", 0),
        LongField("rate", 0),
        XLongField("cp_id", 0),
    ]


class SFC(_Message):
    """A message of source flow control, behind EtherType 88B6; its pause is in picoseconds."""

    name = "Source pause"
    fields_desc: ClassVar[list[Any]] = [
        *_head(7),
        XByteField("reserved", 0),
        ShortField("rlq_id", 0),
        LongField("pause_time", 0),
        XLongField("cp_id", 0),
    ]


class CIM(_Message):
    """A congestion isolation message as 802.1Qcz has it, in Penstock's layout, behind EtherType 88B6."""

    name = "Congestion isolation message"
    fields_desc: ClassVar[list[Any]] = [
        *_head(4),
        BitField("add", 1, 1),
        XBitField("reserved", 0, 7),
        MACField("destination", "00:00:00:00:00:00"),
        MACField("source", "00:00:00:00:00:00"),
        BitField("priority", 0, 3),
        XBitField("reserved_dei", 0, 1),
        BitField("vlan_identifier", 0, 12),
        ShortField("count", 0),
        FieldLenField("msdu_length", None, fmt="H", length_of="msdu"),
        XStrLenField("msdu", b"", length_from=lambda packet: packet.msdu_length),
    ]


class Experimental(Packet):
    """The messages of EtherType 88B6, distinguished by their subtype."""

    name = "Experimental"

    @classmethod
    def dispatch_hook(cls, octets: bytes | None = None, *_: Any, **__: Any) -> Any:
        """Return the class of the message at the start of ``octets``."""
        return _SUBTYPES.get(octets[0] & 0xF, Raw) if octets else cls


_SUBTYPES = {1: FECN, 2: BCN, 3: RLT, 4: CIM, 5: E2CM, 6: RoCC, 7: SFC}

for _below in (Ether, Dot1Q, CNTag, RLT):
    _key = "type" if _below in (Ether, Dot1Q) else "ether_type"
    for _number, _above in {CN_TAG: CNTag, CNM_TYPE: CNM, SMCC_TYPE: SMCC, EXPERIMENTAL: Experimental}.items():
        bind_layers(_below, _above, **{_key: _number})
    for _above in (FECN, BCN, RLT, CIM, E2CM, RoCC, SFC):
        bind_layers(_below, _above, **{_key: EXPERIMENTAL})
    # A received one goes through the dispatcher, whose binding must be the first that is found.
    _below.payload_guess.insert(0, ({_key: EXPERIMENTAL}, Experimental))
for _below in (CNTag, RLT):
    for _number, _above in {0x0800: IP, 0x86DD: IPv6, 0x8100: Dot1Q}.items():
        bind_layers(_below, _above, ether_type=_number)
