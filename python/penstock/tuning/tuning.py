"""From a scenario to a proposal: theory narrows, simulation searches, more seeds choose, other seeds judge."""

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import tomli_w

from penstock._core import PenstockError, ScenarioError
from penstock.catalogue import about
from penstock.declared import AssignedScheme, Description
from penstock.errors import ArgumentError
from penstock.executors.executor import Executor
from penstock.quantity_text import octets
from penstock.runs import RunCallbacks, seeds_of
from penstock.scenario import Scenario, joined, parts_of
from penstock.theory.configuration import UnsuitedScenarioError, configurations
from penstock.theory.models import DELAYED
from penstock.tuning.goals import GOALS, RESERVE, Goal, Guard, Observed, companions, guards, score
from penstock.tuning.initial_points import spread
from penstock.tuning.linear_margins import LinearMargins, linear_margins
from penstock.tuning.search import Interrupted, Search, Trial, require_optuna, simulate
from penstock.tuning.search_region import FluidScorer, Region, narrow, whole
from penstock.tuning.search_space import Knob, Point, knobs, point_of, set_to
from penstock.tuning.verdict import Verdict, judge

DEFAULTS = "defaults"
"""The name instead of a profile where the catalogue's defaults are meant."""

_LEAST_STARTS = 8
"""The least number of points, kept by the theory, with which the search begins; or a third of all, if that is more."""

_CHOOSING = 2
"""Seeds that choose between the finalists of the search, as a multiple of the seeds of the search."""


@dataclass(frozen=True)
class Settings:
    """One set of parameters and what is known of it.

    Attributes:
        name: ``proposal``, ``scenario`` or the standard's profile.
        parameters: the tuned ones, as a scenario has them.
        margin: the phase margin, or why there is none.
        tuning: the runs with the seeds of the search, and with those of the choice if there was one.
        judging: the runs with the verdict's seeds; empty if there was no verdict.
    """

    name: str
    parameters: Mapping[str, str | int | float]
    margin: LinearMargins
    tuning: tuple[Observed, ...]
    judging: tuple[Observed, ...]


@dataclass(frozen=True)
class Tuning:
    """The answer of a search: a proposal, and the settings that it is compared with. A notebook shows it as a table.

    Attributes:
        scenario: the scenario with the proposal; with its own parameters, if the search found nothing better.
        scheme: name of the scheme.
        goal: the goal that was asked for.
        guards: the bounds that the proposal had to keep in the search.
        least_phase_rad: the phase margin that the proposal had to have, where it has one at all; -inf without a model.
        notes: what a reader of the answer should know about the scenario, in sentences.
        queue: the queue that it was judged by.
        region: where theory said to search for this goal.
        space: the parameters that were tuned, with their bounds before that.
        trials: how many points were simulated.
        refused: how many that the search proposed theory left out.
        finalists: how many points further seeds chose between; 0 if none was better, or if interrupted before that.
        tuning_seeds: seeds of the search.
        choosing_seeds: the further seeds of the choice.
        verdict_seeds: seeds of the verdict.
        changed: whether the search found something better than the scenario's own parameters: the proposal.
        proposal: the proposal; the scenario's own parameters if there is none.
        others: the scenario's own parameters and the standard's; one, where they are the same.
        verdicts: one for each of ``others``; none without a proposal, or if interrupted.
        interrupted: whether Ctrl-C ended it: then the proposal is the best so far.
    """

    scenario: Scenario
    scheme: str
    goal: Goal
    guards: tuple[Guard, ...]
    least_phase_rad: float
    notes: tuple[str, ...]
    queue: str
    region: Region
    space: tuple[Knob, ...]
    trials: int
    refused: int
    finalists: int
    tuning_seeds: tuple[int, ...]
    choosing_seeds: tuple[int, ...]
    verdict_seeds: tuple[int, ...]
    changed: bool
    proposal: Settings
    others: tuple[Settings, ...]
    verdicts: tuple[Verdict, ...]
    interrupted: bool

    @property
    def gain_shown(self) -> bool:
        """Whether the proposal beats all that it is compared with, on seeds that the search never saw."""
        return bool(self.verdicts) and all(verdict.beats for verdict in self.verdicts)

    @property
    def worth_writing(self) -> bool:
        """Whether a gain is shown; or the search was interrupted, and has found something better until then."""
        return self.gain_shown or (self.interrupted and self.changed)

    def document(self) -> dict[str, Any]:
        """Return what ``penstock tune --json`` prints, but for the file's name: ``None`` stands for what is unknown."""
        from penstock.tuning.document import document

        return document(self)

    def save(self, path: str | PathLike[str], *, name: str | None = None) -> None:
        """Write the scenario with the proposal; the comment at its top says where it comes from.

        A proposal without a gain would be taken for one with it, and is refused: ``scenario.save`` writes it, without
        a comment.

        Args:
            path: the file.
            name: the name in the comment of the scenario that was tuned; by default its own.

        Raises:
            PenstockError: no gain is shown.
            OSError: the file cannot be written; one that had the name before is as it was.
        """
        from penstock.tuning.document import as_scenario

        if not self.worth_writing:
            raise PenstockError(
                "no gain is shown on seeds that the search never used; scenario.save writes the proposal anyway"
            )
        as_scenario(self, name or self.scenario.name).save(path)

    def _repr_html_(self) -> str:
        from penstock.display import tuning_html

        return tuning_html(self)

    def __repr__(self) -> str:
        shown = "a gain is shown" if self.gain_shown else "no gain is shown"
        return f"<Tuning of {self.scenario.name!r} with {self.scheme!r} for {self.goal.name}: {shown}>"


