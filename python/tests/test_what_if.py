"""What-if trials: numbers worked out by hand on small fabrics, cycles of routes, answers, wrong input."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import penstock
from penstock import ArgumentError, Scenario, WhatIf
from penstock.files import held
from penstock.runs import RunCallbacks
from penstock.what_ifs import making
from penstock.what_ifs.answers import sentence, value
from penstock.what_ifs.cycles import search
from penstock.what_ifs.fabric import Fabric
from penstock.what_ifs.outcome import Measure, Trial

Command = Callable[..., CompletedProcess[str]]

FABRIC = """
question = "Two racks."
duration = "2 ms"
warmup = "400 us"
scheme = "none"

[topology.leaf-spine]
leaves = 2
spines = {spines}
hosts_per_leaf = 6
host_rate = "10 Gbps"
fabric_rate = "{fabric_rate}"
link_delay = "1 us"
buffer = "200 KB"

[pfc]

[[flow]]
from = "h0"
to = "h6"
"""


def fabric(*, spines: int = 1, fabric_rate: str = "10 Gbps", more: str = "") -> Scenario:
    text = FABRIC.format(spines=spines, fabric_rate=fabric_rate) + more
    return Scenario.from_toml(text, name="racks", origin="racks.toml")


def only(found: WhatIf, kind: str) -> Trial:
    (trial,) = (trial for trial in found.trials if trial.kind == kind)
    return trial


def mean(trial: Trial, name: str) -> float:
    (found,) = (measure.present["mean"] for measure in trial.measures if measure.name == name)
    assert found is not None
    return found


def test_a_degraded_link_carries_its_share() -> None:
    """One flow fills the links of 10 Gb/s. At 40 % of one of them 40 % of the frames arrive."""
    found = penstock.what_if(fabric(), degrade={"leaf0--spine0": "40%"}, seeds=1)
    trial = only(found, "degrade")
    assert mean(trial, "delivered_share") == pytest.approx(0.4, abs=0.01)
    assert trial.sentence == "40.0 % of the frames still arrive when leaf0--spine0 has 4 Gbps (1 seed)."
    assert trial.port == "leaf0->spine0"
    assert [scenario.name for scenario in trial.scenarios] == ["degrade-leaf0--spine0", "as-is"]
    assert {table.name for table in trial.figures} == {"queue", "stopped"}
    # The queue before the slow link keeps what it holds before its source is paused.
    (queue,) = (table for table in trial.figures if table.name == "queue")
    times, octets = queue.lines["present"]
    assert len(times) == len(octets) == 200
    assert 0 < max(octets) <= 200_000


def test_a_link_that_is_down_carries_nothing() -> None:
    """After a quarter of the 1.6 ms from 400 us on the only path breaks: 0.8 ms of 2 ms are left."""
    trial = only(penstock.what_if(fabric(), down="leaf0--spine0", seeds=1), "down")
    assert mean(trial, "delivered_share") == pytest.approx(0.4, abs=0.01)
    assert mean(trial, "frames_lost") > 0


def test_a_slow_receiver_takes_its_rate() -> None:
    """Of 10 Gb/s 5 Gb/s leave its receive buffer; what waits in buffers has not arrived."""
    trial = only(penstock.what_if(fabric(), slow={"h6": "5G"}, receive_buffer="200 KB", seeds=1), "slow")
    assert mean(trial, "delivered_share") == pytest.approx(0.5, abs=0.01)
    assert mean(trial, "frames_lost") == 0
    assert mean(trial, "pause_frames") > 0


def test_a_storm_stops_its_port_for_half_of_the_time() -> None:
    """The middle half of 1.6 ms, less the way of the first pause frame and more by that of the resume frame."""
    trial = only(penstock.what_if(fabric(), storm="h6", seeds=1), "storm")
    assert mean(trial, "longest_pause_s") == pytest.approx(800e-6, rel=0.02)
    # A link of 10 Gb/s with a buffer of 200 KB holds 160 us of traffic, and there are two of them and the source.
    assert 0.6 <= mean(trial, "delivered_share") <= 0.75


def test_a_victim_keeps_the_share_of_a_flow() -> None:
    """Five flows share the links of 40 Gb/s between racks, first come, first served; four leave at 10 Gb/s together.

    So the fifth, which nothing else limits, leaves at a quarter of that.
    """
    found = penstock.what_if(fabric(fabric_rate="40 Gbps"), incast=4, victim=True, duration="6 ms", to="h0", seeds=2)
    trial = only(found, "victim")
    assert mean(trial, "victim_alone_bps") == pytest.approx(10e9, rel=0.03)
    assert mean(trial, "victim_goodput_bps") == pytest.approx(2.5e9, rel=0.1)
    assert "(2 seeds; " in trial.sentence
    assert "without the incast" in trial.sentence
    (setup, *_) = trial.notes
    assert "spine0->leaf0" in setup
    # The flows of the incast and the victim alone are in the scenario: h6 is the victim's source.
    flows = making.routes_of(tomllib.loads(trial.scenarios[0].toml), "x")
    assert len(flows) == 5
    assert flows["victim"] == ["h6->leaf1", "leaf1->spine0", "spine0->leaf0", "leaf0->h1"]
    assert all(route[-1] == "leaf0->h0" for name, route in flows.items() if name != "victim")


def test_an_incast_completes_at_the_rate_of_its_receiver() -> None:
    """Twelve flows of 25 octets a frame and 10 KB: 120 KB take 96 us at 10 Gb/s, beside a flow that ends elsewhere."""
    found = penstock.what_if(fabric(), incast=12, size="10 KB", to="h0", seeds=2)
    trial = only(found, "incast")
    assert "6 hosts send 12 flows" in trial.notes[0]
    # Seven senders of six hosts: one of them has two.
    seven = penstock.what_if(fabric(), incast=7, seeds=1, size="10 KB")
    flows = making.routes_of(tomllib.loads(only(seven, "incast").scenarios[0].toml), "x")
    assert sorted(flows) == ["f0", *(f"trial{number}" for number in range(7))]
    assert mean(trial, "completion_p99_s") == pytest.approx(96e-6, rel=0.2)
    assert trial.port == "leaf0->h0"
    assert trial.sentence.startswith("99 % of the flows of an incast of 12 to h0 complete within ")


def test_a_single_rack_has_an_incast_of_its_hosts() -> None:
    """Seven of eight hosts at 10 Gb/s send 10 KB each: 56 us, within 10 us of one another."""
    star = """
