"""Frames as octets, in Python: decoded, encoded, counted in captures."""

import copy
import json
from pathlib import Path

import pytest
from golden_frames import Golden, by_name, golden, number

from penstock import ArgumentError, wire


@pytest.mark.parametrize("frame", golden(), ids=lambda frame: frame.name)
def test_golden_frames_are_decoded(frame: Golden) -> None:
    decoded = wire.decode(frame.data)
    assert decoded.faults == []
    found = []
    for layer in decoded:
        name = f"inner.{layer.name}" if layer.encapsulated else layer.name
        if layer.title is None:
            found.append((name, frame.data[layer.offset : layer.offset + layer.octets].hex(" ").upper()))
        found += [(f"{name}.{field.name}", field.text) for field in layer.fields]
        for field in layer.fields:
            if field.value is not None:
                assert field.value == number(field.text)
                assert getattr(layer, field.name) == field.value
    assert found == frame.values


def test_a_frame_may_be_text() -> None:
    frame = by_name("cnm")
    for text in (
        frame.data.hex(),
        frame.data.hex(":"),
        frame.data.hex("-"),
        "0x" + frame.data.hex(),
        frame.data.hex(" "),
    ):
        assert wire.decode(text).data == frame.data
    for wrong in ("0", "zz", "00:0", "é"):
        with pytest.raises(ArgumentError, match="not a frame in hexadecimal"):
            wire.decode(wrong)


def test_layers_are_found_by_name() -> None:
    frame = wire.decode(by_name("cnm").data)
    assert "cnm" in frame
    assert "smcc" not in frame
    assert frame["cnm"].quantized_feedback == 25
    assert frame["vlan"].vid == 100
    assert copy.deepcopy(frame) == frame
    with pytest.raises(KeyError):
        frame["smcc"]
    with pytest.raises(AttributeError, match="no field 'fb'; it has version, reserved_v, quantized_feedback"):
        frame["cnm"].fb  # noqa: B018


def test_of_a_frame_that_is_cut_off_only_whole_fields_are_shown() -> None:
    frame = wire.decode(by_name("cnm").data[:35])
    assert [field.name for field in frame["cnm"].fields][-2:] == ["cp_id", "q_offset"]
    assert frame.faults == ["cnm: cnmQDelta at octet 34 is cut off: 1 of 2 octets are there"]
    assert wire.decode(b"").faults == ["eth: Destination Address at octet 0 is cut off: 0 of 6 octets are there"]


