"""Headroom: published formulas by the numbers of others, tables, a fabric, and the minimum by attack."""

import csv
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from conftest import ROOT
from headroom_endurance import endure, random_port

from penstock import ArgumentError, Scenario, headroom
from penstock.errors import TextFileError
from penstock.fabrics import fabric_template
from penstock.headroom import Port, Row

DATA = Path(__file__).parent / "data"
Command = Callable[..., CompletedProcess[str]]


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open() as file:
        return list(csv.DictReader(file))


def test_nvidia_gives_the_values_of_the_script() -> None:
    """378 results of the Lua script at e6b0c5b5."""
    listed = rows("spectrum_headroom_values.csv")
    assert len(listed) == 378
    for row in listed:
        port = Port(
            speed_mbps=int(row["speed_mbps"]),
            cable_m=float(row["cable_m"]),
            mtu=int(row["port_mtu"]),
            lanes=int(row["lanes"]),
        )
        profile = headroom.nvidia(
            port,
            int(row["spectrum"]),
            lossless_mtu=int(row["lossless_mtu"]),
            small_packet_percentage=float(row["small_packet_percentage"]),
            shared_headroom=row["over_subscribe_ratio"] != "nil" or row["shp_xoff"] != "nil",
            gearbox_ns=float(row["gearbox_delay"]),
        )
        assert (profile.xon, profile.xoff, profile.size) == tuple(int(row[key]) for key in ("xon", "xoff", "size"))


def test_revisions_of_nvidias_formula() -> None:
    """By hand, Spectrum-2, 100 Gb/s, 5 m, MTU 9100, half of the packets small.

    Small packets are 6400 / 544 % of the octets, so that 100 octets take 100 + 11.76 x 2 = 123.53. The delay is 9100 +
    1262.6 + 819.2 + 25 216 = 36 397.8, and 1024 + 36 397.8 x 1.2353 = 45 986 are 45 KiB; since 2026-07-28 two more.
    """
    port = Port(speed_mbps=100_000, cable_m=5, mtu=9100)
    assert headroom.nvidia(port, 2) == headroom.Profile(xon=19_456, xoff=48_128, size=67_584)
    assert headroom.nvidia(port, 2, revision="2024-09-11").xoff == 46_080
    # A shared pool needs no more, and reserves its XON alone; small packets alone are the worst case.
    assert headroom.nvidia(port, 2, shared_headroom=True) == headroom.Profile(xon=19_456, xoff=46_080, size=19_456)
    small = headroom.nvidia(port, 2, small_packet_percentage=100)
    assert small == headroom.nvidia(port, 2, revision="2024-09-11", small_packet_percentage=100)
    # Spectrum-6 got 18 KiB, and 2 KiB before.
    revisions = ("2024-09-11", "2026-07-28", "2026-08-01")
    six = [headroom.nvidia(port, 6, revision=one).xoff for one in revisions]  # type: ignore[arg-type]
    assert (six[1] - six[0], six[2] - six[1]) == (2048, 18 * 1024)
    # Eight lanes, 800 Gb/s: the check values of the script.
    wide = Port(speed_mbps=800_000, cable_m=5, mtu=9100, lanes=8)
    assert headroom.nvidia(wide, 4) == headroom.Profile(xon=38_912, xoff=108_544, size=156_672)
    worst = headroom.nvidia(wide, 4, small_packet_percentage=100)
    assert worst == headroom.Profile(xon=38_912, xoff=256_000, size=304_128)


def test_connectx_gives_the_values_of_the_driver() -> None:
    listed = rows("mlx5_xoff_values.csv")
    assert len(listed) == 64
    for row in listed:
        port = Port(speed_mbps=int(row["speed_mbps"]), cable_m=int(row["cable_m"]), mtu=int(row["mtu"]))
        assert headroom.connectx(port) == int(row["xoff_bytes"])
    # Of 32 bits: (301 + 864 000) x 10 Tb/s is more than 2^32.
    far = Port(speed_mbps=10_000_000, cable_m=400_000, mtu=1500)
    assert headroom.connectx(far) == 864_301 * 10_000_000 % 2**32 // 1000 + 4080


