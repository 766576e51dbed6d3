"""The dissector, by tshark: every field of every golden frame, links between frames, and faults of frames."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from golden_frames import by_name, golden, made_frames, number

from penstock import wire
from penstock.wire.frame import messages, mrc_headers

OURS = tuple(entry["name"] for entry in messages())
"""Formats that the dissector teaches; the others Wireshark knows."""

TSHARK = shutil.which("tshark")
if TSHARK is None:
    _REASON = "tshark is not there (sudo apt-get install tshark)"
    if os.environ.get("PENSTOCK_NEEDS_TSHARK"):
        pytest.fail(f"{_REASON}, and PENSTOCK_NEEDS_TSHARK is set", pytrace=False)
    pytest.skip(_REASON, allow_module_level=True)


def tshark(file: Path, *options: str) -> str:
    """Return what tshark prints of a capture, with the dissector and without anyone's own settings."""
    home = file.parent / "home"
    command = [str(TSHARK), "-X", f"lua_script:{wire.install_dissector(home)}", "-r", str(file), *options]
    environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "lua" not in done.stderr.lower(), done.stderr
    return done.stdout


def dissected(tmp_path: Path, frames: Iterable[bytes], *options: str) -> list[dict[str, list[str]]]:
    """Return all fields of each frame: by their names, all values that each has in the frame."""
    file = tmp_path / "a.pcapng"
    wire.write(file, list(frames))
    # A name that appears twice in an object appears twice in the text.
    packets = json.loads(tshark(file, "-T", "json", *options), object_pairs_hook=list)
    return [_flat(dict(packet)["_source"]) for packet in packets]


def _flat(pairs: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}

    def gather(node: Any) -> None:
        for name, value in node:
            if isinstance(value, str):
                found.setdefault(name, []).append(value)
            elif value and isinstance(value[0], tuple):
                gather(value)
            elif value and isinstance(value[0], str):
                found.setdefault(name, []).extend(value)

    gather(pairs)
    return found


def _number(text: str) -> int:
    return {"True": 1, "False": 0}[text] if text in ("True", "False") else number(text)


def test_every_field_of_every_format(tmp_path: Path) -> None:
    frames = golden()
    seen = set()
    for frame, fields in zip(frames, dissected(tmp_path, [frame.data for frame in frames]), strict=True):
        for name, value in frame.values:
            layer = name.partition(".")[0]
            if layer in OURS and "." in name:
                seen.add(name)
                assert [_number(text) for text in fields[name]] == [number(value)], (frame.name, name)
        assert not any("malformed" in name for name in fields), frame.name
        assert "malformed" not in " ".join(fields["frame.protocols"])
    known = {f"{entry['name']}.{field['name']}" for entry in messages() for field in entry["fields"]}
    assert seen == known


def test_the_decoder_and_tshark_agree_on_any_values(tmp_path: Path) -> None:
    frames = made_frames()
    for (name, frame), fields in zip(frames, dissected(tmp_path, [frame for _, frame in frames]), strict=True):
        for field in wire.decode(frame)[name].fields:
            # A number of 64 bits may be a text of octets.
            assert _number(fields[f"{name}.{field.name}"][-1]) == number(field.text), (name, field)


def test_the_sampled_frame_names_its_flow(tmp_path: Path) -> None:
    ipv6 = by_name("udp6").data[12:62]
    frames = [
        by_name("cnm-msdu").data,
        wire.encode("cnm", quantized_feedback=1, msdu=ipv6),
        # Its ports are not there.
        wire.encode("cnm", quantized_feedback=1, msdu=by_name("data").data[16:40]),
        wire.encode("cnm", quantized_feedback=1, msdu=b"\x08"),
        # A fragment that is not the first has none.
        wire.encode("cnm", quantized_feedback=1, msdu=by_name("data").data[16:22] + b"\0\0\0\x01" + bytes(16)),
    ]
    tcp, udp, short, shorter, fragment = dissected(tmp_path, frames)
    names = ("source", "destination", "protocol", "source_port", "destination_port")
    assert [tcp[f"cnm.msdu.{name}"] for name in names] == [["10.0.0.1"], ["10.0.0.2"], ["6"], ["50000"], ["80"]]
    assert [udp[f"cnm.msdu.{name}"] for name in ("source6", "destination6", "protocol", "destination_port")] == [
        ["fd00::2"],
        ["fd00::1"],
        ["17"],
        ["9"],
    ]
    assert short["cnm.msdu.source"] == ["10.0.0.2"]
    assert "cnm.msdu.source_port" not in short
    assert shorter["cnm.msdu"] == ["08"]
    assert "cnm.msdu.ether_type" not in shorter
    assert fragment["cnm.msdu.protocol"] == ["0"]
    assert "cnm.msdu.source_port" not in fragment


