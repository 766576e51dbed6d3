"""Topology and flow files of HPCC's simulator: round trips, and files that are wrong."""

import random
from pathlib import Path

import pytest

from penstock.exchange import ExchangeError, hpcc
from penstock.exchange.hpcc import Flow, Flows, Link, Topology

TOPOLOGY = "4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 1us 0.000\n3 0 40Gbps 500ns 1e-4\n"
FLOWS = "2\n1 2 3 100 200000000 2\n3 1 3 101 1 2.0000010\n"
HOSTS = hpcc.parse_topology(TOPOLOGY, "topology.txt")


@pytest.mark.parametrize("rest", ["", "\nFirst line: nodes, switches, links\n", "0 3 100Gbps 1us 0\n"])
def test_a_topology_comes_back_with_the_same_octets(rest: str) -> None:
    assert hpcc.parse_topology(TOPOLOGY + rest, "topology.txt").text() == TOPOLOGY + rest


def test_a_topology_has_its_parts() -> None:
    assert (HOSTS.nodes, HOSTS.switches, HOSTS.links[2]) == (4, (0,), Link(3, 0, "40Gbps", "500ns", "1e-4"))


def test_flows_come_back_with_the_same_octets() -> None:
    known = hpcc.parse_flows(FLOWS + "\nA remark\n", "flow.txt", HOSTS)
    assert known.text() == FLOWS + "\nA remark\n"
    assert known.flows[1] == Flow(3, 1, 3, 101, 1, "2.0000010")


def test_entries_after_the_announced_ones_are_counted_and_not_read() -> None:
    known = hpcc.parse_flows(FLOWS + "2 1 3 100 5 3\n", "flow.txt", HOSTS)
    assert (len(known.flows), known.unread) == (2, 1)
    assert hpcc.parse_topology(TOPOLOGY + "1 2 1Gbps 1us 0\nsrc dst rate delay error\n", "t").unread == 1


def test_any_files_survive_a_round_trip() -> None:
    source = random.Random(20)

    def two(of: list[int]) -> tuple[int, int]:
        first, second = source.sample(of, 2)
        return first, second

    for _ in range(200):
        nodes = source.randint(2, 50)
        switches = tuple(source.sample(range(nodes), source.randint(0, nodes - 2)))
        links = tuple(
            Link(*two([*range(nodes)]), f"{source.randint(1, 800)}Gbps", f"{source.randint(0, 99)}us", "0")
            for _ in range(source.randint(0, 30))
        )
        topology = Topology(nodes, switches, links)
        assert hpcc.parse_topology(topology.text(), "t") == topology
        hosts = sorted(set(range(nodes)) - set(switches))
        starts = sorted(source.randint(0, 10**6) for _ in range(source.randint(0, 30)))
        flows = Flows(tuple(Flow(*two(hosts), 3, 100, source.randint(1, 10**9), f"{at}.5") for at in starts))
        assert hpcc.parse_flows(flows.text(), "f", topology) == flows


BAD_TOPOLOGIES = {
    "": "t: the file ends too early; write the numbers of nodes",
    "4 1\n": "t:1: the line has 2 fields and not 3",
    "4 5 0\n": "t:1: there are 5 switches among 4 nodes",
    "99999999 0 0\n": "t:1: the number is 99999999; write 2000000 at most",
    "4 -1 0\n": "t:1: '-1' is not a whole number",
    "4 2 0\n1 1\n": "t:2: a switch is named twice",
    "4 1 0\n4\n": "t:2: there is no node 4",
    "4 1 2\n0\n0 1 1Gbps 1us 0\n": "t: the file ends too early; write link 2 of 2",
    "4 1 1\n0\n1 1 1Gbps 1us 0\n": "t:3: the link joins node 1 with itself",
    "4 1 1\n0\n0 9 1Gbps 1us 0\n": "t:3: there is no node 9",
    "4 1 1\n0\n0 1 1G 1us 0\n": "t:3: '1G' is not a rate; write one such as 100Gbps",
    "4 1 1\n0\n0 1 1Gbps 1 0\n": "t:3: '1' is not a delay; write one such as 0.001ms",
    "4 1 1\n0\n0 1 1Gbps 1us nan\n": "t:3: 'nan' is not an error rate",
    "4 1 1\n0\n0 1 1Gbps 1us 2\n": "t:3: the error rate is 2; write a share",
}


@pytest.mark.parametrize("text", list(BAD_TOPOLOGIES))
def test_a_wrong_topology_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ExchangeError) as caught:
        hpcc.parse_topology(text, "t")
    assert str(caught.value).startswith(BAD_TOPOLOGIES[text])


BAD_FLOWS = {
    "": "f: the file ends too early; write the number of flows",
    "2\n1 2 3 100 5 2\n": "f: the file ends too early; write flow 2 of 2",
    "1\n1 2 3 100 5\n": "f:2: the line has 5 fields and not 6",
    "1\n1 0 3 100 5 2\n": "f:2: node 0 is a switch; write a host",
    "1\n1 7 3 100 5 2\n": "f:2: there is no node 7",
    "1\n1 1 3 100 5 2\n": "f:2: the flow goes from host 1 to itself",
    "1\n1 2 3 100 -5 2\n": "f:2: '-5' is not a whole number",
    "1\n1 2 3 100 0 2\n": "f:2: the flow has 0 octets",
    "1\n1 2 3 100 5 soon\n": "f:2: 'soon' is not a start in seconds",
    "2\n1 2 3 100 5 2\n1 2 3 100 5 1\n": "f:3: the start 1 is before 2; order the flows",
}


@pytest.mark.parametrize("text", list(BAD_FLOWS))
def test_wrong_flows_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(ExchangeError) as caught:
        hpcc.parse_flows(text, "f", HOSTS)
    assert str(caught.value).startswith(BAD_FLOWS[text])


def test_files_are_read_and_binary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(TOPOLOGY, encoding="utf-8")
    (tmp_path / "f").write_text(FLOWS, encoding="utf-8")
    assert hpcc.read_flows(tmp_path / "f", hpcc.read_topology(tmp_path / "t")).text() == FLOWS
    (tmp_path / "t").write_bytes(b"4 1 0\n\xff\n")
    with pytest.raises(ExchangeError, match=":2: this is not text"):
        hpcc.read_topology(tmp_path / "t")
    with pytest.raises(IsADirectoryError):
        hpcc.read_topology(tmp_path)
    with pytest.raises(FileNotFoundError):
        hpcc.read_topology(tmp_path / "none")


def test_lines_that_end_in_cr_lf_are_written_with_lf() -> None:
    rest = "0 3 100Gbps 1us 0\n"
    written = (TOPOLOGY + rest).replace("\n", "\r\n")
    assert hpcc.parse_topology(written, "topology.txt").text() == TOPOLOGY + rest
