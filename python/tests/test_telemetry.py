"""Watermarks and counters of devices: files read, values combined, laid over runs."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import Command

from penstock import ArgumentError, PenstockError, Result, Scenario
from penstock.errors import TextFileError
from penstock.figures.measured import measured_figure
from penstock.metrics.seeds import spread
from penstock.reports import Mark, Table, measurements
from penstock.telemetry import MEASURES, PortNames, Sample, overlay, read, typed_columns
from penstock.telemetry.measures import in_whole_cells

FABRIC = """
question = "Does the fabric do what its switches say?"
duration = "300 us"
scheme = "none"
[topology.leaf-spine]
leaves = 2
spines = 1
hosts_per_leaf = 2
host_rate = "100 Gbps"
fabric_rate = "100 Gbps"
link_delay = "500 ns"
[[switch]]
memory = "2 MB"
cell = "256 B"
[[buffer]]
alpha = "none"
ingress_alpha = "1/8"
[pfc]
priorities = [3]
mtu = "1500 octets"
[[flow]]
from = "h1..h3"
to = "h0"
priority = 3
"""

SHOWN = """\
admin@leaf0:~$ show priority-group watermark shared
Ingress shared pool occupancy per PG:
      Port    PG0    PG1    PG2      PG3    PG4    PG5    PG6    PG7
----------  -----  -----  -----  -------  -----  -----  -----  -----
 Ethernet0      0      0      0        0      0      0      0      0
 Ethernet8      0      0      0  118,784      0      0      0      0
Ethernet16    N/A    N/A    N/A      256    N/A    N/A    N/A    N/A
Ethernet72      0      0      0        0      0      0      0      0

admin@leaf0:~$ show queue watermark unicast
Egress shared pool occupancy per unicast queue:
     Port    UC0    UC1    UC2     UC3    UC4    UC5    UC6    UC7    UC8
---------  -----  -----  -----  ------  -----  -----  -----  -----  -----
Ethernet0      0      0      0  512000      0      0      0      0     77

admin@leaf0:~$ show queue watermark multicast
Egress shared pool occupancy per multicast queue:
     Port    MC8    MC9
---------  -----  -----
Ethernet0     12      0

admin@leaf0:~$ show pfc counters
  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet0       0       0       0       0       0       0       0       0

  Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7