question = "A rack."
duration = "1 ms"
scheme = "none"
[topology.star]
hosts = 8
link_rate = "10 Gbps"
buffer = "200 KB"
[[flow]]
from = "h1"
to = "h2"
"""
    trial = only(penstock.what_if(Scenario.from_toml(star), incast=7, size="10 KB", seeds=2), "incast")
    assert mean(trial, "completion_p99_s") == pytest.approx(56e-6, rel=0.2)
    assert mean(trial, "frames_lost") == 0


def leaf_spine(leaves: int, spines: int, hosts: int = 1) -> Fabric:
    text = FABRIC.format(spines=spines, fabric_rate="10 Gbps").replace("leaves = 2", f"leaves = {leaves}")
    text = text.replace("hosts_per_leaf = 6", f"hosts_per_leaf = {hosts}").replace('to = "h6"', 'to = "h1"')
    return Fabric(Scenario.from_toml(text).outline())


def ring(switches: int) -> Fabric:
    links = "".join(
        f'{{ ends = ["h{n}", "sw{n}"], rate = "10 Gbps" }}, '
        f'{{ ends = ["sw{n}", "sw{(n + 1) % switches}"], rate = "10 Gbps" }}, '
        for n in range(switches)
    )
    text = f"""
question = "A ring."
duration = "1 ms"
scheme = "none"
[topology.graph]
hosts = "h0..h{switches - 1}"
switches = "sw0..sw{switches - 1}"
buffer = "100 KB"
link = [{links}]
[pfc]
[[flow]]
from = "h0"
to = "h1"
"""
    return Fabric(Scenario.from_toml(text).outline())


def test_routes_of_a_leaf_spine_fabric_close_no_circle() -> None:
    """4 x 3 pairs of racks with 2 x 2 pairs of hosts and 2 spines, 4 x 2 pairs within a rack."""
    found = search(leaf_spine(4, 2, hosts=2), links_down=1)
    assert (found.routes, found.situations, found.with_cycle) == (12 * 4 * 2 + 4 * 2, 9, 0)


def test_two_links_down_make_leaves_forward() -> None:
    """Two leaves that reach different spines alone send over a third: 6 pairs of leaves, 2 ways to break each.

    With three leaves there is one to go over, and with three spines there is always a common one.
    """
    found = search(leaf_spine(4, 2), links_down=2)
    assert (found.situations, found.with_cycle) == (1 + 8 + 28, 12)
    first = found.cycles[0]
    assert first.down == ("leaf0--spine0", "leaf1--spine1")
    assert set(first.ports) == {"leaf2->spine0", "spine0->leaf3", "leaf3->spine1", "spine1->leaf2"}
    # Each route has its port and the next one.
    following = [*first.ports[1:], first.ports[0]]
    for port, after, route in zip(first.ports, following, first.routes, strict=True):
        assert route[route.index(port) + 1] == after
    assert search(leaf_spine(3, 2), links_down=2).with_cycle == 0
    assert search(leaf_spine(4, 3), links_down=2).with_cycle == 0


@pytest.mark.parametrize(("switches", "cycles"), [(3, 0), (4, 1), (5, 1)])
def test_rings_have_a_circle_where_routes_have_two_links(switches: int, cycles: int) -> None:
    """In a ring of three every switch is a neighbour; a larger one has paths of two links in each direction."""
    found = search(ring(switches), links_down=0)
    assert found.with_cycle == cycles
    # One link less leaves a line.
    assert search(ring(switches), links_down=1).with_cycle == cycles


def test_listed_paths_are_searched_and_stop_for_good() -> None:
    scenario = Scenario.named("deadlock/leaf-spine").with_({"duration": "2 ms"})
    proposed: dict[str, str | int | float | bool] = {
        "pfc.watchdog.after": '"500 us"',
        "pfc.watchdog.restoration": '"500 us"',
    }
    found = penstock.what_if(scenario, deadlock=True, links_down=0, seeds=2, proposed=proposed)
    (trial,) = found.trials
    assert trial.cycles[0].ports == ("leaf0->spine0", "spine0->leaf1", "leaf1->spine1", "spine1->leaf0")
    assert "With flows over it 2 of 2 runs end in a deadlock with the present settings, from " in trial.sentence
    assert trial.sentence.endswith("none of 2 runs ends in a deadlock with the proposed settings.")
    # Both sides run equally long, also where the proposal has larger buffers.
    larger = penstock.what_if(
        scenario, deadlock=True, links_down=0, seeds=1, proposed={"topology.leaf-spine.buffer": '"2 MB"'}
    )
    durations = {tomllib.loads(made.toml)["duration"] for made in larger.trials[0].scenarios}
    # 4 links of 10 Gb/s, 8 times: 2 MB without the headroom take 1.6 ms each.
    (duration,) = durations
    assert 50e-3 < penstock._core.read_quantity(duration, "s") <= 51.2e-3
    assert larger.trials[0].measures[0].proposed == larger.trials[0].measures[0].present


def test_without_a_circle_a_storm_stops_nothing_for_good() -> None:
    found = penstock.what_if(fabric(spines=2), deadlock=True, seeds=1)
    assert "None of 204 routes closes a circle of buffers" in found.trials[0].sentence
    assert found.trials[0].sentence.endswith("h0 sends a storm of pauses, none of 1 run ends in a deadlock.")
    assert mean(found.trials[0], "paused_s") > 0


def test_the_same_settings_make_no_difference() -> None:
    found = penstock.what_if(fabric(), incast=5, proposed={"pfc.quanta": 65535}, seeds=3)
    trial = only(found, "incast")
    assert trial.sentence.startswith("No difference can be seen: with both settings 99 % of")
    assert trial.measures[0].differs is False
    assert [scenario.side for scenario in trial.scenarios] == ["present", "proposed"] * 2


def test_a_difference_has_both_numbers() -> None:
    """With a link of twice the rate, the flow of 10 Gb/s at both ends has the half of it that is left."""
    faster = fabric(fabric_rate="20 Gbps")
    found = penstock.what_if(fabric(), degrade={"leaf0--spine0": "5G"}, proposed=faster, seeds=1)
    assert only(found, "degrade").sentence == (
        "No difference can be seen: with both settings 50.0 % of the frames still arrive when leaf0--spine0 has 5 Gbps "
        "(1 seed)."
    )
    found = penstock.what_if(fabric(), degrade={"leaf0--spine0": "50%"}, proposed=faster, seeds=1)
    assert found.proposed == "racks"


def measured(present: tuple[float, ...], proposed: tuple[float, ...]) -> Measure:
    differences = [new - old for old, new in zip(present, proposed, strict=True)]
    spreads = [penstock.metrics.seeds.spread(values) for values in (present, proposed, differences)]
    return Measure(
        name="victim_goodput_bps",
        title="",
        kind="rate",
        better="more",
        present=spreads[0],
        proposed=spreads[1],
        difference=spreads[2],
    )


def test_sentences_by_hand() -> None:
    """Two seeds: Student's factor is 12.706, so that 4 and 5 Gb/s have 4.5 ± 12.706 x 0.7071 / 1.4142 = 6.353."""
    clause = "the victim keeps {}"
    assert value("victim_goodput_bps", measured((4e9, 5e9), (0, 0)).present) == "4.50 ± 6.4 Gb/s"
    # Differences of 2 and 2.1: 2.05 ± 0.635 leaves zero out, although the intervals of the means overlap.
    apart = sentence(measured((4e9, 5e9), (6e9, 7.1e9)), clause, 2)
    assert apart == "With the proposed settings the victim keeps 6.55 ± 7 Gb/s instead of 4.50 ± 6.4 Gb/s (2 seeds)."
    # Differences of 1 and 2: 1.5 ± 6.4.
    alike = sentence(measured((4e9, 5e9), (5e9, 7e9)), clause, 2)
    assert alike.startswith("No difference can be seen: the victim keeps 4.50 ± 6.4 Gb/s, and with the proposed ")
    # One seed has no interval.
    assert sentence(measured((4e9,), (5e9,)), clause, 1).endswith("keeps 5 Gb/s instead of 4 Gb/s (1 seed).")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no trial is asked for"),
        ({"storm": "h66"}, 'storm="h66": no host has this name; did you mean h6?'),
        ({"down": "leaf0--spine7"}, "no link has this name; did you mean leaf0--spine0?"),
        ({"down": "x"}, "links are named as in leaf0--"),
        ({"degrade": {"leaf0--spine0": "0%"}}, "a share is above 0 %"),
        ({"degrade": {"leaf0--spine0": "half"}}, "not a rate; write, for instance, 50% or 10G"),
        ({"degrade": {"leaf0->spine0": "110%"}}, 'degrade="leaf0->spine0=110%": a share is above 0 % and up to 100 %'),
        ({"slow": {"h0": "50%"}}, "not a rate; write, for instance, 10G"),
        ({"slow": {"h20": "1G"}}, "no host has this name"),
        ({"incast": 0}, "incast=0: out of range"),
        ({"incast": 4, "to": "leaf0"}, 'to="leaf0": no host has this name; the hosts are h0..h11'),
        ({"deadlock": True, "links_down": 3}, "links_down=3: out of range; write 0, 1 or 2"),
        ({"victim": True, "proposed": Scenario.named("deadlock/ring")}, "proposed: the proposal has no host h3"),
    ],
)
def test_wrong_input_is_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        penstock.what_if(fabric(), **given)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_parallel_links_are_named_by_their_number() -> None:
    """One of two links of 10 Gb/s between leaf0 and its spine breaks: a flow that has the other loses nothing."""
    text = """
question = "Two links."
duration = "1 ms"
scheme = "none"
[topology.graph]
hosts = ["h0", "h1"]
switches = ["leaf0", "leaf1"]
buffer = "100 KB"
link = [
    { ends = ["h0", "leaf0"], rate = "10 Gbps" },
    { ends = ["h1", "leaf1"], rate = "10 Gbps" },
    { ends = ["leaf0", "leaf1"], rate = "10 Gbps", parallel = 2 },
]
[[flow]]
name = "f"
from = "h0"
to = "h1"
"""
    pair = Scenario.from_toml(text, name="pair")
    with pytest.raises(ArgumentError, match=r"parallel links join these nodes; name one, such as leaf0--leaf1\.1"):
        penstock.what_if(pair, down="leaf0--leaf1")
    (hop,) = {link for link in making.routes_of(tomllib.loads(text), "x")["f"] if link.startswith("leaf0")}
    other = {"leaf0->leaf1.1": "leaf0--leaf1.2", "leaf0->leaf1.2": "leaf0--leaf1.1"}[hop]
    found = penstock.what_if(pair, down=[other, hop.replace("->", "--")], seeds=1)
    shares = [mean(trial, "delivered_share") for trial in found.trials[1:]]
    assert shares[0] == 1
    # The flow moves to the other link at once, and loses what was on the broken one.
    assert 0.98 < shares[1] < 1
    # 2 pairs of hosts with 2 links each.
    assert search(Fabric(pair.outline()), links_down=1).routes == 4