def tune(
    scenario: Scenario,
    goal: str,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    against: str | None = None,
    keys: Sequence[str] = (),
    trials: int = 96,
    seeds: int | Sequence[int] = 3,
    verdict_seeds: int | Sequence[int] = 10,
    points: int = 256,
    callbacks: RunCallbacks | None = None,
    executor: Executor | None = None,
) -> Tuning:
    """Propose parameters of a scenario's scheme: theory narrows, simulations search, others choose and judge.

    A scheme without a fluid model is searched by simulation alone, between the same bounds.

    Goals with the same guards, ``stability`` and ``latency``, share the search: the same points are simulated for
    either, and the answer is the best of them by the goal that is asked for.

        >>> scenario = penstock.Scenario.named("tuning/long-delay")
        >>> found = penstock.tune(scenario, "latency", keys=["schemes.qcn.w=1..8", "schemes.qcn.q_eq"])
        >>> if found.gain_shown:
        ...     found.save("better.toml")

    Runs use all cores. An interrupt (Ctrl-C) ends the search and keeps the best so far; see ``interrupted`` of the
    answer. Needs the extra ``tune`` (``pip install 'penstock[tune]'``).

    Args:
        scenario: is left as it is.
        goal: ``stability``, ``latency`` or ``utilization``; :data:`penstock.tuning.goals.GOALS` defines them.
        scheme: instead of the scenario's.
        profile: that the scheme's parameters start from, instead of the scenario's.
        against: the profile that stands for the standard, or ``defaults``, the catalogue's; by default the scheme's
            first that the scenario takes.
        keys: parameters to tune, ``KEY`` or ``KEY=A..B``; by default those that are usually tuned, see
            :mod:`penstock.tuning.search_space`.
        trials: how many points to simulate.
        seeds: how many seeds each of them is simulated with, from the scenario's on; or the seeds. Twice as many that
            follow the largest choose between the best.
        verdict_seeds: how many seeds judge the proposal, those that follow these; or the seeds, none of them seen
            before.
        points: how many points the theory looks at; a power of two spreads them best.
        callbacks: how to watch and end the runs; its ``theory`` is called with the progress of the theory's work.
        executor: where runs run instead of all cores, such as a :class:`penstock.RayExecutor`.

    Raises:
        ArgumentError: there is no such goal, or a number is too small.
        KeyboardInterrupt: the interrupt came before anything was found.
        MissingExtraError: a package of the extra ``tune`` is not installed.
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: theory cannot see one bottleneck in the scenario; or there is nothing to tune.
    """
    asked = GOALS.get(goal)
    if asked is None:
        raise ArgumentError(f'goal="{goal}": unknown goal', f"use one of {', '.join(GOALS)}")
    if trials < 1:
        raise ArgumentError(f"trials={trials}: must be at least 1", "write trials=1 or more")
    require_optuna()
    callbacks = callbacks or RunCallbacks()
    own = _chosen(scenario, scheme, profile)
    plan = own.describe()
    tuning, choosing, unseen = _seed_groups(plan["seed"], seeds, verdict_seeds)
    if plan["parameter_changes"]:
        raise UnsuitedScenarioError(
            "the scenario changes parameters during the run, and a proposal is of values for all of it",
            "take the [[change]] of schemes out of the file",
        )
    periods = configurations(own, from_s=plan["warmup_s"])
    longest = max(periods, key=lambda period: period.stop_s - period.start_s)
    if longest.queue not in plan["queues"]:
        raise UnsuitedScenarioError(f"the bottleneck {longest.queue} is not recorded", "add it to record.queues")
    name, standard = _standard(own, longest.scheme, against)
    space = knobs(longest, _assigned(standard.describe(), longest.scheme)["parameters"], keys)
    spots = spread(own, longest, space, points, plan["seed"])
    _takes_effect(own, plan, longest.scheme, space, spots[0])

    predicts_runs = longest.scheme in DELAYED and DELAYED[longest.scheme].predicts_runs
    scorer = FluidScorer.of(periods, plan["warmup_s"], space) if predicts_runs else None
    # Goals with the same guards share the search, which begins with a third of its points.
    goals = companions(asked)
    starts = max(_LEAST_STARTS, trials // 3) // len(goals)
    regions = (
        whole(space, spots, goals, starts=starts)
        if scorer is None
        else narrow(scorer, spots, goals, starts=starts, progress=callbacks.theory)
    )
    same = _assigned(plan, longest.scheme)["parameters"] == _assigned(standard.describe(), longest.scheme)["parameters"]
    references = {name: standard} if same else {name: standard, "scenario": own}
    runs = dict(
        zip(references, simulate(list(references.values()), tuning, longest.queue, callbacks, executor), strict=True)
    )
    paused = any(link["flow_control"] for link in plan["links"])
    memory = longest.buffer_octets if paused else None
    kept = {each.name: guards(each, *runs.values(), memory_octets=memory, reserve=RESERVE) for each in goals}
    least_phase_rad = _least_phase_rad(references.values()) if predicts_runs else -math.inf

    def steady(point: Point) -> bool:
        """Whether a point has the phase margin of the settings before, or a positive one; or none is to be had."""
        if not predicts_runs:
            return True
        moved = set_to(own, space, point)
        phase = linear_margins(configurations(moved, from_s=plan["warmup_s"])).phase_rad
        return not phase < least_phase_rad

    search = Search(
        own, regions, kept, tuning, queue=longest.queue, buffer_octets=longest.buffer_octets, executor=executor
    )
    own_runs = runs[name if same else "scenario"]
    search.learn(point_of(longest, space), own_runs)
    interrupted = False
    try:
        search.run(trials, callbacks)
    except Interrupted:
        interrupted = True
    own_score = score(asked, kept[goal], own_runs, longest.buffer_octets)
    finalists = [tried for tried in search.finalists(goal, steady) if tried.scores[goal] < own_score]
    compared = 0
    if finalists and not interrupted:
        scenarios = [*references.values(), *(set_to(own, space, tried.point) for tried in finalists)]
        try:
            more = simulate(scenarios, choosing, longest.queue, callbacks, executor)
        except Interrupted:
            interrupted = True
        else:
            count = len(references)
            runs = {name: (*runs[name], *also) for name, also in zip(references, more[:count], strict=True)}
            finalists = [tried.with_runs(also) for tried, also in zip(finalists, more[count:], strict=True)]
            own_runs = runs[name if same else "scenario"]
            compared = len(finalists)
    held = guards(asked, *runs.values(), memory_octets=memory, reserve=RESERVE)
    chosen = _chosen_of(finalists, asked, held, own_runs, longest.buffer_octets)
    point, tuned_runs = (point_of(longest, space), own_runs) if chosen is None else (chosen.point, chosen.runs)
    changed = chosen is not None
    proposal = set_to(own, space, point) if changed else own

    judged: dict[str, tuple[Observed, ...]] = {}
    if changed and not interrupted:
        try:
            found = simulate([proposal, *references.values()], unseen, longest.queue, callbacks, executor)
            judged = dict(zip(["proposal", *references], found, strict=True))
        except Interrupted:
            interrupted = True
    bounds = guards(asked, *(judged[each] for each in references), memory_octets=memory) if judged else ()
    verdicts = tuple(
        judge(asked, bounds, judged["proposal"], judged[other], _in_words(other, name, same))
        for other in references
        if judged
    )
    return Tuning(
        scenario=proposal,
        scheme=longest.scheme,
        goal=asked,
        guards=kept[goal],
        least_phase_rad=least_phase_rad,
        notes=_notes(plan, longest.queue),
        queue=longest.queue,
        region=regions[goal],
        space=tuple(space),
        trials=len(search.tried),
        refused=search.refused,
        finalists=compared,
        tuning_seeds=tuning,
        choosing_seeds=choosing,
        verdict_seeds=unseen,
        changed=changed,
        proposal=_settings("proposal", proposal, space, tuned_runs, judged.get("proposal", ())),
        others=tuple(
            _settings(other, reference, space, runs[other], judged.get(other, ()))
            for other, reference in references.items()
        ),
        verdicts=verdicts,
        interrupted=interrupted,
    )


def _least_phase_rad(references: Iterable[Scenario]) -> float:
    """The phase margin that a proposal may not be below: 0, or the best of the references' where none has as much."""
    margins = [
        linear_margins(configurations(each, from_s=each.describe()["warmup_s"])).phase_rad for each in references
    ]
    known = [phase for phase in margins if not math.isnan(phase)]
    return min(0.0, max(known)) if known else 0.0


def _notes(plan: Description, queue: str) -> tuple[str, ...]:
    """What bounds the memory of the queue, where that is not what it seems."""
    switch = queue.partition("->")[0]
    lines = [
        link["flow_control"] for link in plan["links"] if link["name"].endswith(f"->{switch}") and link["flow_control"]
    ]
    held = sum(line["buffer_octets"] for line in lines)
    if not lines or any(line["pools"] for line in lines):
        return ()
    return (
        f"the scenario has [pfc] and no [[buffer]]: each of the {len(lines)} lines that lead to {switch} has a buffer "
        f"for itself, {octets(held)} in all, and no frame is lost; the search lets the queue hold no more than its own "
        "buffer. A [[buffer]] gives the switch the memory that it has",
    )


def _seed_groups(
    first: int, seeds: int | Sequence[int], verdict_seeds: int | Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """The seeds of the search, of the choice and of the verdict; no seed is in two of them."""
    tuning = seeds_of(seeds, first)
    choosing = tuple(range(max(tuning) + 1, max(tuning) + 1 + _CHOOSING * len(tuning)))
    unseen = seeds_of(
        verdict_seeds,
        choosing[-1] + 1,
        lambda _, message, hint: ArgumentError(f"verdict_seeds: {message}", hint.replace("seeds =", "verdict_seeds =")),
    )
    if len(unseen) < 2:
        raise ArgumentError(f"verdict_seeds={verdict_seeds}: must be at least 2", "write verdict_seeds=2 or more")
    if seen := {*tuning, *choosing} & {*unseen}:
        hint = f"write a number, or seeds from {choosing[-1] + 1} on"
        raise ArgumentError(f"verdict_seeds: the search sees seed {min(seen)} already", hint)
    seeds_of([max(*choosing, *unseen)], first)  # Those that follow the largest are seeds.
    return tuning, choosing, unseen


def _chosen_of(
    finalists: Sequence[Trial],
    goal: Goal,
    kept: Sequence[Guard],
    own: Sequence[Observed],
    buffer_octets: float,
) -> Trial | None:
    """The best finalist on all of its seeds, by these guards; None if the scenario's own parameters are as good."""
    best = min(finalists, key=lambda tried: score(goal, kept, tried.runs, buffer_octets), default=None)
    if best is None or score(goal, kept, best.runs, buffer_octets) >= score(goal, kept, own, buffer_octets):
        return None
    return best


def _chosen(scenario: Scenario, scheme: str | None, profile: str | None) -> Scenario:
    """A copy of a scenario that says itself which scheme and profile it runs."""
    copy = scenario.copy()
    # Errors of either are raised before anything is set.
    copy.describe(scheme=scheme, profile=profile)
    if scheme is not None:
        copy.set("scheme", scheme)
    if profile is not None:
        copy.set(f"schemes.{scheme or copy.scheme}.profile", profile)
    return copy


def _standard(own: Scenario, scheme: str, against: str | None) -> tuple[str, Scenario]:
    """The scenario with a profile's parameters alone, or the catalogue's defaults, and their name.

    Unless one is named, it is the first profile that the scenario takes: a threshold may be beyond its buffer.
    """
    known = about(scheme)
    names = [*(profile["name"] for profile in known["profiles"]), DEFAULTS]
    if against is not None and against not in names:
        raise UnsuitedScenarioError(f"{scheme} has no profile {against}", f"its profiles are {', '.join(names)}")
    text, origin, named, keys_set = parts_of(own)
    document = tomllib.loads(text)
    for name in names if against is None else [against]:
        table = {} if name == DEFAULTS else {"profile": name}
        document["schemes"] = {**document.get("schemes", {}), scheme: table}
        standard = joined((tomli_w.dumps(document), origin, named, keys_set))
        try:
            standard.describe()
        except ScenarioError as error:
            refused = f"{name} does not fit the scenario: {error.key}: {error.message}"
        else:
            return name, standard
    raise UnsuitedScenarioError(refused, "name another profile: against=NAME")


def _assigned(plan: Description, scheme: str) -> AssignedScheme:
    """The scheme as it is run, with its parameters."""
    return next(entry for entry in plan["schemes"] if entry["name"] == scheme)


def _takes_effect(own: Scenario, plan: Description, scheme: str, space: Sequence[Knob], point: Point) -> None:
    """Refuse a scenario that takes the scheme's parameters from elsewhere than the scheme's table.

    ``point`` is legal, and none of its values is the scenario's own.
    """
    before = _assigned(plan, scheme)["parameters"]
    after = _assigned(set_to(own, space, point).describe(), scheme)["parameters"]
    for knob in space:
        own_value = float(before[knob.name])
        moves = not math.isclose(point[knob.name], own_value, rel_tol=1e-9)
        if moves and math.isclose(float(after[knob.name]), own_value, rel_tol=1e-9):
            raise UnsuitedScenarioError(
                f"{knob.key} changes nothing: a [[priority]] table names a profile itself",
                "leave the profile out there, and give it in the scheme's table",
            )


def _settings(
    name: str,
    scenario: Scenario,
    space: Sequence[Knob],
    tuning: tuple[Observed, ...],
    judging: tuple[Observed, ...],
) -> Settings:
    """A scenario's parameters with their margin and runs."""
    plan = scenario.describe()
    parameters = _assigned(plan, space[0].key.split(".")[1])["parameters"]
    shown = {knob.key: knob.text(float(parameters[knob.name])) for knob in space}
    return Settings(name, shown, linear_margins(configurations(scenario, from_s=plan["warmup_s"])), tuning, judging)


def _in_words(other: str, standard: str, same: bool) -> str:
    if other == standard:
        name = "the catalogue's defaults" if standard == DEFAULTS else f"the standard's, profile {standard}"
        return name + (", which the scenario has" if same else "")
    return "the scenario's own"
