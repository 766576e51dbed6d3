"""`penstock wire`: frames as octets on the command line, and their faults."""

import json
from pathlib import Path

import pytest
from conftest import Command
from golden_frames import by_name

from penstock import wire
from penstock.wire.dissector import dissector


def test_a_frame_is_shown_with_the_names_of_the_standard(penstock: Command) -> None:
    done = penstock("wire", "decode", by_name("cnm").data.hex())
    assert (done.returncode, done.stderr) == (0, "")
    for line in ("Quantized Feedback = 25", "cnmCpId = 0x0200000000aa0001", "cnmQOffset = -406", "VID = 100"):
        assert f"         {line}\n" in done.stdout
    wrong = bytearray(by_name("cnm").data)
    wrong[23], wrong[22], wrong[45] = 0, 1, 65
    done = penstock("wire", "decode", wrong.hex())
    assert done.returncode == 0
    assert "fault: cnm: Encapsulated MSDU length at octet 44 is 65, and should be 0 to 64" in done.stdout
    assert "note: ReservedV is reserved, and not 0" in done.stdout
    done = penstock("wire", "decode", "--json", by_name("cnm").data.hex())
    (frame,) = json.loads(done.stdout)
    assert frame["layers"][3]["fields"]["q_offset"] == -406


def test_frames_of_a_capture_are_shown(penstock: Command, tmp_path: Path) -> None:
    captured = wire.Captured(by_name("cnm").data, 1_000_000_005, comment="queue \x1b[31m52000 octets")
    wire.write(tmp_path / "a.pcapng", [captured] * 3, ["s1"])
    done = penstock("wire", "decode", "a.pcapng", "--most", "2")
    assert done.returncode == 0
    assert "frame 2: 60 octets, s1, 1.000000005 s\n" in done.stdout
    assert "frame 3" not in done.stdout
    # No capture's text gives a terminal orders.
    assert "\x1b" not in done.stdout
    assert done.stderr == "a.pcapng has more frames: --most 20 shows more\n"
    done = penstock("wire", "decode", "a.pcapng", "--json")
    frames = json.loads(done.stdout)
    assert [frame["time_ns"] for frame in frames] == [1_000_000_005] * 3
    data = (tmp_path / "a.pcapng").read_bytes()
    (tmp_path / "b.pcapng").write_bytes(data[:-4])
    done = penstock("wire", "decode", "b.pcapng")
    assert done.returncode == 2
    assert "frame 2" in done.stdout
    assert done.stderr.startswith("error: b.pcapng: octet ")


def test_a_frame_is_made_and_written(penstock: Command, tmp_path: Path) -> None:
    values = ("quantized_feedback=25", "flow_identifier=5")
    done = penstock("wire", "encode", "cnm", *values)
    assert bytes.fromhex(done.stdout.strip()) == wire.encode("cnm", quantized_feedback=25, flow_identifier=5)
    done = penstock("wire", "encode", "cnm", *values, "--out", "a.pcapng")
    assert (done.returncode, done.stdout) == (0, "a.pcapng\n")
    (read,) = wire.read(tmp_path / "a.pcapng")
    assert read.decode()["cnm"].quantized_feedback == 25
    done = penstock("wire", "encode", "cnm", "--out", "a.pcapng")
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: a.pcapng: the file exists")
    assert penstock("wire", "encode", "cnm", "--out", "a.pcapng", "--force").returncode == 0


