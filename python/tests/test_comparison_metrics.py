"""Metrics by which `compare` judges: against numbers that were computed by hand."""

import numpy as np
import pytest
from conftest import SMALL

from penstock import Claim, FrameLossError, Result, Scenario
from penstock.metrics.registry import COMPARED
from penstock.metrics.seeds import groups, measure, spread, spreads
from penstock.metrics.values import busiest, longest, measured_octets
from penstock.summary import Summary


def test_spread_of_known_values() -> None:
    # The deviations from the mean 4 are -3, -1 and 4: the variance of the sample is (9 + 1 + 16) / 2 = 13.
    assert spread([1, 3, 8]) == {
        "mean": 4,
        "std": pytest.approx(13**0.5),
        # Student's t of two degrees of freedom is within 4.3027 with a probability of 95 %: 4.3027 (13 / 3)^½ = 8.957.
        "interval": [pytest.approx(4 - 8.957, abs=1e-3), pytest.approx(4 + 8.957, abs=1e-3)],
        "min": 1,
        "max": 8,
    }
    assert spread([None, 2.5]) == {"mean": 2.5, "std": None, "interval": None, "min": 2.5, "max": 2.5}
    assert spread([None]) == {"mean": None, "std": None, "interval": None, "min": None, "max": None}


def test_every_measure_has_a_value_of_its_kind(result: Result) -> None:
    measured = measure(result, "sw0->h2")
    assert list(measured.values) == [m.name for m in COMPARED]
    queue = longest(result.summary, "sw0->h2")
    assert queue is not None
    assert measured.values["queue_mean_octets"] == queue["mean_octets"]
    p50, p99 = measured.values["queue_p50_octets"], measured.values["queue_p99_octets"]
    assert p50 is not None
    assert p99 is not None
    assert 0 < p50 <= p99 <= queue["max_octets"]
    assert measured.values["frames_lost"] == result.summary["totals"]["frames_dropped"]
    # There is no priority flow control, no transport, no flow ends, no job, and no histogram is kept.
    missing = {"paused_s", "pause_frames", "completion_time_s", "retransmissions", "timeouts", "flows_left"}
    missing |= {m.name for m in COMPARED if m.name.startswith(("slowdown_", "queue_delay_", "queue_pause_"))}
    missing |= {"job_time_s", "iteration_mean_s", "collective_mean_s", "exposed_communication_s", "straggling_s"}
    missing |= {"bus_bandwidth_bps", "efficiency", "path_queue_s", "path_pause_s", "path_limited_s"}
    assert {key for key, value in measured.values.items() if value is None} - {"settling_time_s"} == missing


def test_percentiles_and_amplitudes_cover_the_measured_time() -> None:
    whole = Scenario.from_toml(SMALL).run()
    late = Scenario.from_toml(SMALL).set("warmup", "10 ms").run()
    (queue,) = (q for q in late.summary["queues"] if q["name"] == "sw0->h2")
    octets = whole.column("queues", "queue_octets")[whole.column("queues", "time_s") >= 0.01]
    assert (measured_octets(late, queue) == octets).all()
    p5, p50, p95 = np.percentile(octets, (5, 50, 95))
    values = measure(late, "sw0->h2").values
    assert values["queue_p50_octets"] == p50
    assert values["queue_amplitude_octets"] == (p95 - p5) / 2
    time_s, rate_bps = (late.column("rates", name) for name in ("time_s", "rate_bps"))
    rows = np.flatnonzero(time_s >= 0.01)
    amplitudes = [np.diff(np.percentile(rate_bps[rows[i::2]], (5, 95)))[0] / 2 for i in (0, 1)]
    assert values["rate_amplitude_bps"] == pytest.approx(sum(amplitudes) / 2)


