"""Files of other simulators as bench/peers writes them, what they print as it reads it, and the table of both."""

from pathlib import Path

import agreement
import check_peers
import foreign_files
import inet_files
import pytest
import run_peers
import simulators
import works

from penstock.errors import ArgumentError
from penstock.exchange import write

PAIR_OF_HOSTS = {
    "question": "Are the files right?",
    "duration": "1 ms",
    "topology": {"star": {"hosts": 2, "link_rate": "100 Gbps", "link_delay": "1 us", "buffer": "1 MB"}},
    "flow": [{"from": "h0", "to": "h1", "size": "5000 octets", "start": "1500 ns"}],
}
LEAVES = {
    "leaf-spine": {
        "leaves": 2,
        "spines": 2,
        "hosts_per_leaf": 2,
        "host_rate": "100 Gbps",
        "fabric_rate": "100 Gbps",
        "link_delay": "1 us",
        "buffer": "1 MB",
    }
}
STAR = works.Work("star", PAIR_OF_HOSTS)
TWO_LEAVES = works.Work("leaves", {**PAIR_OF_HOSTS, "topology": LEAVES})


def test_hpccs_simulator_is_given_its_four_files() -> None:
    settings = {"CC_MODE": "3", "RATE_AI": "40Mb/s", "RATE_HAI": "40Mb/s", "K": "300 400 1.00"}
    written = simulators.HpccNs3().files(STAR, settings)
    assert written["topology.txt"] == "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 1000ns 0\n"
    # Its traces begin at 2 s.
    assert written["flow.txt"] == "1\n0 1 3 100 5000 2.000001500\n"
    assert written["trace.txt"] == "0\n"
    keys = dict(line.split(" ", 1) for line in written["config.txt"].splitlines())
    assert keys["CC_MODE"] == "3"
    assert keys["KMIN_MAP"] == "1 100000000000 300"
    assert keys["KMAX_MAP"] == "1 100000000000 400"
    assert keys["PMAX_MAP"] == "1 100000000000 1.00"
    assert keys["SIMULATOR_STOP_TIME"] == "2.20"
    assert keys["FCT_OUTPUT_FILE"] == "fct.txt"
    assert keys["EWMA_GAIN"] == "0.00390625"


def test_thresholds_stand_for_each_rate_and_are_those_of_dcqcn_without_a_setting() -> None:
    settings = {"CC_MODE": "1", "RATE_AI": "20Mb/s", "RATE_HAI": "200Mb/s"}
    text = foreign_files.hpcc_configuration(["100Gbps", "400Gbps"], settings, stop_s=3)
    assert "KMAX_MAP 2 100000000000 1600 400000000000 1600\n" in text
    assert "PMAX_MAP 2 100000000000 0.20 400000000000 0.20\n" in text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"CC_MODE": "1", "RATE_AI": "1Mb/s", "RATE_HAI": "1Mb/s", "RATE_DEC": "2"}, "RATE_DEC: config.txt has no"),
        ({"RATE_AI": "1Mb/s", "RATE_HAI": "1Mb/s"}, "CC_MODE: has no value"),
    ],
)
def test_a_configuration_with_a_wrong_key_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        foreign_files.hpcc_configuration(["100Gbps"], settings, stop_s=3)


def test_the_forks_of_htsim_differ_in_the_unit_of_starts() -> None:
    uet = simulators.UetHtsim().files(TWO_LEAVES, {})
    assert uet["connections.cm"] == "Nodes 4\nConnections 1\n0->1 id 1 start 2 size 5000\n"
    csg = simulators.CsgHtsim().files(TWO_LEAVES, {})
    assert csg["connections.cm"] == "Nodes 4\nConnections 1\n0->1 id 1 start 1500000 size 5000\n"
    assert uet["network.topo"] == csg["network.topo"]
    lines = uet["network.topo"].splitlines()
    assert lines[:3] == ["Nodes 4", "Tiers 2", "Podsize 4"]
    assert "Radix_Up 2" in lines
    assert not any(line.startswith("Queue") for line in lines), "it sizes its queues itself"


def test_ns_3_is_given_links_flows_and_settings() -> None:
    written = simulators.Ns3().files(STAR, {"tcp": "TcpCubic", "mark_packets": "0"})
    assert written["flow.txt"] == "1\n0 1 3 100 5000 0.000001500\n"
    assert written["settings.json"] == '{"tcp": "TcpCubic", "mark_packets": "0"}\n'


