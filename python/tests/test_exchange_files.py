"""From other people's files to scenarios and back, in the library and on the command line."""

import random
from pathlib import Path

import pytest
from conftest import Command

from penstock import ArgumentError, PenstockError, Result, Scenario
from penstock.columns import to_numpy
from penstock.exchange import ExchangeError, export, hpcc, import_files, read_fct, write

TOPOLOGY = """\
6 3 5
3 4 5
0 3 100Gbps 1000ns 0
1 3 100Gbps 1000ns 0
2 4 40Gbps 500ns 0
3 4 200Gbps 1500ps 0
4 5 1Mbps 0ns 0
"""
FLOWS = "3\n0 2 3 100 200000 0.100000000\n1 2 3 200 1 0.100000000\n2 0 3 100 65536 0.100000123\n"
SIZES = "0 0\n10000 15\n20000 20.5\n30000000 100\n"
MATRIX = """\
Nodes 16
Connections 3
0->13 id 7 start 0 size 2000000
13->0 id 2 start 5000 size 70000
4->5 id 3 start 1 size 1
"""
LEAF_SPINE = """\
Nodes 16
Tiers 2
Podsize 16

Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 2
Bundle 1
Queue_up 500000
Queue_down 500000

Tier 1
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 1
Bundle 1
Queue_down 500000
"""
FAT_TREE = """\
Nodes 16
Tiers 3
Podsize 4

Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 200
Oversubscribed 1
Bundle 1
Queue_up 500000
Queue_down 500000

Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 200
Oversubscribed 1
Bundle 1
Queue_up 500000
Queue_down 500000

Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Switch_Latency_ns 200
Oversubscribed 1
Bundle 1
Queue_down 500000
"""
# Other delays and queues in each tier: no form of Penstock's own, but a graph.
UNLIKE = FAT_TREE.replace("Latency_ns 1000", "Latency_ns 700", 1).replace(
    "Switch_Latency_ns 200", "Switch_Latency_ns 90", 1
)
UNLIKE = UNLIKE.replace("Queue_up 500000", "Queue_up 90000").replace("Queue_down 500000", "Queue_down 70000", 1)
UNLIKE = UNLIKE.replace("Queue_down 500000", "Queue_down 90000")

# Two links for each one upwards: of the racks, and of half the rate below the core.
SPINE_BUNDLES = (
    LEAF_SPINE.replace("Radix_Up 2", "Radix_Up 4")
    .replace("Oversubscribed 2", "Oversubscribed 1")
    .replace("100\nRadix_Down 4\nDownlink", "100\nRadix_Down 8\nDownlink")
    .replace("Bundle 1\nQueue_down", "Bundle 2\nQueue_down")
)
low, middle, top = FAT_TREE.split("\n\nTier ")[1:]
CORE_BUNDLES = "\n\nTier ".join(
    [
        FAT_TREE.split("\n\nTier ")[0],
        low,
        middle.replace("Radix_Up 2", "Radix_Up 4"),
        top.replace("Gbps 100\nRadix_Down 4", "Gbps 50\nRadix_Down 8").replace("Bundle 1", "Bundle 2"),
    ]
)

Written = dict[str, str]


def given(folder: Path, **named: str) -> list[Path]:
    """Write files, ``topology_txt`` as topology.txt, and return them."""
    paths = []
    for name, text in named.items():
        paths.append(folder / name.replace("_", "."))
        paths[-1].write_text(text, encoding="utf-8")
    return paths


PAIRS: dict[str, tuple[Written, str]] = {
    "hpcc": ({"topology.txt": TOPOLOGY, "flow.txt": FLOWS}, "hpcc"),
    "load": ({"topology.txt": TOPOLOGY, "load0-cdf.txt": SIZES}, "hpcc"),
    "leaf-spine": ({"network.topo": LEAF_SPINE, "connections.cm": MATRIX}, "htsim"),
    "fat-tree": ({"network.topo": FAT_TREE, "connections.cm": MATRIX}, "htsim"),
    "graph": ({"network.topo": UNLIKE, "connections.cm": MATRIX}, "htsim"),
    "bundles of a spine": ({"network.topo": SPINE_BUNDLES, "connections.cm": MATRIX}, "htsim"),
    "bundles of a core": ({"network.topo": CORE_BUNDLES, "connections.cm": MATRIX}, "htsim"),
}