def test_trials_of_pauses_need_flow_control() -> None:
    lossy = Scenario.from_toml(fabric().to_toml().replace("[pfc]", ""), name="lossy")
    for given in ({"storm": "h0"}, {"deadlock": True}):
        with pytest.raises(ArgumentError, match=r"lossy has no \[pfc\]"):
            penstock.what_if(lossy, **given)
    alone = Scenario.from_toml(fabric().to_toml().replace("hosts_per_leaf = 6", "hosts_per_leaf = 1"), name="few")
    few = alone.with_({"flow.0.to": '"h1"'})
    with pytest.raises(ArgumentError, match="the receiver needs another host at its switch"):
        penstock.what_if(few, victim=True)


def test_finished_runs_are_not_run_again(tmp_path: Path) -> None:
    planned: list[int] = []
    watch = RunCallbacks(planned=planned.append)
    given = {"incast": 3, "duration": "1 ms", "seeds": 3, "callbacks": watch}
    whole = penstock.what_if(fabric(), out=tmp_path / "a", **given)  # type: ignore[arg-type]
    lines = (tmp_path / "a" / "runs.jsonl").read_text().splitlines(keepends=True)
    assert planned == [6] == [len(lines)]
    # Killed in the fourth run's line, and a line of another version stands there too, with other keys.
    (tmp_path / "b").mkdir()
    other = json.dumps({"key": "0" * 64, "run": {"former": 1}}) + "\n"
    (tmp_path / "b" / "runs.jsonl").write_text("".join([*lines[:3], other]) + lines[3][:40])
    resumed = penstock.what_if(fabric(), out=tmp_path / "b", resume=True, **given)  # type: ignore[arg-type]
    assert planned == [6, 3]
    assert resumed.document["trials"] == whole.document["trials"]
    # More seeds run what is new: two scenarios with two more seeds each.
    more = penstock.what_if(fabric(), out=tmp_path / "b", resume=True, **(given | {"seeds": 5}))  # type: ignore[arg-type]
    assert planned == [6, 3, 4] and more.seeds == (1, 2, 3, 4, 5)
    with pytest.raises(ArgumentError, match="b exists"):
        penstock.what_if(fabric(), out=tmp_path / "b", **given)  # type: ignore[arg-type]
    # Replaced, they all run again; another duration is another scenario.
    penstock.what_if(fabric(), out=tmp_path / "b", force=True, **given)  # type: ignore[arg-type]
    penstock.what_if(fabric(), out=tmp_path / "b", resume=True, **(given | {"duration": "1.2 ms"}))  # type: ignore[arg-type]
    assert planned == [6, 3, 4, 6, 6]
    with pytest.raises(ArgumentError, match="trials to be resumed need a folder"):
        penstock.what_if(fabric(), resume=True, **given)  # type: ignore[arg-type]
    with held(tmp_path / "b"), pytest.raises(ArgumentError, match="another what-if is at work in this folder"):
        penstock.what_if(fabric(), out=tmp_path / "b", resume=True, **given)  # type: ignore[arg-type]