DAYTONE = """\
seed = 1
edges = [[0, 2], [1, 2]]
hosts = [0, 1]
duration = 1.0
ui_interval = 1.0
num_threads = 1
log_path = "./output"

[switch]
port_rate = 100000000000
capacity = 1000000
discipline = "FIFO"
drop = "TailDrop"

[[flow]]
flow_id = 0
flow_type = "PacketDistribution"
graph = [[0, 1]]
[flow.traffic]
initial_delay = 0.00000250
size = 5000
arr_dist = { type = "Uniform", low = 0.00000020, high = 0.00000020 }
pkt_size_dist = { type = "Uniform", low = 1000, high = 1000 }
"""


def test_inet_is_given_a_network_and_a_connection_for_each_flow() -> None:
    settings = {"tcp": "DcTcp", "sack": "true", "buffer": "1000", "mark": "65"}
    written = simulators.Inet().files(STAR, settings)
    assert "        n1: StandardHost;\n        n2: Router;\n    connections:\n" in written["network.ned"]
    channel = "DatarateChannel { datarate = 100Gbps; delay = 1000ns; }"
    assert f"        n0.pppg++ <--> {channel} <--> n2.pppg++;\n" in written["network.ned"]
    lines = written["omnetpp.ini"].splitlines()
    # Connections are open a millisecond before the first flow.
    sender = ["tOpen = 0s", "tSend = 0.001001500s", "sendBytes = 5000B", 'connectAddress = "n1"', "connectPort = 1000"]
    assert {f"*.n0.app[0].{line}" for line in sender} <= set(lines)
    assert {'*.n1.app[0].typename = "TcpSinkApp"', "*.n1.app[0].localPort = 1000", "*.n1.numApps = 1"} <= set(lines)
    marks = ["red.minth = 64.999", "red.maxth = 65", "red.wq = 1", "red.packetCapacity = 1000"]
    assert {f"*.n2.ppp[*].queue.{line}" for line in marks} <= set(lines)
    assert "**.tcp.ecnWillingness = true" in lines
    tail_drops = simulators.Inet().files(STAR, {**settings, "mark": "0"})["omnetpp.ini"]
    assert "*.n2.ppp[*].queue.packetCapacity = 1000\n" in tail_drops
    assert "red" not in tail_drops


def test_hosts_of_inet_number_the_ends_of_flows_in_their_order() -> None:
    flows = [{"from": "h0", "to": "h1", "size": "5 KB"}, {"from": "h1", "to": "h0", "size": "5 KB", "start": "1 us"}]
    work = works.Work("both", {**PAIR_OF_HOSTS, "flow": flows})
    assert inet_files.apps(work.flows) == {0: [0, 1], 1: [0, 1]}
    written = simulators.Inet().files(work, {"tcp": "TcpReno", "sack": "true", "buffer": "1000", "mark": "0"})
    turns = "expr(tcp.destPort == 1000 || tcp.srcPort == 1000), expr(tcp.destPort == 1001 || tcp.srcPort == 1001)"
    assert f"*.n1.ppp[*].queue.classifier.packetFilters = [{turns}]\n" in written["omnetpp.ini"]
    said = INET_SAID.replace("app[0] packetR", "app[1] packetR", 1)
    assert inet_files.ended_s(said, work.flows) == {1: 0.0010105}


def test_daytone_is_given_one_file() -> None:
    settings = {"rate_gbps": "40", "frame_octets": "1000"}
    assert simulators.Daytone().files(STAR, settings) == {"configuration.toml": DAYTONE}


def test_daytone_has_one_rate_and_whole_nanoseconds() -> None:
    settings = {"rate_gbps": "40", "frame_octets": "1000"}
    mixed = {"leaf-spine": {**LEAVES["leaf-spine"], "fabric_rate": "200 Gbps"}}
    work = works.Work("mixed", {**PAIR_OF_HOSTS, "topology": mixed})
    with pytest.raises(ArgumentError, match="links of 100Gbps and 200Gbps"):
        simulators.Daytone().files(work, settings)
    with pytest.raises(ArgumentError, match=r"rate_gbps: a frame of 1000 octets each 2666\.6"):
        simulators.Daytone().files(STAR, {**settings, "rate_gbps": "3"})


