"""Linear systems with delay: the criterion against simulation, other criteria, textbook cases and the literature."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import dcqcn_appendix
import numpy as np
import pytest

from penstock import Scenario
from penstock.theory.configuration import configuration
from penstock.theory.delay_integrator import solve
from penstock.theory.linear_stability import (
    DelaySystem,
    loop_margins,
    margins,
    polynomials,
    rightmost_roots,
    roots,
    stable_delays_s,
)
from penstock.theory.linearisation import linearise
from penstock.theory.models import model_of

ROOT = Path(__file__).parents[2]


def is_single_loop(system: DelaySystem) -> bool:
    """Whether det(s I - A - B z) is linear in z, as `margins` takes it."""
    _, q = polynomials(system)
    _, doubled = polynomials(DelaySystem(system.instant, 2 * system.delayed, system.delay_s))
    scale = np.abs(np.linalg.norm(system.instant, axis=(-2, -1)) + np.linalg.norm(system.delayed, axis=(-2, -1)))
    powers = scale[..., None] ** np.arange(system.instant.shape[-1], -1, -1)
    return bool(np.all(np.abs(doubled - 2 * q) <= 1e-9 * powers))


def _random(rng: np.random.Generator) -> DelaySystem:
    """A system of two to four states with one signal fed back; some are stable and some are not."""
    n = int(rng.integers(2, 5))
    instant = rng.normal(size=(n, n)) - 1.2 * np.eye(n)
    delayed = 1.5 * np.outer(rng.normal(size=n), rng.normal(size=n))
    return DelaySystem(instant, delayed, float(rng.uniform(0.05, 3.0)))


def _growth(system: DelaySystem, root: complex, laps: float) -> float:
    """How fast the state grows, 1/s, as integrated over ``laps`` e-foldings of its first root."""
    tau = float(np.asarray(system.delay_s))
    stop = laps / abs(root.real) + 2 * tau
    fastest = float(np.linalg.norm(system.instant) + np.linalg.norm(system.delayed))
    step = min(0.2 / fastest, tau / 2, stop / 50)
    start = np.ones(len(system.instant))
    history = solve(lambda _, y, past: system.instant @ y + system.delayed @ past[0], [tau], start, 0.0, stop, step)
    times, sizes = np.array(history.time_s), np.array([np.abs(state).max() for state in history.states])
    # The largest value over a period at half of the time and at its end.
    period = min(2 * np.pi / max(abs(root.imag), 1e-9), stop / 8)

    def size(at: float) -> float:
        return float(sizes[(times > at - period) & (times <= at)].max())

    return float(np.log(size(stop) / size(0.6 * stop)) / (0.4 * stop))


@pytest.mark.science
def test_random_systems_grow_or_decay_in_simulation_as_margins_say() -> None:
    rng = np.random.default_rng(6)
    seen = {True: 0, False: 0}
    while min(seen.values()) < 8:
        system = _random(rng)
        found = margins(system)
        root = rightmost_roots(system)[0]
        # Nearer to the border integration would take long; the next test goes there by other means.
        if not 0.05 < abs(root.real) < 3 or seen[bool(found.stable)] >= 8:
            continue
        seen[bool(found.stable)] += 1
        growth = _growth(system, root, 8.0)
        assert (growth < 0) == bool(found.stable)
        assert (found.phase_rad > 0) == bool(found.stable)
        # Other roots, and the period, still show in so short a run.
        assert growth == pytest.approx(root.real, rel=0.25, abs=0.1)


@pytest.mark.science
def test_the_count_of_roots_agrees_with_the_discretised_generator() -> None:
    rng = np.random.default_rng(1)
    verdicts = []
    for _ in range(60):
        system = _random(rng)
        assert is_single_loop(system)
        first = rightmost_roots(system, count=1, points=40)[0]
        verdicts.append(bool(margins(system).stable))
        assert verdicts[-1] == bool(first.real < 0)
        # The root is one of the characteristic function, not of a discretisation.
        size = (abs(first) + np.linalg.norm(system.instant) + np.linalg.norm(system.delayed)) ** len(system.instant)
        assert abs(system.characteristic(first)) < 1e-8 * size
    assert {True, False} == set(verdicts)


@pytest.mark.science
def test_at_the_delay_margin_a_root_is_on_the_axis_and_beyond_it_to_the_right() -> None:
    rng = np.random.default_rng(2)
    checked = 0
    while checked < 15:
        system = _random(rng)
        found = margins(system)
        if not np.isfinite(found.delay_s):
            continue
        checked += 1
        border = float(np.asarray(system.delay_s)) + float(found.delay_s)
        for factor, sign in ((1 - 1e-3, -1), (1.0, 0), (1 + 1e-3, 1)):
            near = DelaySystem(system.instant, system.delayed, border * factor)
            first = rightmost_roots(near, count=1, points=40)[0].real
            assert abs(first) < 1e-6 if sign == 0 else first * sign > 0


def test_textbook_loop() -> None:
    # x' = -k x(t - tau) is stable for k tau < pi/2; |L| = k/w is 1 at w = k, the phase margin pi/2 - k tau.
    k, tau = 2.0, 0.3
    found = margins(DelaySystem(np.array([[0.0]]), np.array([[-k]]), tau))
    assert found.stable
    assert found.phase_rad == pytest.approx(np.pi / 2 - k * tau)
    assert found.delay_s == pytest.approx(np.pi / 2 / k - tau)
    assert found.crossing_rad_s == pytest.approx(k)
    late = margins(DelaySystem(np.array([[0.0]]), np.array([[-k]]), 1.0))
    assert not late.stable
    assert late.phase_rad == pytest.approx(np.pi / 2 - k)
    assert late.delay_s == pytest.approx(np.pi / 2 / k - 1.0)


def test_delay_that_stabilises_is_seen() -> None:
    # x'' - 0.1 x' + x = 0.5 x(t - tau) oscillates by itself; some delays calm it, others do not.
    instant, delayed = np.array([[0.0, 1.0], [-1.0, 0.1]]), np.array([[0.0, 0.0], [0.5, 0.0]])
    verdicts = [bool(margins(DelaySystem(instant, delayed, tau)).stable) for tau in (0.01, 2.0, 6.0)]
    first = [rightmost_roots(DelaySystem(instant, delayed, tau))[0].real < 0 for tau in (0.01, 2.0, 6.0)]
    assert verdicts == first
    assert verdicts == [False, True, False]


@pytest.mark.parametrize("late", [1.0, 20.0, 500.0])
def test_margins_of_an_unstable_loop_do_not_wrap(late: float) -> None:
    # The textbook loop again, as many turns behind as one likes.
    found = margins(DelaySystem(np.array([[0.0]]), np.array([[-2.0]]), late))
    assert found.phase_rad == pytest.approx(np.pi / 2 - 2 * late)
    assert found.delay_s == pytest.approx(np.pi / 4 - late)


@pytest.mark.science
def test_windows_of_stability() -> None:
    # x'' + 0.1 x' + x = -0.3 x(t - tau): stable without delay, then in windows, which its first root sees too.
    instant, delayed = np.array([[0.0, 1.0], [-1.0, -0.1]]), np.array([[0.0, 0.0], [-0.3, 0.0]])
    spans = stable_delays_s(DelaySystem(instant, delayed, 0.0))
    assert len(spans) >= 2
    assert spans[0][0] == 0
    delays = np.linspace(0.01, spans[-1][1] * 1.3, 80)
    for delay in delays:
        inside = any(start < delay < stop for start, stop in spans)
        system = DelaySystem(instant, delayed, float(delay))
        if min(abs(delay - end) for span in spans for end in span) > 0.02:
            assert inside == bool(rightmost_roots(system, count=1)[0].real < 0)
        assert bool(margins(system).stable) == inside
    # Far behind the last window the margin leads back to its end, however many turns that are.
    late = margins(DelaySystem(instant, delayed, 400.0))
    assert 400 + late.delay_s == pytest.approx(spans[-1][1])
    calm = stable_delays_s(DelaySystem(np.array([[-2.0]]), np.array([[-1.0]]), 5.0))
    assert calm == ((0.0, np.inf),)
    assert stable_delays_s(DelaySystem(np.array([[2.0]]), np.array([[-1.0]]), 5.0)) == ()


def test_loops_that_no_delay_and_no_phase_touches() -> None:
    calm = margins(DelaySystem(np.array([[-2.0]]), np.array([[-1.0]]), 5.0))
    assert calm.stable
    assert np.isinf(calm.phase_rad)
    assert np.isinf(calm.delay_s)
    assert np.isnan(calm.crossing_rad_s)
    hopeless = margins(DelaySystem(np.array([[2.0]]), np.array([[-1.0]]), 5.0))
    assert not hopeless.stable
    assert hopeless.delay_s == -np.inf


def test_arrays_of_systems_give_what_single_ones_give() -> None:
    rng = np.random.default_rng(3)
    instant = rng.normal(size=(4, 5, 3, 3)) - np.eye(3)
    delayed = rng.normal(size=(4, 5, 3, 1)) * rng.normal(size=(4, 5, 1, 3))
    delay = rng.uniform(0, 2, size=(4, 5))
    wide = margins(DelaySystem(instant, delayed, delay))
    for at in np.ndindex(4, 5):
        one = margins(DelaySystem(instant[at], delayed[at], delay[at]))
        assert one.stable == wide.stable[at]
        assert one.phase_rad == pytest.approx(wide.phase_rad[at], rel=1e-6)
        assert one.delay_s == pytest.approx(wide.delay_s[at], rel=1e-6)


def test_two_signals_fed_back_are_no_single_loop() -> None:
    assert not is_single_loop(DelaySystem(np.zeros((2, 2)), np.diag([-1.0, -2.0]), 0.1))


def test_roots_of_polynomials() -> None:
    rng = np.random.default_rng(4)
    wanted = rng.normal(size=(50, 4)) + 1j * rng.normal(size=(50, 4))
    coefficients = np.array([np.poly(row)[::-1] for row in wanted])
    found = roots(coefficients)
    for row, other in zip(wanted, found, strict=True):
        assert max(np.abs(other - root).min() for root in row) < 1e-8
    # Twice the same, and zero.
    assert np.sort(roots(np.array([0.0, 1.0, -2.0, 1.0])).real) == pytest.approx([0.0, 1.0, 1.0], abs=1e-6)


def test_polynomials_are_the_characteristic_function() -> None:
    rng = np.random.default_rng(5)
    system = _random(rng)
    p, q = polynomials(system)
    s = 0.3 + 1.7j
    value = np.polyval(p[::-1], s) + np.polyval(q[::-1], s) * np.exp(-s * system.delay_s)
    assert value == pytest.approx(complex(system.characteristic(s)))
    assert complex(system.loop(s)) == pytest.approx(
        np.polyval(q[::-1], s) / np.polyval(p[::-1], s) * np.exp(-s * system.delay_s)
    )


def test_jax_gives_the_same_margins() -> None:
    pytest.importorskip("jax")
    from penstock.theory.maps import backend

    xp = backend("jax")
    rng = np.random.default_rng(7)
    for _ in range(2):
        system = _random(rng)
        same = margins(
            DelaySystem(xp.asarray(system.instant), xp.asarray(system.delayed), xp.asarray(system.delay_s)), xp
        )
        plain = margins(system)
        assert bool(same.stable) == bool(plain.stable)
        assert float(same.phase_rad) == pytest.approx(float(plain.phase_rad), rel=1e-6)


def test_jax_draws_the_same_map() -> None:
    pytest.importorskip("jax")
    from penstock.theory import axes, maps

    scenario = Scenario.load(ROOT / "scenarios/baseline/ten-gig.toml")
    for scheme in ("qcn", "dcqcn"):
        x, y = axes.read("flows=2..20:5", scheme), axes.read("delay=20us..400us:5", scheme)
        plain, same = (
            maps.compute_map(scenario, x, y, "margin", scheme=scheme, xp=maps.backend(name)).values
            for name in ("numpy", "jax")
        )
        assert same == pytest.approx(plain, rel=1e-6, nan_ok=True)


def degrees_of_the_model(flows: int, delay_us: int) -> float:
    """The phase margin of DCQCN's model at 40 Gb/s with R_AI 40 Mb/s, Kmax 200 KB and Pmax 1 %."""
    base = configuration(Scenario.load(ROOT / "scenarios/baseline/ten-gig.toml"), scheme="dcqcn")
    parameters = {**base.parameters, "k_min": 5e3, "k_max": 200e3, "p_max": 0.01, "r_ai": 40e6, "g_inverse": 256.0}
    parameters |= {"cnp_interval": 50e-6, "alpha_time": 55e-6, "time_reset": 55e-6, "byte_reset": 10e6, "f": 5.0}
    given = replace(
        base,
        parameters=parameters,
        flows=flows,
        capacity_bps=40e9,
        link_bps=40e9,
        line_rate_bps=40e9,
        frame_octets=1000.0,
        wire_overhead_octets=0.0,
        buffer_octets=10e6,
        forward_delay_s=0.0,
        feedback_delay_s=delay_us * 1e-6,
    )
    system = linearise(model_of(given), 1)
    return float(np.degrees(margins(DelaySystem(system.instant, system.delayed, delay_us * 1e-6)).phase_rad))


