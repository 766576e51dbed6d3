"""A fluid model and the packet simulator side by side: the same scenario, the same time axis, distances as numbers.

The fluid goes through all periods of the scenario. Where flows or links change, the next period begins with the queue
that the last one left, and with the mean of the rates that the flows have, new ones at line rate.

How a model is integrated follows from what it is. QCN, SMCC and BCN go sample by sample, source by source, and FECN by
its clock, unless a continuous form is asked for. Continuous forms are differential equations, with their delays where
these are longer than a tenth of what the model calls its time scale, and without where they are not.

Where something is drawn, samples or where in a frame a source begins, one run is as good as another. There are several,
as there are seeds of the packets, and both sides are measured alike.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.stats import wasserstein_distance

from penstock._core import write_quantity
from penstock.columns import rows_of
from penstock.runs import seeds_of
from penstock.scenario import Progress, Scenario
from penstock.theory import delay_integrator, hybrid_integrator, sampled_integrator
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configurations
from penstock.theory.models import MODELS, model_of
from penstock.theory.models.base import Array, Clocked, Flags, FluidModel, InSteps, Source, Stepwise
from penstock.theory.sampling import StreamSampling

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from penstock.result import Result

STEPS = "steps"
"""The name of the form that goes by whole steps."""

HOLD_S = 0.05
"""How long a queue must stay near its equilibrium to have settled, s: as in the response times of Jiang et al. 2015."""

BAND = 0.25
"""How near that is, as a share of the equilibrium."""

_SHORT = 0.1
"""A delay below this share of the model's time scale is left out."""

_STEPS_A_SCALE = 4
_EVENT_SHARE = 1e-3
_FINE_S = 1e-4
_MOST_ROWS = 4_000_000
_MOST_SAMPLES = 100_000_000
"""Samples of all runs of fluid and packets together: 16 octets each, and twice that while they are measured."""

_DRAWS = 16
"""Runs of a model in which something is drawn; as many as seeds, if these are more."""


@dataclass(frozen=True)
class Distance:
    """How far fluid and packets are apart in one period.

    Attributes:
        start_s: when the period begins, s.
        stop_s: when it ends, s.
        flows: N.
        capacity_bps: C, bit/s.
        rest_octets: the model's equilibrium, octets.
        fluid_mean_octets: mean queue of the fluid over the second half of the period, octets.
        packet_mean_octets: the same of the packets, over all seeds.
        fluid_std_octets: standard deviation of the fluid's queue there, octets.
        packet_std_octets: the same of the packets.
        difference: fluid less packets of the two means, as a share of the buffer.
        fluid_settling_s: until the fluid's queue is within a quarter of its mean and stays so for 50 ms; None if
            it does not; of several runs the median, None if fewer than half settle.
        packet_settling_s: the same of the packets' seeds.
        settling_ratio: fluid over packets.
        fluid_mean_settling_s: the same of the mean of the runs: chance excursions of single ones are not in it.
        packet_mean_settling_s: the same of the packets.
        mean_settling_ratio: fluid over packets.
        fluid_rate_bps: mean rate of a flow over the second half, bit/s.
        packet_rate_bps: the same of the packets.
        rms_octets: root of the mean square of the difference between the fluid's queue and the mean of the seeds'.
        wasserstein_octets: distance of the distributions of the queue over the second half.
    """

    start_s: float
    stop_s: float
    flows: int
    capacity_bps: float
    rest_octets: float
    fluid_mean_octets: float
    packet_mean_octets: float
    fluid_std_octets: float
    packet_std_octets: float
    difference: float
    fluid_settling_s: float | None
    packet_settling_s: float | None
    settling_ratio: float | None
    fluid_mean_settling_s: float | None
    packet_mean_settling_s: float | None
    mean_settling_ratio: float | None
    fluid_rate_bps: float
    packet_rate_bps: float
    rms_octets: float
    wasserstein_octets: float


