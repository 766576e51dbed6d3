"""Statistics of the bursts in a list of flows, beside the closed forms for the keys of [[burst]].

    python tools/burst_statistics.py scenarios/loads/bursts.toml

reads the flows that a scenario lays out. It shares no code with the generator: a burst is found again from starts and
destinations alone, as flows to one host with a silence before and after.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, curve_fit

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bursts:
    """The bursts at one receiver, in the order of their starts.

    When each begins, s, its octets, its senders, and the time from its first sender's start to its last one's, s.
    """

    start_s: Floats
    octets: Floats
    degree: Floats
    spread_s: Floats


def bursts(flows: Iterable[Mapping[str, Any]], silence_s: float) -> dict[str, Bursts]:
    """Return the bursts at each receiver: flows that begin no more than ``silence_s`` after the one before.

    ``flows`` have ``start_s``, ``size_octets``, ``source`` and ``destinations``, as in ``Scenario.describe()``
    and in the table of completions.
    """
    arrivals: dict[str, list[tuple[float, float]]] = {}
    for flow in flows:
        arrivals.setdefault(flow["destinations"][0], []).append((flow["start_s"], flow["size_octets"]))
    found = {}
    # In the order of their numbers: h2 before h10.
    for host, pairs in sorted(arrivals.items(), key=lambda item: (len(item[0]), item[0])):
        start, octets = np.array(sorted(pairs)).T
        first = np.flatnonzero(np.diff(start, prepend=-np.inf) > silence_s)
        last = np.append(first[1:], len(start)) - 1
        found[host] = Bursts(
            start[first].astype(np.float64),
            np.add.reduceat(octets, first).astype(np.float64),
            (last - first + 1.0).astype(np.float64),
            (start[last] - start[first]).astype(np.float64),
        )
    return found


def counts(starts_s: Floats, window_s: float, begin_s: float, end_s: float) -> Floats:
    """Return how many bursts begin in each whole window from ``begin_s`` to ``end_s``."""
    windows = int((end_s - begin_s) / window_s + 1e-9)
    edges = begin_s + window_s * np.arange(windows + 1)
    return np.histogram(starts_s, edges)[0].astype(float)


def dispersion(starts_s: Floats, window_s: float, begin_s: float, end_s: float) -> float:
    """Return the index of dispersion of counts: variance over mean of the bursts in windows of this length."""
    number = counts(starts_s, window_s, begin_s, end_s)
    return float(number.var(ddof=1) / number.mean())


def expected_dispersion(window_s: Floats, cluster: float, gap_s: float) -> Floats:
    """Return the index of dispersion of clusters of geometric size with exponential gaps, which begin at random.

    After a burst, the density of more bursts of its cluster is ``q / gap exp(-u / (gap cluster))`` at a time
    ``u`` later, with ``q = 1 - 1 / cluster``. The index is 1 and twice the integral of that times ``1 - u / window``
    from 0 to the window.
    """
    x = window_s / (gap_s * cluster) if gap_s else np.full_like(window_s, np.inf)
    return 1 + 2 * (cluster - 1) * (1 + np.expm1(-x) / x)


def expected_count_correlation(
    window_s: float, receivers: int, correlation: float, cluster: float, gap_s: float
) -> float:
    """Return the correlation of the numbers of bursts of two of the receivers at a switch in the same window.

    Each of them has its own clusters, and a burst reaches each other receiver with the probability ``correlation``. Let
    clusters have an index ``1 + j``. For one burst on average, a receiver with the probability p has the variance
    ``p + p² j``, and two with p and q the covariance ``p q (1 + j)``.
    """
    more = float(expected_dispersion(np.array(window_s), cluster, gap_s)) - 1
    together = 2 * correlation + (receivers - 2) * correlation**2
    alone = 1 + (receivers - 1) * correlation + (1 + (receivers - 1) * correlation**2) * more
    return (1 + more) * together / alone


def found_correlation(of: Sequence[Bursts], tolerance_s: float) -> float:
    """Return the key ``correlation`` that follows from the bursts of one receiver that begin with one of another.

    That share is ``(2 c + (k - 2) c²) / (1 + (k - 1) c)`` among ``k`` receivers at a switch.
    """
    shared, all_of = 0.0, 0
    for one in of:
        for other in of:
            if one is not other:
                at = np.searchsorted(other.start_s, one.start_s - tolerance_s)
                near = other.start_s[np.minimum(at, len(other.start_s) - 1)]
                shared += float((np.abs(near - one.start_s) <= tolerance_s).sum())
                all_of += len(one.start_s)
    k = len(of)
    share = shared / all_of
    return float(brentq(lambda c: (2 * c + (k - 2) * c * c) / (1 + (k - 1) * c) - share, 0, 1)) if share < 1 else 1.0


def found_cluster(index: Floats, windows_s: Floats) -> tuple[float, float]:
    """Return the mean bursts of a cluster and the mean gap, s, of the curve closest to an index of dispersion.

    Where there are no clusters, the first is 1 and the second means nothing.
    """
    bounds = ([1.0, windows_s[0] / 100], [1e3, windows_s[-1] * 10])
    start = (max(1.5, (index[-1] + 1) / 2), float(np.median(windows_s)) / 3)
    (cluster, gap), _ = curve_fit(expected_dispersion, windows_s, index, p0=start, bounds=bounds, sigma=index)
    return float(cluster), float(gap)


def batches(
    of: Sequence[Bursts],
    begin_s: float,
    end_s: float,
    number: int,
    measure: Callable[[Sequence[Floats], float, float], Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return mean and standard error of a measure of starts over equal, consecutive spans of time (batch means)."""
    edges = np.linspace(begin_s, end_s, number + 1)
    values = np.array([measure([one.start_s for one in of], low, high) for low, high in pairwise(edges)])
    return values.mean(0), values.std(0, ddof=1) / np.sqrt(number)