HPCC_SAID = "0b000001 0b000101 10000 100 5000 2000001500 6123 4720\n"
UET_SAID = """\
Starting simulation
Flow Uec_0_1 flowId 1 uecSrc 0 finished at 10.5 total messages 1 total packets 4 RTS 0 total bytes 5744
.Done
"""
CSG_SAID = "Flow Ndp_0_1 flow_id 1 finished at 10.5 total bytes 6000\n"
NS3_SAID = '{ a line of the bridge\n{"flow": 0, "took_us": 8.25}\n'
INET_SAID = """\
version 3
vector 7 Network.n1.app[0] packetReceived:vector(packetBytes) ETV
attr title "packets received, vector(packetBytes)"
vector 8 Network.n0.app[0] packetReceived:vector(packetBytes) ETV
7\t12\t0.0010032\t1460
7\t99\t0.0010105\t620
"""
SINKS = """\
id,flow_id,start_time,end_time,received_packets,received_sizes,queueing_delay_mean,one_way_delay_mean
7,0,0.0,1.0,5,5000,3e-8,2.459200000000008e-7
"""


@pytest.mark.parametrize(
    ("simulator", "files", "printed", "metric", "value"),
    [
        (simulators.HpccNs3(), {"fct.txt": HPCC_SAID}, "", "fct_mean_us", 6.123),
        # The flow starts at 2 us there: 1.5, rounded.
        (simulators.UetHtsim(), {}, UET_SAID, "fct_max_us", 8.5),
        (simulators.CsgHtsim(), {}, CSG_SAID, "fct_p99_us", 9.0),
        (simulators.Ns3(), {}, NS3_SAID, "fct_p50_us", 8.25),
        # The flow starts at 1.5 us, a millisecond later there.
        (simulators.Inet(), {"flows.vec": INET_SAID}, "", "fct_mean_us", 9.0),
        (simulators.Daytone(), {"output/sinks.csv": SINKS}, "", "wait_mean_us", 0.03),
    ],
    ids=lambda at: at.name if isinstance(at, simulators.Simulator) else "",
)
def test_what_a_simulator_says_is_read(
    simulator: simulators.Simulator, files: dict[str, str], printed: str, metric: str, value: float, tmp_path: Path
) -> None:
    (tmp_path / "output").mkdir()
    write(files, tmp_path)
    assert simulator.numbers(tmp_path, printed, TWO_LEAVES)[metric] == pytest.approx(value)


def test_a_flow_that_did_not_end_is_named() -> None:
    with pytest.raises(ArgumentError, match="0 of 1 flows ended"):
        simulators.UetHtsim().numbers(Path(), "Starting simulation\n.Done\n", TWO_LEAVES)


def test_settings_are_laid_over_a_workload_and_its_own_come_last() -> None:
    pair = works.Pair(
        *("x", "uet-htsim", ("leaves",)),
        here={
            "scheme": "nscc",
            "each": {"transport": {"selective": {"mtu": "1436 octets"}}},
            "topology": {"leaf-spine": {"buffer": "2 MB"}, "fat-tree": {"buffer": "3 MB"}},
        },
        theirs={"paths": "1", "end": "5"},
        on={"leaves": {"here": {"each": {"transport": {"selective": {"bdp_cap": 0}}}}, "theirs": {"paths": "8"}}},
    )
    text = pair.scenario(TWO_LEAVES).to_toml()
    assert 'scheme = "nscc"' in text
    assert "1436 octets" in text
    assert "bdp_cap = 0" in text
    assert '"2 MB"' in text
    assert "3 MB" not in text
    assert pair.settings(TWO_LEAVES) == {"paths": "8", "end": "5"}
    assert pair.settings(STAR) == {"paths": "1", "end": "5"}


