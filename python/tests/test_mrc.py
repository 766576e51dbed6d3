"""MRC, a reconstruction: paths with states, a failed link, the last hop, and the receiver's penalty."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Scenario, ScenarioError, wire

LINK = "faults/mrc-spine-link"
INCAST = "incast/mrc-sixteen"


def _summary(name: str, settings: dict[str, Any]) -> Any:
    scenario = Scenario.named(name)
    for key, value in settings.items():
        scenario.set(key, value)
    return scenario.run().summary


def _lost(summary: Any) -> dict[str, int]:
    return {window["name"]: window["totals"]["frames_lost_on_link"] for window in summary["windows"]}


def _rates(summary: Any, window: str) -> float:
    own = next(each for each in summary["windows"] if each["name"] == window)
    return float(sum(flow["throughput_bps"] for flow in own["flows"]))


def test_a_failed_link_is_bypassed_within_two_round_trips() -> None:
    """A round trip of the empty network: 8 links and 2 hosts of 1 us, 4 frames of 4178 octets and 4 answers of 118."""
    round_trip_s = 10e-6 + 4 * (4178 + 118) * 8 / 800e9
    summary = _summary(LINK, {})
    windows = {window["name"]: window for window in summary["windows"]}
    assert windows["bypassed"]["start_s"] - 200e-6 == pytest.approx(2 * round_trip_s, rel=0.01)
    lost = _lost(summary)
    assert lost["before"] == lost["bypassed"] == lost["back"] == 0
    assert lost["first"] > lost["second"] > 0
    totals = {name: window["totals"] for name, window in windows.items()}
    bad = totals["first"]["paths_assumed_bad"] + totals["second"]["paths_assumed_bad"]
    assert bad > 0 and totals["bypassed"]["paths_assumed_bad"] == 0
    # Probes find the link broken until it is back, and all of its values are used again.
    assert totals["bypassed"]["path_probes"] >= bad and totals["bypassed"]["paths_restored"] == 0
    assert summary["totals"]["paths_restored"] == summary["totals"]["paths_assumed_bad"]
    assert _rates(summary, "bypassed") > 0.99 * _rates(summary, "before")


@pytest.mark.parametrize("balancing", ["spray", "spray-random"])
def test_plain_spraying_never_leaves_the_failed_link(balancing: str) -> None:
    lost = _lost(_summary(LINK, {"network.load_balancing": balancing}))
    assert lost["bypassed"] > 20 * (lost["first"] + lost["second"]) / 2


def test_a_source_that_skips_nothing_loses_frames_all_the_time() -> None:
    """The control of the rule: no frame counts as overtaken."""
    lost = _lost(_summary(LINK, {"network.entropy.overtaken": 16_384}))
    assert lost["bypassed"] > 100


def test_numbered_values_share_planes_and_leave_out_denied_ones() -> None:
    """Value v of 32 takes spine v mod 8. Those of spine 3 are denied."""
    settings = {
        "network.load_balancing": "mrc-structured",
        "network.entropy.values": 32,
        "network.entropy.planes": 8,
        "network.entropy.denied": [3, 11, 19, 27],
        "record.queues": "switches",
    }
    summary = _summary(LINK, settings)
    sent = {queue["name"]: queue["frames_sent"] for queue in summary["queues"]}
    up = np.array([sent[f"leaf0->spine{spine}"] for spine in range(8)])
    # Acknowledgements go down to leaf0, so that only data go up.
    assert up[3] == 0
    assert _lost(summary)["bypassed"] == 0


def test_acknowledgements_are_captured_with_their_bitmaps(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(re.sub(r"\[\[window\]\][^\[]*", "", Scenario.named(LINK).to_toml()))
    for key, value in {"duration": "60 us", "change.0.at": "20 us", "change.0.down_for": "10 us"}.items():
        scenario.set(key, value)
    scenario.run(out=tmp_path / "run", pcap=["leaf1->spine1"])
    frames = [captured.decode() for captured in wire.read(tmp_path / "run" / "capture.pcapng")]
    layers = [frame["mrc_sack"] for frame in frames if "mrc_sack" in frame]
    assert len(layers) > 100 and not any(frame.faults for frame in frames)
    sacks = [(int(layer.sack_offset), int(layer.sack_bitmap)) for layer in layers]
    assert all(offset >= 1 for offset, _ in sacks)
    # While frames are missing, later ones have come: the lowest bit is that of a missing frame.
    gaps = [bits for offset, bits in sacks if bits and offset == 1]
    assert gaps and all(bits % 2 == 0 for bits in gaps)


def test_probes_and_trims_are_captured_as_such(tmp_path: Path) -> None:
    """The frames of MRC by count: the capture of a host's lines has what the summary says."""
    scenario = Scenario.from_toml(re.sub(r"\[\[window\]\][^\[]*", "", Scenario.named(LINK).to_toml()))
    for key, value in {"duration": "170 us", "change.0.at": "20 us", "change.0.down_for": "80 us"}.items():
        scenario.set(key, value)
    summary: Any = scenario.run(out=tmp_path / "run", pcap=["h0->leaf0"]).summary
    frames = [captured.decode() for captured in wire.read(tmp_path / "run" / "capture.pcapng")]
    assert not any(frame.faults for frame in frames)
    probes = [frame for frame in frames if "mrc_probe" in frame]
    # Four hosts alike send them, of 78 octets: 14 + 20 + 8 + 12 + 16 + 4, and a check sequence that is not captured.
    assert 0 < len(probes) < summary["totals"]["path_probes"]
    assert {frame["udp"].length for frame in probes} == {8 + 12 + 16 + 4}
    data = [frame for frame in frames if frame["bth"].opcode == 0x07]
    # The entropy value stands in the port: 128 values in turns.
    assert [int(frame["udp"].source_port) for frame in data[:128]] == [
        int(frame["udp"].source_port) for frame in data[128:256]
    ]
    counted = wire.statistics(tmp_path / "run" / "capture.pcapng")["roce"][0]
    assert (counted["probes"], counted["data"]) == (len(probes), len(data))

    # Four sources into one host: its leaf trims, and no other switch.
    scenario.set("flow.0.to", "h4").set("duration", "60 us").set("topology.leaf-spine.buffer", "100 KB")
    scenario.set("schemes.nscc.k_min", "50 KB").set("schemes.nscc.k_max", "80 KB")
    scenario.run(out=tmp_path / "incast", pcap=["h4->leaf1"])
    answers = [captured.decode() for captured in wire.read(tmp_path / "incast" / "capture.pcapng")]
    reasons = [int(frame["mrc_nack"].nack_reason) for frame in answers if "mrc_nack" in frame]
    assert len(reasons) > 100 and set(reasons) == {2}