@pytest.mark.parametrize("pair", list(PAIRS))
def test_files_and_scenario_come_back_with_the_same_octets(pair: str, tmp_path: Path) -> None:
    texts, to = PAIRS[pair]
    paths = write(texts, tmp_path / "given")
    first = import_files(paths).scenario
    written = export(first, to=to)
    assert {name: written[name] for name in texts} == texts
    again = import_files(write({name: written[name] for name in texts}, tmp_path / "again")).scenario
    assert again.to_toml() == first.to_toml()


@pytest.mark.parametrize("pair", list(PAIRS))
def test_an_imported_scenario_runs(pair: str, tmp_path: Path) -> None:
    scenario = import_files(write(PAIRS[pair][0], tmp_path)).scenario.set("record.interval", "1 ms")
    if pair == "hpcc":
        assert scenario.describe()["warmup_s"] == 0.1
    result = scenario.run()
    ends = result.column("completions", "end_s").astype(float)
    assert len(ends) >= 3
    if pair != "load":
        assert ends.max() <= result.summary["duration_s"]


@pytest.mark.parametrize(("pair", "form"), [("leaf-spine", "leaf-spine"), ("fat-tree", "fat-tree"), ("graph", "graph")])
def test_a_fabric_becomes_the_form_that_it_has(pair: str, form: str, tmp_path: Path) -> None:
    scenario = import_files(write(PAIRS[pair][0], tmp_path)).scenario
    assert f"[topology.{form}]" in scenario.to_toml()


def test_a_graph_has_the_links_delays_and_queues_of_its_fabric(tmp_path: Path) -> None:
    plan = import_files(write(PAIRS["graph"][0], tmp_path)).scenario.describe()
    links = {link["name"]: link for link in plan["links"]}
    # A frame's path to a rack's switch: 700 ns of the link and 90 ns of the switch; back: the link alone.
    assert links["h5->tor2"]["latency_s"] == pytest.approx(790e-9)
    assert links["tor2->h5"]["latency_s"] == pytest.approx(700e-9)
    assert links["tor2->h5"]["buffer_octets"] == 70_000
    assert links["tor2->agg3"]["buffer_octets"] == links["agg3->tor2"]["buffer_octets"] == 90_000
    ways = {name for name in links if name.startswith("core1->")}
    assert ways in ({f"core1->agg{at}" for at in (0, 2, 4, 6)}, {f"core1->agg{at}" for at in (1, 3, 5, 7)})


def test_numbers_names_and_times_of_hpcc(tmp_path: Path) -> None:
    scenario = import_files(given(tmp_path, flow_txt=FLOWS, topology_txt=TOPOLOGY), scheme="dcqcn").scenario
    plan = scenario.describe()
    assert [node["name"] for node in plan["nodes"]] == ["h0", "h1", "h2", "s3", "s4", "s5"]
    flow = plan["flows"][2]
    assert (flow["name"], flow["source"], flow["destinations"], flow["priority"]) == ("f2-p100", "h2", ["h0"], 3)
    assert (flow["size_octets"], flow["start_s"]) == (65536, 0.100000123)
    assert scenario.scheme == "dcqcn"


def test_a_transport_is_chosen(tmp_path: Path) -> None:
    paths = given(tmp_path, flow_txt=FLOWS, topology_txt=TOPOLOGY)
    scenario = import_files(paths, transport={"tcp": {"congestion": "dctcp", "mss": "8960 octets"}}).scenario
    assert scenario.describe()["flows"][0]["frame_octets"] == 8960 + 58
    with pytest.raises(ArgumentError, match="invalid transport name"):
        import_files(paths, transport='"')