---------  ------  ------  ------  ------  ------  ------  ------  ------
Ethernet8       0       0       0   1,240       0       0       0       0
"""


@pytest.fixture(scope="module")
def fabric() -> Scenario:
    return Scenario.from_toml(FABRIC)


@pytest.fixture(scope="module")
def runs(fabric: Scenario) -> list[Result]:
    """Return two runs, of seeds 1 and 2."""
    return [PortNames(fabric).recorded(fabric).run(seed=seed) for seed in (1, 2)]


def written(folder: Path, text: str) -> Path:
    file = folder / "values"
    file.write_text(text)
    return file


def sample(measure: str, value: float, **more: object) -> Sample:
    given: dict[str, object] = {"device": "leaf0", "port": "Ethernet8", "priority": 3, "file": "a", "line": 1}
    return Sample(measure=MEASURES[measure], value=value, **given | more)  # type: ignore[arg-type]


def test_show_commands_are_read(tmp_path: Path) -> None:
    samples = read(written(tmp_path, SHOWN))
    some = [(s.device, s.port, s.priority, s.measure.name, s.value, s.line) for s in samples if s.value]
    assert some == [
        ("leaf0", "Ethernet8", 3, "pg-shared", 118_784, 6),
        ("leaf0", "Ethernet16", 3, "pg-shared", 256, 7),
        ("leaf0", "Ethernet0", 3, "queue", 512_000, 14),
        ("leaf0", "Ethernet8", 3, "pfc-tx", 1240, 29),
    ]
    # The user knows better than a prompt: many switches are called sonic.
    assert {s.device for s in read(written(tmp_path, SHOWN.replace("leaf0", "sonic")), device="leaf1")} == {"leaf1"}
    # Of Ethernet16 seven groups are N/A; UC8 and the multicast queues belong to no priority.
    assert len(samples) == 8 + 8 + 1 + 8 + 8 + 8 + 8


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  118,784      0      0      0      0", "  118,784", ":6: 5 words where the head has 9: the line is cut"),
        ("118,784", "11x", ":6: '11x' is not a number of 0 or more"),
        ("Ingress shared pool occupancy per PG:\n", "", ":2: no line says what this table is"),
        ("Ingress shared pool", "what is this\nIngress shared pool", ":2: 'what is this' belongs to no table"),
    ],
)
def test_a_wrong_line_of_show_commands_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(TextFileError, match=re.escape(f"values{message}")):
        read(written(tmp_path, SHOWN.replace(old, new)))


COLUMNS = typed_columns("port=if,queue=q,value=v,unit=u,time=t,measure=m")


def test_columns_are_read(tmp_path: Path) -> None:
    lines = (
        "t,if,q,m,v,u",
        "1.5,Ethernet8,UC3,queue,12,KB",
        "2.5,Ethernet8,3,pfc-rx,7,packets",
        "",
        "1970-01-01T00:00:03Z,leaf0->h0,3,queue,9.5,KB",
    )
    text = "\n".join(lines)
    samples = read(written(tmp_path, text), device="leaf0", columns=COLUMNS)
    assert [(s.port, s.priority, s.measure.name, s.value, s.time_s, s.line) for s in samples] == [
        ("Ethernet8", 3, "queue", 12_000, 1.5, 2),
        ("Ethernet8", 3, "pfc-rx", 7, 2.5, 3),
        ("leaf0->h0", 3, "queue", 9500, 3.0, 5),
    ]
    text = "a,b,c\nEthernet8,3,4\n"
    (cells,) = read(
        written(tmp_path, text.replace("4", "4000")),
        columns=typed_columns("port=a,priority=b,value=c"),
        measure=MEASURES["pg-shared"],
    )
    assert (cells.value, cells.cells, cells.device) == (4000, False, None)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1,e,3,queue,12,KB\n1,e,3,queue,12", ":3: 5 fields and not 6: the line is cut"),
        ("1,e,3,queue,12,KB\n1,e,3,queue,12,bytes", ":3: unit 'bytes', and 'KB' in line 2: write one unit"),
        ("1,e,3,queue,12,ms", ":2: 'ms' is not a unit of queue watermark"),
        ("1,e,3,pfc-rx,12,KB", ":2: 'KB' is not a unit of frames"),
        ("1,e,9,queue,12,KB", ":2: '9' is no priority from 0 to 7"),
        ("1,e,3,queues,12,KB", ":2: 'queues' is no watermark or counter: did you mean queue?"),
        ("1,e,3,queue,-1,KB", ":2: '-1' is not a number of 0 or more"),
        ("1,e,3,queue,nan,KB", ":2: 'nan' is not a number of 0 or more"),
        ("soon,e,3,queue,1,KB", ":2: 'soon' is no time: write seconds"),
        ("", ": there is no value in it"),
    ],
)
def test_a_wrong_line_of_csv_is_named(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(TextFileError, match=re.escape(f"values{message}")):
        read(written(tmp_path, f"t,if,q,m,v,u\n{lines}\n"), columns=COLUMNS)


def test_wrong_files_and_columns_are_refused(tmp_path: Path) -> None:
    for text, message in (
        ("port=if", "no column for priority and value"),
        ("port=if,port=q", "port: two columns have this meaning"),
        ("prot=if", "did you mean port"),
        ("port", "port: this names no column"),
    ):
        with pytest.raises(ArgumentError, match=message):
            typed_columns(text)
    file = written(tmp_path, "if,q,v\n")
    with pytest.raises(TextFileError, match=r"values:1: there is no column 't' for time"):
        read(file, columns=typed_columns("port=if,queue=q,value=v,time=t"), measure=MEASURES["queue"])
    with pytest.raises(TextFileError, match="nothing says which watermark or counter"):
        read(file, columns=typed_columns("port=if,queue=q,value=v"))
    with pytest.raises(TextFileError, match="this is no output of SONiC's show commands; of a CSV file"):
        read(file)
    with pytest.raises(TextFileError, match="cannot be read"):
        read(tmp_path / "none")


def test_ports_have_the_names_of_devices(fabric: Scenario) -> None:
    names = PortNames(fabric, given={"leaf1:swp1": "leaf1->h2", "uplink": "leaf1->spine0"})
    # The exporter numbers the ports of a switch: hosts first, then spines, eight lanes apart.
    for port, link in {"Ethernet0": "leaf0->h0", "Ethernet8": "leaf0->h1", "Ethernet16": "leaf0->spine0"}.items():
        place = names.place(sample("queue", 1, port=port))
        assert (place.link, place.port, place.cell_octets) == (link, port, 256)
    assert names.place(sample("queue", 1, device="leaf1", port="swp1")).link == "leaf1->h2"
    assert names.place(sample("queue", 1, device=None, port="uplink")).link == "leaf1->spine0"
    assert names.place(sample("queue", 1, device=None, port="spine0->leaf0")).far == "leaf0->spine0"
    assert PortNames(fabric, "nxos").place(sample("queue", 1, port="Ethernet1/3")).link == "leaf0->spine0"
    for wrong, message in (
        ({"port": "Ethernet24"}, r"a:1: leaf0 has no port 'Ethernet24' in the fabric"),
        ({"device": "leaf7"}, r"a:1: the fabric has no node 'leaf7': did you mean leaf"),
        ({"device": "sonic"}, r"a:1: the fabric has no node 'sonic': name one, as in --measured leaf0=FILE"),
        ({"device": None}, r"a:1: nothing says on which switch Ethernet8 is"),
    ):
        with pytest.raises(TextFileError, match=message):
            names.place(sample("queue", 1, **wrong))
    with pytest.raises(ArgumentError, match="Ethernet0=leaf0->h9: the fabric has no such port; did you mean leaf0->h"):
        PortNames(fabric, given={"Ethernet0": "leaf0->h9"})
    with pytest.raises(PenstockError, match="format=junox"):
        PortNames(fabric, "junox")


def test_watermarks_are_the_largest_and_counters_grow(fabric: Scenario, runs: list[Result]) -> None:
    names = PortNames(fabric)
    samples = [
        sample("pg-shared", 10, cells=True),
        sample("pg-shared", 12, cells=True),
        sample("pg-shared", 11, cells=True),
        sample("pfc-tx", 100, time_s=10.0),
        sample("pfc-tx", 160, time_s=14.0),
        sample("pfc-rx", 5, port="Ethernet0"),
    ]
    shared, sent, received = overlay(samples, names, {"none": runs[:1]}).rows
    assert (shared.measured, shared.unit) == (12 * 256, "octets")
    # 60 frames in 4 s; the run's own in 300 us.
    assert (sent.measured, sent.unit) == (15, "frames/s")
    (far,) = (q for q in runs[0].summary["queues"] if q["name"] == "h1->leaf0" and q["priority"] == 3)
    frames = far["pause_frames"] + far["resume_frames"]
    assert frames > 1
    assert sent.simulated["none"].mean == pytest.approx(frames / 300e-6)
    assert (received.measured, received.unit, received.simulated["none"].mean) == (5, "frames", 0)
    assert received.simulated["none"].ratio is None
    with pytest.raises(TextFileError, match="a:7: the counter falls from 160 to 5: it was cleared"):
        overlay([*samples, sample("pfc-tx", 5, time_s=15.0, line=7)], names, {"none": runs})
    with pytest.raises(ArgumentError, match="a measurement takes time"):
        overlay(samples, names, {"none": runs}, over_s=0)


def test_a_value_differs_beyond_the_interval_of_another_seed(fabric: Scenario, runs: list[Result]) -> None:
    names = PortNames(fabric)

    def of(run: Result, key: str) -> float:
        (queue,) = (q for q in run.summary["queues"] if q["name"] == "leaf0->h1" and q["priority"] == 3)
        value: float = queue[key]  # type: ignore[literal-required]
        return value

    values = [of(run, "ingress_shared_max_octets") for run in runs]
    over = spread(values)
    assert over["mean"] is not None and over["std"] is not None
    # Student's t of one degree of freedom is 12.706; another seed is off by s sqrt(1 + 1/2).
    half = 12.7062 * over["std"] * 1.5**0.5
    for value, differs in (
        (over["mean"], False),
        (over["mean"] + half + 10, True),
        (over["mean"] + half * 0.99, False),
    ):
        (row,) = overlay([sample("pg-shared", value)], names, {"none": runs}).rows
        line = row.simulated["none"]
        assert line.mean == over["mean"]
        assert line.high == pytest.approx(over["mean"] + half, rel=1e-4)
        assert line.differs is (differs and value > (line.high or 0))
        assert line.ratio == pytest.approx(value / over["mean"])
    (row,) = overlay([sample("pg-shared", 1.0)], names, {"none": runs[:1]}).rows
    assert (row.simulated["none"].low, row.simulated["none"].differs) == (None, None)


def test_the_simulator_has_the_watermarks_of_priority_groups(runs: list[Result]) -> None:
    """Three lines fill the queue to h0: the groups of a switch hold as much as its pool, and each stops at XOFF."""
    for run in runs:
        queues = {q["name"]: q for q in run.summary["queues"] if q["priority"] == 3}
        (pool,) = (pool for pool in run.summary["pools"] if pool["switch"] == "leaf0")
        alone, together = pool["xoff_alone_octets"] or 0, pool["xoff_together_octets"] or 0
        own = [queues[name] for name in ("leaf0->h0", "leaf0->h1", "leaf0->spine0")]
        assert own[0]["ingress_shared_max_octets"] == 0, "h0 sends nothing"
        assert sum(q["ingress_headroom_max_octets"] for q in own) >= pool["headroom_max_octets"] > 0
        assert sum(q["ingress_shared_max_octets"] + q["ingress_headroom_max_octets"] for q in own) >= pool["max_octets"]
        for queue in own[1:]:
            assert queue["ingress_shared_max_octets"] % 256 == 0
            assert together - 1536 <= queue["ingress_shared_max_octets"]
            assert queue["ingress_shared_max_octets"] <= alone


def test_frames_of_a_queue_fill_whole_cells(fabric: Scenario, runs: list[Result]) -> None:
    queue = {"frames_sent": 10, "octets_sent": 15_000}
    # Frames of 1500 octets: 6 cells of 256 are 1536, 8 of 208 are 1664.
    assert in_whole_cells(76_500, queue, 256) == 51 * 1536
    assert in_whole_cells(76_500, queue, 208) == 51 * 1664
    assert in_whole_cells(76_500, queue, 1) == 76_500
    assert in_whole_cells(76_500, {"frames_sent": 0, "octets_sent": 0}, 256) == 76_500
    found = overlay([sample("queue", 100, cells=True, port="Ethernet0")], PortNames(fabric), {"none": runs[:1]})
    (own,) = (q for q in runs[0].summary["queues"] if q["name"] == "leaf0->h0" and q["priority"] == 3)
    frame = own["octets_sent"] / own["frames_sent"]
    (row,) = found.rows
    assert row.measured == 25_600
    assert row.simulated["none"].mean == pytest.approx(own["max_octets"] / frame * -(-frame // 256) * 256)
    assert "octets of whole cells" in found.notes[0] + found.notes[1]


def test_the_report_has_measured_values_first(fabric: Scenario, runs: list[Result]) -> None:
    samples = [sample("pg-shared", 10**7), sample("pg-shared", 0, port="Ethernet0")]
    found = overlay(samples, PortNames(fabric), {"none": runs})
    assert found.differing("none") == (1, 1), "a port without values is not judged"
    assert measurements.verdict(found) == (
        "1 of 1 measured values differ from the simulated ones; by chance, 1 of 20 does.", True
    )  # fmt: skip
    (table,) = measurements.section(found, "t", pictures=False).parts
    assert isinstance(table, Table)
    (cells,) = table.rows
    assert cells[:4] == ("leaf0 Ethernet8", "leaf0->h1", "3", "priority group, shared") and cells[4] == "10 MB"
    assert cells[-1] == Mark("yes", good=False)
    assert measurements.verdict(overlay(samples, PortNames(fabric), {"none": runs[:1]}))[1] is None


def test_the_figure_has_a_panel_for_each_measure(fabric: Scenario, runs: list[Result]) -> None:
    samples = [sample("pg-shared", 90_000), sample("pg-shared", 0, port="Ethernet0"), sample("queue", 5, priority=5)]
    found = overlay([*samples, sample("queue", 300_000, port="Ethernet0")], PortNames(fabric), {"none": runs})
    queue, group = measured_figure(found, "measured beside simulated").axes
    # Nothing came in from h0, and no queue of priority 5 is there to be compared.
    assert [text.get_text() for text in queue.get_yticklabels()] == ["leaf0->h0 (Ethernet0), priority 3"]
    assert [text.get_text() for text in group.get_yticklabels()] == ["leaf0->h1 (Ethernet8), priority 3"]
    assert (queue.get_xlabel(), group.get_xlabel()) == ("queue watermark, KB", "priority group, shared, KB")
    (mark,) = (line for line in queue.get_lines() if line.get_label() == "measured")
    assert np.asarray(mark.get_xdata()).tolist() == [300]


def test_compare_lays_measured_values_over_runs(penstock: Command, tmp_path: Path) -> None:
    (tmp_path / "fabric.toml").write_text(FABRIC)
    (tmp_path / "leaf0.txt").write_text(SHOWN)
    (tmp_path / "uplink.csv").write_text("Interface,Queue,Bytes\nspine0->leaf0,3,99000\n")
    words = ["compare", "fabric.toml", "--seeds", "2", "--measured", "leaf0.txt", "--measured-over", "10 s"]
    done = penstock(*words, "--report", "r.html", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)["measured"]
    rows = {(row["link"], row["priority"], row["measure"]): row for row in document["rows"]}
    assert rows["leaf0->h1", 3, "pfc-tx"]["measured"] == 124
    assert rows["leaf0->h1", 3, "pg-shared"]["simulated"]["none"]["mean"] > 0
    folder = tmp_path / "results" / "fabric-compare"
    assert json.loads((folder / "measured.json").read_text()) == document
    assert {"measured.png", "measured.svg"} <= {path.name for path in folder.iterdir()}
    page = (tmp_path / "r.html").read_text()
    assert "Measured beside simulated" in page and "leaf0 Ethernet8" in page
    assert hashlib.sha256(SHOWN.encode()).hexdigest() in page.replace("\n", ""), "the file of measured values is named"

    done = penstock(*words[:4], "--force", "--measured", "leaf0=uplink.csv", "--measured-as", "queue",
                    "--measured-columns", "port=Interface,queue=Queue,value=Bytes")  # fmt: skip
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("spine0"))
    assert "queue watermark" in line and "99 KB" in line
    assert "of 1 values are outside of the interval" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--measured", "wrong.txt"], "wrong.txt:5: leaf0 has no port 'Ethernet88' in the fabric"),
        (["--measured", "cut.txt"], "cut.txt:4: 3 words where the head has 9: the line is cut"),
        (["--measured", "none.txt"], "none.txt: it cannot be read"),
        (["--measured", "zero.txt"], "no value belongs to a port of the fabric"),
        (["--measured", "wrong.txt", "--measured-over", "long"], "--measured-over long: this is not a time"),
        (["--measured", "wrong.txt", "--measured-as", "queue"], "--measured-as: the output of show commands"),
        (["--measured-over", "3 s"], "--measured-over: there is no file of measured values"),
        (["--measured", "wrong.txt", "--measured-names", "junox"], "--measured-names junox: unknown format"),
        (["--measured", "wrong.txt", "--measured-ports", "Ethernet88"], "--measured-ports Ethernet88: not of the form"),
    ],
)
def test_wrong_measured_values_end_before_any_run(
    penstock: Command, tmp_path: Path, words: list[str], message: str
) -> None:
    (tmp_path / "fabric.toml").write_text(FABRIC)
    head = SHOWN.splitlines()[:4]
    (tmp_path / "wrong.txt").write_text("\n".join([*head, "Ethernet88 0 0 0 1 0 0 0 0"]))
    (tmp_path / "zero.txt").write_text("\n".join([*head, "Ethernet88 0 0 0 0 0 0 0 0"]))
    (tmp_path / "cut.txt").write_text("\n".join([*head[1:], "Ethernet8 0 0"]))
    done = penstock("compare", "fabric.toml", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (tmp_path / "results").exists()
