"""Bursts of a scenario, found again by a program that shares no code with their generator.

What is found lies within four standard errors of what the keys say. The error is computed from the flows themselves,
over batches of time, or is that of a known distribution. Distributions pass a test
at a level of 0.001.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from burst_statistics import (
    Bursts,
    Floats,
    batches,
    bursts,
    counts,
    dispersion,
    expected_count_correlation,
    expected_dispersion,
    found_cluster,
    found_correlation,
    sampled,
)
from scipy import stats

from penstock import Scenario

DURATION_S = 60.0
SPREAD_S = 2e-6

FABRIC = f"""question = "Are these the bursts that were asked for?"
duration = "{DURATION_S:g} s"
scheme = "none"
record.interval = "1 s"
[topology.leaf-spine]
leaves = 3
spines = 1
hosts_per_leaf = 4
host_rate = "10 Gbps"
fabric_rate = "40 Gbps"
buffer = "1 MB"
[[burst]]
"""


def found(keys: str) -> list[Bursts]:
    """Return the bursts at each receiver that a scenario lays out."""
    flows = Scenario.from_toml(FABRIC + keys).describe()["flows"]
    return list(bursts(flows, SPREAD_S).values())


def off(values: Floats, expected: float) -> float:
    """Return how many standard errors the mean of independent values lies from what is expected."""
    return float((values.mean() - expected) / (values.std(ddof=1) / np.sqrt(len(values))))


def pooled(of: list[Bursts], field: str) -> Floats:
    """Return a field of the bursts of all receivers."""
    return np.concatenate([getattr(one, field) for one in of])


def test_size_degree_spread_and_gaps_are_found_again() -> None:
    of = found(
        'to = "h0..h3"\nsize = { exponential = { mean = "200 KB" } }\ndegree = { minimum = 3, maximum = 9 }\n'
        f'spread = "{SPREAD_S * 1e6:g} us"\nevery = "50 ms"\n'
    )
    assert len(of) == 4
    # Two bursts within the spread pass for one: at 20 a second 4e-5 of them do, far below what chance does.
    octets, degree = pooled(of, "octets"), pooled(of, "degree")
    assert abs(off(octets, 200_000)) < 4
    assert stats.kstest(octets, "expon", args=(0, 200_000)).pvalue > 0.001
    senders = np.bincount(degree.astype(int), minlength=10)[3:10]
    assert abs(off(degree, 6)) < 4 and stats.chisquare(senders).pvalue > 0.001
    # From the first of n uniform starts to the last is (n - 1) / (n + 1) of the spread on average.
    assert abs(off(pooled(of, "spread_s") * (degree + 1) / (degree - 1), SPREAD_S)) < 4
    for one in of:
        gaps = np.diff(one.start_s)
        assert abs(off(gaps, 0.05)) < 4 and stats.kstest(gaps, "expon", args=(0, 0.05)).pvalue > 0.001
        # Without clusters counts are those of a Poisson process: an index of 1, whose error is sqrt(2 / n).
        number = len(counts(one.start_s, 0.5, 0, DURATION_S))
        assert abs(dispersion(one.start_s, 0.5, 0, DURATION_S) - 1) < 4 * np.sqrt(2 / number)


def test_sizes_from_a_lognormal_distribution_are_found_again() -> None:
    """Half the logarithms are below that of the median; with a maximum at 1.5 deviations Φ(1.5) of all are left."""
    of = found(
        'to = "h0..h3"\ndegree = 1\nevery = "50 ms"\n'
        'size = { lognormal = { median = "200 KB", sigma = 0.8, maximum = "664023 octets" } }\n'
    )
    logs = np.log(pooled(of, "octets") / 200_000) / 0.8
    assert logs.max() <= 1.5
    assert stats.kstest(logs, stats.truncnorm(-np.inf, 1.5).cdf).pvalue > 0.001
    assert stats.kstest(logs, stats.norm().cdf).pvalue < 0.001, "the bound shows"


@pytest.mark.parametrize(
    "size", ['{ pareto = { shape = 1.5, minimum = "10 KB", maximum = "10 MB" } }', '{ workload = "hadoop" }']
)
def test_a_load_follows_from_every_distribution(size: str) -> None:
    of = found(f'size = {size}\ndegree = 5\nload = 0.002\ncluster = 3.0\ngap = "2 ms"\ncorrelation = 0.4\n')

    def load(starts: Sequence[Floats], low: float, high: float) -> float:
        sums = [one.octets[(one.start_s >= low) & (one.start_s < high)].sum() for one in of]
        return float(np.sum(sums) * 8 / (len(of) * 10e9 * (high - low)))

    mean, error = batches(of, 0, DURATION_S, 20, load)
    assert abs(mean - 0.002) < 4 * error, (mean, error)


@pytest.mark.parametrize(("cluster", "gap_s"), [(2.0, 2e-3), (4.0, 1e-3), (8.0, 2e-3)])
def test_clusters_are_found_again_and_have_the_dispersion_of_the_formula(cluster: float, gap_s: float) -> None:
    of = found(f'size = "1 KB"\ndegree = 1\nevery = "20 ms"\ncluster = {cluster}\ngap = "{gap_s * 1e3:g} ms"\n')
    assert len(of) == 12
    windows = np.array([1e-3, 3e-3, 1e-2, 3e-2, 1e-1])

    def index(starts: Sequence[Floats], low: float, high: float) -> Floats:
        rows = [[dispersion(one, window, low, high) for window in windows] for one in starts]
        return np.asarray(np.mean(rows, 0), np.float64)

    # Receivers are independent: each is a sample of the index over the whole run.
    own = np.array([[dispersion(one.start_s, window, 0, DURATION_S) for window in windows] for one in of])
    error = own.std(0, ddof=1) / np.sqrt(len(of))
    expected = expected_dispersion(windows, cluster, gap_s)
    assert (np.abs(own.mean(0) - expected) < 4 * error).all(), (own.mean(0), expected, error)
    # And what the keys say, from the flows alone: the best curve, and its error by leaving out a receiver at a time.
    whole = np.array(found_cluster(own.mean(0), windows))
    left = np.array([found_cluster(np.delete(own, i, 0).mean(0), windows) for i in range(len(of))])
    jackknife = np.sqrt((len(of) - 1) * left.var(0))
    assert (np.abs(whole - [cluster, gap_s]) < 4 * jackknife).all(), (whole, jackknife)
    assert (jackknife < [0.2 * cluster, 0.3 * gap_s]).all(), "the test can see a wrong key"
    # The process is stationary from its start: the first 50 ms have as many bursts as any others.
    early = sum((one.start_s < 0.05).sum() for one in of)
    mean = 12 * 0.05 / 0.02
    assert abs(early - mean) < 4 * np.sqrt(mean * (2 * cluster - 1))


@pytest.mark.parametrize(("correlation", "cluster"), [(0.25, 1.0), (0.6, 1.0), (0.3, 4.0), (1.0, 2.0)])
def test_receivers_of_a_rack_are_correlated_as_asked(correlation: float, cluster: float) -> None:
    gap = 'gap = "1 ms"\n' if cluster > 1 else ""
    of = found(f'size = "1 KB"\ndegree = 1\nevery = "20 ms"\ncorrelation = {correlation}\ncluster = {cluster}\n{gap}')
    racks = [of[0:4], of[4:8], of[8:12]] if len(of) == 12 else []
    assert racks
    window = 1e-2

    def pairs(starts: Sequence[Floats], low: float, high: float) -> Floats:
        matrix = np.corrcoef([counts(one, window, low, high) for one in starts])
        same = [matrix[4 * r + i, 4 * r + j] for r in range(3) for i in range(4) for j in range(i)]
        apart = [matrix[i, j] for i in range(12) for j in range(i) if i // 4 != j // 4]
        return np.array([np.mean(same), np.mean(apart)])

    mean, error = batches(of, 0, DURATION_S, 20, pairs)
    expected = expected_count_correlation(window, 4, correlation, cluster, 1e-3)
    assert abs(mean[0] - expected) < 4 * error[0] + 1e-9, (mean, expected, error)
    assert abs(mean[1]) < 4 * error[1], "racks are independent of each other"
    # The key itself, from how many bursts of one begin with one of another: over racks and spans of time.
    spans = np.linspace(0, DURATION_S, 5)
    cut = [
        [Bursts(*(np.asarray(f)[(one.start_s >= a) & (one.start_s < b)] for f in vars(one).values())) for one in rack]
        for rack in racks
        for a, b in pairwise(spans)
    ]
    values = np.array([found_correlation(one, 1e-9) for one in cut])
    assert abs(values.mean() - correlation) < 4 * values.std(ddof=1) / np.sqrt(len(values)) + 1e-9, values


def test_samples_of_a_line_show_bursts_as_millisampler_counts_them() -> None:
    # At 10 Gb/s: 60 % and 100 % in a row, silence, exactly half (not above), and a last one at the end of the samples.
    seen = sampled(np.array([0, 6e9, 10e9, 0, 5e9, 0, 8e9]), 10e9, 1e-3)
    assert seen.samples.tolist() == [2, 1]
    # 6 Mbit and 10 Mbit are 2 MB; 8 Mbit are 1 MB. Two bursts in 7 ms.
    assert seen.octets.tolist() == pytest.approx([2e6, 1e6])
    assert seen.per_s == pytest.approx(2 / 7e-3)


def test_a_host_sees_the_bursts_of_the_scenario_as_two_samples_each() -> None:
    """2 ms of the line that begin anywhere fill one sample and above half of another: a burst alone is two samples."""
    result = Scenario.named("loads/bursts").run()
    queue, use = result.column("queues", "queue"), result.column("queues", "utilization")
    seen = [sampled(use[queue == f"leaf0->h{host}"] * 10e9, 10e9, 1e-3) for host in range(8)]
    lengths = np.concatenate([one.samples for one in seen])
    # Bursts that overlap, and frames that are sent again, make longer ones; none is shorter.
    assert lengths.min() == 2 == np.median(lengths)
    assert np.median(np.concatenate([one.octets for one in seen])) == pytest.approx(2.5e6, rel=0.1)
