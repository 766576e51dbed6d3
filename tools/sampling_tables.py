"""Tables of docs/explanation/theory about whose frames samples strike; `theory_tables.py` prints them with its own."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from penstock import Result, Scenario
from penstock._core import write_quantity
from penstock.theory import sampled_integrator
from penstock.theory.configuration import Configuration, configurations
from penstock.theory.models import model_of
from penstock.theory.models.base import Source
from penstock.theory.models.qcn import Sampled
from penstock.theory.overlay import settling_s
from penstock.theory.sampling import StreamSampling

ROOT = Path(__file__).resolve().parent.parent
THREE = ROOT / "scenarios/sliding-mode/three-sources.toml"
BACKGROUND = ROOT / "scenarios/sliding-mode/background.toml"

COUNTED = {"schemes.qcn.sampling": "count", "schemes.qcn.qold_update": "every-sample"}
DRAWN = {"schemes.qcn.qold_update": "every-sample"}

HALVED_SEEDS = 256
"""Seeds, and runs of the model, where two sources lose half of their link: the queue takes the whole buffer."""

_DISTANCES = ("97", "99", "100", "101", "103")
_REPEATS_SEEDS = 64
_STARTS = 100


def strikes() -> Iterator[list[str]]:
    """QCN, two sources, half of the link taken: the mean queue in the fourth second, KB, by what the samples strike."""
    yield [
        "Sampled is",
        "Packets",
        *(f"Struck by {how}" for how in StreamSampling),
        "A run's own mean deviates by (KB)",
    ]
    kinds = {f"one frame of {count}, counted": COUNTED | {"schemes.qcn.sample_count": count} for count in _DISTANCES}
    counted: list[list[Any]] = []
    for name, settings in kinds.items():
        counted.append(late_queues(settings, tuple(StreamSampling)))
        yield [name, *_means(counted[-1])]
    yield ["all of these", *_means([np.concatenate(side) for side in zip(*counted, strict=True)])]
    packets, *cells = _means(late_queues(DRAWN, (StreamSampling.CHANCE,)))
    yield ["one of a hundred, drawn", packets, cells[0], "", cells[1]]


def _means(sides: list[Any]) -> list[str]:
    """Means with their errors, and deviations of single runs."""
    means = [f"{side.mean():.2f} ± {side.std() / len(side) ** 0.5:.2f}" for side in sides]
    return [*means, ", ".join(f"{side.std():.1f}" for side in sides)]


def repeats() -> Iterator[list[str]]:
    """How far the strike of a sample depends on those before it: the same, every hundredth frame."""
    lags = (1, 2, 3, 4)
    yield ["", *(f"{lag} before" for lag in lags), "The source that was struck last: struck, expected"]
    scenario = halved(COUNTED).set("record.arrivals", "true").set("record.interval", "100 us")
    models = [(period, Sampled.of(period)) for period in configurations(scenario, scheme="qcn")]
    sides: dict[str, list[list[float]]] = {"packets": []}
    for seed in range(1, _REPEATS_SEEDS + 1):
        sides["packets"].append(dependence(*struck_by_packets(scenario.run(scheme="qcn", seed=seed)), lags))
    for how in StreamSampling:
        sides[f"struck by {how}"] = each = []
        for number in range(_REPEATS_SEEDS):
            samples_of = [*through(models, how, np.random.default_rng([1, number]))][-1].samples
            places = np.array([sample.struck for sample in samples_of])
            each.append(dependence(places, np.array([sample.rates_bps for sample in samples_of]), lags))
    for name, rows in sides.items():
        values = np.array(rows)
        errors = values.std(axis=0) / len(values) ** 0.5
        cells = [f"{mean:.3f} ± {error:.3f}" for mean, error in zip(values.mean(axis=0), errors, strict=True)]
        yield [name, *cells[:-2], f"{cells[-2]}, {cells[-1]}"]


def first_frames() -> Iterator[list[str]]:
    """Settling where nothing is drawn, ms, when flows begin at once and when they begin within a frame's time."""
    yield [
        "",
        "PacketOscillation, at once",
        "PacketOscillation, within a frame's time",
        "By phases, the same",
        "By chance",
    ]
    rows: tuple[tuple[str, Path, str, dict[str, str]], ...] = (
        ("BCN, intervals without jitter", THREE, "bcn", {"schemes.bcn.sample_jitter": "0", "duration": "0.3 s"}),
        ("SMCC, two sources, half of the link taken", BACKGROUND, "smcc", {}),
    )
    for name, path, scheme, settings in rows:
        scenario = one_by_one(path)
        for key, value in {"duration": "4 s", "warmup": "0.1 s", "record.interval": "100 us", **settings}.items():
            scenario.set(key, value)
        models = [(period, model_of(period)) for period in configurations(scenario, scheme=scheme)]
        start_s, stop_s = models[-1][0].start_s, min(models[-1][0].stop_s, scenario.describe()["duration_s"])
        times = np.arange(start_s + 1e-4, stop_s, 1e-4)

        def settles(queue: Any, times: Any = times) -> float:
            found = settling_s(times, queue, float(queue[len(queue) // 2 :].mean()))
            return np.inf if found is None else found

        def of_packets(scenario: Scenario = scenario, scheme: str = scheme, times: Any = times) -> float:
            run = scenario.run(scheme=scheme)
            time_s, queue = run.column("queues", "time_s"), run.column("queues", "queue_octets")
            return settles(np.interp(times, time_s, queue.astype(float)))

        at_once = of_packets()
        random = np.random.default_rng(1)
        sides: list[list[float]] = [[], [], []]
        flows = scenario.describe()["flows"]
        for number in range(_STARTS):
            for index, flow in enumerate(flows):
                # A frame of 1000 octets at 1 Gb/s, and at the 500 Mb/s of other traffic.
                frame_s = 8e-6 if flow["controlled"] else 16e-6
                assert flow["start_s"] is not None, "the flows of this scenario wait for no others"
                start_s = round(flow["start_s"] + frame_s * random.random(), 9)
                scenario.set(f"flow.{index}.start", write_quantity(start_s, "s"))
            sides[0].append(of_packets())
            for side, how in zip(sides[1:], (StreamSampling.PHASES, StreamSampling.CHANCE), strict=True):
                fluid = [*through(models, how, np.random.default_rng([1, number]), stop_s)][-1]
                side.append(settles(fluid.at(times)[0]))
        yield [
            name,
            ms(at_once),
            *("{1} ({0} to {2})".format(*map(ms, np.percentile(side, [5, 50, 95]))) for side in sides),
        ]


def halved(settings: dict[str, str]) -> Scenario:
    """Two sources for 4 s, of whose link half is taken from 2 s on."""
    scenario = Scenario.load(BACKGROUND)
    for key, value in {"duration": "4 s", "warmup": "0.1 s", **settings}.items():
        scenario.set(key, value)
    return scenario


def one_by_one(path: Path) -> Scenario:
    """A scenario with a separate table for each flow of its first group."""

    def apart(group: re.Match[str]) -> str:
        last, rest = group.groups()
        flows = [f'[[flow]]\nname = "s{n}"\nfrom = "h{n}"\n{rest}' for n in range(int(last) + 1)]
        return "\n\n".join(flows) + "\n\n"

    group = r'\[\[flow\]\]\nname = "s0\.\.s(\d)"\nfrom = "h0\.\.h\d"\n(.*?)\n\n'
    return Scenario.from_toml(re.sub(group, apart, path.read_text(), flags=re.DOTALL), name=path.stem)


def through(
    models: list[tuple[Configuration, Any]], how: StreamSampling, random: np.random.Generator, stop_s: float = 4.0
) -> Iterator[sampled_integrator.SampledTrajectory]:
    """The model in steps through all periods."""
    queue, sources = 0.0, tuple[Source, ...]()
    for period, model in models:
        begin = model.start()
        begin[0] = queue
        found = sampled_integrator.integrate(
            model,
            begin,
            min(period.stop_s, stop_s),
            start_s=period.start_s,
            random=random,
            sources=sources,
            strikes=how,
        )
        queue, sources = float(found.states[0][-1]), found.sources
        yield found


def late_queues(settings: dict[str, str], strikes: tuple[StreamSampling, ...]) -> list[Any]:
    """Mean queue in the fourth second, KB, of each run: of the packets, and of the fluid struck by several rules."""
    scenario = halved(settings)
    models = [(period, Sampled.of(period)) for period in configurations(scenario, scheme="qcn")]
    packets = []
    for seed in range(1, HALVED_SEEDS + 1):
        run = scenario.run(scheme="qcn", seed=seed)
        late = run.column("queues", "time_s") > 3
        packets.append(run.column("queues", "queue_octets")[late].astype(float).mean() / 1e3)
    sides, times = [np.array(packets)], np.arange(3.001, 4.0005, 1e-3)
    for how in strikes:
        randoms = [np.random.default_rng([1, number]) for number in range(HALVED_SEEDS)]
        fluids = [[*through(models, how, random)][-1] for random in randoms]
        sides.append(np.array([fluid.at(times)[0].mean() / 1e3 for fluid in fluids]))
    return sides


def struck_by_packets(run: Result) -> tuple[Any, Any]:
    """The source of every hundredth frame after 2 s, and the rates of all: two sources, 500 Mb/s of other traffic."""
    times, flows = (run.column("arrivals", name)[99::100] for name in ("time_s", "flow"))
    names = ("s0", "s1")
    places = np.select([flows == name for name in names], range(len(names)), len(names))
    rates = []
    for name in names:
        rows = run.column("rates", "flow") == name
        at, rate = (run.column("rates", column)[rows].astype(float) for column in ("time_s", "rate_bps"))
        rates.append(rate[np.clip(np.searchsorted(at, times), 0, len(at) - 1)])
    late = times > 2
    return places[late], np.stack([*rates, np.full(len(times), 5e8)], axis=1)[late]


def dependence(places: Any, rates: Any, lags: tuple[int, ...]) -> list[float]:
    """Correlations of strikes with those a number of samples before, less the ones that follow from the rates.

    And of samples that strike a source, how many strike the one that was struck last; seen and expected.
    """
    shares = rates / rates.sum(axis=1, keepdims=True)
    beyond = (places[:, None] == np.arange(rates.shape[1])) - shares
    alone = float((shares * (1 - shares)).sum())
    correlations = [float((beyond[lag:] * beyond[:-lag]).sum()) / alone for lag in lags]
    last = rates.shape[1] - 1
    sources, of_sources = places[places < last], rates[places < last, :last]
    of_sources = of_sources / of_sources.sum(axis=1, keepdims=True)
    seen = float((sources[1:] == sources[:-1]).mean())
    return [*correlations, seen, float((of_sources[1:] * of_sources[:-1]).sum(axis=1).mean())]


def ms(seconds: float | None) -> str:
    """A settling time, ms."""
    if seconds is None or not np.isfinite(seconds):
        return "never"
    return f"{seconds * 1e3:.0f}" if seconds >= 0.0995 else f"{seconds * 1e3:.1f}"
