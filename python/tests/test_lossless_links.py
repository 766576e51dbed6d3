"""Links with credits and with retry: the scenarios have the rates of their formulas, and `show` has their sizes."""

from pathlib import Path

import pytest

import penstock
from penstock.exchange import exporting
from penstock.fabrics.ports import port_kinds

SCENARIOS = Path(penstock.__file__).parent / "scenarios"


def _scenario(name: str) -> penstock.Scenario:
    return penstock.Scenario.load(SCENARIOS / f"{name}.toml")


def _rates(name: str) -> dict[str, float]:
    summary = _scenario(name).run().summary
    return {flow["name"]: flow["throughput_bps"] for flow in summary["flows"]}


def test_credits_bound_the_rate_by_the_round_trip() -> None:
    rates = _rates("fabric/credits-and-cables")
    # Seven frames of 2048 octets in the time of two of them, both ways of the cable and an update of 8 octets.
    frame, window = 2048 * 8, 7
    for name, metres in (("near", 2), ("middle", 40), ("far", 150)):
        round_trip = (2 * frame + 64) / 400e9 + 2 * metres * 5.05e-9
        expected = min(400e9, window * frame / round_trip)
        # The window of 900 us cuts one round at either end.
        assert rates[name] == pytest.approx(expected, rel=2 * round_trip / 900e-6)


def test_credits_in_a_links_table_are_those_of_a_table_that_lists_the_link() -> None:
    scenario = _scenario("fabric/credits-and-cables")
    text = scenario.to_toml()
    start = text.index("[[credits]]")
    rest = text[start + 1 :]
    without = text[:start] + rest[rest.index("[[") :]
    credits = 'credits = { buffer = "16 KB", spacing = "0 octets" }'
    ranged = without.replace('cable = "', credits + ', cable = "', 3)
    assert ranged.count(credits) == 3
    made = penstock.Scenario.from_toml(ranged)
    shown = {port for kind in port_kinds(made.outline()) if kind.credit_octets == 16_000 for port in kind.ports}
    assert shown == {f"{host}->sw0" for host in ("near", "middle", "far")} | {
        f"sw0->{host}" for host in ("near", "middle", "far")
    }
    # No data go to these hosts, so that their direction changes nothing.
    alike = {flow["name"]: flow["throughput_bps"] for flow in made.run().summary["flows"]}
    assert alike == _rates("fabric/credits-and-cables")
    with pytest.raises(penstock.ArgumentError, match=r"topology\.graph\.link\.0\.credits: these formats cannot"):
        exporting.export(made, to="hpcc")


def test_retry_keeps_the_share_of_go_back_n() -> None:
    rates = _rates("faults/link-retry")
    wrong, window = 1 - (1 - 1e-6) ** 12_000, 18
    kept = (1 - wrong) / (1 - wrong + wrong * window)
    # Five standard deviations of some 40 000 frames.
    deviation = window * (wrong * (1 - wrong) / 40_000) ** 0.5
    assert rates["retried"] / 100e9 == pytest.approx(kept, abs=5 * deviation)
    assert rates["lossy"] / 100e9 == pytest.approx(1 - wrong, abs=5 * deviation / window)


def test_ports_show_credits_and_replay_buffers() -> None:
    kinds = port_kinds(_scenario("fabric/credits-and-cables").outline())
    assert {kind.nodes: kind.credit_octets for kind in kinds if kind.credit_octets} == dict.fromkeys(
        ("near", "middle", "far"), 16_000
    )
    retried = port_kinds(_scenario("faults/link-retry").outline())
    assert [(kind.ports, kind.replay_octets) for kind in retried if kind.replay_octets] == [(("h0->sw0",), 33_000)]