def test_percentiles_of_histograms_are_within_a_hundredth_of_the_exact_ones() -> None:
    # A frame of 1500 octets takes 12 µs: with a sample each 0.2 µs ranks are off by a few thousandths at the most.
    fine = Scenario.from_toml(SMALL).with_({"record.percentiles": True, "record.interval": "200 ns", "warmup": "2 ms"})
    result = fine.run()
    queue = longest(result.summary, "sw0->h2")
    assert queue is not None
    octets = measured_octets(result, queue)
    values = measure(result, "sw0->h2").values
    for name, rank in (("p50", 50.0), ("p90", 90.0), ("p95", 95.0), ("p99", 99.0), ("p999", 99.9)):
        low, high = np.percentile(octets, (max(rank - 0.3, 0), min(rank + 0.3, 100)), method="nearest")
        found = values[f"queue_{name}_octets"]
        assert found == queue[f"{name}_octets"]  # type: ignore[literal-required]
        assert 0.99 * low <= found <= 1.01 * high
    # A frame stays while those before it and itself go over a line of 1 Gb/s.
    assert values["queue_delay_p99_s"] == pytest.approx(queue["p99_octets"] * 8e-9, rel=0.03)
    # Nothing else changes.
    plain = Scenario.from_toml(SMALL).with_({"record.interval": "200 ns", "warmup": "2 ms"}).run()
    (bare,) = (q for q in plain.summary["queues"] if q["name"] == "sw0->h2")
    assert {key: value for key, value in queue.items() if key in bare} == bare
    assert plain.summary["totals"] == result.summary["totals"]


def test_percentiles_of_pauses_and_of_constant_delays() -> None:
    stopped = Scenario.from_toml(SMALL).with_({"record.percentiles": True, "pfc.buffer": "60 KB"}).run()
    (port,) = (q for q in stopped.summary["queues"] if q["name"] == "h0->sw0")
    assert port["stops"] >= 3
    mean_s = port["paused_s"] / port["stops"]
    assert 0 < port["pause_p50_s"] <= port["pause_p99_s"]
    assert port["pause_p50_s"] < 2 * mean_s < 4 * port["pause_p999_s"]
    # At half of the line's rate no frame waits for another one: each stays for its own 12 µs.
    lone = SMALL.replace('from = "h0..h1"', 'from = "h0"\ntraffic = "constant"\nrate = "500 Mbps"')
    (free,) = (
        q
        for q in Scenario.from_toml(lone).with_({"record.percentiles": True}).run().summary["queues"]
        if q["name"] == "sw0->h2"
    )
    assert [free["delay_p50_s"], free["delay_p999_s"]] == pytest.approx([12e-6] * 2, rel=0.01)


def test_rate_of_a_flow_counts_while_it_lasts_and_is_controlled() -> None:
    # From 5 ms on, h0 may send at the line's rate of 1 Gb/s, all the time; before that its rate is 0.
    lone = SMALL.replace('from = "h0..h1"', 'from = "h0"\nstart = "5 ms"')
    assert measure(Scenario.from_toml(lone).run(), None).values["rate_amplitude_bps"] == 0
    finite = lone.replace('to = "h2"', 'to = "h2"\nsize = "300 KB"')
    assert measure(Scenario.from_toml(finite).run(), None).values["rate_amplitude_bps"] == 0
    uncontrolled = SMALL.replace('to = "h2"', 'to = "h2"\ncontrolled = false')
    result = Scenario.from_toml(uncontrolled).run()
    assert [flow["controlled"] for flow in result.summary["flows"]] == [False, False]
    assert measure(result, None).values["rate_amplitude_bps"] is None
    # Greedy sources that nobody controls overflow the queue; its congestion point's messages have no effect.
    assert result.summary["totals"]["feedback_frames"] == 0
    assert result.summary["totals"]["feedback_discarded"] > 0


def test_queue_that_is_not_there_has_no_measures(result: Result) -> None:
    values = measure(result, "sw0->h9").values
    assert values["queue_mean_octets"] is values["queue_p50_octets"] is values["utilization"] is None
    assert values["jain_index"] is not None


