"""Files of the simulators that were made of HPCC's, its configuration, and matrices without a fabric."""

import re
from pathlib import Path

import pytest
from conftest import Command

from penstock import ArgumentError, Scenario, workloads
from penstock.columns import to_numpy
from penstock.exchange import ExchangeError, export, hpcc, import_files, read_fct, write

STAR = "4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 3 100Gbps 1000ns 0\n"
TWO = "2\n0 2 3 100 2000000 0\n1 2 3 100 2000000 0\n"

CONFIG = """\
ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1 {0: disable, 1: enable}
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE mix/topology.txt
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 20Mb/s
RATE_HAI 200Mb/s
MIN_RATE 1000Mb/s
ERROR_RATE_PER_LINK 0.0000
L2_ACK_INTERVAL 1
HAS_WIN 0
LINK_DOWN 0 0 0
KMAX_MAP 2 100000000000 1600 400000000000 6400
KMIN_MAP 2 100000000000 400 400000000000 1600
PMAX_MAP 2 100000000000 0.20 400000000000 0.20
BUFFER_SIZE 16
"""

# The maps and some of the keys of SimAI's astra-sim-alibabacloud/inputs/config/SimAI.conf.
SIMAI_CONFIG = """\
ENABLE_QCN 1
PACKET_PAYLOAD_SIZE 9000

FLOW_FILE /etc/astra-sim/simulation/flow1.txt
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 900
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 50Mb/s
RATE_HAI 100Mb/s
MIN_RATE 100Mb/s
KMAX_MAP 6 25000000000 400 50000000000 800 100000000000 1600 200000000000 1200 400000000000 3200 1600000000000 2400
KMIN_MAP 6 25000000000 100 50000000000 200 100000000000 400 200000000000 300 400000000000 800 1600000000000 600
PMAX_MAP 6 25000000000 0.2 50000000000 0.2 100000000000 0.2 200000000000 0.8 400000000000 0.2 1600000000000 0.2
BUFFER_SIZE 32
"""

SIMAI = """\
7 2 2 1 8 H100
4 5 6
0 4 2880Gbps 0.000025ms 0
0 6 100Gbps 0.0005ms 0
1 4 2880Gbps 0.000025ms 0
1 6 100Gbps 0.0005ms 0
2 5 2880Gbps 0.000025ms 0
2 6 100Gbps 0.0005ms 0
3 5 2880Gbps 0.000025ms 0
3 6 100Gbps 0.0005ms 0
"""


def given(folder: Path, **named: str) -> list[Path]:
    """Write files, ``topology_txt`` as topology.txt, and return them."""
    paths = []
    for name, text in named.items():
        paths.append(folder / name.replace("_", "."))
        paths[-1].write_text(text, encoding="utf-8")
    return paths


def imported(folder: Path, topology: str, flow: str, config: str | None = None, **more: object) -> tuple[Scenario, str]:
    """Return the scenario of files of HPCC's kin, and its notes."""
    texts = {"topology_txt": topology, "flow_txt": flow, **({} if config is None else {"config_txt": config})}
    found = import_files(given(folder, **texts), **more)  # type: ignore[arg-type]
    return found.scenario, "\n".join(found.notes)


def ends(scenario: Scenario) -> list[float]:
    """Return how long each flow took, s, in the order of their names."""
    result = scenario.run()
    names = result.column("completions", "flow").tolist()
    times = (result.column("completions", "end_s") - result.column("completions", "start_s")).tolist()
    return [time for _, time in sorted(zip(names, times, strict=True))]


def test_two_equal_flows_of_hpcc_take_equally_long(tmp_path: Path) -> None:
    scenario, notes = imported(tmp_path, STAR, TWO)
    assert "flow control is on, as HPCC has it: a switch has 32 x 2^20 octets of memory" in notes
    # 2 x 1954 frames of 1024 octets and 62 more at 100 Gb/s; of each flow the last has 128 octets.
    both_s = 2 * (1953 * 1086 + 190) * 0.08e-9
    assert ends(scenario) == pytest.approx([both_s, both_s], rel=0.02)
    lossy, notes = imported(tmp_path, STAR, TWO, pfc=False)
    assert "no flow control" in notes
    assert "[pfc]" not in lossy.to_toml()
    # What the files say comes back.
    assert export(scenario, to="hpcc")["topology.txt"] == STAR