def test_a_notification_leads_to_its_flow_and_back(tmp_path: Path) -> None:
    source = {"source": "02:00:00:00:00:01"}
    frames = [
        wire.encode("data", source, flow_identifier=5),
        wire.encode("data", source, flow_identifier=6),
        wire.encode("data", source, flow_identifier=5),
        wire.encode("cnm", destination=source["source"], flow_identifier=5, quantized_feedback=9),
        wire.encode("data", source, flow_identifier=6),
        wire.encode("data", source, flow_identifier=5),
        # Another source's flow of the same number.
        wire.encode("data", source="02:00:00:00:00:09", flow_identifier=5),
    ]
    for options in ((), ("-2",)):
        fields = dissected(tmp_path, frames, *options)
        assert [frame.get("cnm.tagged_in") for frame in fields] == [None, None, None, ["3"], None, None, None]
        assert [frame.get("cn_tag.notified_in") for frame in fields] == [None] * 5 + [["4"], None]
    file = tmp_path / "a.pcapng"
    shown = tshark(file, "-Y", "cnm.quantized_feedback > 8 and cn_tag.flow_identifier == 5")
    assert len(shown.splitlines()) == 1
    assert "CNM" in shown
    assert "Flow 5, Fb 9" in shown


@pytest.mark.parametrize(
    ("name", "at", "octets", "expert"),
    [
        ("cnm", 22, b"\x10\x19", "cnm.version.unknown"),
        ("cnm", 22, b"\x01\x19", "cnm.reserved.set"),
        ("cnm", 36, b"\x60\x01", "cnm.reserved.set"),
        ("cnm", 22, b"\x00\x00", "cnm.quantized_feedback.zero"),
        ("cnm", 44, b"\x00\x41", "cnm.encapsulated_msdu_length.illegal"),
        ("cnm", 44, b"\x00\x0f", "cnm.encapsulated_msdu_length.illegal"),
        ("smcc", 18, b"\x10\x00", "smcc.version.unknown"),
        ("smcc", 18, b"\x00\x01", "smcc.reserved.set"),
        ("smcc", 40, b"\x00\x01", "smcc.encapsulated_msdu_length.illegal"),
        ("fecn", 14, b"\x11", "fecn.version.unknown"),
        ("fecn", 15, b"\x81", "fecn.reserved.set"),
        ("bcn", 15, b"\x01", "bcn.reserved.set"),
        ("rlt", 15, b"\x01", "rlt.reserved.set"),
        ("e2cm", 15, b"\xc1", "e2cm.reserved.set"),
        ("rocc", 14, b"\x16", "rocc.version.unknown"),
        ("rocc", 15, b"\x01", "rocc.reserved.set"),
        ("sfc", 15, b"\x01", "sfc.reserved.set"),
        ("homa", 15, b"\x25", "homa.reserved.set"),
        ("ndp_pull", 15, b"\x01", "ndp_pull.reserved.set"),
        ("expresspass", 15, b"\x01", "expresspass.reserved.set"),
        ("cim", 15, b"\x81", "cim.reserved.set"),
        ("cim", 28, b"\xb0", "cim.reserved.set"),
        ("cim", 32, b"\x02\x01", "cim.msdu_length.illegal"),
    ],
)
def test_a_wrong_field_is_told(name: str, at: int, octets: bytes, expert: str, tmp_path: Path) -> None:
    good = by_name(name).data
    bad = good[:at] + octets + good[at + len(octets) :]
    before, after = dissected(tmp_path, [good, bad])
    assert expert not in before
    assert expert in after
    assert [name for name in after if name.endswith((".illegal", ".unknown", ".set", ".zero"))] == [expert]