def test_entries_that_hpcc_does_not_read_are_noted(tmp_path: Path) -> None:
    paths = given(tmp_path, flow_txt=FLOWS + "0 2 3 100 5 9\n", topology_txt=TOPOLOGY)
    notes = import_files(paths).notes
    assert any("flow.txt: 1 flows after those that line 1 announces are left out" in note for note in notes)
    assert any("scheme none" in note and "transport" in note for note in notes)
    assert any("flow control is on, as HPCC has it: a switch has 32 x 2^20 octets" in note for note in notes)


def test_any_network_of_hpcc_that_is_taken_can_be_laid_out(tmp_path: Path) -> None:
    source = random.Random(20)
    taken = 0
    for _ in range(60):
        nodes = source.randint(4, 30)
        switches = source.sample(range(nodes), source.randint(1, nodes - 2))
        hosts = sorted(set(range(nodes)) - set(switches))
        links = [(node, source.choice(switches)) for node in range(nodes) if node not in switches]
        links += [(a, b) for a in switches for b in switches if a < b and source.random() < 0.5]
        links += [(a, b) for a in hosts for b in switches if (a, b) not in links and source.random() < 0.1]
        lines = [f"{nodes} {len(switches)} {len(links)}", " ".join(map(str, switches))]
        lines += [f"{a} {b} {source.choice((10, 25, 400))}Gbps {source.randint(0, 9)}us 0" for a, b in links]
        flows = [source.sample(hosts, 2) for _ in range(5)]
        text = "5\n" + "".join(f"{a} {b} 3 100 {source.randint(1, 9999)} 0\n" for a, b in flows)
        paths = given(tmp_path, topology_txt="\n".join(lines) + "\n", flow_txt=text)
        try:
            scenario = import_files(paths).scenario
        except ExchangeError as error:
            assert "no links lead from host" in str(error)
            continue
        taken += 1
        assert len(scenario.describe()["flows"]) == 5
        written = export(scenario, to="hpcc")
        assert written["topology.txt"] == paths[0].read_text().replace("us", "000ns").replace(" 0000ns", " 0ns")
    assert taken > 20


BAD = {
    ("topology", "1000ns 0", "1000ns 0.01"): "topology.txt:3: the error rate is 0.01; links here lose nothing",
    ("topology", "4 5 1Mbps", "0 1 1Mbps"): "topology.txt:7: the link joins hosts 0 and 1",
    ("topology", "4 5 1Mbps", "4 3 1Mbps"): "topology.txt:7: nodes 4 and 3 are joined in line 6 already",
    ("topology", "1Mbps", "0Mbps"): "topology.txt:7: the rate is 0Mbps",
    ("topology", "1500ps", "1500.5ps"): 'topology.txt:6: the delay "1500.5ps" is not a whole number of picoseconds',
    ("topology", "2 4 40Gbps", "1 4 40Gbps"): "flow.txt:2: no links lead from host 0 to host 2",
    ("flow", "1 2 3 200", "1 2 8 200"): "flow.txt:3: the priority group is 8; write one from 1 to 7",
    ("flow", " 3 ", " 0 "): "flow.txt:2: the priority group is 0; write one from 1 to 7",
    ("flow", "0.100000123", "0.1000001230001"): "flow.txt:4: the start 0.1000001230001 is finer than a picosecond",
    ("flow", "200 1 ", "200 0 "): "flow.txt:3: the flow has 0 octets",
    ("flow", "3\n0", "0\n0"): "flow.txt:1: there are 0 flows",
}


@pytest.mark.parametrize("change", list(BAD))
def test_lines_that_no_scenario_can_hold_are_refused(change: tuple[str, str, str], tmp_path: Path) -> None:
    file, old, new = change
    texts = {"topology": TOPOLOGY, "flow": FLOWS}
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new)
    with pytest.raises(ExchangeError) as caught:
        import_files(given(tmp_path, topology_txt=texts["topology"], flow_txt=texts["flow"]))
    assert str(caught.value).startswith(f"{tmp_path}/{BAD[change]}")