def test_a_configuration_says_scheme_marks_memory_and_packets(tmp_path: Path) -> None:
    scenario, notes = imported(tmp_path, STAR, TWO, CONFIG)
    text = scenario.to_toml()
    for line in (
        'scheme = "dcqcn"',
        'k_min = "400000 octets"',
        'k_max = "1600000 octets"',
        "p_max = 0.2",
        'r_ai = "20 Mbps"',
        'r_hai = "200 Mbps"',
        'min_rate = "1 Gbps"',
        'alpha_time = "1 us"',
        'decrease_time = "4 us"',
        'time_reset = "300 us"',
        "g_inverse = 256",
        'cnp_interval = "0 s"',
        'rt_update = "after-increase"',
        "f = 2",
        'ecn_at = "departure"',
        "in_service_counts = false",
        'size = "16777216 octets"',
        'mtu = "1000 octets"',
    ):
        assert line in text, line
    assert "[pfc]" in text
    assert "not followed" not in notes
    # The profile's: no target rate is above the line.
    assert "tr_clamp = false" not in text
    assert scenario.describe()["flows"][0]["frame_octets"] == 1062
    scenario.set("until", "all-flows-complete").run()
    # The user's word comes first.
    other, notes = imported(tmp_path, STAR, TWO, CONFIG, scheme="none", transport="go-back-n")
    assert other.scheme == "none"
    assert "its scheme is dcqcn, and none is asked for" in notes


def test_the_round_trip_of_hpcc_follows_from_the_links(tmp_path: Path) -> None:
    config = CONFIG.replace("CC_MODE 1", "CC_MODE 3") + "U_TARGET 0.9\nMI_THRESH 5\nINT_MULTI 4\n"
    assert "ecn_at" not in imported(tmp_path, STAR, TWO, config)[0].to_toml(), "nothing marks"
    text = imported(tmp_path, STAR, TWO, config)[0].to_toml()
    # Two links of 1 us there and back, and 1000 octets twice at 100 Gb/s: 4 us + 160 ns; 20 Mb/s of it are 10.4 octets.
    for line in ('base_rtt = "4160000 ps"', 'w_ai = "10 octets"', "eta = 0.9", "max_stage = 5", "unit_factor = 4"):
        assert line in text, line
    notes = imported(tmp_path, STAR, TWO, config)[1]
    assert "not followed: HAS_WIN 0\n" in notes
    config = CONFIG.replace("CC_MODE 1", "CC_MODE 8").replace("HAS_WIN 0", "HAS_WIN 1") + "DCTCP_RATE_AI 1000Mb/s\n"
    text = imported(tmp_path, STAR, TWO, config)[0].to_toml()
    # 1 Gb/s sends 520 octets in 4.16 us.
    for line in ('k = "400000 octets"', 'profile = "hpcc-ns3"', 'base_rtt = "4160000 ps"', 'segment = "520 octets"'):
        assert line in text, line
    own = imported(tmp_path, STAR, TWO, config + "GLOBAL_T 0\n")[0].to_toml()
    assert "base_rtt" not in own
    for mode, words in ((7, 'profile = "hpcc-100g"'), (7, 'delta = "20 Mbps"'), (10, 'telemetry = "pint"')):
        assert words in imported(tmp_path, STAR, TWO, CONFIG.replace("CC_MODE 1", f"CC_MODE {mode}"))[0].to_toml()


