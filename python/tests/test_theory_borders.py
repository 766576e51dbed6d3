"""Borders in packets that lie beyond the fluid's: the mechanism of each, and the border with it and without."""

from typing import Any

import numpy as np
import pytest
from scattered_samples import Scattered, deviation_octets

from penstock import Result, Scenario
from penstock.theory.configuration import configuration
from penstock.theory.linear_stability import margins
from penstock.theory.linearisation import linearise
from penstock.theory.margin import modes_beside
from penstock.theory.models import model_of
from penstock.theory.models.qcn import Averaged

FAMILY = ("qcn-bs", "af-qcn", "qcn-adaptive")


def _scenario(scheme: str, flows: int = 4, frame: str = "1500 octets", **settings: str | float) -> Scenario:
    """Return flows on 10 Gb/s, 10 us a link; keywords are parameters of the scheme."""
    scenario = Scenario.named("baseline/ten-gig").set("scheme", scheme)
    keys: dict[str, str | float] = {
        "topology.star.hosts": flows + 1,
        "flow.0.from": f"h0..h{flows - 1}",
        "flow.0.to": f"h{flows}",
        "flow.0.frame": frame,
        "flow.0.stagger": "10 us",
    }
    for key, value in (keys | {f"schemes.{scheme}.{name}": value for name, value in settings.items()}).items():
        scenario.set(key, value)
    return scenario


def _delay_margin_s(model: Any) -> float:
    return min(float(margins(linearise(model, mode)).delay_s) for mode in modes_beside(model))


def _qcn_model(scheme: str) -> Averaged:
    model = model_of(configuration(_scenario(scheme)))
    assert isinstance(model, Averaged)
    return model


def _border_s(scheme: str, deviation: float | None = None, **mechanisms: bool) -> float:
    """Return the feedback delay at the border of the fluid, or of the fluid with a deviation of Fb."""
    model = _qcn_model(scheme)
    margin = _delay_margin_s(model) if deviation is None else Scattered(model, deviation, **mechanisms).delay_margin_s()
    return configuration(_scenario(scheme)).feedback_delay_s + margin


def _packets(scheme: str, delay_s: float, seed: int = 1, **settings: Any) -> Result:
    """Return 300 ms of packets with a feedback delay, after 150 ms."""
    scenario = _scenario(scheme, **settings).set("duration", "450 ms").set("warmup", "150 ms")
    scenario.set("topology.star.buffer", "1 MB").set("record.interval", "20 us")
    return scenario.set("network.feedback.ideal", f"{delay_s * 1e6:.3f} us").run(seed=seed)


def _std_octets(result: Result) -> float:
    longest = max(result.summary["queues"], key=lambda queue: queue["mean_octets"])
    return float(longest["std_octets"])


# QCN's variants: a sample with Fb >= 0 is silent.


@pytest.mark.parametrize("scheme", FAMILY)
def test_without_scatter_and_aids_the_border_is_the_averaged_models(scheme: str) -> None:
    plain = Scattered(_qcn_model(scheme), 0.01, extra=False, halved=False)
    assert plain.speaking() == pytest.approx(1, abs=1e-3)
    assert plain.rest() == pytest.approx(_qcn_model(scheme).state_at_rest(), rel=1e-4)
    assert _border_s(scheme, 0.01, extra=False, halved=False) == pytest.approx(_border_s(scheme), rel=0.005)


def test_scatter_by_hand() -> None:
    # About 0 half of the samples speak, and cut by the half-normal's mean of 0.39894 deviations.
    model = _qcn_model("qcn-bs")
    found = Scattered(model, 4_000.0).rates(0.0, 100_000.0)
    assert found.messages == pytest.approx(100_000 * 0.01 / 2)
    assert found.cut == pytest.approx(float(model.gain_per_octet) * 1_000 * 0.39894 * 4_000, rel=1e-4)
    # A cycle of 100 frames is 1 ms, messages are 2 ms apart. Extra Fast Recovery: one round in 3 ms, with one cycle and
    # e^(-1/2) of one more, and so on to five, then half cycles. Without: rounds of 2 ms, whose first cycle may break.
    kept, half = np.exp(-0.5), np.exp(-0.25)
    early = 1 + kept + kept**2 + kept**3 + kept**4
    assert found.resets == pytest.approx(1 / 3e-3)
    assert found.cycles == pytest.approx((early + kept**4 * half / (1 - half)) / 3e-3)
    without = Scattered(model, 4_000.0, extra=False, halved=False).rates(0.0, 100_000.0)
    assert without.resets == pytest.approx(500)
    assert without.cycles == pytest.approx(500 * kept / (1 - kept))


# The table of docs/explanation/theory/margins.md: the border as a multiple of the averaged model's.
MECHANISMS = (
    ("qcn-bs", 1.00, 1.12, 1.09, 1.26, 1.53),
    ("af-qcn", 1.00, 1.25, 0.77, 0.99, 1.24),
    ("qcn-adaptive", 1.04, 1.17, 0.92, 1.05, 1.23),
)