def test_statistics_are_printed(penstock: Command, tmp_path: Path) -> None:
    wire.write(tmp_path / "a.pcapng", [by_name("cnm").data, by_name("pfc").data, by_name("fecn").data])
    done = penstock("wire", "stats", "a.pcapng")
    assert (done.returncode, done.stderr) == (0, "")
    assert "|Fb| 25..25, mean 25.0" in done.stdout
    assert "5 to 02:00:00:00:00:02" in done.stdout
    assert "2.50 Gb/s" in done.stdout
    (tmp_path / "b.pcapng").write_bytes((tmp_path / "a.pcapng").read_bytes()[:-8])
    done = penstock("wire", "stats", "b.pcapng", "--json")
    assert done.returncode == 2
    counted = json.loads(done.stdout)
    assert (counted["frames"], counted["damage"]["offset"] > 0) == (2, True)
    message, hint = done.stderr.splitlines()
    assert message.startswith(f"error: b.pcapng: octet {counted['damage']['offset']}: the file ends within a block")
    assert hint == "hint: the 2 frames before this offset are counted"


def test_a_file_of_another_format_is_refused(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"\x1f\x8b\x08\x00")
    for command in ("stats", "decode"):
        done = penstock("wire", command, "a.gz")
        assert (done.returncode, done.stdout) == (2, "")
        message, hint = done.stderr.splitlines()
        assert message.startswith("error: a.gz: octet 0: this is neither pcap nor pcapng")
        assert hint == "hint: unpack it, if it is compressed; editcap -F pcapng converts captures of other formats"


def test_formats_are_listed(penstock: Command) -> None:
    listed = penstock("wire", "formats").stdout
    assert "cn_tag" in listed
    assert "a congestion notification packet of RoCEv2" in listed
    assert "cnmQOffset" in penstock("wire", "formats", "cnm").stdout
    assert json.loads(penstock("wire", "formats", "cnm", "--json").stdout)["octets"] == 24


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("decode", "none.pcap"), "none.pcap: no file has this name, and it is not hexadecimal", "give a file"),
        (("decode", ""), "the frame has no octets", "give its octets"),
        (("decode", "00", "--cim", "5"), "--cim 5: this is not an EtherType", "from 0x0600 to 0xffff"),
        (("decode", "00", "--smcc", "x"), "--smcc x: this is not an EtherType", "from 0x0600 to 0xffff"),
        (("encode", "cnmm"), "cnmm: unknown kind of frame", "did you mean cnm?"),
        (("encode", "cnm", "q_ofset=1"), "q_ofset: a frame of kind cnm has no field", "did you mean q_offset?"),
        (
            ("encode", "cnm", "q_offset"),
            "q_offset: not of the form KEY=VALUE",
            "write, for instance, quantized_feedback=25",
        ),
        (("encode", "cnm", "vid=1", "vid=2"), "vid has two values", "leave one of them out"),
        (("encode", "cnm", "vid=4096"), "vid cannot be '4096': it takes a whole number from 0 to 4095", ""),
        (("formats", "cnmm"), "cnmm: unknown format", "did you mean cnm?"),
        (("stats", "none.pcap"), "none.pcap: no such file", "a pcap or pcapng file"),
    ],
)
def test_wrong_input_is_refused(
    arguments: tuple[str, ...], message: str, hint: str, penstock: Command, tmp_path: Path
) -> None:
    done = penstock("wire", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[0].startswith(f"error: {message}")
    assert hint in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_dissector_is_installed(penstock: Command, tmp_path: Path) -> None:
    done = penstock("wire", "install-dissector", "--folder", "plugins")
    assert (done.returncode, done.stdout) == (0, "plugins/penstock.lua\n")
    assert (tmp_path / "plugins" / "penstock.lua").read_text() == dissector()
    # An older one is replaced, another's file is not.
    (tmp_path / "plugins" / "penstock.lua").write_text("-- Penstock's dissector, older\n")
    assert penstock("wire", "install-dissector", "--folder", "plugins").returncode == 0
    (tmp_path / "plugins" / "penstock.lua").write_text("-- mine\n")
    done = penstock("wire", "install-dissector", "--folder", "plugins")
    assert done.returncode == 2
    assert "this file is not Penstock's" in done.stderr
    assert (tmp_path / "plugins" / "penstock.lua").read_text() == "-- mine\n"