def test_links_of_other_rates_have_a_note_and_conweave_its_own_keys(tmp_path: Path) -> None:
    faster = STAR.replace("2 3 100Gbps", "2 3 400Gbps").replace("4 1 3\n3", "5 2 4\n3 4") + "3 4 100Gbps 1us 0\n"
    config = CONFIG + "ENABLE_PFC 0\nENABLE_IRN 1\nLB_MODE 9\n"
    with pytest.raises(ExchangeError, match=r"config.txt:20: KMIN_MAP: it has no value for 25 Gbps"):
        imported(tmp_path, STAR.replace("100Gbps", "25Gbps"), TWO, config)
    scenario, notes = imported(tmp_path, faster.replace("2 3 400", "2 4 400"), TWO.replace("0 2 3", "0 1 3"), config)
    assert "[pfc]" not in scenario.to_toml()
    assert "selective" in scenario.to_toml()
    assert "LB_MODE 9" in notes
    # 400 KB at 100 Gb/s and 1600 at 400 are in proportion.
    assert 'thresholds_at = "400 Gbps"' in scenario.to_toml()
    uneven = config.replace("2 100000000000 400 ", "2 100000000000 300 ")
    notes = imported(tmp_path, faster.replace("2 3 400", "2 4 400"), TWO.replace("0 2 3", "0 1 3"), uneven)[1]
    assert "k_min is that of 400 Gbps for all ports, as the scheme has one; KMIN_MAP has 300 at 100 Gbps" in notes


BAD_CONFIG = {
    "CC_MODE 1": ("CC_MODE 9", "config.txt:5: CC_MODE: the mode is 9; write one of 1 (dcqcn)"),
    "RP_TIMER 300": ("RP_TIMER soon", "config.txt:9: RP_TIMER: 'soon' is not a number"),
    "RATE_AI 20Mb/s": ("RATE_AI 20 Mb/s", "config.txt:12: RATE_AI: '20 Mb/s' is not a rate"),
    "KMIN_MAP 2": ("KMIN_MAP 3", "config.txt:20: KMIN_MAP: this is not a map"),
    "BUFFER_SIZE 16": ("BUFFER_SIZE 0", "config.txt:22: BUFFER_SIZE: the size is 0"),
    "EWMA_GAIN 0.00390625": ("EWMA_GAIN 0", "config.txt:10: EWMA_GAIN: the gain is 0"),
    "HAS_WIN 0": ("CC_MODE 1", "config.txt:17: CC_MODE appears twice"),
    "L2_ACK_INTERVAL 1": ("interval 1", "config.txt:16: 'interval' begins no line of a configuration"),
}


@pytest.mark.parametrize("old", list(BAD_CONFIG))
def test_a_wrong_configuration_is_refused_with_its_line(old: str, tmp_path: Path) -> None:
    new, words = BAD_CONFIG[old]
    assert old in CONFIG
    with pytest.raises(ExchangeError) as caught:
        imported(tmp_path, STAR, TWO, CONFIG.replace(old, new))
    assert str(caught.value).startswith(f"{tmp_path}/{words}")


def test_a_configuration_alone_has_an_incast_at_its_fastest_rate(penstock: Command, tmp_path: Path) -> None:
    (config,) = given(tmp_path, SimAI_conf=SIMAI_CONFIG)
    found = import_files([config])
    notes = "\n".join(found.notes)
    assert "two hosts send 10 MB each to a third, over links of 1600 Gbps, the fastest of its maps" in notes
    text = found.scenario.to_toml()
    for line in ('k_min = "600000 octets"', 'k_max = "2400000 octets"', "p_max = 0.2", 'time_reset = "900 us"', "mtu"):
        assert line in text, line
    # 2 x 1112 packets of 9000 octets, two of them shorter, at 1.6 Tb/s, and marks leave less of it.
    assert max(ends(found.scenario)) > 2 * 10e6 * 8 / 1.6e12
    # As the file of the command.
    assert penstock("import", str(config), "-o", str(tmp_path / "simai.toml")).returncode == 0
    for wrong in (CONFIG.replace("KMIN_MAP 2 100000000000 400 400000000000", "KMIN_MAP 1 25000000000"), "CC_MODE 1\n"):
        with pytest.raises(ExchangeError, match=r"no rate in common that links could have; give a topology and flows"):
            import_files(given(tmp_path, config_txt=wrong))