def test_values_in_reserve_keep_the_number_of_values_in_use() -> None:
    """The link of one spine of eight carries an eighth of the reserve, too, so that some of it fails as it comes in."""
    summary = _summary(LINK, {"network.entropy.backup": 128})
    windows = {window["name"]: window["totals"] for window in summary["windows"]}
    bad = windows["first"]["paths_assumed_bad"] + windows["second"]["paths_assumed_bad"]
    late = windows["bypassed"]["paths_assumed_bad"]
    # 68 of 512 values are on the broken link without a reserve.
    assert bad == 68
    assert 0 < late < 68 / 8 * 2
    assert windows["back"]["frames_lost_on_link"] == 0
    assert _rates(summary, "bypassed") > 0.99 * _rates(summary, "before")


def test_wrong_entropy_values_are_refused() -> None:
    wrong: dict[str, dict[str, Any]] = {
        "belong to no plane": {"network.entropy.planes": 2},
        "have no numbers": {"network.entropy.denied": [1]},
        "cannot be split": {"network.load_balancing": "mrc-structured", "network.entropy.planes": 3},
        "there is no value 200": {"network.load_balancing": "mrc-structured", "network.entropy.denied": [200]},
        "no flow has a list": {"network.load_balancing": "reps", "network.entropy.values": 64},
        "share an acknowledgement": {"flow.0.transport.selective.ack_every": 2},
        "tcp does not answer each frame": {"flow.0.transport": "tcp"},
        "in reserve cannot be split": {
            "network.load_balancing": "mrc-structured",
            "network.entropy.planes": 8,
            "network.entropy.backup": 4,
        },
    }
    for message, settings in wrong.items():
        with pytest.raises(ScenarioError, match=message):
            _summary(LINK, settings)