def test_an_encoded_frame_is_decoded() -> None:
    data = wire.encode(
        "cnm", {"vlan.vid": 7, "source": "02:00:00:00:00:aa"}, q_offset=-3, msdu=b"\x12\x34\x56", dei=True
    )
    frame = wire.decode(data)
    assert (frame["vlan"].vid, frame["vlan"].dei) == (7, 1)
    assert (frame["cnm"].q_offset, frame["cnm"].encapsulated_msdu_length) == (-3, 3)
    assert len(data) == 60
    for kind in wire.kinds():
        assert wire.decode(wire.encode(kind["name"])).faults == [], kind["name"]


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        ("cmn", {}, "no kind of frame is called 'cmn'"),
        ("cnm", {"fb": 1}, "the frame has no field 'fb'"),
        ("cnm", {"quantized_feedback": 64}, "a whole number from 0 to 63"),
        ("cnm", {"q_offset": 1.5}, "a whole number from -32768 to 32767"),
        ("cnm", {"source": "x"}, "a MAC address such as 02:00:00:00:00:01"),
        ("cnm", {"msdu": "0"}, "hexadecimal digits, two an octet"),
        ("cnm", {"vid": 1, "vlan.vid": 1}, "has a value already"),
    ],
)
def test_wrong_values_are_refused(kind: str, values: dict[str, object], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        wire.encode(kind, values)


def test_ether_types_can_be_others() -> None:
    data = bytearray(by_name("cim").data)
    data[12:14] = b"\x12\x34"
    assert "cim" not in wire.decode(data)
    assert "cim" in wire.decode(data, wire.EtherTypes(cim=0x1234))
    with pytest.raises(ArgumentError, match=r"cim=1 is not an EtherType; it is a number from 0x0600 to 0xffff"):
        wire.EtherTypes(cim=1)


def test_captures_are_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    frames = [
        wire.Captured(by_name("cnm").data, 1_700_000_000_123_456_789, 1, comment="queue 52000 octets"),
        wire.Captured(by_name("data").data, 5, 0),
    ]
    wire.write(file, frames, ["s1:1 out", "s1:1 in"])
    first, second = wire.read(file)
    assert (first.data, first.time_ns, first.interface, first.interface_name) == (
        frames[0].data,
        frames[0].time_ns,
        1,
        "s1:1 in",
    )
    assert (first.comment, second.comment, second.octets) == ("queue 52000 octets", None, len(frames[1].data))
    assert first.decode()["cnm"].quantized_feedback == 25
    wire.write(file, [by_name("cnm").data] * 2500)
    assert [frame.time_ns for frame in wire.read(file)] == [1000 * number for number in range(2500)]
    for wrong, words in (
        (wire.Captured(b"", 0, 1), "interface 1, which has no name"),
        (wire.Captured(b"", -1), "-1 ns"),
    ):
        with pytest.raises(ArgumentError, match=words):
            wire.write(file, [wrong])


def test_damage_has_a_place(tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    wire.write(file, [by_name("cnm").data] * 2)
    file.write_bytes(file.read_bytes()[:-1])
    read = wire.read(file)
    assert next(read).data == by_name("cnm").data
    with pytest.raises(wire.CaptureError, match="ends within a block") as caught:
        next(read)
    assert caught.value.file == str(file)
    assert caught.value.offset == file.stat().st_size - 91
    counted = wire.statistics(file)
    assert (counted["frames"], counted["damage"]["offset"]) == (1, caught.value.offset)
    file.write_bytes(b"")
    assert wire.statistics(file)["damage"]["message"].startswith("octet 0: this is neither pcap nor pcapng")


def test_statistics_say_who_notified_whom(tmp_path: Path) -> None:
    file = tmp_path / "a.pcapng"
    harder = bytearray(by_name("cnm").data)
    harder[23] = 40
    frames = [by_name(name).data for name in ("cnm", "data", "pfc", "cnp")]
    wire.write(file, [wire.Captured(data, 10) for data in [*frames, bytes(harder)]], ["s1:1 in"])
    counted = wire.statistics(file)
    assert (counted["frames"], counted["tagged"], counted["faulty"], counted["damage"]) == (5, 1, 0, None)
    assert counted["formats"] == {"cnm": 2, "ipv4": 2, "pfc": 1}
    cnm, cnp = counted["notified"]
    assert cnm == {
        "interface": 0,
        "interface_name": "s1:1 in",
        "format": "cnm",
        "source": "02:00:00:00:00:aa",
        "destination": "02:00:00:00:00:01",
        "cp_id": "0x0200000000aa0001",
        "flow": 5,
        "to": "02:00:00:00:00:02",
        "frames": 2,
        "frames_per_s": None,
        "strength": {"frames": 2, "least": 25, "mean": 32.5, "most": 40},
        "first_ns": 10,
        "last_ns": 10,
    }
    assert (cnp["format"], cnp["flow"], cnp["strength"]) == ("cnp", 17, None)
    stops = {sender["priority"]: sender["stops"] for sender in counted["paused"]}
    assert stops == {0: 0, 3: 1}


def test_formats_have_places_for_all_their_bits() -> None:
    for entry in wire.formats():
        at = 0
        for field in entry["fields"]:
            assert field["first_bit"] == at, (entry["name"], field["name"])
            at += field["bits"]
        assert at == 8 * entry["octets"]
    assert json.dumps(wire.kinds())