def test_values_that_fall_with_the_rate_are_named(tmp_path: Path) -> None:
    notes = import_files(given(tmp_path, SimAI_conf=SIMAI_CONFIG)).notes
    followed = "; as a rule such values rise with the rate, or stay"
    for words in (
        "KMIN_MAP falls from 400 at 100 Gbps to 300 at 200 Gbps, and from 800 at 400 Gbps to 600 at 1600 Gbps",
        "KMAX_MAP falls from 1600 at 100 Gbps to 1200 at 200 Gbps, and from 3200 at 400 Gbps to 2400 at 1600 Gbps",
        "PMAX_MAP falls from 0.8 at 200 Gbps to 0.2 at 400 Gbps",
    ):
        assert f"{tmp_path}/SimAI.conf: {words}{followed}" in notes
    # Maps that rise or stay have no such note, whatever the order of their pairs.
    assert "falls" not in imported(tmp_path, STAR, TWO, CONFIG)[1]
    turned = CONFIG.replace("100000000000 1600 400000000000 6400", "400000000000 6400 100000000000 1600")
    assert "falls" not in imported(tmp_path, STAR, TWO, turned)[1]


def test_a_configuration_needs_network_and_traffic_together(tmp_path: Path) -> None:
    (config,) = given(tmp_path, config_txt=CONFIG)
    for more in (given(tmp_path, topology_txt=STAR), given(tmp_path, a_cm="Nodes 4\nConnections 0\n")):
        with pytest.raises(ArgumentError, match="a scenario needs one network and its traffic"):
            import_files([config, *more])


def test_simais_topology_is_read(tmp_path: Path) -> None:
    scenario, notes = imported(tmp_path, SIMAI, "1\n0 3 3 100 100000 0\n")
    assert "line 1 is that of SimAI; its NVSwitches are switches as all others" in notes
    links = {link["name"]: link for link in scenario.describe()["links"]}
    assert (links["h0->s4"]["rate_bps"], links["h0->s4"]["latency_s"]) == (2_880_000_000_000, 25e-9)
    # By hand 97 x 1086 + 734 octets, one more frame of 1086, and 2 x 500 ns, over s6.
    assert ends(scenario) == pytest.approx([9.57296e-6], rel=1e-9)
    fewer, notes = imported(tmp_path, SIMAI.replace("2 1 8 H100", "2 1 7 H100 4"), "1\n0 2 3 100 100000 0\n")
    assert "1 links after those that line 1 announces are left out" in notes
    assert len(fewer.describe()["links"]) == 14
    topology = hpcc.parse_topology(SIMAI, "t")
    assert (topology.text(), topology.switches, topology.family) == (SIMAI, (4, 5, 6), "SimAI")


@pytest.mark.parametrize(
    ("head", "family"), [("4 1 1 3", "PowerTCP"), ("4 1 1 3 25000000000 100000000000.0", "Reverie")]
)
def test_first_lines_and_bare_rates_of_ns3_datacenter(head: str, family: str, tmp_path: Path) -> None:
    text = STAR.replace("4 1 3\n", f"{head}\n").replace("100Gbps", "25000000000.0", 1).replace("100Gbps", "25000000000")
    scenario, notes = imported(tmp_path, "\ufeff" + text, TWO)
    assert f"line 1 is that of {family}" in notes
    assert {link["rate_bps"] for link in scenario.describe()["links"]} == {25_000_000_000}
    assert hpcc.parse_topology(text, "t").text() == text


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("4 1 1 3 fast 25Gbps", ":1: 'fast' is not a rate"),
        ("7 2 9 1 8 H100", ":1: there are 10 switches among 7 nodes"),
        ("4 1 3 0 0", ":1: this begins no file that is known"),
    ],
)
def test_a_wrong_first_line_is_refused(head: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ExchangeError) as caught:
        imported(tmp_path, STAR.replace("4 1 3\n", f"{head}\n"), TWO)
    assert words in str(caught.value)


