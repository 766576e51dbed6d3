"""Whose frames samples strike: by phases, with numbers computed by hand, or by chance; which of both a model takes."""

from pathlib import Path

import numpy as np
import pytest

from penstock import Scenario
from penstock.theory import sampled_integrator
from penstock.theory.configuration import configurations
from penstock.theory.models import model_of
from penstock.theory.models.base import Recovering, Source
from penstock.theory.models.bcn import Bcn
from penstock.theory.models.qcn import Sampled
from penstock.theory.models.smcc import Smcc
from penstock.theory.overlay import overlay
from penstock.theory.sampling import Sampler, StreamSampling, sampler

ROOT = Path(__file__).parents[2]


def three_sources(**settings: str) -> Scenario:
    scenario = Scenario.load(ROOT / "scenarios/sliding-mode/three-sources.toml")
    for key, value in {"duration": "0.3 s", "warmup": "0.1 s", **settings}.items():
        scenario.set(key.replace("__", "."), value)
    return scenario


def of(streams: list[Source], strikes: StreamSampling = StreamSampling.PHASES) -> Sampler:
    """A sampler of frames of 1000 octets, which take 8 us at 1 Gb/s."""
    return sampler(strikes, streams, 1 / 8, 1000.0, np.random.default_rng(1))


def strikes_of(sampling: Sampler, every: int, count: int) -> list[tuple[float, int]]:
    """Times (us) and streams of the first samples while no rate changes."""
    found, now = [], 0.0
    for _ in range(count):
        sampling.begin(every)
        wait = sampling.wait_s()
        struck = sampling.pass_by(wait)
        now += wait
        assert struck is not None
        found.append((round(now * 1e6, 6), struck))
    return found


def staggered() -> list[Source]:
    """Three streams of 1 Gb/s: frames at 0, 8, 16 us, at 2, 10, 18 us, and at 4, 12, 20 us."""
    return [Source(1e9, ahead_frames=ahead) for ahead in (0.0, 0.25, 0.5)]


def test_equal_streams_are_struck_in_turn_or_one_of_them_alone() -> None:
    # The frames come at 0, 2, 4, 8, 10, 12, 16, 18, 20, 24 … us.
    assert strikes_of(of(staggered()), 4, 3) == [(8, 0), (18, 1), (28, 2)]
    assert strikes_of(of(staggered()), 3, 3) == [(4, 2), (12, 2), (20, 2)]
    assert strikes_of(of(staggered()), 2, 3) == [(2, 1), (8, 0), (12, 2)]


def test_frames_that_come_at_once_come_in_the_order_of_the_streams() -> None:
    together = [Source(1e9, ahead_frames=0.0) for _ in range(3)]
    assert strikes_of(of(together), 1, 4) == [(0, 0), (0, 1), (0, 2), (8, 0)]
    together = [Source(1e9, ahead_frames=0.0) for _ in range(3)]
    # The 100th frame is the first of the 34th three, at 33 times 8 us; the 200th the second of the 67th.
    assert strikes_of(of(together), 100, 3) == [(264, 0), (528, 1), (792, 2)]


def test_a_rate_that_changes_stretches_what_is_left_of_a_distance() -> None:
    streams = staggered()
    sampling = of(streams)
    sampling.begin(5)
    assert sampling.wait_s() == pytest.approx(10e-6)
    # Until 5 us three frames pass. The next of stream 0 was due in 3 us: at half the rate in 6, after that of stream 1.
    assert sampling.pass_by(5e-6) is None
    streams[0].rate_bps = 5e8
    assert sampling.wait_s() == pytest.approx(6e-6)
    assert sampling.pass_by(sampling.wait_s()) == 0
    # The others are 7 us and 1 us from their next frames, at 18 and 12 us.
    assert [stream.ahead_frames for stream in streams] == pytest.approx([1, 7 / 8, 1 / 8])


@pytest.mark.parametrize("seed", range(20))
def test_every_nth_of_all_frames_is_struck(seed: int) -> None:
    random = np.random.default_rng(seed)
    every = int(random.integers(1, 40))
    streams = [Source(random.uniform(1e6, 1e9), ahead_frames=random.random()) for _ in range(random.integers(1, 6))]
    frames = [
        ((stream.ahead_frames + number) * 8000 / stream.rate_bps, index)  # type: ignore[operator]
        for index, stream in enumerate(streams)
        for number in range(30 * every)
    ]
    expected = [(round(time_s * 1e6, 6), index) for time_s, index in sorted(frames)[every - 1 : 30 * every : every]]
    found = strikes_of(of(streams), every, 30)
    assert [index for _, index in found] == [index for _, index in expected]
    assert [time_us for time_us, _ in found] == pytest.approx([time_us for time_us, _ in expected], abs=1e-5)