def test_the_command_keeps_what_it_ran(penstock: Command, tmp_path: Path) -> None:
    fabric().save(tmp_path / "racks.toml")
    asked = (
        "what-if",
        "racks.toml",
        "--incast",
        "3",
        "--duration",
        "1 ms",
        "--seeds",
        "2",
        "--set",
        'pfc.xoff="50 KB"',
    )
    made = penstock(*asked, "--out", "out", "--json")
    assert made.returncode == 0, made.stderr
    document = json.loads(made.stdout)
    assert document["proposed"] == {"pfc.xoff": '"50 KB"'}
    assert [trial["name"] for trial in document["trials"]] == ["as-is", "incast-3"]
    assert json.loads((tmp_path / "out" / "what-if.json").read_text())["trials"] == document["trials"]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {f"{case}-{side}.toml" for case in ("as-is", "incast-3") for side in ("present", "proposed")} | {
        "what-if.json",
        "runs.jsonl",
    }
    # A file is the trial: run again, it has the number of its seed.
    again = penstock("run", "out/incast-3-proposed.toml", "--json", "--no-figures", "--out", "again")
    assert again.returncode == 0, again.stderr
    paused = json.loads(again.stdout)["totals"]["pause_frames"]
    (of,) = (one for one in document["trials"][1]["measures"] if one["name"] == "pause_frames")
    assert of["proposed"]["min"] <= paused <= of["proposed"]["max"]
    refused = penstock(*asked, "--out", "out")
    assert (refused.returncode, "--force" in refused.stderr, "--resume" in refused.stderr) == (2, True, True)
    resumed = penstock(*asked, "--out", "out", "--resume", "--json")
    assert json.loads(resumed.stdout) == document
    text = penstock(*asked, "--out", "out", "--force")
    assert "incast-3: " in text.stdout
    assert "completion p99 of the incast" in text.stdout
    wrong = penstock("what-if", "racks.toml", "--storm", "h99", "--out", "other")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (2, "error: --storm h99: no host has this name")
    assert not (tmp_path / "other").exists()