@dataclass(frozen=True)
class Overlay:
    """Fluid and packet trajectories on one time axis.

    Attributes:
        scenario: name of the scenario.
        question: its question.
        scheme: name of the scheme.
        form: name of the model's form.
        queue: name of the bottleneck's queue.
        seeds: seeds of the packet runs.
        delay_s: delay of the loop in each period, s; 0 where it was left out.
        buffer_octets: size of the queue, octets.
        set_point_octets: the queue that the scheme aims at, octets.
        time_s: times, shape (k,).
        fluid: queue (octets) and mean rate of a flow (bit/s), shape (runs, 2, k); several runs where the model draws;
            NaN where no controlled flow runs.
        packets: the same of each seed, shape (seeds, 2, k).
        distances: one for each period.
        omits: parts that the model leaves out.
    """

    scenario: str
    question: str
    scheme: str
    form: str
    queue: str
    seeds: tuple[int, ...]
    delay_s: tuple[float, ...]
    buffer_octets: float
    set_point_octets: float
    time_s: Array
    fluid: Array
    packets: Array
    distances: tuple[Distance, ...]
    omits: tuple[str, ...]

    def plot(self, path: str | PathLike[str] | None = None) -> "Figure":
        """Draw queue and rate of packets and fluid over the same time; with ``path`` the figure is written there.

        Raises:
            OSError: the file cannot be written.
        """
        from penstock.figures.overlays import overlay_page
        from penstock.figures.style import save

        figure = overlay_page(self)
        if path is not None:
            save(figure, Path(path))
        return figure

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        from penstock.figures.overlays import overlay_page

        return overlay_page(self)._repr_png_()

    def __repr__(self) -> str:
        seeds = f"seed {self.seeds[0]}" + (f" to {self.seeds[-1]}" if len(self.seeds) > 1 else "")
        return f"<Overlay of {self.scenario!r} with {self.scheme!r}: form {self.form}, packets of {seeds}>"


def overlay(
    scenario: Scenario,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    seed: int | None = None,
    seeds: int | Sequence[int] = 1,
    form: str | None = None,
    strikes: StreamSampling | None = None,
    progress: Callable[[str], Progress] | None = None,
    run: "Result | None" = None,
) -> Overlay:
    """Integrate the model of a scenario, run the scenario, and measure the distance.

    Args:
        scenario: the scenario; its samples are made as fine as 0.1 ms.
        scheme: the scheme, if not the scenario's.
        profile: the scheme's named settings.
        seed: the first seed; by default the scenario's.
        seeds: how many packet runs, with as many seeds from the first on; or the seeds.
        form: the model's form; ``steps`` goes sample by sample, and is the default where the scheme allows it.
        strikes: how samples find their sources in that form; by default as the samples module has it.
        progress: gives for a label what a run reports to.
        run: a finished run of this scenario, such as the testbed's: its packets, with its samples, are taken in
            place of new ones.

    Raises:
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: the scenario is none that a model describes, the scheme has no model of that form, or
            ``run`` has no samples of the bottleneck or does not reach the scenario's end.
    """
    periods = configurations(scenario, scheme=scheme, profile=profile)
    models = [_chosen(period, form) for period in periods]
    names = {period.queue for period in periods}
    if len(names) > 1:
        raise UnsuitedScenarioError(
            f"the bottleneck moves between {' and '.join(sorted(names))}", "the models have one queue"
        )
    plan = scenario.describe(scheme=scheme, profile=profile, seed=seed)
    controlled = [flow["name"] for flow in plan["flows"] if flow["controlled"]]
    if run is None:
        numbers = seeds_of(seeds, plan["seed"])
        interval_s = min(plan["interval_s"], max(_FINE_S, plan["duration_s"] * max(1, len(plan["flows"])) / _MOST_ROWS))
        _bounded(len(numbers), plan["duration_s"] / interval_s)
        own = scenario.copy()
        own.set("record.interval", write_quantity(round(interval_s, 9), "s"))
        own.set("record.queues", f'["{periods[0].queue}"]')
        results = _results(own, numbers, progress, scheme=scheme, profile=profile)
    else:
        numbers = (run.summary["seed"],)
        _suits(run, periods[0].queue)
        results = iter([run])
    packets = [_packets(result, periods[0].queue, controlled) for result in results]
    time_s = packets[0][0]
    observed = np.stack([rows for _, rows in packets])
    stepped = [model for model in models if isinstance(model, InSteps)] if form in (None, STEPS) else []
    if stepped:
        draws = max(_DRAWS, len(numbers)) if isinstance(stepped[0], Stepwise) else 1
        fluid = np.stack(
            [
                _in_steps(stepped, periods, time_s, strikes, np.random.default_rng([plan["seed"], n]))
                for n in range(draws)
            ]
        )
        delays = [float(np.max(model.delay_s)) for model in stepped]
    else:
        integrated, delays = _fluid(models, periods, time_s)
        fluid = integrated[None]
    return Overlay(
        scenario=scenario.name,
        question=scenario.question,
        scheme=periods[0].scheme,
        form=STEPS if stepped else models[0].form,
        queue=periods[0].queue,
        seeds=numbers,
        delay_s=tuple(delays),
        buffer_octets=periods[0].buffer_octets,
        set_point_octets=float(cast(float, models[0].set_point_octets())),
        time_s=time_s,
        fluid=fluid,
        packets=observed,
        distances=tuple(
            _distance(model, period, time_s, fluid, observed) for model, period in zip(models, periods, strict=True)
        ),
        omits=stepped[0].omits_in_steps if stepped else models[0].omits,
    )