@pytest.mark.parametrize("strikes", StreamSampling)
def test_a_stream_is_struck_in_proportion_to_its_rate(strikes: StreamSampling) -> None:
    # Without common multiple: of 30, 17 and 50 frames in 97 every 97th would be of one stream.
    rates = np.array([3e8, 1.7e8 * np.sqrt(2), 5e8 * np.sqrt(3)])
    struck = [index for _, index in strikes_of(of([Source(rate) for rate in rates], strikes), 97, 4000)]
    # By chance one standard deviation is at most 32 of 4000.
    assert np.bincount(struck) == pytest.approx(4000 * rates / rates.sum(), abs=96)


def test_a_sampled_fluid_is_struck_by_the_phases_of_its_sources() -> None:
    model = model_of(configurations(three_sources(), scheme="smcc")[0])
    assert isinstance(model, Smcc)
    at_once = tuple(Source(1e9, ahead_frames=0.0) for _ in range(3))
    found = sampled_integrator.integrate(model, model.start(), 3e-4, sources=at_once)
    # The 100th frame is the 34th of the first source: after 264 us, in which 250 octets/us more come than leave. With
    # that frame 67 are counted: 3000 octets above the target, grown by 67 000, state A takes 12 Mb/s.
    assert [(sample.struck, sample.rates_bps) for sample in found.samples] == [(0, (1e9, 1e9, 1e9))]
    assert found.samples[0].time_s == pytest.approx(264e-6)
    assert [source.rate_bps for source in found.sources] == pytest.approx([988e6, 1e9, 1e9])


def test_chance_is_where_something_is_drawn() -> None:
    even = {"smcc": three_sources(), "bcn": three_sources(schemes__bcn__sample_jitter="0")}
    even["qcn"] = three_sources(schemes__qcn__sampling="count")
    drawn = {"smcc": three_sources(schemes__smcc__sampling="probability"), "bcn": three_sources()}
    drawn["qcn"] = three_sources(schemes__qcn__sampling="table")
    kinds: dict[str, type[Smcc | Bcn | Sampled]] = {"smcc": Smcc, "bcn": Bcn, "qcn": Sampled}
    for scheme, kind in kinds.items():
        assert kind.of(configurations(even[scheme], scheme=scheme)[0]).even
        assert not kind.of(configurations(drawn[scheme], scheme=scheme)[0]).even
    table = three_sources(schemes__qcn__sampling="table", schemes__qcn__sample_jitter="0")
    assert Sampled.of(configurations(table, scheme="qcn")[0]).even


def test_only_sources_that_recover_by_themselves_have_something_due() -> None:
    assert issubclass(Sampled, Recovering)
    assert not issubclass(Smcc, Recovering) and not issubclass(Bcn, Recovering)


@pytest.mark.runs
def test_bcn_without_jitter_settles_as_its_packets_do() -> None:
    scenario = three_sources(schemes__bcn__sample_jitter="0")
    (distance,) = overlay(scenario, scheme="bcn").distances
    assert distance.settling_ratio == pytest.approx(1, abs=0.25)
    # By chance, as if the intervals had jitter, it is too early.
    (distance,) = overlay(scenario, scheme="bcn", strikes=StreamSampling.CHANCE).distances
    assert distance.settling_ratio is not None and distance.settling_ratio < 0.85


@pytest.mark.parametrize(
    ("stream", "reason"),
    [
        (Source(0.0), "stream 1 sends 0 bit/s"),
        (Source(float("nan")), "stream 1 sends nan bit/s"),
        (Source(1e9, ahead_frames=1.5), "stream 1 is 1.5 frames ahead"),
        (Source(1e9, ahead_frames=-0.1), "stream 1 is -0.1 frames ahead"),
    ],
)
@pytest.mark.parametrize("strikes", StreamSampling)
def test_streams_that_cannot_be_are_refused(stream: Source, reason: str, strikes: StreamSampling) -> None:
    with pytest.raises(ValueError, match=reason):
        of([Source(1e9), stream], strikes)