def test_files_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    topology, flow, cdf, topo, matrix, fct = given(
        tmp_path,
        topology_txt=TOPOLOGY,
        flow_txt=FLOWS,
        cdf_txt=SIZES,
        a_topo=LEAF_SPINE,
        a_cm=MATRIX,
        fct_txt="0b000001 0b000101 10000 100 5 6 7 8\n",
    )
    for paths in (
        [],
        [topology],
        [flow],
        [topology, matrix],
        [topo, flow],
        [topology, flow, cdf],
        [topology, topology],
    ):
        with pytest.raises(ArgumentError, match="a scenario needs one network and its traffic"):
            import_files(paths)
    with pytest.raises(ArgumentError, match=r"are results, and no part of a scenario; penstock.exchange.read_fct"):
        import_files([topology, fct])
    for text, reason in (("\n# nothing\n", "the file is empty"), ("# no\n1 2 3 4\n", ":2: this begins no file")):
        (tmp_path / "other").write_text(text)
        with pytest.raises(ExchangeError, match=reason):
            import_files([topology, tmp_path / "other"])
    matrix.write_text(MATRIX.replace("Nodes 16", "Nodes 17"))
    with pytest.raises(ExchangeError, match=r"there are 17 hosts, and the .topo file has 16"):
        import_files([topo, matrix])


def test_a_load_of_small_flows_ends_early_enough_to_be_run(tmp_path: Path) -> None:
    scenario = import_files(given(tmp_path, topology_txt=TOPOLOGY, cdf_txt="100 0\n200 100\n")).scenario
    assert 18_000 < len(scenario.describe()["flows"]) < 22_000


def many(flows: int) -> str:
    """Return a flow file with as many different starts."""
    lines = (f"{i % 2} 2 3 {100 + i % 7} {1000 + i} {i * 1e-6 + 0.1:.9f}\n" for i in range(flows))
    return f"{flows}\n" + "".join(lines)


def test_more_flows_than_have_a_table_each_are_a_trace_with_the_same_ways(tmp_path: Path) -> None:
    few, more = many(1000), many(1001)
    own = import_files(given(tmp_path, topology_txt=TOPOLOGY, flow_txt=few)).scenario
    listed = import_files(given(tmp_path, topology_txt=TOPOLOGY, flow_txt=more)).scenario
    assert "[[trace]]" not in own.to_toml()
    assert "[[trace]]" in listed.to_toml()
    flows, others = (scenario.describe()["flows"] for scenario in (own, listed))
    assert len(others) == 1001
    assert flows == others[:1000]
    for scenario, text in ((own, few), (listed, more)):
        written = export(scenario, to="hpcc")
        assert (written["topology.txt"], written["flow.txt"]) == (TOPOLOGY, text)


def test_a_matrix_of_many_connections_comes_back_in_its_order(tmp_path: Path) -> None:
    for starts, listed in ((range(1200), True), (range(1200, 0, -1), False)):
        lines = (f"{i % 16}->{(i + 5) % 16} id {i + 1} start {at} size 1500\n" for i, at in enumerate(starts))
        matrix = f"Nodes 16\nConnections 1200\n{''.join(lines)}"
        scenario = import_files(given(tmp_path, a_topo=LEAF_SPINE, a_cm=matrix)).scenario
        assert ("[[trace]]" in scenario.to_toml()) is listed
        assert export(scenario, to="htsim")["connections.cm"] == matrix


@pytest.mark.science
def test_files_of_a_hundred_thousand_flows_are_imported_and_run(tmp_path: Path) -> None:
    text = many(100_000)
    scenario = import_files(given(tmp_path, topology_txt=TOPOLOGY, flow_txt=text)).scenario
    assert len(scenario.to_toml()) > 4_000_000
    assert export(scenario, to="hpcc")["flow.txt"] == text
    # The first fifth of a second has all of them.
    result = scenario.set("duration", "102 ms").set("record.interval", "1 ms").run()
    (flows,) = {line["flows"] for line in result.summary["completions"] if line["most_octets"] is None}
    assert 1900 < flows <= 2000