def test_the_flows_of_a_load_do_not_depend_on_the_rates_of_a_pair() -> None:
    work = works.work_of("websearch")
    faster = works.Pair(
        *("x", "hpcc-ns3", ("websearch",)),
        here={
            "scheme": "none",
            "each": {"transport": "go-back-n"},
            "topology": {"leaf-spine": {"host_rate": "130 Gbps"}},
        },
        theirs={},
        on={},
    )
    flows = faster.scenario(work).describe()["flows"]
    assert [at["size_octets"] for at in flows] == [at.octets for at in work.flows]
    assert [round((at["start_s"] or 0) * 1e9) for at in flows] == [round(float(at.start) * 1e9) for at in work.flows]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[x]\nsimulator = "ns-3"\nwork = []\nthere = {}\n', "peers.toml: x.there: unknown key"),
        ('[x]\nwork = ["incast"]\n', "peers.toml: x: has no simulator"),
    ],
)
def test_a_wrong_table_of_pairs_is_refused(text: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        works.pairs(text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "incst"], "incst: no such workload"),
        (["--schemes", "hpc"], "--schemes hpc: not in peers.toml"),
    ],
)
def test_an_unknown_name_ends_with_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_peers.main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.runs
def test_a_program_that_fails_is_named_with_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "htsim_uec"
    program.write_text("#!/bin/sh\necho No such topology\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("HTSIM_UEC", str(program))
    assert run_peers.main(["--only", "single", "--schemes", "nscc"]) == 1
    said = capsys.readouterr().out
    assert "single uet-htsim nscc: failed" in said
    assert "ended with 3:\nNo such topology" in said


def test_what_is_not_installed_is_named_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for at in simulators.SIMULATORS.values():
        monkeypatch.delenv(at.variable, raising=False)
    assert run_peers.main([]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(simulators.SIMULATORS)
    assert "daytone: not run: let the environment variable DAYTONE name its program" in said


def test_files_of_every_simulator_are_written_and_nothing_runs(tmp_path: Path) -> None:
    assert run_peers.main(["--files", str(tmp_path), "--only", "single,paced"]) == 0
    found = {str(path.relative_to(tmp_path).parent) for path in tmp_path.rglob("*") if path.is_file()}
    assert found >= {"single/hpcc-ns3/hpcc", "single/uet-htsim/nscc", "single/ns-3/cubic", "paced/daytone/paced"}


@pytest.mark.runs
@pytest.mark.parametrize(("took_us", "status"), [(92, 0), (130, 1)])
def test_a_program_is_run_beside_penstock(
    took_us: int, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "htsim_uec"
    program.write_text(f"#!/bin/sh\nsed 's/10.5/{took_us}/' <<'END'\n{UET_SAID}END\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("HTSIM_UEC", str(program))
    assert run_peers.main(["--only", "single", "--schemes", "nscc"]) == status
    said = capsys.readouterr().out
    assert "fct_mean_us" in said
    assert ("no cause is known" in said) == bool(status)


@pytest.mark.runs
def test_four_sources_in_turn_wait_as_computed_by_hand(tmp_path: Path) -> None:
    """Each 400 ns four frames come 50 ns apart, and a frame takes 80: they wait 0, 30, 60 and 90 ns."""
    (pair,) = (at for at in works.pairs((works.HERE / "peers.toml").read_text(encoding="utf-8")) if at.name == "paced")
    numbers = run_peers.in_penstock(pair, works.work_of("paced"), tmp_path, "receiver")
    assert numbers["frames"] == 4000
    assert numbers["wait_mean_us"] == pytest.approx(0.045, abs=1e-6)
    assert numbers["cpu_s"] > 0
    assert numbers["memory_mib"] > 10


def test_rows_replace_those_of_the_same_run(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    first = run_peers.Row("incast", "uet-htsim", "nscc", "fct_mean_us", 1, 2)
    other = run_peers.Row("single", "uet-htsim", "nscc", "fct_mean_us", 3, 4)
    run_peers.keep([first, other], path)
    again = run_peers.Row("incast", "uet-htsim", "nscc", "fct_mean_us", 5, 5.1)
    run_peers.keep([again], path)
    assert run_peers.rows(path) == [again, other]
    path.write_text("work,simulator,scheme,metric,theirs,ours\nincast,uet-htsim,nscc,fct_mean_us,1\n", encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"runs\.csv: line 2 is not"):
        run_peers.rows(path)


def test_the_page_has_the_rows_that_are_kept_and_each_difference_a_cause() -> None:
    found = run_peers.rows()
    assert run_peers.section(found).strip() in agreement.PAGE.read_text(encoding="utf-8")
    assert [at for at in found if at.differs and agreement.cause_of(at.line) is None] == []


def test_a_section_of_the_page_is_renewed_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n## One\n\nold\n\n## Two\n\nkept\n", encoding="utf-8")
    agreement.renew("One", "new", page)
    assert page.read_text(encoding="utf-8") == "# Page\n\n## One\n\nnew\n\n## Two\n\nkept\n"
    agreement.renew("Two", "last", page)
    assert page.read_text(encoding="utf-8") == "# Page\n\n## One\n\nnew\n\n## Two\n\nlast\n"
    with pytest.raises(ArgumentError, match="has not one heading Three"):
        agreement.renew("Three", "x", page)


def test_a_part_of_the_recorded_numbers_does_not_replace_the_section(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = agreement.PAGE.read_bytes()
    monkeypatch.setattr("sys.argv", ["check_peers.py", "--write", "--only", "S5"])
    assert check_peers.main() == 2
    assert "--write: the page has all situations" in capsys.readouterr().err
    assert agreement.PAGE.read_bytes() == before