def test_a_malformed_frame_behind_a_tag_is_told(tmp_path: Path) -> None:
    frame = by_name("data").data[:30]
    (fields,) = dissected(tmp_path, [frame])
    assert "cn_tag.rest.malformed" in fields


@pytest.mark.parametrize("name", [name for name in OURS if name != "cn_tag"])
def test_a_frame_that_is_cut_off_is_told(name: str, tmp_path: Path) -> None:
    frame = by_name(name)
    start = wire.decode(frame.data)[name].offset
    (fields,) = dissected(tmp_path, [frame.data[: start + 7]])
    assert f"{name}.length.illegal" in fields


def test_ether_types_are_preferences(tmp_path: Path) -> None:
    cim, smcc = bytearray(by_name("cim").data), bytearray(by_name("smcc").data)
    cim[12:14], smcc[16:18] = b"\x12\x34", b"\x12\x35"
    options = ("-o", "cim.ether_type:4660", "-o", "smcc.ether_type:4661")
    for fields in dissected(tmp_path, [bytes(cim), bytes(smcc)]):
        assert "cim.count" not in fields
        assert "smcc.q_off" not in fields
    first, second = dissected(tmp_path, [bytes(cim), bytes(smcc)], *options)
    assert first["cim.count"] == ["1"]
    assert second["smcc.q_off"] == ["-12000"]


def test_no_octets_make_it_fail(tmp_path: Path) -> None:
    # Every length and every first octet of each message, and lengths that lie.
    frames = []
    for frame in golden():
        frames += [frame.data[:length] for length in range(14, len(frame.data))]
        for at in range(14, len(frame.data)):
            frames += [frame.data[:at] + bytes([octet]) + frame.data[at + 1 :] for octet in (0x00, 0x7F, 0xFF)]
    file = tmp_path / "a.pcapng"
    wire.write(file, frames)
    output = tshark(file, "-T", "fields", "-e", "frame.number", "-e", "_ws.lua.error", "-e", "_ws.lua.text")
    lines = output.splitlines()
    assert len(lines) == len(frames)
    assert {line.split("\t", 1)[1].strip() for line in lines} == {""}


@pytest.mark.parametrize("kind", ["pcap", "nsecpcap", "pcapng"])
def test_captures_of_wireshark_are_read(kind: str, tmp_path: Path) -> None:
    editcap = shutil.which("editcap")
    assert editcap is not None, "it comes with tshark"
    file, other = tmp_path / "a.pcapng", tmp_path / "b"
    frames = [wire.Captured(frame.data, 1_700_000_000_000_000_000 + 1_000 * i) for i, frame in enumerate(golden())]
    wire.write(file, frames)
    subprocess.run([editcap, "-F", kind, str(file), str(other)], capture_output=True, timeout=60, check=True)
    read = [(frame.data, frame.time_ns) for frame in wire.read(other)]
    assert read == [(frame.data, frame.time_ns) for frame in frames]
    assert wire.statistics(other)["notified"][0]["frames"] == 1