def test_keys_of_too_many_flows_are_refused_by_name(tmp_path: Path) -> None:
    # Their starts fall, so that each has a table.
    lines = (f"{i % 16}->{(i + 5) % 16} id {i + 1} start {50_000 - i} size 1500\n" for i in range(50_000))
    matrix = f"Nodes 16\nConnections 50000\n{''.join(lines)}"
    with pytest.raises(ExchangeError, match=r"a.cm: the scenario has \d+ octets; a scenario has at most 4 MB beside"):
        import_files(given(tmp_path, a_topo=LEAF_SPINE, a_cm=matrix))


SCENARIO = """
question = "q"
duration = "10 ms"
scheme = "none"
[topology.star]
hosts = 3
link_rate = "10 Gbps"
link_delay = "1 us"
buffer = "1 MB"
[[flow]]
name = "a"
from = "h0..h1"
to = "h2"
size = "30 KB"
transport = "go-back-n"
"""


def test_a_scenario_of_ones_own_is_exported() -> None:
    written = export(Scenario.from_toml(SCENARIO), to="hpcc")
    assert written["topology.txt"] == "4 1 3\n3\n0 3 10Gbps 1000ns 0\n1 3 10Gbps 1000ns 0\n2 3 10Gbps 1000ns 0\n"
    assert written["flow.txt"] == "2\n0 2 3 100 30000 0.000000000\n1 2 3 100 30000 0.000000000\n"


def test_loads_are_exported_flow_by_flow_with_their_sizes() -> None:
    written = export(Scenario.named("loads/websearch-leaf-spine"), to="hpcc", seed=3)
    topology = hpcc.parse_topology(written["topology.txt"], "t")
    flows = hpcc.parse_flows(written["flow.txt"], "f", topology)
    assert len(flows.flows) > 1000
    assert written["web-cdf.txt"].startswith("0 0\n10000 15\n")
    assert export(Scenario.named("loads/websearch-leaf-spine"), to="hpcc", seed=4) != written


REFUSED = {
    'size = "30 KB"': ("", "flow.0.size: the flow a0 has no end"),
    'transport = "go-back-n"': ("", "flow.0.size: counts frames where there is no transport"),
    'name = "a"': ('traffic = "poisson"\nrate = "1 Gbps"', "flow.0.traffic: poisson traffic"),
    'size = "30 KB"\n': ('size = "30 KB"\nstop = "1 ms"\n', "flow.0.stop: these formats have no such key"),
}


@pytest.mark.parametrize("old", list(REFUSED))
def test_keys_that_no_file_can_hold_are_refused(old: str) -> None:
    new, words = REFUSED[old]
    with pytest.raises(ArgumentError) as refused:
        export(Scenario.from_toml(SCENARIO.replace(old, new)), to="hpcc")
    assert str(refused.value).startswith(words)


def test_other_things_that_no_file_can_say() -> None:
    scenario = Scenario.from_toml(SCENARIO)
    with pytest.raises(ArgumentError, match="unknown format; did you mean hpcc"):
        export(scenario, to="hpc")
    with pytest.raises(ArgumentError, match=r"topology: there is one tier of switches; htsim's .topo"):
        export(scenario, to="htsim")
    delayed = SCENARIO.replace("[[flow]]", '[network]\nnode_delay = "1 us"\n[[flow]]')
    with pytest.raises(ArgumentError, match=r"network.node_delay: from h0 to sw0 a frame takes 2000000 ps"):
        export(Scenario.from_toml(delayed), to="hpcc")
    two = SCENARIO + '[[flow]]\nfrom = "h0"\nto = "h1"\nsize = "1 KB"\npriority = 2\ntransport = "tcp"\n'
    with pytest.raises(ArgumentError, match=r"flow.1.priority: is 2 and was 0 before"):
        export(Scenario.from_toml(two), to="hpcc")
    changing = SCENARIO + '[[change]]\nat = "1 ms"\nlinks = ["h0->sw0"]\nrate = "1 Gbps"\n'
    with pytest.raises(PenstockError):
        export(Scenario.from_toml(changing), to="hpcc")


