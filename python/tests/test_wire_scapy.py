"""The layers for scapy: they read golden frames as the decoder does, and write them again."""

from typing import Any

import pytest
from golden_frames import by_name, golden, made_frames, number

from penstock import wire

pytest.importorskip("scapy")

from scapy.contrib.roce import BTH, CNPPadding
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6ExtHdrDestOpt
from scapy.layers.l2 import Dot1Q, Ether

from penstock.wire import scapy_layers
from penstock.wire.scapy_layers import BCN, CIM, CNM, E2CM, FECN, RLT, SFC, SMCC, CNTag, FastCNPOption, RoCC

LAYERS = {entry["name"]: layer for entry, layer in scapy_layers._LAYERS}


def test_every_field_of_every_format() -> None:
    seen = set()
    for frame in golden():
        packet = Ether(frame.data)
        assert bytes(packet) == frame.data
        for name, value in frame.values:
            layer, _, field = name.partition(".")
            if layer in LAYERS and field:
                seen.add(name)
                read = getattr(packet[LAYERS[layer]], field)
                assert (number(read) if isinstance(read, str) else read) == number(value), (frame.name, name)
    known = {f"{entry['name']}.{field['name']}" for entry in wire.formats() for field in entry["fields"]}
    assert seen == {name for name in known if name.partition(".")[0] in LAYERS}


def test_the_decoder_and_scapy_agree_on_any_values() -> None:
    for name, frame in made_frames():
        packet = Ether(frame)
        assert bytes(packet) == frame
        for field in wire.decode(frame)[name].fields:
            read = getattr(packet[LAYERS[name]], field.name)
            assert (number(read) if isinstance(read, str) else read) == number(field.text), (name, field)


def test_a_sampled_frame_is_kept() -> None:
    packet = Ether(by_name("cnm-msdu").data)
    assert packet[CNM].encapsulated_msdu == by_name("cnm-msdu").data[38:]


def test_frames_are_made() -> None:
    ether = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:aa")
    message = CNM(
        quantized_feedback=25,
        cp_id=0x0200000000AA0001,
        q_offset=-406,
        q_delta=203,
        encapsulated_priority=3,
        encapsulated_destination="02:00:00:00:00:02",
    )
    made = bytes(ether / Dot1Q(prio=6, vlan=100) / CNTag(flow_identifier=5) / message)
    assert made == by_name("cnm").data[: len(made)]
    for layer in (FECN, BCN, E2CM, RoCC, SFC, CIM, SMCC, CNM):
        frame = wire.decode(bytes(ether / layer()))
        assert frame.faults == []
        assert LAYERS[frame.layers[1].name] is layer
    tagged = Ether(bytes(ether / RLT(rlq_id=7) / IP() / UDP() / b"x"))
    assert (tagged[RLT].rlq_id, tagged[RLT].ether_type, tagged[UDP].payload.load) == (7, 0x0800, b"x")


def test_the_option_of_a_fast_cnp_is_read_and_written() -> None:
    frame = by_name("fast_cnp").data
    packet = Ether(frame)
    assert bytes(packet) == frame
    assert packet[FastCNPOption].original_destination == "fd00::2"
    option = IPv6ExtHdrDestOpt(options=[FastCNPOption(original_destination="fd00::2")])
    assert bytes(option / UDP())[:24] == frame[54:78]


def test_headers_of_mrc_are_read_and_written() -> None:
    ip = IP(src="10.0.0.2", dst="10.0.0.1", tos=0xC0, flags="DF", id=0, ttl=64)
    ether = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    layer: Any
    for entry, layer in scapy_layers._MRC:
        frame = by_name(entry["name"])
        ours = {name.partition(".")[2]: number(value) for name, value in frame.values if name.startswith("mrc_")}
        bth = BTH(opcode=entry["opcode"], dqpn=number(frame.of("bth")["dest_qp"]), psn=number(frame.of("bth")["psn"]))
        made = bytes(ether / ip / UDP(sport=49152, dport=4791, chksum=0) / bth / layer(**ours))
        assert made == frame.data, entry["name"]
        read = Ether(frame.data)[layer]
        assert {name: getattr(read, name) for name in ours} == ours


def test_scapy_has_the_same_invariant_crc() -> None:
    ip = IP(src="10.0.0.2", dst="10.0.0.1", tos=0xC0, flags="DF", id=0, ttl=64)
    bth = BTH(opcode=0x81, becn=1, dqpn=17, pkey=0xFFFF, psn=0)
    ether = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    made = ether / ip / UDP(sport=49152, dport=4791, chksum=0) / bth / CNPPadding()
    assert bytes(made) == by_name("cnp").data
