"""The linearisation of DCQCN in appendix A of "ECN or Delay" (CoNEXT 2016), and its repairs, one at a time.

The published margins are those of the appendix. It differs from the linearisation of the model above it in several
ways, each of which is a name here. `loop` takes the names of those that are mended: with none of them it is the
appendix, with all of them the model.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

CHANGES = {
    "exchanged": "terms of R_C that act at once and those that act a delay later are exchanged",
    "series": "powers of 1 - p are the first terms of their series, and so are their derivatives",
    "cube-root": "p* is that of the cube root, which holds for small p",
    "twice": "the increase A R_AI answers the rate at once and a delay later: it is counted twice",
    "decay": "alpha decays at g C/N, where the model has g/tau'",
    "timer": "cycles of the timer come more often to a source that is faster",
    "news": "that a faster source sees more marks raises its rate's alpha: left out",
}
"""The differences of the appendix from its model."""

PACKET_BITS = 8e3
CAPACITY = 40e9 / PACKET_BITS
BYTES, TIMER_S, CNP_S, ALPHA_S, G, STAGES = 10e6 * 8 / PACKET_BITS, 55e-6, 50e-6, 55e-6, 1 / 256, 5
SPEED = 1e4
"""Coefficients are in units of time of 1/SPEED s."""


@dataclass(frozen=True)
class Means:
    """Means a second, or derivatives of them: cuts, news of alpha, cycles, and cycles that raise the target."""

    cut: Any
    news: Any
    cycles: Any
    increase: Any


def exact(p: Any, rate: Any, timer_packets: Any) -> Means:
    """As the model has them; ``p`` and ``rate`` (packets/s) may be complex, for derivatives by a complex step."""
    kept = np.log(1 - p)
    with np.errstate(over="ignore"):
        by_bytes = rate * p / (np.exp(-kept * BYTES) - 1)
        by_time = rate * p / (np.exp(-kept * timer_packets) - 1)
    late = by_bytes * np.exp(kept * STAGES * BYTES) + by_time * np.exp(kept * STAGES * timer_packets)
    return Means((1 - np.exp(kept * CNP_S * rate)) / CNP_S, 1 - np.exp(kept * ALPHA_S * rate), by_bytes + by_time, late)


def first_terms(p: Any, rate: Any, timer_packets: Any) -> Means:
    """The first terms of their series; a cycle of the timer is given in packets."""
    a = 1 / BYTES + 1 / timer_packets
    return Means(
        p * rate,
        p * ALPHA_S * rate,
        a * rate - (1 + a / 2) * p * rate,
        a * rate - (1 + 2 * STAGES + a / 2) * p * rate,
    )


def mark_at_rest(r_ai: float, rate: float, cube_root: bool) -> float:
    """p*; with the cube root as the paper approximates it, else where the model's four equations are zero."""
    if cube_root:
        a = 1 / BYTES + 1 / (TIMER_S * rate)
        return float((r_ai / (ALPHA_S * rate**2) * a**2) ** (1 / 3))
    low, high = np.log(1e-12), np.log(0.999)
    for _ in range(100):
        middle = (low + high) / 2
        at = exact(np.exp(middle), rate, TIMER_S * rate)
        low, high = (low, middle) if rate * at.news * at.cut**2 > r_ai * at.increase * at.cycles else (middle, high)
    return float(np.exp((low + high) / 2))


def loop(r_ai_mbps: float, k_max_kb: float, flows: int, mended: frozenset[str] = frozenset()) -> tuple[Any, Any]:
    """P and Q of the characteristic function P + Q exp(-s tau), coefficients of rising powers, in time of 1/SPEED.

    Args:
        r_ai_mbps: R_AI, Mb/s.
        k_max_kb: Kmax, KB; Kmin is 5 KB, Pmax 1 %.
        flows: N.
        mended: keys of :data:`CHANGES`.
    """
    r_ai, rate = r_ai_mbps * 1e6 / PACKET_BITS, CAPACITY / flows
    p = mark_at_rest(r_ai, rate, "cube-root" not in mended)
    slope = 0.01 / (k_max_kb - 5) * flows
    rest = exact(p, rate, TIMER_S * rate)
    alpha, target = float(rest.news), rate + r_ai * float(rest.increase / rest.cut)

    def means(p: Any, now: Any) -> Means:
        of = exact if "series" in mended else first_terms
        return of(p, now, TIMER_S * (now if "timer" in mended else rate))

    def slopes(name: str) -> tuple[float, float, float]:
        """A mean at equilibrium, and its derivatives by p and by the rate."""
        tiny = 1e-30
        by_p, by_rate = means(p + 1j * tiny, rate + 0j), means(p + 0j, rate + 1j * tiny * rate)
        return (
            float(np.real(getattr(by_p, name))),
            float(np.imag(getattr(by_p, name)) / tiny),
            float(np.imag(getattr(by_rate, name)) / (tiny * rate)),
        )

    cut, cut_p, cut_r = slopes("cut")
    _, news_p, news_r = slopes("news")
    cycles, cycles_p, cycles_r = slopes("cycles")
    _, increase_p, increase_r = slopes("increase")
    decay = G / ALPHA_S
    gap = target - rate
    # The terms of R_C in its own equation, at once and a delay later.
    at_once, later = -alpha / 2 * cut - cycles / 2, -rate * alpha / 2 * cut_r + gap / 2 * cycles_r
    if "exchanged" not in mended:
        at_once, later = later, at_once
    # The terms of R_C in the equation of R_T.
    target_at_once, target_later = cut, -gap * cut_r + r_ai * increase_r
    if "twice" not in mended:
        target_at_once += r_ai * (1 / BYTES + 1 / (TIMER_S * rate))
    return _polynomials(
        at_once=at_once,
        later=later,
        by_queue=(-rate * alpha / 2 * cut_p + gap / 2 * cycles_p) * slope,
        by_target=cycles / 2,
        by_alpha=-rate / 2 * cut,
        target_at_once=target_at_once,
        target_later=target_later,
        target_by_queue=(-gap * cut_p + r_ai * increase_p) * slope,
        target_decay=cut,
        alpha_by_queue=decay * news_p * slope,
        alpha_later=decay * news_r if "news" in mended else 0.0,
        alpha_decay=decay if "decay" in mended else G * rate,
    )


def _polynomials(**of: float) -> tuple[Any, Any]:
    """P and Q from the coefficients: s times the equation of R_C, with R_T, alpha and the queue put in."""
    s = np.array([0.0, 1.0])
    fall, drift = np.array([of["alpha_decay"], 1.0]), np.array([of["target_decay"], 1.0])

    def product(factor: float, *factors: Any) -> Any:
        total = np.array([factor])
        for other in factors:
            total = np.polynomial.polynomial.polymul(total, other)
        return np.pad(total, (0, 5 - len(total)))

    q = -(
        product(of["by_queue"], fall, drift)
        + product(of["later"], fall, drift, s)
        + product(of["by_alpha"] * of["alpha_by_queue"], drift)
        + product(of["by_alpha"] * of["alpha_later"], drift, s)
        + product(of["by_target"] * of["target_later"], fall, s)
        + product(of["by_target"] * of["target_by_queue"], fall)
    )
    p = (
        product(1.0, fall, drift, s, s)
        - product(of["at_once"], fall, drift, s)
        - product(of["by_target"] * of["target_at_once"], s, fall)
    )
    powers = SPEED ** np.arange(4.0, -1.0, -1.0)
    return p / powers, q / powers