def test_flows_of_ns3_rdma_have_packets_and_stops(tmp_path: Path) -> None:
    flows = "2\n2 1 3 1000 2.0 9.5\n0 1 3 1000000 2.0 2.001\n"
    scenario, notes = imported(tmp_path, STAR, flows)
    assert "flows of ns3-rdma: sizes are packets of 1000 octets, and a flow ends at its stop" in notes
    first, second = scenario.describe()["flows"]
    assert (first["name"], first["size_octets"], first["start_s"]) == ("f0", 1_000_000, 2.0)
    assert second["size_octets"] == 1_000_000_000
    result = scenario.run()
    assert result.summary["ended_at_s"] == pytest.approx(2.001, abs=2e-4)
    longer = imported(tmp_path, STAR, flows, "PACKET_PAYLOAD_SIZE 4096\nKMIN 40\nBYTE_COUNTER 300\n")
    assert longer[0].describe()["flows"][0]["size_octets"] == 4_096_000
    assert "that of ns3-rdma, whose scheme is DCQCN" in longer[1]
    parsed = hpcc.parse_flows(flows, "f", hpcc.parse_topology(STAR, "t"))
    assert parsed.text() == flows
    for old, new, words in (
        ("9.5", "1.5", "the flow stops at 1.5 and starts at 2.0"),
        ("1000 2.0", "0 2.0", "the flow has 0 packets"),
        (
            " 9.5",
            "",
            "the line has 5 fields and not 6; write flow 1 of 2: source, destination, priority group",
        ),
        ("9.5", "9.50000000000001", "the stop 9.50000000000001 is finer than a picosecond"),
    ):
        with pytest.raises(ExchangeError, match=re.escape(f"flow.txt:2: {words}")):
            imported(tmp_path, STAR, flows.replace(old, new, 1))


def test_several_priority_groups_become_priorities(tmp_path: Path) -> None:
    flows = "3\n0 2 3 100 2000 0.000000000\n1 2 1 100 2000 0.000000000\n1 0 3 101 2000 0.000000001\n"
    scenario, notes = imported(tmp_path, STAR, flows)
    assert "HPCC serves priority groups in turn, and priorities here go before one another" in notes
    assert [flow["priority"] for flow in scenario.describe()["flows"]] == [3, 1, 3]
    written = export(scenario, to="hpcc")
    assert (written["topology.txt"], written["flow.txt"]) == (STAR, flows)
    many = "".join(f"0 2 {1 + n % 2} 100 2000 {n * 1e-6:.9f}\n" for n in range(1200))
    scenario, _ = imported(tmp_path, STAR, f"1200\n{many}")
    assert scenario.to_toml().count("[[trace]]") == 2
    assert export(scenario, to="hpcc")["flow.txt"] == f"1200\n{many}"


def test_completions_of_conweave_have_node_numbers(tmp_path: Path) -> None:
    (ours, theirs) = given(
        tmp_path,
        a_txt="0b000301 0b000701 10000 100 4490 2000000212 4466 4538\n",
        b_txt="3 7 10000 100 4490 2000000212 4466 4538\n",
    )
    for path in (ours, theirs):
        table = read_fct(path)
        assert table.column("source").to_pylist() == ["h3"]
        assert table.column("destinations").to_pylist() == [["h7"]]
        assert to_numpy(table.column("slowdown").chunk(0)).tolist() == [4466 / 4538]
    theirs.write_text("70000 7 10000 100 4490 2000000212 4466 4538\n", encoding="utf-8")
    with pytest.raises(ExchangeError, match="'70000' is not an address in eight hexadecimal digits"):
        read_fct(theirs)