def degrees_of_the_appendix(flows: int, delay_us: int, mended: frozenset[str]) -> float:
    p, q = dcqcn_appendix.loop(40, 200, flows, mended)
    return float(np.degrees(loop_margins(p, q, delay_us * 1e-6 * dcqcn_appendix.SPEED).phase_rad))


DCQCN_CASES = ((2, 50), (4, 50), (10, 50), (2, 100), (10, 100))
"""Flows and delays (us) of both tables of docs/explanation/theory/stability.md."""


def shown_on_the_page(flows: int, delay_us: int, columns: int) -> list[float]:
    """The numbers of a row of the table that has this number of columns."""
    text = (ROOT / "docs/explanation/theory/stability.md").read_text().replace("−", "-")
    (line,) = (
        line
        for line in text.splitlines()
        if line.startswith(f"| {flows}, {delay_us} µs |") and line.count("|") == columns + 1
    )
    return [float(cell) for cell in line.split("|")[2:-1]]


def test_the_page_of_stability_has_dcqcns_margins() -> None:
    # "ECN or Delay", section 3.2: at 85 us two flows are stable and ten are not.
    assert degrees_of_the_model(2, 85) > 0 > degrees_of_the_model(10, 85)
    for case in DCQCN_CASES:
        assert shown_on_the_page(*case, columns=3)[1] == pytest.approx(degrees_of_the_model(*case), abs=0.06)


