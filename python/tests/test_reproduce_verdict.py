"""How claims are decided: seeds combined, bounds, counts compared, orders; every number computed by hand."""

import math

import numpy as np
import pytest

from penstock.metrics.samples import distribution, wasserstein
from penstock.reproduction.verdict import (
    DIFFERS,
    HOLDS,
    Bound,
    CombinedValue,
    Consistent,
    Ordered,
    Within,
    combine,
    fisher,
    wilson,
)


def one(value: float) -> list[CombinedValue]:
    return [CombinedValue(value, 1, value, value, None)]


@pytest.mark.parametrize(
    ("bound", "value", "missed"),
    [
        (Bound(at_least=0.8), 0.8, 0.0),
        (Bound(at_least=0.8), 0.5, -0.3),
        (Bound(at_most=2.0), 2.5, 0.5),
        (Bound(1.0, 2.0), 1.5, 0.0),
        (Bound(1.0, 2.0), 0.0, -1.0),
    ],
)
def test_a_bound_says_by_how_much_it_is_missed(bound: Bound, value: float, missed: float) -> None:
    assert bound.misses_by(value) == pytest.approx(missed)


def test_nan_keeps_to_no_bound() -> None:
    assert Within(Bound(at_least=0.0)).judge(one(math.nan)).verdict == DIFFERS
    assert combine([math.nan, 1.0], "share", Bound(at_least=0.0)).good == 1
    both = combine([math.nan, 1.0, 2.0], "median")
    assert math.isnan(both.value) and both.seeds == 3, "one ratio to nothing: the median of the others says little"
    assert Within(Bound(at_least=0.0)).judge([both]).verdict == DIFFERS


def test_an_infinite_value_has_a_mean_and_no_deviation() -> None:
    spread = combine([1.0, math.inf], "mean")
    assert (spread.value, spread.high, spread.std) == (math.inf, math.inf, None)


def test_a_claim_that_differs_says_by_how_much() -> None:
    judgement = Within(Bound(at_least=0.8)).judge(one(0.6))
    assert judgement.verdict == DIFFERS
    assert judgement.why == "0.2 below 0.8 (25.0% of it)"
    assert Within(Bound(at_least=0.8)).judge(one(0.8)).verdict == HOLDS


def test_seeds_combined() -> None:
    values = [1.0, 2.0, 6.0]
    # Deviations from 3 are -2, -1, 3: a sum of squares of 14, over 2.
    mean = combine(values, "mean")
    assert (mean.value, mean.seeds, mean.low, mean.high) == (3.0, 3, 1.0, 6.0)
    assert mean.std == pytest.approx(math.sqrt(7))
    assert combine(values, "median").value == 2.0
    assert (combine(values, "min").value, combine(values, "max").value) == (1.0, 6.0)
    share = combine(values, "share", Bound(at_least=2.0))
    assert (share.good, share.seeds) == (2, 3)
    assert share.value == pytest.approx(2 / 3)
    assert combine([5.0], "mean").std is None
    for over in ("mean", "median", "min", "max"):
        assert math.isnan(combine([1.0, math.nan, 2.0], over).value), "a ratio to nothing leaves no number"
    with pytest.raises(ValueError, match="bound"):
        combine(values, "share")


def test_the_interval_of_a_count() -> None:
    # Wilson's interval for 7 of 20 with z = 1.96: centre (0.35 + 3.8416/40) / (1 + 3.8416/20) = 0.37418,
    # half width 1.96 / 1.19208 * sqrt(0.35 * 0.65 / 20 + 3.8416 / 1600) = 0.19299.
    assert wilson(7, 20) == pytest.approx((0.1812, 0.5672), abs=2e-4)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == 1.0


def test_two_counts_compared() -> None:
    # Fisher's tea: 3 of 4 and 1 of 4. Tables with the same margins: C(4,k) C(4,4-k) / C(8,4) = 1, 16, 36, 16, 1 of 70;
    # those no likelier than 16 sum to 34.
    assert fisher(3, 4, 1, 4) == pytest.approx(34 / 70)
    assert fisher(4, 4, 0, 4) == pytest.approx(2 / 70)
    test = Consistent(7, 20, 0.05)
    assert test.judge([combine([1.0] * 14 + [0.0] * 26, "share", Bound(at_least=0.8))]).verdict == HOLDS
    differs = test.judge([combine([1.0] * 40, "share", Bound(at_least=0.8))])
    assert differs.verdict == DIFFERS
    assert differs.why.startswith("100% of seeds, not 35%")


def test_an_order() -> None:
    assert Ordered(1.0).judge([*one(1), *one(2), *one(3)]).verdict == HOLDS
    assert Ordered(1.0).judge([*one(1), *one(1)]).verdict == DIFFERS
    assert Ordered(1.5).judge([*one(2), *one(3)]).verdict == HOLDS
    assert Ordered(1.6).judge([*one(2), *one(3)]).verdict == DIFFERS


def test_distance_of_distributions() -> None:
    # All mass moves by 3 frames; half of the mass moves by 4.
    assert wasserstein(np.array([1, 2]), np.array([4, 5])) == 3.0
    assert wasserstein(np.array([0, 0]), np.array([0, 4])) == 2.0
    # Samples of different size: {0, 1} against {0, 0, 1, 1} are one distribution.
    assert wasserstein(np.array([0, 1]), np.array([0, 0, 1, 1])) == 0.0


def test_a_distribution_function() -> None:
    values, shares = distribution(np.array([2, 1, 2, 4]))
    assert values.tolist() == [1, 2, 4]
    assert shares.tolist() == [0.25, 0.75, 1.0]
