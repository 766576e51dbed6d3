"""htsim's triggers as flows that begin when others have ended: there and back, and triggers that no key stands for."""

from pathlib import Path

import pytest

from penstock import ArgumentError, Scenario
from penstock.exchange import ExchangeError, export, import_files

FABRIC = """\
Nodes 8
Tiers 2
Podsize 8

Tier 0
Downlink_speed_Gbps 100
Radix_Down 4
Radix_Up 4
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 1
Bundle 1
Queue_up 1000000
Queue_down 1000000

Tier 1
Downlink_speed_Gbps 100
Radix_Down 2
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Oversubscribed 1
Bundle 1
Queue_down 1000000
"""

CHAIN = """\
Nodes 8
Connections 5
Triggers 3
0->4 id 1 start 0 size 100000 recv_done_trigger 1
1->5 id 2 trigger 1 size 100000 recv_done_trigger 2
2->6 id 3 trigger 1 size 100000 recv_done_trigger 2
3->7 id 4 trigger 2 size 100000 recv_done_trigger 3
7->3 id 9 trigger 3 size 100000
trigger id 1 oneshot
trigger id 2 barrier count 2
trigger id 3 oneshot
"""


def imported(folder: Path, matrix: str) -> Scenario:
    """Return the scenario of a matrix on the fabric."""
    (folder / "a.topo").write_text(FABRIC, encoding="utf-8")
    (folder / "a.cm").write_text(matrix, encoding="utf-8")
    return import_files([folder / "a.topo", folder / "a.cm"]).scenario


def test_triggers_come_back_with_the_same_octets(tmp_path: Path) -> None:
    scenario = imported(tmp_path, CHAIN)
    written = export(scenario, to="htsim")
    assert written == {"network.topo": FABRIC, "connections.cm": CHAIN}
    assert imported(tmp_path, written["connections.cm"]).to_toml() == scenario.to_toml()


def test_the_kind_of_end_and_the_numbers_of_triggers_are_left_aside(tmp_path: Path) -> None:
    other = CHAIN.replace("recv_done_trigger", "send_done_trigger").replace("rigger 1 ", "rigger 77 ")
    other = other.replace("rigger 1\n", "rigger 77\n").replace("trigger id 1 oneshot", "trigger id 77 multishot")
    with pytest.raises(ExchangeError, match=r"a.cm:9: the multishot 77 starts one connection at each activation"):
        imported(tmp_path, other)
    other = other.replace("multishot", "oneshot")
    assert export(imported(tmp_path, other), to="htsim")["connections.cm"] == CHAIN
    assert any("acts here when all data has arrived" in note for note in _notes(tmp_path))


def test_a_multishot_with_one_connection_is_a_oneshot(tmp_path: Path) -> None:
    other = CHAIN.replace("trigger id 3 oneshot", "trigger id 3 multishot")
    assert export(imported(tmp_path, other), to="htsim")["connections.cm"] == CHAIN


def _notes(folder: Path) -> tuple[str, ...]:
    return import_files([folder / "a.topo", folder / "a.cm"]).notes


@pytest.mark.runs
def test_flows_run_one_after_another(tmp_path: Path) -> None:
    result = imported(tmp_path, CHAIN).run()
    columns = {key: result.column("completions", key).tolist() for key in ("flow", "start_s", "end_s")}
    start = dict(zip(columns["flow"], columns["start_s"], strict=True))
    end = dict(zip(columns["flow"], columns["end_s"], strict=True))
    assert start["f2"] == start["f3"] == end["f1"]
    assert start["f4"] == max(end["f2"], end["f3"])
    assert start["f9"] == end["f4"]
    # The run ends with the last flow.
    assert result.summary["ended_at_s"] == pytest.approx(end["f9"], abs=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("1 start 0", "1 trigger 3", "a.cm:4: the trigger 3 waits, directly or not, for a connection that it starts"),
        ("trigger id 2 barrier count 2", "trigger id 2 multishot", "a.cm:10: the multishot 2 starts one connection"),
    ],
)
def test_triggers_that_no_key_stands_for_are_refused(old: str, new: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ExchangeError) as refused:
        imported(tmp_path, CHAIN.replace(old, new, 1))
    assert str(refused.value).startswith(f"{tmp_path}/{words}")


def test_a_barrier_of_very_many_is_refused(tmp_path: Path) -> None:
    first = [f"0->4 id {at} start 0 size 10 recv_done_trigger 1" for at in range(1, 1102)]
    then = [f"4->0 id {at} trigger 1 size 10" for at in range(2000, 3000)]
    head = ["Nodes 8", f"Connections {len(first) + len(then)}", "Triggers 1"]
    text = "\n".join([*head, *first, *then, f"trigger id 1 barrier count {len(first)}"]) + "\n"
    with pytest.raises(ExchangeError, match="connections would wait for 1101000 others in all"):
        imported(tmp_path, text)


SEQUEL = """
question = "q"
duration = "10 ms"
scheme = "none"
[topology.leaf-spine]
leaves = 2
spines = 4
hosts_per_leaf = 4
host_rate = "100 Gbps"
fabric_rate = "100 Gbps"
link_delay = "1 us"
buffer = "1 MB"
[[flow]]
name = "a0..a1"
from = "h0..h1"
to = "h4..h5"
size = "30 KB"
transport = "go-back-n"
[[flow]]
name = "b0..b1"
from = "h4..h5"
to = "h0..h1"
size = "30 KB"
transport = "go-back-n"
after = "a0..a1"
"""


def test_tables_of_several_flows_are_exported() -> None:
    text = export(Scenario.from_toml(SEQUEL), to="htsim")["connections.cm"]
    assert "0->4 id 1 start 0 size 30000 recv_done_trigger 1\n" in text
    assert "5->1 id 4 trigger 1 size 30000\n" in text
    assert text.endswith("trigger id 1 barrier count 2\n")
    each = export(Scenario.from_toml(SEQUEL.replace("after", "after_each")), to="htsim")["connections.cm"]
    assert "5->1 id 4 trigger 2 size 30000\n" in each
    assert each.endswith("trigger id 1 oneshot\ntrigger id 2 oneshot\n")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('delay = "1 us"', "flow.1.delay: a trigger of htsim starts flows at once"),
        ('stagger = "1 us"', "flow.1.stagger: a trigger of htsim starts flows at once"),
        ('response = "1 KB"', "flow.1.response: these formats have no such key"),
        ('repeat = 2\nthink = "1 us"', "flow.1.think: these formats have no such key"),
    ],
)
def test_sequels_that_no_trigger_stands_for_are_refused(more: str, words: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        export(Scenario.from_toml(SEQUEL.replace("b0..b1", "b") + more + "\n"), to="htsim")
    assert str(refused.value).startswith(words)


def test_a_flow_that_three_sets_wait_for_is_refused() -> None:
    others = "".join(
        f'[[flow]]\nname = "{name}"\nfrom = "h2"\nto = "h3"\nsize = "1 KB"\ntransport = "tcp"\nafter = {after}\n'
        for name, after in (("c", '"a0"'), ("d", '["a0", "b0"]'))
    )
    with pytest.raises(ArgumentError, match="flows wait for a0 with 3 different sets of others"):
        export(Scenario.from_toml(SEQUEL + others), to="htsim")


def test_hpcc_has_no_flow_that_waits() -> None:
    with pytest.raises(ArgumentError, match=r"flow.1.after: flows of HPCC begin at times alone"):
        export(Scenario.from_toml(SEQUEL), to="hpcc")
