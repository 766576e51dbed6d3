"""The golden model: numbers worked out by hand, and calls that do wrong."""

import pytest

from penstock import golden

pytestmark = pytest.mark.unit

LINE = 10_000_000_000
# In the middle of their range: cycles are neither longer nor shorter.
MIDDLE = [1 << 31, 1 << 31]


def end_byte_cycle(rate: golden.RateCalculator) -> None:
    """Send frames until the byte counter has ended a cycle."""
    stage = rate.byte_stage
    while rate.byte_stage == stage:
        rate.count(1500, MIDDLE)


def test_recovery_after_the_strongest_cut() -> None:
    """In bit/s, rounded down at each step: half of the rest to the target in each cycle of Fast Recovery."""
    rate = golden.RateCalculator(LINE, "profile = pan-10g")
    assert (rate.current_bps, rate.target_bps, rate.timer_ps) == (LINE, LINE, None)
    rate.decrease(0, 63 * golden.STEP, MIDDLE)
    # 1 - 63/128 of 10 Gb/s.
    assert (rate.current_bps, rate.target_bps, rate.phase) == (5_078_125_000, LINE, "fast-recovery")
    for expected in (7_539_062_500, 8_769_531_250, 9_384_765_625, 9_692_382_812, 9_846_191_406):
        end_byte_cycle(rate)
        assert (rate.target_bps, rate.current_bps) == (LINE, expected)
    end_byte_cycle(rate)
    assert (rate.target_bps, rate.phase) == (10_005_000_000, "active-increase")


def test_the_timer_ends_cycles_too() -> None:
    """The timer's first cycle is jittered only where the profile says so; an early call does nothing."""
    rate = golden.RateCalculator(LINE, "profile = pan-10g, rpg_time_reset = 10 ms")
    rate.decrease(1000, 63 * golden.STEP, MIDDLE)
    assert rate.timer_ps is not None
    due = rate.timer_ps
    rate.timeout(due - 1, MIDDLE)
    assert rate.time_stage == 0
    rate.timeout(due, MIDDLE)
    assert (rate.time_stage, rate.current_bps) == (1, 7_539_062_500)


def test_feedback_and_samples() -> None:
    """Fb of a queue at its set point is 0, and 63 steps at |Fb|max = (2 w + 1) q_eq; a sample comes after 150 KB."""
    sampler = golden.Sampler("q_eq = 33 KB, w = 2, quantise = linear63")
    assert sampler.feedback(33_000, 33_000) == 0
    # q_off + w q_delta = 33 000 + 2 * 66 000 = 5 * 33 000.
    assert sampler.feedback(66_000, 0) == 63 * golden.STEP
    sampler.reload(0, MIDDLE)
    sampled = [sampler.sample(1500, 0, MIDDLE) for _ in range(200)]
    assert 98 <= sampled.index(True) <= 101


def test_a_bucket_by_hand() -> None:
    """10 Mb/s give 20 octets each 16 us: a full bucket of 3000 lets 1538 go, and again after 4 refills."""
    bucket = golden.TokenBucket(3000, 16_000_000, 500_000, 10_000_000)
    bucket.take(0, 1538)
    assert bucket.octets == 1462
    # 1538 - 1462 = 76 octets: four refills of 20.
    assert bucket.ready_ps(0, 1538) == 4 * 16_000_000
    with pytest.raises(ValueError, match="the bucket holds 1462 of 1538 octets"):
        bucket.take(1, 1538)
    bucket.take(64_000_000, 1538)
    assert bucket.octets == 4
    assert bucket.ready_ps(64_000_000, 3001) is None


def test_jitter_by_hand() -> None:
    """A spread of 9830 / 65536 around 1000: from 850 up, 1000 in the middle."""
    assert golden.jitter(1000, 9830, 0) == 850
    assert golden.jitter(1000, 9830, 1 << 31) == 1000
    assert golden.jitter(1000, 9830, (1 << 32) - 1) == 1149


def test_wrong_calls() -> None:
    """Each says what is wrong; nothing has changed after it."""
    with pytest.raises(ValueError, match='qcn has no parameter "jiter"'):
        golden.RateCalculator(LINE, "jiter = 1")
    with pytest.raises(ValueError, match="line_rate_bps is 0"):
        golden.RateCalculator(0)
    rate = golden.RateCalculator(LINE)
    with pytest.raises(ValueError, match="the call uses 1 random words, and has 0"):
        while True:
            rate.count(1500)
    with pytest.raises(ValueError, match="feedback is 20000, and must be from 0 to 16384"):
        rate.decrease(0, 20_000, MIDDLE)
    rate.decrease(5, 0, MIDDLE)
    with pytest.raises(ValueError, match="now_ps is 4, and must be from 5"):
        rate.decrease(4, 0, MIDDLE)
    with pytest.raises(OverflowError):
        rate.count(70_000, MIDDLE)
