"""htsim's connection matrices and fabrics: round trips, and files that are wrong."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest

from penstock.exchange import ExchangeError, htsim
from penstock.exchange.htsim import Connection, Fabric, Matrix, Tier, Trigger

MATRIX = """\
Nodes 16
Connections 4
Triggers 2
0->13 id 1 start 0 size 2000000 recv_done_trigger 1
13->0 id 2 start 5000 size 2000000 recv_done_trigger 2
1->2 id 3 trigger 1 size 1000 recv_done_trigger 2
2->1 id 4 trigger 2 size 1
trigger id 1 oneshot
trigger id 2 barrier count 2
"""

FABRIC = """\
Nodes 16
Tiers 3
Podsize 4

Tier 0
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 1
Bundle 1

Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Radix_Up 2
Downlink_Latency_ns 500
Switch_Latency_ns 300
Oversubscribed 1
Bundle 1

Tier 2
Downlink_speed_Gbps 100
Radix_Down 4
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 1
Bundle 1
"""


def test_a_matrix_comes_back_with_the_same_octets() -> None:
    assert htsim.parse_matrix(MATRIX, "m").text() == MATRIX


def test_a_matrix_has_its_parts() -> None:
    matrix = htsim.parse_matrix(MATRIX, "m")
    assert matrix.connections[0] == Connection(0, 13, 2_000_000, 1, 0, recv_done=1)
    assert matrix.connections[3] == Connection(2, 1, 1, 4, trigger=2)
    assert matrix.triggers == (Trigger(1, "oneshot"), Trigger(2, "barrier", 2))
    assert [at.line for at in matrix.connections] == [4, 5, 6, 7]


def test_comments_empty_lines_and_the_order_of_words_are_left_aside() -> None:
    written = "# a comment\n\nConnections 1\nNodes 4\n\n0->1 size 10 start 7e3\n# another\n"
    assert htsim.parse_matrix(written, "m").text() == "Nodes 4\nConnections 1\n0->1 start 7000 size 10\n"


def test_any_matrix_survives_a_round_trip() -> None:
    source = random.Random(20)
    for _ in range(200):
        nodes = source.randint(2, 60)
        connections = [
            Connection(first, second, source.randint(1, 10**9), index + 1, source.randint(0, 10**12))
            for index in range(source.randint(1, 20))
            for first, second in [source.sample(range(nodes), 2)]
        ]
        triggers: list[Trigger] = []
        for before, after in pairwise(range(len(connections))):
            if source.random() < 0.5:
                number = len(triggers) + 1
                triggers.append(Trigger(number, "oneshot"))
                connections[before] = replace(connections[before], recv_done=number)
                connections[after] = replace(connections[after], start_ps=None, trigger=number)
        matrix = Matrix(nodes, tuple(connections), tuple(triggers))
        assert htsim.parse_matrix(matrix.text(), "m") == matrix


def _matrix(*lines: str, nodes: str = "Nodes 4", triggers: int = 0) -> str:
    count = sum("->" in line for line in lines)
    return "\n".join([nodes, f"Connections {count}", f"Triggers {triggers}", *lines]) + "\n"


BAD_MATRICES = {
    "Connections 0\n": "m: there is no line Nodes",
    "Nodes 4\nConnections 2\n0->1 start 0 size 1\n": "m:2: Connections announces 2 and the file has 1",
    "Nodes 4\nNodes 4\n": "m:2: Nodes appears twice",
    "Nodes four\n": "m:1: 'four' is not a whole number",
    "Nodes 4 5\n": "m:1: Nodes has 2 values behind it and not 1",
    "Nodes 99999999\n": "m:1: the number is 99999999; write 2000000 at most",
    "0->1 start 0 size 1\n": "m:1: the connection comes before the line Nodes",
    "Nodes 4\nConnections 1\n0->1 start 0 size 1\nTriggers 0\n": "m:4: Triggers comes after",
    _matrix("0->4 start 0 size 1"): "m:4: there is no node 4",
    _matrix("1->1 start 0 size 1"): "m:4: the connection goes from host 1 to itself",
    _matrix("0-1 start 0 size 1"): "m:4: '0-1' begins no line of a matrix",
    _matrix("0->1 start 0"): "m:4: the connection has no size",
    _matrix("0->1 start 0 msg size 5"): "m:4: the message has no id of its connection",
    _matrix("0->1 id 1 start 0 size 5 msg x"): "m:4: 'x' is not known here",
    _matrix("0->1 start 0 size -5"): "m:4: '-5' is not a whole number",
    _matrix("0->1 size 5"): "m:4: the connection has neither a start nor a trigger",
    _matrix("0->1 start 0 size 5 trigger 1"): "m:4: the connection has a start and a trigger",
    _matrix("0->1 start 0.5 size 5"): "m:4: the start is 0.5 ps; write a whole number",
    _matrix("0->1 start soon size 5"): "m:4: 'soon' is not a start in ps",
    _matrix("0->1 start 0 size 5 speed 3"): "m:4: 'speed' is not known here",
    _matrix("0->1 start 0 size"): "m:4: there is no number behind size",
    _matrix("0->1 start 0 size 5 size 6"): "m:4: size appears twice",
    _matrix("0->1 start 0 size 5 prio 3"): "m:4: prio: it orders the pulls",
    _matrix("0->1 start 0 size 5 addon"): "m:4: addon: it adds to a connection",
    _matrix("0->1 id 0 start 0 size 5"): "m:4: the number is 0",
    _matrix("0->1 id 1 start 0 size 5", "1->0 id 1 start 0 size 5"): "m:5: two connections have the id 1",
    _matrix("failure switch_type TOR switch_id 1 link_id 0"): "m:4: a failure slows links down",
    _matrix("0->1 id 1 trigger 7 size 5"): "m:4: there is no trigger 7",
    _matrix("0->1 trigger 7 size 5"): "m:4: a trigger starts the connection, which has no id",
    _matrix("trigger id 1 oneshot", triggers=1): "m:4: the trigger 1 starts no connection",
    _matrix("trigger id 1", triggers=1): "m:4: the trigger has 0 kinds",
    _matrix("trigger oneshot", triggers=1): "m:4: the trigger has no id",
    _matrix("trigger id 1 barrier", triggers=1): "m:4: a barrier has no count above 0",
    _matrix("trigger id 1 oneshot count 3", triggers=1): "m:4: a oneshot has a count",
    _matrix("trigger id 1 oneshot", "trigger id 1 oneshot", triggers=2): "m:5: two triggers have the id 1",
    _matrix(
        "0->1 id 1 trigger 1 size 5", "trigger id 1 oneshot", triggers=1
    ): "m:5: 0 connections activate the oneshot 1",
    _matrix(
        "0->1 id 1 start 0 size 5 send_done_trigger 1",
        "1->2 id 2 start 0 size 5 send_done_trigger 1",
        "2->3 id 3 trigger 1 size 5",
        "trigger id 1 barrier count 3",
        triggers=1,
    ): "m:7: 2 connections activate the barrier 1, which is activated 3 times",
}


@pytest.mark.parametrize("text", list(BAD_MATRICES))
def test_a_wrong_matrix_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ExchangeError) as caught:
        htsim.parse_matrix(text, "m")
    assert str(caught.value).startswith(BAD_MATRICES[text])


def test_a_fabric_comes_back_with_the_same_octets() -> None:
    fabric = htsim.parse_fabric(FABRIC, "t")
    assert fabric.text() == FABRIC
    assert fabric.switches == (8, 8, 4)
    assert fabric.tiers[1] == Tier(100, 2, 500, 2, 300)


def test_the_case_of_keys_and_comments_are_left_aside() -> None:
    assert htsim.parse_fabric("# tree\n" + FABRIC.lower(), "t").text() == FABRIC


def test_any_fabric_survives_a_round_trip() -> None:
    source = random.Random(20)
    for _ in range(200):
        racks, down, up = source.randint(1, 4), source.randint(1, 6), source.randint(1, 6)
        down *= up
        speed = source.choice([10, 25, 100])
        lowest = Tier(speed, down, source.randint(1, 2000), up, source.randint(0, 500), down // up, 1, 5000, 7000)
        top = Tier(speed, racks, source.randint(1, 2000), queue_down=5000)
        fabric = Fabric(racks * down, racks * down, (lowest, top))
        assert htsim.parse_fabric(fabric.text(), "t") == fabric


BAD_FABRICS = {
    ("Nodes 16\n", ""): "t: there is no line Nodes",
    ("Tiers 3", "Tiers 4"): "t:2: there are 4 tiers; write 2 or 3",
    ("Tiers 3", "Tiers 2"): "t:23: Tiers says 2, and Tier 2 is there",
    ("Tier 2\n", "Tier 1\n"): "t:23: there is a tier 1 twice",
    ("Tier 2\n", "Tier 7\n"): "t:23: there is a tier 7 twice, or above 2",
    ("Podsize 4", "Podsize 5"): "t:3: 16 hosts are not in pods of 5",
    ("Podsize 4", "Podsize"): "t:3: the line has 1 fields and not 2",
    ("Podsize 4", "Podsize 0"): "t:3: Podsize is 0",
    ("Podsize 4", "Radix_Up 4"): "t:3: 'Radix_Up' comes before the first tier",
    ("Nodes 16", "Nodes 99999999999"): "t:1: the number is 99999999999",
    ("Radix_Up 2", "Radix_Up 1"): "t:11: 2 links down and 1 up are not so; 2 fits",
    ("Radix_Up 2\n", ""): "t:5: there is no Radix_Up in tier 0",
    ("Radix_Down 4", "Radix_Down 4\nRadix_Up 3"): "t:26: no link goes up from the top tier",
    ("Radix_Down 4", "Radix_Down 8"): "t:25: 16 links up from tier 1 do not give",
    (
        "Radix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 500",
        "Radix_Down 1\nRadix_Up 2\nDownlink_Latency_ns 500",
    ): "t:16: 16 links up from tier 0",
    ("Bundle 1\n\nTier 2", "Bundle 2\n\nTier 2"): "t:16: 16 links up from tier 0",
    ("Bundle 1\n\nTier 2", "Bundle 3\n\nTier 2"): "t:16: 2 links are not in bundles of 3",
    ("Bundle 1\n\nTier 2", "Bundle 65\n\nTier 2"): "t:21: two switches have 64 links at most",
    ("Bundle 1\n\nTier 1", "Bundle 2\n\nTier 1"): "t:12: a host has one link",
    ("Bundle 1\n\nTier 1", "Bundel 1\n\nTier 1"): "t:12: 'Bundel' is not known here",
    ("Bundle 1\n\nTier 1", "Queue_up 5000\n\nTier 1\nQueue_down 9000"): "t:15: the queues at the other end",
    ("Oversubscribed 1\nBundle 1\n\nTier 1", "Bundle 1\nBundle 1\n\nTier 1"): "t:12: Bundle appears twice",
}


@pytest.mark.parametrize("change", list(BAD_FABRICS))
def test_a_wrong_fabric_is_refused_with_its_line(change: tuple[str, str]) -> None:
    old, new = change
    assert old in FABRIC
    with pytest.raises(ExchangeError) as caught:
        htsim.parse_fabric(FABRIC.replace(old, new, 1), "t")
    assert str(caught.value).startswith(BAD_FABRICS[change])