def _results(
    scenario: Scenario,
    seeds: Sequence[int],
    progress: Callable[[str], Progress] | None,
    *,
    scheme: str | None,
    profile: str | None,
) -> Iterator["Result"]:
    """Run a scenario with each seed."""
    for number in seeds:
        report = progress(f"packets, seed {number}") if progress else None
        result = scenario.run(scheme=scheme, profile=profile, seed=number, progress=report)
        if result.interrupted:
            # Half of a run is nothing to compare with.
            raise KeyboardInterrupt
        yield result


def _suits(run: "Result", queue: str) -> None:
    """Refuse a run that has no samples of the bottleneck, or that was ended early."""
    if run.interrupted:
        raise UnsuitedScenarioError(f"the run was ended after {run.end_s:g} s", "let it come to its end")
    if queue not in {own["name"] for own in run.summary["queues"]}:
        raise UnsuitedScenarioError(
            f"the run has not recorded the bottleneck {queue}", "list it in record.queues, and run again"
        )


def _bounded(seeds: int, samples: float) -> None:
    """Refuse a number of runs and samples that would fill the memory."""
    if (seeds + max(seeds, _DRAWS)) * samples > _MOST_SAMPLES:
        most = int(_MOST_SAMPLES / samples / 2)
        hint = f"at most {most} seeds of these samples" if most >= _DRAWS else "a shorter duration, or rarer samples"
        raise UnsuitedScenarioError(f"{seeds} runs of {round(samples)} samples are too many to hold at once", hint)


def _chosen(configuration: Configuration, form: str | None) -> FluidModel:
    if form not in (None, STEPS):
        return model_of(configuration, form)
    first = next((model.form for model in MODELS if model.scheme == configuration.scheme), None)
    model = model_of(configuration, first)
    if form == STEPS and not isinstance(model, InSteps):
        raise UnsuitedScenarioError(f"{configuration.scheme} has no form in steps", f"it has the form {model.form}")
    return model


# The fluid.