def test_completions_come_back_as_a_table(tmp_path: Path) -> None:
    result = import_files(given(tmp_path, topology_txt=TOPOLOGY, flow_txt=FLOWS)).scenario.run()
    written = export(result, to="hpcc")
    # In the order in which they completed, with addresses and ports as HPCC gives them.
    lines = [line.split() for line in written["fct.txt"].splitlines()]
    assert [(words[0], words[1], words[2], words[3], words[4]) for words in lines] == [
        ("0b000101", "0b000201", "10000", "200", "1"),
        ("0b000201", "0b000001", "10000", "100", "65536"),
        ("0b000001", "0b000201", "10000", "100", "200000"),
    ]
    (path,) = given(tmp_path, fct_txt=written["fct.txt"])
    table = read_fct(path)
    assert table.column_names == result.completions.column_names
    by_start = to_numpy(table.column("slowdown").chunk(0))
    # To the last acknowledgement, over the least time for that: what the simulator counts. Where the run ended with the
    # last octet of its last flow, the shortest return path stands for the rest.
    names = ("size_octets", "start_s", "end_s", "acked_s", "ideal_s", "ideal_acked_s")
    own = {}
    columns = [result.column("completions", name).tolist() for name in names]
    for size, start, end, acked, ideal, whole in zip(*columns, strict=True):
        way_back = whole - ideal if acked is None or acked != acked else acked - end
        # Links of 500, 1.5 and 1000 ns, in which 64 octets take 12.8, 2.56 and 5.12 ns.
        assert whole - ideal == pytest.approx(1521.98e-9, rel=1e-4)
        assert way_back > whole - ideal - 1e-12
        own[size] = (end - start + way_back) / whole
    sizes = to_numpy(table.column("size_octets").chunk(0)).tolist()
    # Times are whole nanoseconds there.
    assert by_start.tolist() == pytest.approx([own[size] for size in sizes], rel=1e-3)
    assert table.column("source").to_pylist() == ["h1", "h2", "h0"]
    assert table.column("group").to_pylist() == ["p200", "p100", "p100"]
    assert table.column("retransmissions").to_pylist() == [None] * 3


BAD_COMPLETIONS = {
    "": ": there is no flow",
    "0b000001 0b000101 10000 100 5 6 7\n": ":1: the line has 7 fields and not 8",
    "0b000002 0b000101 10000 100 5 6 7 8\n": ":1: 0b000002 is the address of no node",
    "0a000001 0b000101 10000 100 5 6 7 8\n": ":1: 0a000001 is the address of no node",
    "11.0.0.1 0b000101 10000 100 5 6 7 8\n": ":1: '11.0.0.1' is not an address",
    "0b000001 0b000101 10000 100 0 6 7 8\n": ":1: the flow has 0 octets",
    "0b000001 0b000101 10000 100 5 6 7 0\n": ":1: a flow completion time is 0 ns",
    "0b000001 0b000101 10000 100 5 6 -7 8\n": ":1: '-7' is not a whole number",
}


@pytest.mark.parametrize("text", list(BAD_COMPLETIONS))
def test_wrong_completions_are_refused_with_their_line(text: str, tmp_path: Path) -> None:
    (path,) = given(tmp_path, fct_txt=text)
    with pytest.raises(ExchangeError) as caught:
        read_fct(path)
    assert str(caught.value).startswith(f"{path}{BAD_COMPLETIONS[text]}")