@pytest.mark.parametrize("sources", [2, 4, 8, 16])
def test_sources_share_a_last_hop_without_marks(sources: int) -> None:
    settings = {
        "topology.star.hosts": sources + 1,
        "flow.0.from": f"h0..h{sources - 1}",
        "flow.0.to": f"h{sources}",
        "require_action": False,
    }
    summary = _summary(INCAST, settings)
    got = np.array([flow["throughput_bps"] for flow in summary["flows"]])
    assert _jain(got) > 0.97
    assert got.sum() > 0.99 * 100e9
    assert sum(queue["frames_marked"] for queue in summary["queues"]) == 0


def _jain(rates: "np.ndarray[Any, Any]") -> float:
    return float(rates.sum() ** 2 / (len(rates) * (rates**2).sum()))


def test_without_the_receivers_penalty_more_is_trimmed_and_sources_share_less_alike() -> None:
    trims, shares = [], []
    for penalty in (0, 64):
        summary = _summary(INCAST, {"schemes.nscc.receiver_penalty": penalty})
        trims.append(summary["totals"]["frames_trimmed"])
        shares.append(_jain(np.array([flow["throughput_bps"] for flow in summary["flows"]])))
    assert trims[1] < 0.6 * trims[0]
    assert shares[0] < 0.85 < 0.97 < shares[1]


PLANES, SPINES = 4, 2


def _planes() -> Scenario:
    """Return two hosts whose interfaces have a port to each of four planes, each with two spines."""
    switches = ["nic0", "nic1"]
    links = [("h0", "nic0", 400), ("nic1", "h1", 400)]
    for plane in range(PLANES):
        leaves = [f"leaf{plane}x0", f"leaf{plane}x1"]
        switches += [*leaves, *(f"spine{plane}x{at}" for at in range(SPINES))]
        links += [("nic0", leaves[0], 100), (leaves[1], "nic1", 100)]
        for at in range(SPINES):
            links += [(leaves[0], f"spine{plane}x{at}", 100), (f"spine{plane}x{at}", leaves[1], 100)]
    tables = [
        f'[[topology.graph.link]]\nends = ["{one}", "{other}"]\nrate = "{gbps} Gbps"\ndelay = "500 ns"\n'
        for one, other, gbps in links
    ]
    names = ", ".join(f'"{name}"' for name in switches)
    return Scenario.from_toml(
        f"""
question = "Do planes carry alike when a path of one breaks?"
duration = "500 us"
scheme = "nscc"
[schemes.nscc]
profile = "mrc"
packet = "4158 octets"
[topology.graph]
hosts = ["h0", "h1"]
switches = [{names}]
buffer = "1 MB"
{"".join(tables)}
[network]
trimming = true
load_balancing = "mrc-structured"
entropy = {{ values = 64, planes = {PLANES} }}
spray_acks = true
convergence = "never"
congestion_points = "between-switches"
[[flow]]
from = "h0"
to = "h1"
traffic = "constant"
rate = "300 Gbps"
transport = {{ selective = {{ mtu = "4096 octets", bdp_cap = 0, reordering = 64, bitmap = true }} }}
acks = "control"
[[change]]
link = "spine2x0->leaf2x1"
at = "100 us"
state = "down"
[[window]]
name = "broken"
start = "150 us"
[record]
queues = "switches"
"""
    )


def test_planes_carry_alike_when_a_path_of_one_breaks() -> None:
    summary: Any = _planes().run().summary
    window = summary["windows"][0]
    sent = {queue["name"]: queue["frames_sent"] for queue in window["queues"]}
    # 300 Gb/s for 350 us are 3157 frames of 4158 octets, 789 a plane.
    planes = np.array([sent[f"leaf{plane}x1->nic1"] for plane in range(PLANES)])
    assert planes == pytest.approx(np.full(PLANES, 789), abs=4)
    # Of plane 2 all data take the spine that is left, and probes alone the broken path; the others use both spines.
    assert sent["leaf2x0->spine2x0"] == window["totals"]["path_probes"] > 0
    assert sent["leaf1x0->spine1x0"] == pytest.approx(sent["leaf1x0->spine1x1"], rel=0.05)
    assert window["totals"]["frames_lost_on_link"] == 0