def test_distributions_of_others_become_loads(tmp_path: Path) -> None:
    for text in ("0 0\n1000 0.5\n10000 1\n", "\ufeff0,0\n1000,0.5\n10000,1\n", "0 0\n0 0\n1000 0.5\n10000 1\n"):
        texts = given(tmp_path, topology_txt=STAR, cdf_txt=text)
        if text.startswith("0 0\n0 0"):
            with pytest.raises(workloads.DistributionError, match=r"cdf.txt:2: the size 0 follows 0"):
                import_files(texts)
            continue
        found = import_files(texts)
        assert any("shares are read as fractions" in note for note in found.notes)
        sizes = [flow["size_octets"] or 0 for flow in found.scenario.describe()["flows"]]
        assert sum(sizes) / len(sizes) == pytest.approx(3000, rel=0.03)
    # Sizes that no flow has, from the start and in the middle.
    paths = given(tmp_path, topology_txt=STAR, cdf_txt="0 0.0\n2000 0.0\n4000 0.5\n8000 0.5\n9000 1\n")
    sizes = [flow["size_octets"] or 0 for flow in import_files(paths).scenario.describe()["flows"]]
    assert min(sizes) >= 2000
    assert not [size for size in sizes if 4000 < size < 8000]


def test_a_matrix_without_a_fabric_has_that_of_htsim(penstock: Command, tmp_path: Path) -> None:
    matrix = "Nodes {}\nConnections 1\n0->1 start 0 size 1500\n"
    for nodes, form in ((16, "[topology.fat-tree]\nk = 4\n"), (8, "[topology.leaf-spine]\nleaves = 4\nspines = 2\n")):
        found = import_files(given(tmp_path, a_cm=matrix.format(nodes)))
        assert form in found.scenario.to_toml()
        assert any("no .topo says the network" in note for note in found.notes)
        links = found.scenario.describe()["links"]
        assert {(link["rate_bps"], link["latency_s"]) for link in links} == {(100_000_000_000, 1e-6)}
    with pytest.raises(ExchangeError, match=r"Nodes is 17, and the trees that htsim builds without a .topo have"):
        import_files(given(tmp_path, a_cm=matrix.format(17)))
    given(tmp_path, a_cm=matrix.format(16))
    done = penstock("import", "a.cm", "-o", "a.toml", "--set", "topology.fat-tree.link_rate=400 Gbps")
    assert done.returncode == 0, done.stderr
    assert Scenario.load(tmp_path / "a.toml").describe()["links"][0]["rate_bps"] == 400_000_000_000


def test_messages_of_a_connection_are_one_flow(tmp_path: Path) -> None:
    lines = ["0->1 id 1 msg start 0 size 40860"] * 10 + [
        "0->1 id 1 msg 7 start 500 size 100",
        "2->3 id 2 start 0 size 5",
    ]
    matrix = f"Nodes 16\nConnections {len(lines)}\n" + "\n".join(lines) + "\n"
    found = import_files(given(tmp_path, a_cm=matrix))
    flows = found.scenario.describe()["flows"]
    assert [(flow["name"], flow["size_octets"]) for flow in flows] == [("f1", 408_600), ("c1", 100), ("f2", 5)]
    assert any("one flow here" in note and "a later one has a flow" in note for note in found.notes)
    for old, new, words in (
        ("0->1 id 1 msg 7", "0->2 id 1 msg 7", "the connection 1 is 0->1 in line 3"),
        ("id 1 msg 7", "id 1", "two connections have the id 1; give each its own, or write msg"),
    ):
        with pytest.raises(ExchangeError, match=re.escape(words)):
            import_files(given(tmp_path, a_cm=matrix.replace(old, new)))


def test_connections_without_end_run_until_the_end(tmp_path: Path) -> None:
    matrix = "Nodes 16\nConnections 2\n0->1 id 1 start 0 size 0\n2->1 id 2 start 0 size 1500\n"
    found = import_files(given(tmp_path, a_cm=matrix))
    assert any("connections of size 0 have no end" in note for note in found.notes)
    plan = found.scenario.describe()
    assert [flow["size_octets"] for flow in plan["flows"]] == [None, 1500]
    assert 'until = "all-flows-complete"' not in found.scenario.to_toml()
    assert plan["duration_s"] >= 10e-3
    assert export(found.scenario, to="htsim")["connections.cm"] == matrix
    again = import_files(write(export(found.scenario, to="htsim"), tmp_path / "again"))
    assert [flow["size_octets"] for flow in again.scenario.describe()["flows"]] == [None, 1500]