def test_the_commands_go_there_and_back(penstock: Command, tmp_path: Path) -> None:
    given(tmp_path, topology_txt=TOPOLOGY, flow_txt=FLOWS)
    done = penstock("import", "flow.txt", "topology.txt", "-o", "a.toml", "--set", "seed=5")
    assert (done.returncode, done.stdout) == (0, "a.toml\n"), done.stderr
    assert "note: the files do not say: scheme none" in done.stderr
    assert Scenario.load(tmp_path / "a.toml").describe()["seed"] == 5
    assert penstock("run", "a.toml", "--out", "results", "--no-figures", "-q").returncode == 0
    done = penstock("export", "results", "out", "--to", "hpcc")
    assert done.stdout.split() == ["out/topology.txt", "out/flow.txt", "out/fct.txt"], done.stderr
    assert (tmp_path / "out" / "topology.txt").read_text() == TOPOLOGY
    assert (tmp_path / "out" / "flow.txt").read_text() == FLOWS
    assert len(Result.open(tmp_path / "results").completions) == 3
    # Names that are there stay as they are.
    assert penstock("export", "a.toml", "out", "--to", "hpcc").returncode == 2
    assert penstock("export", "a.toml", "out", "--to", "hpcc", "--force").returncode == 0
    assert penstock("import", "flow.txt", "topology.txt", "-o", "a.toml").returncode == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--transport", "quic"], '--transport quic: "quic" is not known here, expected "none" or "tcp"'),
        (["--transport", '{ tcp = { congestion = "vegas" } }'], 'tcp.congestion: "vegas" is not known here'),
        (["--scheme", "qnc"], '--scheme qnc: "qnc" is not known here'),
        (["--set", "duration=x"], 'would not run: duration: "x" is not a time, as given by --set'),
        (["--set", "topology.graph.buffer=10 octets"], "topology.graph.buffer: "),
    ],
)
def test_a_scenario_that_would_not_run_is_not_written(
    words: list[str], said: str, penstock: Command, tmp_path: Path
) -> None:
    given(tmp_path, topology_txt=TOPOLOGY, flow_txt=FLOWS, a_toml="kept")
    for more in ([], ["--force"]):
        name = "a.toml" if more else "b.toml"
        done = penstock("import", "flow.txt", "topology.txt", "-o", name, *words, *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
    assert (tmp_path / "a.toml").read_text() == "kept"
    assert not (tmp_path / "b.toml").exists()


def test_a_scenario_beyond_the_usual_limits_is_written_with_a_note(penstock: Command, tmp_path: Path) -> None:
    given(tmp_path, topology_txt=TOPOLOGY, flow_txt=FLOWS)
    many = ["--set", "duration=1000 s", "--set", "record.interval=1 us"]
    done = penstock("import", "flow.txt", "topology.txt", "-o", "a.toml", *many)
    assert done.returncode == 0
    assert "note: record.interval: 1000000000 samples" in done.stderr
    assert "--limit 100" in done.stderr
    assert Scenario.load(tmp_path / "a.toml").outline(limit=100)["duration_s"] == 1000


def test_wrong_commands_write_nothing(penstock: Command, tmp_path: Path) -> None:
    given(tmp_path, topology_txt=TOPOLOGY.replace("500ns 0", "500ns 1"), flow_txt=FLOWS, a_toml=SCENARIO)
    there = sorted(tmp_path.iterdir())
    for words, said in (
        (["import", "flow.txt", "topology.txt", "-o", "b.toml"], "topology.txt:5: the error rate is 1"),
        (["import", "flow.txt", "no.txt", "-o", "b.toml"], "no.txt"),
        (["import", "flow.txt", "topology.txt", "-o", "b.txt"], "use a name that ends in .toml"),
        (["import", "flow.txt", "topology.txt", "-o", "no/b.toml"], "the folder does not exist"),
        (["import", "flow.txt", "topology.txt", "-o", "b.toml", "--transport", "{ tcp"], "not a table of TOML"),
        (["export", "a.toml", "out", "--to", "ns3"], "--to ns3: unknown format"),
        (["export", "a.toml", "flow.txt", "--to", "hpcc"], "is a file, not a folder"),
        (["export", "a.toml", "out", "--to", "htsim"], "there is one tier of switches"),
        (["export", "none.toml", "out", "--to", "hpcc"], "neither a file nor a scenario"),
    ):
        done = penstock(*words)
        assert done.returncode == 2, words
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert sorted(tmp_path.iterdir()) == there