def _fluid(models: Sequence[FluidModel], periods: Sequence[Configuration], time_s: Array) -> tuple[Array, list[float]]:
    """Return queue and rate at ``time_s`` through all periods, and the delay that each was integrated with."""
    out = np.full((2, len(time_s)), np.nan)
    state: Array | None = None
    before: Configuration | None = None
    earlier: Callable[[float], Array] | None = None
    delays = []
    for model, period in zip(models, periods, strict=True):
        state = _begins(model, period, state, before)
        rows, asked = _asked(period, time_s)
        if not rows.any():
            delays.append(0.0)
            continue
        longest = float(np.max(np.concatenate([np.atleast_1d(d) for d in model.delays_s])))
        short = longest < _SHORT * model.time_scale_s
        if short:
            ordinary = hybrid_integrator.integrate(
                model.without_delay(), state, float(asked[-1]), start_s=period.start_s
            )
            found, earlier = ordinary.at(asked), None
        else:
            delayed = delay_integrator.integrate(
                model,
                state,
                float(asked[-1]),
                start_s=period.start_s,
                step_s=model.time_scale_s / _STEPS_A_SCALE,
                before=earlier,
                event_share=_EVENT_SHARE,
            )
            found, earlier = delayed.at(asked), delayed.history.at
        delays.append(0.0 if short else longest)
        out[:, rows] = found[:2, :-1]
        state, before = found[:, -1], period
    return out, delays


def _asked(period: Configuration, time_s: Array) -> tuple[Flags, Array]:
    """Return which of ``time_s`` lie in a period, and these times with the period's end."""
    stop_s = min(period.stop_s, float(time_s[-1]))
    rows = (time_s >= period.start_s) & (time_s <= stop_s)
    return rows, np.append(time_s[rows], stop_s)


def _begins(model: FluidModel, period: Configuration, state: Array | None, before: Configuration | None) -> Array:
    """Return the state with which a period begins."""
    fresh = model.start()
    if state is None or before is None or before.stop_s < period.start_s:
        return fresh
    low, high = model.limits()
    mean = np.array(state, dtype=float)
    newcomers = max(0, period.flows - before.flows)
    stay = min(period.flows, before.flows)
    mean[1:] = (stay * state[1:] + newcomers * fresh[1:]) / (stay + newcomers)
    return cast(Array, np.clip(mean, low, high))


def _in_steps(
    models: Sequence[InSteps],
    periods: Sequence[Configuration],
    time_s: Array,
    strikes: StreamSampling | None,
    random: np.random.Generator,
) -> Array:
    """Return queue and mean rate at ``time_s`` through all periods, in whole steps."""
    out = np.full((2, len(time_s)), np.nan)
    sources: tuple[Source, ...] = ()
    queue, before_s = 0.0, 0.0
    for model, period in zip(models, periods, strict=True):
        rows, asked = _asked(period, time_s)
        if not rows.any():
            continue
        if period.start_s > before_s:
            queue, sources = 0.0, ()
        begin, stop_s = model.start(), float(asked[-1])
        begin[0] = queue
        if isinstance(model, Stepwise):
            found = sampled_integrator.integrate(
                model, begin, stop_s, start_s=period.start_s, random=random, sources=sources, strikes=strikes
            )
        else:
            begin[1] = sources[0].rate_bps if sources else begin[1]
            found = sampled_integrator.by_clock(cast(Clocked, model), begin, stop_s, start_s=period.start_s)
        out[:, rows] = found.at(asked)[:, :-1]
        queue, sources, before_s = float(found.states[0][-1]), found.sources, period.stop_s
    return out


# The packets.


def _packets(result: "Result", queue: str, controlled: Sequence[str]) -> tuple[Array, Array]:
    """Return sample times, the queue, and the mean allowed rate of the controlled flows that run."""
    rows = rows_of(result.queues.column("queue").chunk(0))[queue]
    time_s = np.asarray(result.column("queues", "time_s")[rows], dtype=float)
    octets = np.asarray(result.column("queues", "queue_octets")[rows], dtype=float)
    flow_rows = rows_of(result.rates.column("flow").chunk(0))
    total, active = np.zeros(len(time_s)), np.zeros(len(time_s))
    for name in controlled:
        at = np.asarray(result.column("rates", "time_s")[flow_rows[name]], dtype=float)
        rate = np.asarray(result.column("rates", "rate_bps")[flow_rows[name]], dtype=float)
        runs = np.asarray(result.column("rates", "fair_rate_bps")[flow_rows[name]], dtype=float) > 0
        place = np.clip(np.searchsorted(at, time_s), 0, len(at) - 1)
        total += np.where(runs[place], rate[place], 0.0)
        active += runs[place]
    return time_s, np.stack([octets, total / np.maximum(active, 1)])