# Phase margins in degrees behind figure 3 (a) and (b) of Zhu, Ghobadi, Misra and Padhye, "ECN or Delay: Lessons Learnt
# from Analysis of DCQCN and TIMELY", CoNEXT 2016, from the authors' files conext2016/figures/pm_rai40_delay*.txt and
# pm_rai10_delay50*.txt in github.com/jitupadhye-zz/rdma: 40 Gb/s, packets of 1000 octets, Kmin 5 KB, Pmax 1 %.
# (R_AI in Mb/s, Kmax in KB, delay in us, flows): margin
PUBLISHED = {
    (40, 200, 50, 2): 8.2626,
    (40, 200, 50, 10): -6.5844,
    (40, 200, 50, 20): -0.95129,
    (40, 200, 50, 64): 29.548,
    (40, 200, 100, 2): -10.099,
    (40, 200, 100, 10): -17.925,
    (40, 200, 100, 20): -11.536,
    (40, 200, 100, 64): 15.625,
    (10, 200, 50, 2): 39.145,
    (10, 200, 50, 10): 12.613,
    (10, 200, 50, 50): 12.16,
    (10, 1000, 50, 2): 62.877,
    (10, 1000, 50, 10): 53.724,
    (10, 1000, 50, 20): 24.264,
}


@pytest.mark.parametrize(("case", "degrees"), PUBLISHED.items())
def test_margins_that_the_authors_of_dcqcn_published(case: Any, degrees: float) -> None:
    r_ai_mbps, k_max, delay_us, flows = case
    p, q = dcqcn_appendix.loop(r_ai_mbps, k_max, flows)
    found = loop_margins(p, q, delay_us * 1e-6 * dcqcn_appendix.SPEED)
    assert float(np.degrees(found.phase_rad)) == pytest.approx(degrees, abs=0.05)


def test_the_changes_of_dcqcns_appendix_are_all_that_is_between_it_and_the_model() -> None:
    every = frozenset(dcqcn_appendix.CHANGES)
    rows = []
    for case in DCQCN_CASES:
        whole = degrees_of_the_appendix(*case, every)
        # All of them mended leave the model's own linearisation, by automatic differentiation.
        assert whole == pytest.approx(degrees_of_the_model(*case), abs=0.01)
        changes = [degrees_of_the_appendix(*case, every - {name}) - whole for name in dcqcn_appendix.CHANGES]
        rows.append([degrees_of_the_appendix(*case, frozenset()), *changes, whole])
        assert shown_on_the_page(*case, columns=10) == pytest.approx(rows[-1], abs=0.06)
    # The exchange alone is worth 13 to 20 degrees, the series 12 to 16.
    alone = {name: [abs(row[1 + k]) for row in rows] for k, name in enumerate(dcqcn_appendix.CHANGES)}
    assert min(alone["exchanged"]) > 10
    assert min(alone["series"]) > 10
    assert max(alone["news"]) < 0.1