@pytest.mark.parametrize(("scheme", "halved", "extra", "scatter", "both", "more"), MECHANISMS)
def test_each_mechanism_moves_the_border(
    scheme: str, halved: float, extra: float, scatter: float, both: float, more: float
) -> None:
    cases = ((0.01, False), (0.01, True), (2_000, False), (2_000, True), (4_000, True))
    found = [_border_s(scheme, deviation, extra=on) / _border_s(scheme) for deviation, on in cases]
    assert found == pytest.approx([halved, extra, scatter, both, more], abs=0.006)


@pytest.mark.science
@pytest.mark.parametrize("scheme", FAMILY)
def test_packets_swing_beyond_the_border_with_scatter(scheme: str) -> None:
    """The deviation of Fb is that of packets with a third of the border's delay, where they are calm."""
    calm = _packets(scheme, 0.3 * _border_s(scheme))
    border_s = _border_s(scheme, deviation_octets(calm))
    least = _std_octets(_packets(scheme, 0.6 * _border_s(scheme)))
    assert _std_octets(_packets(scheme, 0.85 * border_s)) < 2 * least
    assert _std_octets(_packets(scheme, 1.15 * border_s)) > 2.5 * least


@pytest.mark.science
def test_a_quarter_of_the_samples_speaks_in_packets_and_in_the_model() -> None:
    calm = _packets("qcn-bs", 0.3 * _border_s("qcn-bs"))
    totals = calm.summary["totals"]
    speaking = totals["feedback_frames"] / totals["frames_delivered"] * 100
    assert Scattered(_qcn_model("qcn-bs"), deviation_octets(calm)).speaking() == pytest.approx(speaking, rel=0.1)
    # The averaged model has a message for each sample; without a swing packets stay calm beyond its border.
    assert speaking < 0.35
    assert _std_octets(_packets("qcn-bs", 1.15 * _border_s("qcn-bs"))) < 1.6 * _std_octets(calm)


@pytest.mark.science
def test_dctcps_window_is_what_annulus_has_beside_qcn_bs() -> None:
    beyond_s = 1.1 * _border_s("annulus")
    assert _std_octets(_packets("annulus", beyond_s)) > 2 * _std_octets(_packets("qcn-bs", beyond_s))
    alone = _packets("annulus", beyond_s, end_to_end="none")
    assert _std_octets(alone) == pytest.approx(_std_octets(_packets("qcn-bs", beyond_s)), rel=0.1)


# DCQCN with a window: few frames between two notifications, and an oscillation that the window bounds.


def _windowed(flows: int, frame: int, window_s: float) -> Scenario:
    scenario = _scenario("dcqcn-window", flows, f"{frame} octets", window_time=f"{window_s * 1e6:.2f} us")
    return scenario.set("topology.star.buffer", "4 MB").set("duration", "60 ms").set("warmup", "30 ms")


def _window_border_s(flows: int, frame: int) -> float:
    """Return the longest window that binds at the fluid's equilibrium, s: a round trip less half a frame of a flow."""
    model = model_of(configuration(_windowed(flows, frame, 1e-3)))
    queue, rate, *_ = model.state_at_rest()
    return float(model.base_s + queue * 8 / 10e9 - 8 * frame / 2 / rate)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("flows", "frame"), [(16, 1500), (8, 300)])
def test_the_fluid_loses_its_margin_where_the_window_ceases_to_bind(flows: int, frame: int) -> None:
    border_s = _window_border_s(flows, frame)
    assert _delay_margin_s(model_of(configuration(_windowed(flows, frame, 0.99 * border_s)))) > 0
    assert _delay_margin_s(model_of(configuration(_windowed(flows, frame, 1.01 * border_s)))) < 0


@pytest.mark.parametrize(("flows", "frame"), [(8, 300), pytest.param(4, 300, marks=pytest.mark.science)])
def test_with_frames_enough_packets_swing_from_the_fluids_window_on(flows: int, frame: int) -> None:
    border_s = _window_border_s(flows, frame)
    calm, before, beyond = (
        _std_octets(_windowed(flows, frame, share * border_s).run(seed=1)) for share in (0.8, 0.9, 1.1)
    )
    assert before < 1.5 * calm
    assert beyond > 2.5 * calm


@pytest.mark.science
def test_with_few_frames_the_queue_is_longer_and_the_border_follows_it() -> None:
    # 2.6 frames of a flow in an interval between notifications.
    border_s = _window_border_s(16, 1500)
    result = _windowed(16, 1500, 0.9 * border_s).run(seed=1)
    queue = max(queue["mean_octets"] for queue in result.summary["queues"])
    own_s = border_s + (queue - float(model_of(configuration(_windowed(16, 1500, 1e-3))).state_at_rest()[0])) * 8 / 10e9
    assert 1.1 < own_s / border_s < 1.2
    calm, at_the_fluids, before, beyond = (
        _std_octets(_windowed(16, 1500, window_s).run(seed=1))
        for window_s in (0.8 * border_s, 1.05 * border_s, 0.95 * own_s, 1.1 * own_s)
    )
    assert max(at_the_fluids, before) < 1.5 * calm
    assert beyond > 2 * calm