def test_wireshark_itself_agrees_on_the_formats_that_it_knows(tmp_path: Path) -> None:
    names = ("pause", "pfc", "lldp", "cnp", "tcp", "udp6")
    read = dict(zip(names, dissected(tmp_path, [by_name(name).data for name in names]), strict=True))
    assert (read["pause"]["macc.opcode"], read["pause"]["macc.pause_time"]) == (["0x0001"], ["65535"])
    pfc, ours = read["pfc"], by_name("pfc").of("pfc")
    assert [pfc[f"macc.cbfc.pause_time.c{n}"] for n in range(8)] == [[ours[f"time_{n}"]] for n in range(8)]
    assert number(pfc["macc.cbfc.enbv"][0]) == number(ours["priority_enable"])

    lldp = read["lldp"]

    def bits(name: str) -> int:
        return sum(int(lldp[f"lldp.{name}.prio{n}"][0]) << n for n in range(8))

    ours = by_name("lldp").of("lldp_cn")
    assert bits("ieee.802_1qau.cnpv") == number(ours["cnpv"])
    assert bits("ieee.802_1qau.ready") == number(ours["ready"])
    ours = by_name("lldp").of("lldp_pfc")
    assert bits("dcbx.feature.pfc") == number(ours["pfc_enable"])
    assert lldp["lldp.dcbx.ieee.pfc.numtcs"] == [ours["pfc_cap"]]
    assert lldp["lldp.dcbx.ieee.pfc.mbc"] == [ours["mbc"]]
    ets, recommended = by_name("lldp").of("lldp_ets"), by_name("lldp").of("lldp_ets_recommendation")
    assert lldp["lldp.dcbx.ieee.willing"] == [by_name("lldp").of("lldp_pfc")["willing"], ets["willing"]]
    assert lldp["lldp.dcbx.ieee.ets.cbs"] == [ets["cbs"]]
    for n in range(8):
        for name, field, width in (
            ("feature.pg.pgid_prio", "priority_assignment", 4),
            ("feature.pg.per", "tc_bandwidth", 8),
            ("ieee.ets.tsa", "tsa_assignment", 8),
        ):
            wanted = [number(tlv[field]) >> width * (7 - n) & (1 << width) - 1 for tlv in (ets, recommended)]
            assert [int(text) for text in lldp[f"lldp.dcbx.{name}{n}"]] == wanted
    assert lldp["lldp.time_to_live"] == [by_name("lldp").of("lldp_ttl")["seconds"]]

    cnp, ours = read["cnp"], by_name("cnp").of("bth")
    for name, field in (("opcode", "opcode"), ("destqp", "dest_qp"), ("p_key", "p_key"), ("psn", "psn"), ("a", "a")):
        assert number(cnp[f"infiniband.bth.{name}"][0]) == number(ours[field])
    tcp, ours = read["tcp"], by_name("tcp").of("tcp")
    assert [tcp[f"tcp.{name}"][0] for name in ("srcport", "dstport", "seq_raw", "ack_raw", "window_size_value")] == [
        ours[name] for name in ("source_port", "destination_port", "sequence_number", "acknowledgment_number", "window")
    ]
    assert tcp["tcp.options.mss_val"] == [by_name("tcp").of("tcp_mss")["mss"]]
    assert read["udp6"]["ipv6.tclass.dscp"] == [by_name("udp6").of("ipv6")["dscp"]]
    assert number(read["udp6"]["ipv6.flow"][0]) == number(by_name("udp6").of("ipv6")["flow_label"])


def test_a_fast_cnp_names_the_destination_of_the_flow(tmp_path: Path) -> None:
    frames = [by_name("fast_cnp").data, by_name("cnp").data, by_name("udp6").data]
    fast, *others = dissected(tmp_path, frames, "-o", "udp.check_checksum:TRUE")
    assert fast["fast_cnp.original_destination"] == ["fd00::2"]
    assert (number(fast["infiniband.bth.opcode"][0]), fast["udp.checksum.status"]) == (0x81, ["1"])
    assert not any("fast_cnp.original_destination" in fields for fields in others)
    # Another experiment of 16 octets.
    other = bytearray(frames[0])
    other[56] = 0x3E
    (fields,) = dissected(tmp_path, [bytes(other)])
    assert "fast_cnp.original_destination" not in fields


def test_headers_of_mrc(tmp_path: Path) -> None:
    frames = [frame for frame in golden() if frame.name.startswith("mrc_")]
    cut = frames[0].data[:70]
    *read, short = dissected(tmp_path, [*(frame.data for frame in frames), cut])
    assert len(frames) == len(mrc_headers()) == 5
    for frame, fields in zip(frames, read, strict=True):
        for name, value in frame.values:
            if name.startswith("mrc_") and "." in name:
                assert [_number(text) for text in fields[name]] == [number(value)], name
        assert not any("illegal" in name for name in fields), frame.name
    assert "mrc_sack.length.illegal" in short and "mrc_sack.cack_psn" not in short
    assert not any("mrc_" in name for name in dissected(tmp_path, [by_name("cnp").data])[0])


def test_wireshark_finds_the_checksums_right(tmp_path: Path) -> None:
    options = ("-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE")
    frames = [by_name(name).data for name in ("data", "cnp", "tcp", "udp6")]
    data, cnp, tcp, udp6 = dissected(tmp_path, frames, *options)
    for frame in (data, cnp, tcp):
        assert frame["ip.checksum.status"] == ["1"]
    assert (data["udp.checksum.status"], udp6["udp.checksum.status"]) == (["1"], ["1"])
    assert tcp["tcp.checksum.status"] == ["1"]
