"""Answers on a scenario: the functions behind the commands of `penstock theory`."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from penstock.scenario import Scenario
from penstock.theory.axes import read
from penstock.theory.configuration import UnsuitedScenarioError, configuration, suited_configurations
from penstock.theory.maps import Map, Metric, compute_map
from penstock.theory.margin import MarginReport, report
from penstock.theory.overlay import Overlay, overlay
from penstock.theory.planar import MODELS, Model
from penstock.theory.sliding import Verdict, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


def margins(
    scenario: Scenario, *, scheme: str | None = None, profile: str | None = None, at_s: float | None = None
) -> MarginReport:
    """Return how far a scenario is from instability: equilibrium, margins, limiting parameters, or its limit cycle.

    ``scheme`` and ``profile`` are those of :meth:`Scenario.run`; ``at_s`` is the time whose flows and links count, s,
    by default in the longest period without a change. Of several bottlenecks the one counts that leaves a flow least.
    Angles are in radians, delays in s, gains are factors.

    Raises:
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: no model describes the scenario.
    """
    return report(configuration(scenario, scheme=scheme, profile=profile, at_s=at_s, binding=True))


def sliding_verdicts(
    scenario: Scenario,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    model: Model = "printed",
    offset_octets: float | None = None,
    target_bps: float | None = None,
) -> list[Verdict]:
    """Return the verdict of theorem 2 (QCN) or 3 (SMCC) on each period of a scenario, in the order of time.

    Periods that the model does not describe, such as that of a first flow that fills no link, are left out.

    ``model`` is ``printed`` or ``sampled``, a reading of the rate laws; ``offset_octets`` the queue above its target,
    by default a quarter of it; ``target_bps`` R(0), by default the line's rate.

    Raises:
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: no model describes a period of the scenario, or the scheme has no theorem.
    """
    if model not in MODELS:
        raise UnsuitedScenarioError(f"model = {model!r}: unknown model", f"the models are {' and '.join(MODELS)}")
    periods, _ = suited_configurations(scenario, scheme=scheme, profile=profile)
    return [verdict(given, model=model, offset_octets=offset_octets, target_bps=target_bps) for given in periods]


def stability_map(
    scenario: Scenario,
    x: "str | Mapping[str, ArrayLike]",
    y: "str | Mapping[str, ArrayLike]",
    metric: Metric = "margin",
    *,
    scheme: str | None = None,
    profile: str | None = None,
    at_s: float | None = None,
    progress: Callable[[float], object] | None = None,
) -> Map:
    """Return a metric over two parameters: ``margin``, ``sliding``, ``amplitude`` or ``utilization``.

    An axis is ``KEY=A..B[:N][:log]``: a field of the configuration, such as ``flows=1..40:40``, a parameter of the
    scheme, or a key of the scenario. Or it is a key with its values, which rise, in octets, s, bit/s or without a unit:

        >>> stability_map(scenario, {"flows": np.arange(1, 41)}, {"delay": np.geomspace(20e-6, 400e-6, 40)})

    ``progress`` is called with the share that is done.

    Raises:
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: an axis names no parameter, the metric has no meaning for the scheme, or no point has a
            model.
    """
    if metric not in get_args(Metric):
        raise UnsuitedScenarioError(f"metric = {metric!r}: unknown metric", f"use one of {', '.join(get_args(Metric))}")
    name = scheme or scenario.scheme
    along = read(x, name), read(y, name)
    if along[0].name == along[1].name:
        raise UnsuitedScenarioError(f"x and y are both {along[0].name}", "choose two different parameters")
    return compute_map(scenario, *along, metric, scheme=scheme, profile=profile, at_s=at_s, progress=progress)


def compare_with_packets(
    scenario: Scenario,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    seed: int | None = None,
    seeds: int | Sequence[int] = 1,
    form: str | None = None,
) -> Overlay:
    """Integrate the fluid model of a scenario, run the scenario, and return both with how far they are apart.

    ``seeds`` packet runs have as many seeds from ``seed`` on, or ``seeds`` names them; ``form`` names the model, by
    default the first that the scheme has.

    Raises:
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: no model describes the scenario, or the scheme has no model of that form.
    """
    return overlay(scenario, scheme=scheme, profile=profile, seed=seed, seeds=seeds, form=form)


def phase_portrait(
    scenario: Scenario,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    at_s: float | None = None,
    model: Model = "sampled",
    target_bps: float | None = None,
    starts: Sequence[tuple[float, float]] = (),
    duration_s: float | None = None,
) -> "Figure":
    """Draw trajectories, switching lines and sliding regime of a scenario in the phase plane.

    ``starts`` are pairs of a queue, octets, and the sum of all rates, bit/s; by default there is one in each quadrant.

    Raises:
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: the scenario or the scheme has no phase plane.
    """
    from penstock.theory.portrait import portrait

    if model not in MODELS:
        raise UnsuitedScenarioError(f"model = {model!r}: unknown model", f"the models are {' and '.join(MODELS)}")
    given = configuration(scenario, scheme=scheme, profile=profile, at_s=at_s)
    return portrait(given, model=model, target_bps=target_bps, starts=starts, duration_s=duration_s)