def test_groups_are_the_tables_of_flows() -> None:
    text = SMALL.replace("hosts = 3", "hosts = 4")
    more = (
        '[[flow]]\nname = "victim"\nfrom = "h3"\nto = "h2"\n[[flow]]\nname = "a2..a3"\nfrom = ["h0", "h3"]\nto = "h1"\n'
    )
    result = Scenario.from_toml(text + more).run()
    found = {group.name: group.flows for group in groups(result)}
    assert found == {"f0..f1": ["f0", "f1"], "victim": ["victim"], "a2..a3": ["a2", "a3"]}
    assert [flow["group"] for flow in result.summary["flows"]] == ["f0..f1", "f0..f1", "victim", "a2..a3", "a2..a3"]
    assert result.column("flows", "group").tolist() == [flow["group"] for flow in result.summary["flows"]]
    delivered = {flow["name"]: flow["throughput_bps"] for flow in result.summary["flows"]}
    assert measure(result, None).groups["a2..a3"] == (delivered["a2"] + delivered["a3"]) / 2


def test_drop_rate_is_that_of_the_arrivals() -> None:
    result = Scenario.from_toml(SMALL).set("record.arrivals", True).run()
    name, lost = result.column("arrivals", "queue"), result.column("arrivals", "dropped")
    rates = {queue["name"]: queue["drop_rate"] for queue in result.summary["queues"]}
    assert rates["sw0->h2"] == lost[name == "sw0->h2"].mean() > 0
    # 2 Gb/s of data meet 1 Gb/s, and no more than the excess is ever dropped.
    assert rates["sw0->h2"] < 0.5
    assert all(rate == 0 for queue, rate in rates.items() if queue != "sw0->h2")


def test_busiest_queue_is_that_of_all_runs(result: Result) -> None:
    assert busiest([result.summary]) == "sw0->h2"
    assert busiest([]) is None


def test_a_queue_that_one_run_alone_fills_judges_none(result: Result) -> None:
    def run(**means: float) -> Summary:
        queues = [{**result.summary["queues"][0], "name": name, "mean_octets": mean} for name, mean in means.items()]
        return {**result.summary, "queues": queues}  # type: ignore[typeddict-item]

    # The trunk is longer over both runs together, 1000 + 2 against 100 + 30, but only by one of them.
    assert busiest([run(trunk=1000.0, port=100.0), run(trunk=2.0, port=30.0)]) == "port"
    # Where no queue is in every run, their sum counts.
    assert busiest([run(a=10.0), run(b=30.0)]) == "b"


def test_sums_over_runs(result: Result) -> None:
    other = Scenario.from_toml(result.scenario_toml).run(seed=2)
    runs = [measure(result, "sw0->h2"), measure(other, "sw0->h2")]
    entry = spreads(runs)
    first, second = (run.values["jain_index"] for run in runs)
    assert first is not None
    assert second is not None
    assert entry["jain_index"]["mean"] == pytest.approx((first + second) / 2)
    assert entry["settling_time_s"]["of_flows"] == 4
    assert spreads([])["jain_index"]["mean"] is None


def test_broken_claim_raises_and_says_where_first(result: Result) -> None:
    assert result.claims == []
    result.raise_for_claims()
    kept = Scenario.from_toml(SMALL).with_({"pfc.buffer": "60 KB", "lossless": True}).run()
    assert kept.claims == [Claim("lossless", True)]
    kept.raise_for_claims()
    lossy = Scenario.from_toml(SMALL).set("lossless", True).run()
    assert [claim.holds for claim in lossy.claims] == [False]
    with pytest.raises(FrameLossError) as caught:
        lossy.raise_for_claims()
    broken = caught.value.result
    assert broken.summary["lossless"] is False
    dropped, sent = (broken.summary["totals"][key] for key in ("frames_dropped", "frames_sent"))
    assert dropped > 0
    assert f"lost {dropped} of " in caught.value.message
    assert f"{sent:,}".replace(",", "\u202f") in caught.value.message
    # A queue of 60 KB at 1 Gb/s above its rate is full after 480 us: the sample at 500 us is the first to tell.
    assert "first at sw0->h2 (by 500 us)" in caught.value.message
    assert "xoff" in caught.value.hint