# Distances.


def settling_s(time_s: Array, octets: Array, rest_octets: float, band: float = BAND) -> float | None:
    """Return how long after the first of ``time_s`` a queue is near its equilibrium and stays so for 50 ms.

    Near is within ``band`` of ``rest_octets``, by default a quarter.

    None if it never does; in shorter records than ten times that, a tenth of the record is enough.
    """
    inside = np.abs(octets - rest_octets) <= band * rest_octets
    hold = min(HOLD_S, (time_s[-1] - time_s[0]) / 10)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], inside.astype(int), [0]))))
    for first, after in zip(edges[::2], edges[1::2], strict=True):
        if time_s[after - 1] - time_s[first] >= hold:
            return float(time_s[first] - time_s[0])
    return None


def _distance(model: FluidModel, period: Configuration, time_s: Array, fluid: Array, packets: Array) -> Distance:
    rows = (time_s > period.start_s) & (time_s <= period.stop_s)
    times, ours, theirs = time_s[rows], fluid[:, :, rows], packets[:, :, rows]
    late = times >= (times[0] + times[-1]) / 2
    our_mean, their_mean = float(ours[:, 0, late].mean()), float(theirs[:, 0, late].mean())
    fluid_s, packet_s = _median_settling_s(times, ours), _median_settling_s(times, theirs)
    fluid_mean_s = settling_s(times, ours[:, 0].mean(axis=0), our_mean)
    packet_mean_s = settling_s(times, theirs[:, 0].mean(axis=0), their_mean)
    return Distance(
        start_s=period.start_s,
        stop_s=min(period.stop_s, float(time_s[-1])),
        flows=period.flows,
        capacity_bps=period.capacity_bps,
        rest_octets=float(model.state_at_rest()[0]),
        fluid_mean_octets=our_mean,
        packet_mean_octets=their_mean,
        fluid_std_octets=float(ours[:, 0, late].std(axis=1).mean()),
        packet_std_octets=float(theirs[:, 0, late].std(axis=1).mean()),
        difference=(our_mean - their_mean) / period.buffer_octets,
        fluid_settling_s=fluid_s,
        packet_settling_s=packet_s,
        settling_ratio=_ratio(fluid_s, packet_s),
        fluid_mean_settling_s=fluid_mean_s,
        packet_mean_settling_s=packet_mean_s,
        mean_settling_ratio=_ratio(fluid_mean_s, packet_mean_s),
        fluid_rate_bps=float(ours[:, 1, late].mean()),
        packet_rate_bps=float(theirs[:, 1, late].mean()),
        rms_octets=float(np.sqrt(np.mean((ours[:, 0].mean(axis=0) - theirs[:, 0].mean(axis=0)) ** 2))),
        wasserstein_octets=float(wasserstein_distance(ours[:, 0, late].ravel(), theirs[:, 0, late].ravel())),
    )


def _median_settling_s(time_s: Array, runs: Array) -> float | None:
    """Return the median settling time of the runs that settle; None if fewer than half do."""
    rest = float(runs[:, 0, time_s >= (time_s[0] + time_s[-1]) / 2].mean())
    each = [settling_s(time_s, run[0], rest) for run in runs]
    known = [value for value in each if value is not None]
    return float(np.median(known)) if 2 * len(known) >= len(each) else None


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return ours / theirs if ours is not None and theirs else None