def test_barefoot_by_hand() -> None:
    """400 Gb/s, 0 m, MTU 9100: 9100 + 819.2 + twice 57 920 = 125 759.2; 1 + 0.5 x (176/64 - 1) = 1.875 of that."""
    port = Port(speed_mbps=400_000, cable_m=0, mtu=9100)
    profile = headroom.barefoot(port)
    assert profile == headroom.Profile(xon=69_632, xoff=-(-int(1024 + 125_759.2 * 1.875) // 1024) * 1024, size=69_632)
    # Its table ends at 400 Gb/s: 9 KiB of response at 800.
    faster = headroom.barefoot(Port(speed_mbps=800_000, cable_m=0, mtu=9100))
    assert faster.xoff == -(-int(1024 + (9100 + 819.2 + 9216) * 1.875) // 1024) * 1024 < profile.xoff


def test_mlxsw_by_hand() -> None:
    """1000 bit times are 125 octets, 2 cells of 96; twice that, and 16 cells of a frame of 1500."""
    port = Port(speed_mbps=100_000, cable_m=5, mtu=1500, cell=96)
    assert headroom.mlxsw(port, delay_bits=1000) == (2 * 2 + 16) * 96
    eight = Port(speed_mbps=100_000, cable_m=5, mtu=1500, cell=96, lanes=8)
    assert headroom.mlxsw(eight, delay_bits=1000) == 2 * (2 * 2 + 16) * 96
    with pytest.raises(ArgumentError, match="65536"):
        headroom.mlxsw(port, delay_bits=65_536)


# Speed (Gb/s), cable (m), cell (octets), Spectrum, IEEE's annex, a bound for cells, and NVIDIA's formula of 2023 with
# small packets alone: a network operator's calculation, with frames of 9216 octets.
CALCULATED = [
    (40, 40, 96, 1, 28_128, 49_434, 39_936),
    (100, 300, 96, 1, 81_647, 137_260, 144_384),
    (200, 300, 144, 2, 123_298, 217_522, 256_000),
    (100, 40, 192, 4, 48_822, 108_914, 121_856),
    (200, 5, 192, 4, 48_810, 108_888, 121_856),
    (400, 5, 192, 4, 79_001, 177_895, 212_992),
    (800, 300, 192, 4, 379_476, 864_695, 1_093_632),
    (10, 300, 254, 1, 26_632, 71_397, 72_704),
    (100, 5, 254, 1, 44_403, 125_135, 144_384),
    (200, 40, 254, 1, 57_648, 165_185, 195_584),
    (400, 300, 254, 1, 227_976, 680_224, 858_112),
    (800, 40, 254, 1, 116_876, 344_279, 428_032),
]


@pytest.mark.parametrize(("gbps", "cable", "cell", "spectrum", "annex", "bound", "lua"), CALCULATED)
def test_an_operators_calculation(
    gbps: int, cable: int, cell: int, spectrum: int, annex: int, bound: int, lua: int
) -> None:
    port = Port(speed_mbps=gbps * 1000, cable_m=cable, cell=cell)
    # The operator rounds halves; octets are whole.
    assert headroom.annex_o(port) - annex in (0, 1)
    # The time in frames that take most cells for it, and two longest ones: whole frames need a little less.
    lengths = [max(64, n * cell + 1) for n in range(9216 // cell)]
    most = max(Fraction(-(-length // cell) * cell, length + 20) for length in lengths)
    tight = port.wire() * most + 2 * -(-9216 // cell) * cell
    assert abs(tight - bound) <= 1
    exact = headroom.need(port).memory
    assert tight - 3 * cell < exact <= tight
    profile = headroom.nvidia(port, spectrum, revision="2023-08-15", small_packet_percentage=100, cell=cell)
    assert profile.xoff == lua


def test_responses_are_read() -> None:
    read = headroom.read_response
    # 12 frames of 9236 octets of the line at 100 Gb/s.
    assert read("12 packets").time(100_000, 9216) == 12 * 9236 * 80
    assert read("1 packet of 1 KB").time(100_000, 9216) == 1020 * 80
    assert read("905  quanta").time(400_000, 9216) == 1_158_400
    assert read("1.2 us").time(10_000, 64) == 1_200_000
    for text in ("", "12", "packets", "-1 packets", "3 furlongs", "2 packets of 1 B", "12 packets of much"):
        with pytest.raises(ArgumentError) as caught:
            read(text)
        assert "quanta" in caught.value.hint
    with pytest.raises(ArgumentError, match="at most 1 s"):
        read("1000000000 quanta").time(100, 64)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mtu", 0),
        ("mtu", 255),
        ("mtu", 70_000),
        ("cable_m", -5),
        ("speed_mbps", 0),
        ("cell", 0),
        ("lanes", 0),
        ("response_ps", -1),
    ],
)
def test_no_such_port(key: str, value: int) -> None:
    with pytest.raises(ArgumentError, match=f"{key}={value}: out of range"):
        Port(**({"speed_mbps": 100_000, "cable_m": 5} | {key: value}))


def test_no_such_setting() -> None:
    port = Port(speed_mbps=100_000, cable_m=5)
    with pytest.raises(ArgumentError, match="no such generation"):
        headroom.nvidia(port, 7)
    with pytest.raises(ArgumentError, match="small_packet_percentage=101"):
        headroom.nvidia(port, 1, small_packet_percentage=101)
    with pytest.raises(ArgumentError, match="small_packet_percentage=-1"):
        headroom.barefoot(port, small_packet_percentage=-1)


PORTS = [
    Port(speed_mbps=200_000, cable_m=5, cell=256),
    Port(speed_mbps=200_000, cable_m=5),
    Port(speed_mbps=400_000, cable_m=40),
    Port(speed_mbps=100_000, cable_m=300, mtu=1500, cell=96),
    Port(speed_mbps=25_000, cable_m=7, mtu=9122, cell=208, response_ps=777_777),
    Port(speed_mbps=10_000, cable_m=0, mtu=256, cell=80, response_ps=0),
]


@pytest.mark.parametrize(
    "port", [*PORTS, *(pytest.param(random_port(seed), marks=pytest.mark.science) for seed in range(200))], ids=str
)
def test_the_minimum_by_search_is_the_exact_need(port: Port) -> None:
    proof = headroom.prove(port)
    assert proof.least == proof.formula
    assert proof.lost > 0
    # The scenario that is kept loses what it says.
    result = Scenario.from_toml(proof.scenario, name="loses").run()
    assert result.summary["totals"]["frames_dropped"] == proof.lost


@pytest.mark.parametrize(("missing", "lossless"), [(0.0, True), (0.3, False)])
def test_a_port_with_its_headroom_loses_nothing_however_often_it_stops(missing: float, lossless: bool) -> None:
    frames, lost, stops = endure(Port(speed_mbps=40_000, cable_m=37, mtu=1500, cell=192), 20_000, missing)
    assert frames > 10_000
    assert stops > 100
    assert (lost == 0) is lossless


TABLE = """\
# PG lossless profiles.
# speed cable size    xon  xoff    threshold xon_offset
  100000   5m    18796   0    147066  0   3556

  400000   5m    18796   0    393192  -2   3556  # a comment
  400000\t300m\t18796\t0\t839216\t7\t3556
"""


def test_a_table_is_read() -> None:
    table = headroom.parse_table(TABLE)
    assert [row.line for row in table.rows] == [3, 5, 6]
    assert [row.alpha for row in table.rows] == ["alpha 1", "alpha 1/4", "no limit"]
    assert {row.kind for row in table.rows} == {"shared"}
    assert table.cell() == 254
    # No row is as long as the cable: the next longer one.
    found = [table.row(400_000, metres) for metres in (5, 40, 301)]
    assert [row and row.line for row in found] == [5, 6, None]
    without = headroom.parse_table("10000 40m 36864 18432 18432 0\n")
    assert (without.rows[0].xon_offset, without.rows[0].kind, without.cell()) == (None, "private", None)
    static = headroom.parse_table("10000 5m 3584 32256 59136 36736\n")
    assert (static.rows[0].alpha, static.rows[0].kind) == ("static, 36736 octets", "shared")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", None, "no row"),
        ("# speed cable\n", None, "no row"),
        ("[buffer]\nsize = 4\n", 1, "1 columns"),
        ("100000 5m 1 2 3 0\n100000 -5m 1 2 3 0\n", 2, "cable -5m: not a length"),
        ("100000 5 1 2 3 0\n", 1, "cable 5: not a length"),
        ("100000 5m 1 2 x 0\n", 1, "xoff x: not a whole number"),
        ("100000 5m 1 -2 3 0\n", 1, "xon -2: out of range"),
        ("100G 5m 1 2 3 0\n", 1, "speed 100G: not a whole number"),
        ("0 5m 1 2 3 0\n", 1, "speed 0: out of range"),
        ("100000 5m 1 2 3 -9\n", 1, "threshold -9: out of range"),
        ("100000 5m 1 2 3 0 1 2\n", 1, "8 columns"),
        ("100000 5m 1 2 3 0\n\n100000 5m 1 2 4 0\n", 3, "other values in line 1"),
        ("x\n" * 9, 1, "in all 9 lines are wrong"),
    ],
)
def test_bad_rows_are_named_by_line(text: str, line: int | None, reason: str) -> None:
    with pytest.raises(TextFileError, match=reason) as caught:
        headroom.parse_table(text, file="t.ini")
    assert caught.value.line == line


def test_tables_that_contradict_themselves() -> None:
    text = "100000 5m 1 0 9000 0\n100000 40m 1 0 8000 0\n200000 5m 1 0 7000 0\n200000 300m 1 0 7000 0\n"
    assert headroom.findings(headroom.parse_table(text)) == [
        "100000 Mb/s: xoff falls from 9000 at 5 m to 8000 at 40 m (line 2)",
        "200000 Mb/s: the same xoff, 7000, from 5 m to 300 m",
        "5 m: xoff falls from 9000 at 100000 Mb/s to 7000 at 200000 Mb/s (line 3)",
    ]


def test_published_rows_are_judged() -> None:
    """Each device has a table."""
    of_device: dict[str, list[str]] = {}
    for row in rows("sonic_pg_rows.csv"):
        line = " ".join(row[key] for key in ("speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset"))
        of_device.setdefault(row["source_platform"], []).append(line)
    below = {}
    for device, lines in of_device.items():
        table = headroom.parse_table("\n".join(lines), file=device)
        judged = headroom.judge(table)
        assert [one.row.xoff for one in judged] == [int(line.split()[4]) for line in lines]
        for one in judged:
            assert one.missing == max(0, one.need.memory - one.row.xoff)
        below[device] = sum(one.missing > 0 for one in judged)
    assert below["mellanox/x86_64-nvidia_sn5600-r0/Mellanox-SN5600-C224O8"] > 0
    # TH5 at 200 Gb/s and 5 m: 224 536 octets, 884 cells of 254; the need is 650 at 40 m.
    assert below["arista/x86_64-arista_7060x6_64pe_b/Arista-7060X6-64PE-B-P32V128"] == 0


def first_drop(text: str) -> tuple[int, int]:
    """Return the first packet that is dropped, from 1, and the number of pauses."""
    summary = Scenario.from_toml(text, name="row").run().summary
    sent, dropped = summary["flows"][0]["frames_sent"], summary["totals"]["frames_dropped"]
    return sent - dropped + 1, summary["totals"]["pause_frames"]


MEASURED = [row for row in rows("sonic_hardware_headroom.csv") if row["xoff_cells"]]


@pytest.mark.parametrize("measured", MEASURED, ids=lambda row: f"{row['asic']}-{row['speed']}-{row['cable']}")
def test_the_first_drop_is_that_of_hardware(measured: dict[str, str]) -> None:
    """Packets until the pause and until the first drop on Broadcom's switches: xoff in cells apart, or one more."""
    beyond = int(measured["difference_minus_cells"])
    row = Row(
        line=1,
        speed_mbps=int(measured["speed"]),
        cable_m=float(measured["cable"].rstrip("m")),
        size=0,
        xon=0,
        xoff=int(measured["xoff_of_a_broadcom_row"]),
        # A dynamic threshold is reached by a packet, and a static one is crossed.
        threshold=0 if beyond else 36_736,
        xon_offset=None,
    )
    cell, pause = int(measured["cell"]), int(measured["packets_until_pfc"])
    text = headroom.row_scenario(row, cell=cell, until_pause=pause)
    assert first_drop(text)[0] == int(measured["packets_until_drop"]) == pause + row.xoff // cell + beyond
    # With a packet less nothing is paused.
    if pause < 10_000:
        size = [line for line in text.splitlines() if line.startswith("size")][-1]
        for packets, pauses in ((pause - 1, 0), (pause, 1)):
            assert first_drop(text.replace(size, f'size = "{64 * packets} octets"')) == (packets + 1, pauses)


@pytest.mark.parametrize("threshold", [-8, -6, -1, 0, 3, 7, 45_696])
@pytest.mark.parametrize("cell", [1, 96, 254])
def test_a_row_drops_first_at_xoff(cell: int, threshold: int) -> None:
    row = Row(line=4, speed_mbps=100_000, cable_m=300, size=1, xon=0, xoff=101_088, threshold=threshold, xon_offset=0)
    text = headroom.row_scenario(row, cell=cell)
    found, pauses = first_drop(text)
    assert found - 100 - row.xoff // max(64, cell) in (0, 1)
    assert pauses > 0
    assert f"the first drop with packet {found}:" in text


def rack(**settings: Any) -> Scenario:
    text = fabric_template(leaves=2, spines=2, hosts=2, cable="host=5m,spine0=40m,spine1=300m", chip="64MB/256B")
    return Scenario.from_toml(text, name="rack").with_(settings)


def test_a_fabric_has_each_kind_of_port_once() -> None:
    found = headroom.survey(rack())
    assert [(kind.port.speed_mbps, kind.port.cable_m) for kind in found.kinds] == [
        (200_000, 5),
        (400_000, 40),
        (400_000, 300),
    ]
    for kind in found.kinds:
        # The planner's number in the fabric is that of the port alone.
        assert headroom.need(kind.port) == kind.need
        own = {entry.key: entry for entry in kind.entries}
        assert own["annex-o"].xoff_octets == headroom.annex_o(kind.port)
        assert own["spectrum-1"].need_octets % 96 == 0
        assert own["spectrum-4"].missing_octets > 0
    leaf, near, far = found.chips
    # Two hosts, a spine at 40 m, a spine at 300 m.
    needs = [kind.need.memory for kind in found.kinds]
    assert leaf.headroom_octets["exact"] == 2 * needs[0] + needs[1] + needs[2]
    assert (near.headroom_octets["exact"], far.headroom_octets["exact"]) == (2 * needs[1], 2 * needs[2])
    assert leaf.left_octets["exact"] == 64_000_000 - leaf.headroom_octets["exact"]
    assert any("Tofino-2: falls from 400 to 800 Gb/s" in sentence for sentence in found.findings)
    assert any("annex O: below the need at every port" in sentence for sentence in found.findings)


def test_the_page_has_the_numbers_of_the_command() -> None:
    page = (ROOT / "docs/how-to/choose-headroom.md").read_text(encoding="utf-8")
    text = fabric_template(uplink="2x400G", cable="host=5m,spine0..1=40m,spine2..3=300m", chip="spectrum-4")
    scenario = Scenario.from_toml(text, name="rack")
    found: dict[object, list[str]] = {}
    for small in (50, 100):
        for kind in headroom.survey(scenario, by=headroom.formulas(small_packet_percentage=small)).kinds:
            found.setdefault("exact", []).append(f"{kind.need.memory:,}")
            for entry in kind.entries:
                if entry.key in ("annex-o", "spectrum-4", "connectx"):
                    share = entry.xoff_octets / entry.need_octets  # type: ignore[operator]
                    found.setdefault((entry.key, small), []).append(f"{entry.xoff_octets:,} ({share:.1%})")
    for cells in found.values():
        assert f"| {' | '.join(cells[:3])} |".replace(",", " ").replace("%", " %") in page


def test_more_lossless_priorities_take_more_memory() -> None:
    one, two = (headroom.survey(rack(**{"pfc.priorities": text})) for text in ("[3]", "[3, 4]"))
    assert two.chips[0].headroom_octets["exact"] == 2 * one.chips[0].headroom_octets["exact"]


def test_a_measured_response_takes_the_place_of_the_standards() -> None:
    response = headroom.read_response("12 packets")
    found = headroom.survey(rack(), response=response)
    for kind in found.kinds:
        assert kind.port.response_ps == response.time(kind.port.speed_mbps, 9216)
        assert headroom.need(kind.port) == kind.need


def test_a_fabric_beside_a_table() -> None:
    table = headroom.parse_table("200000 5m 18796 0 224536 0 3556\n400000 40m 18796 0 200000 0 3556\n", file="t.ini")
    kinds = headroom.survey(rack(), table=table).kinds
    of_table = [kind.entries[-1] for kind in kinds]
    assert [entry.xoff_octets for entry in of_table] == [224_536, 200_000, None]
    assert of_table[0].missing_octets == 0 < of_table[1].missing_octets
    assert "no row for 400000 Mb/s and 300 m" in of_table[2].source


def test_the_command_compares_and_proves(penstock: Command, tmp_path: Path) -> None:
    rack().save(tmp_path / "rack.toml")
    (tmp_path / "t.ini").write_text(TABLE)
    done = penstock("headroom", "rack.toml", "--table", "t.ini")
    assert done.returncode == 0, done.stderr
    assert "exact minimum" in done.stdout and "t.ini:6" in done.stdout
    proved = penstock("headroom", "rack.toml", "--prove", "--json", "--out", "kept")
    document = json.loads(proved.stdout)
    for kind in document["kinds"]:
        assert kind["proof"]["holds"] and kind["proof"]["lost"] > 0
        run = penstock("run", kind["proof"]["file"], "--json", "--no-figures")
        assert json.loads(run.stdout)["totals"]["frames_dropped"] == kind["proof"]["lost"]


def test_the_command_judges_a_table(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "t.ini").write_text(TABLE.replace("147066", "101600"))
    done = penstock("headroom", "--table", "t.ini", "--scenarios", "rows", "--json")
    document = json.loads(done.stdout)
    assert (document["cell_octets"], document["below"], len(document["rows"])) == (254, 1, 3)
    assert len(list((tmp_path / "rows").iterdir())) == 3
    text = penstock("headroom", "--table", "t.ini", "--mtu", "1500", "--cell", "254").stdout
    assert "0 of 3 rows are below the need" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no fabric and no --table"),
        (["--table", "none.ini"], "none.ini"),
        (["--table", "rack.toml"], "rack.toml:3: 14 columns"),
        (["--table", "t.ini", "--mtu", "0"], "mtu"),
        (["--table", "t.ini", "--cell", "much"], "--cell much: not a size"),
        (["--table", "t.ini", "--prove"], "--prove: options of a fabric"),
        (["rack.toml", "--cell", "96"], "--cell: options of --table alone"),
        (["rack.toml", "--out", "x"], "--out is the folder of --prove"),
        (["rack.toml", "--response", "soon"], "no response time"),
        (["rack.toml", "--set", "pfc.mtu=0"], "pfc.mtu"),
        (["rack.toml", "--set", "topology.graph.link.0.cable=-5 m"], "cable"),
        (["netfpga/one-source-100us"], "no [pfc]"),
    ],
)
def test_bad_input_is_refused(penstock: Command, tmp_path: Path, arguments: list[str], message: str) -> None:
    rack().save(tmp_path / "rack.toml")
    (tmp_path / "t.ini").write_text(TABLE)
    done = penstock("headroom", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"rack.toml", "t.ini"}