@dataclass(frozen=True)
class SampledBursts:
    """The bursts that a host sees in samples of its line.

    The length of each in samples, its octets, and how many there are a second.
    """

    samples: Floats
    octets: Floats
    per_s: float


def sampled(throughput_bps: Floats, line_bps: float, sample_s: float) -> SampledBursts:
    """Return the bursts as Millisampler counts them: consecutive samples above half the line rate.

    (Ghabashneh and others: A Microscopic View of Bursts, Buffer Contention, and Loss in Data Centers, IMC 2022)
    """
    above = np.concatenate(([False], throughput_bps > line_bps / 2, [False]))
    begin, end = np.flatnonzero(~above[:-1] & above[1:]), np.flatnonzero(above[:-1] & ~above[1:])
    sums = np.concatenate(([0.0], np.cumsum(throughput_bps) * sample_s / 8))
    return SampledBursts(
        (end - begin).astype(float), sums[end] - sums[begin], len(begin) / (len(throughput_bps) * sample_s)
    )


def main(path: str) -> int:
    """Prints the statistics of a scenario's flows."""
    from penstock import Scenario

    description = Scenario.load(path).describe()
    end_s = max(flow["start_s"] or 0.0 for flow in description["flows"])
    found = bursts(description["flows"], 1e-3)
    print("receiver  bursts  octets (mean)  senders (mean)  spread (mean, us)  index of dispersion over 1, 10, 100 ms")
    for host, of in found.items():
        index = [
            dispersion(of.start_s, window, 0, end_s) if end_s > 3 * window else np.nan for window in (1e-3, 1e-2, 1e-1)
        ]
        print(
            f"{host:8}  {len(of.start_s):6}  {of.octets.mean():13.0f}  {of.degree.mean():14.2f}"
            f"  {of.spread_s.mean() * 1e6:17.2f}  {', '.join(f'{one:.2f}' for one in index)}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
