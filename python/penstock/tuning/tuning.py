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
from penstock.runs import RunCallbacks, seeds_of
from penstock.scenario import Scenario, joined, parts_of
from penstock.theory.configuration import UnsuitedScenarioError
from penstock.tuning.goals import GOALS, RESERVE, Goal, Guard, broken, companions, guards, mean, score
from penstock.tuning.initial_points import spread
from penstock.tuning.linear_margins import LinearMargins, linear_margins
from penstock.tuning.measures import Observed
from penstock.tuning.refusals import Candidate, Judge, Objection
from penstock.tuning.search import Interrupted, Search, require_optuna, simulate
from penstock.tuning.search_region import FluidScorer, Region, narrow, whole
from penstock.tuning.search_space import Knob, Point, knobs, moved, point_of, set_to
from penstock.tuning.subject import Subject, subject
from penstock.tuning.verdict import Verdict, judge

DEFAULTS = "defaults"
"""The name instead of a profile where the catalogue's defaults are meant."""

OWN = "scenario"
"""The name of the scenario's own parameters."""

_LEAST_STARTS = 8
"""The least number of points, kept by the theory, with which the search begins; or a third of all, if that is more."""

_CHOOSING = 2
"""Seeds that choose between the finalists of the search, as a multiple of the seeds of the search."""


@dataclass(frozen=True)
class Settings:
    """One set of parameters and what is known of it.

    Attributes:
        name: ``proposal``, ``scenario`` or a profile.
        parameters: the tuned ones, as a scenario has them.
        margin: the phase margin, or why there is none.
        confirmed: whether packets stay at the equilibrium that the fluid calls stable; None where it calls none stable,
            or flows and links change.
        tuning: the runs with the seeds of the search, and with those of the choice if there was one.
        judging: the runs with the verdict's seeds; empty if there was no verdict.
    """

    name: str
    parameters: Mapping[str, str | int | float]
    margin: LinearMargins
    confirmed: bool | None
    tuning: tuple[Observed, ...]
    judging: tuple[Observed, ...]


@dataclass(frozen=True)
class Tuning:
    """The answer of a search: a proposal, and the settings that it is compared with. A notebook shows it as a table.

    Attributes:
        scenario: the scenario with the proposal; with its own parameters, if the search found nothing better.
        own: the scenario with its own parameters.
        scheme: name of the scheme.
        goal: the goal that was asked for.
        guards: the bounds that the proposal had to keep in the search.
        least_phase_rad: the phase margin that the proposal had to have, where it has one at all; -inf without a model.
        unpredicted: why theory did not narrow the search; "" where it did.
        notes: what a reader of the answer should know about the scenario, in sentences.
        queue: the queue that it was judged by.
        region: where theory said to search for this goal.
        space: the parameters that were tuned, with their bounds before that.
        trials: how many points were simulated.
        refused: how many that the search proposed theory left out.
        candidates: the simulated points, with the reasons against those that may not be proposed.
        best_allowed: the best of the others on the seeds of the search; None if there is none.
        finalists: how many points further seeds chose between; 0 if none was better, or if interrupted before that.
        tuning_seeds: seeds of the search.
        choosing_seeds: the further seeds of the choice.
        verdict_seeds: seeds of the verdict.
        changed: whether the search found something better than the scenario's own parameters: the proposal.
        proposal: the proposal; the scenario's own parameters if there is none.
        own_objections: the guards that the scenario's own parameters break, such as that on memory.
        objections: the guards that the proposal breaks on the verdict's seeds.
        others: the scenario's own parameters, and those of the profile that was named if they are different.
        verdicts: one for each of ``others``; none without a proposal, or if interrupted.
        interrupted: whether Ctrl-C ended it: then the proposal is the best so far.
    """

    scenario: Scenario
    own: Scenario
    scheme: str
    goal: Goal
    guards: tuple[Guard, ...]
    least_phase_rad: float
    unpredicted: str
    notes: tuple[str, ...]
    queue: str
    region: Region
    space: tuple[Knob, ...]
    trials: int
    refused: int
    candidates: tuple[Candidate, ...]
    best_allowed: tuple[Observed, ...] | None
    finalists: int
    tuning_seeds: tuple[int, ...]
    choosing_seeds: tuple[int, ...]
    verdict_seeds: tuple[int, ...]
    changed: bool
    proposal: Settings
    own_objections: tuple[Objection, ...]
    objections: tuple[Objection, ...]
    others: tuple[Settings, ...]
    verdicts: tuple[Verdict, ...]
    interrupted: bool

    @property
    def refusals(self) -> tuple[Candidate, ...]:
        """The simulated points that may not be proposed."""
        return tuple(candidate for candidate in self.candidates if candidate.objections)

    @property
    def gain_shown(self) -> bool:
        """Whether the proposal beats all that it is compared with, and keeps the guards, on seeds new to the search."""
        return bool(self.verdicts) and all(verdict.beats for verdict in self.verdicts) and not self.objections

    @property
    def baseline(self) -> Settings:
        """The scenario's own parameters, which the guards are taken from."""
        return self.others[0]

    @property
    def why(self) -> str:
        """Why this is proposed, or nothing is: a paragraph, with three metrics before and after."""
        from penstock.tuning.explanation import why

        return why(self)

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
    phase_margin: float | None = 0.0,
    callbacks: RunCallbacks | None = None,
    executor: Executor | None = None,
) -> Tuning:
    """Propose parameters of a scenario's scheme: theory narrows, simulations search, others choose and judge.

    A scheme without a fluid model, or a scenario that none describes, is searched by simulation alone, between the same
    bounds.

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
        goal: ``stability``, ``latency``, ``utilization``, ``pauses``, or a percentile of flow completion times such as
            ``fct-p99``; :data:`penstock.tuning.goals.GOALS` defines them.
        scheme: instead of the scenario's.
        profile: that the scheme's parameters start from, instead of the scenario's.
        against: a profile that the proposal has to beat too, or ``defaults``, the catalogue's; by default the
            scenario's own parameters alone are the baseline.
        keys: parameters to tune, ``KEY`` or ``KEY=A..B``; by default those that are usually tuned, see
            :mod:`penstock.tuning.search_space`.
        trials: how many points to simulate.
        seeds: how many seeds each of them is simulated with, from the scenario's on; or the seeds. Twice as many that
            follow the largest choose between the best.
        verdict_seeds: how many seeds judge the proposal, those that follow these; or the seeds, none of them seen
            before.
        points: how many points the theory looks at; a power of two spreads them best.
        phase_margin: the least that a proposal may have where it has one, degrees; or that of the scenario's own
            parameters, where it is less. None for no such guard.
        callbacks: how to watch and end the runs; its ``theory`` is called with the progress of the theory's work.
        executor: where runs run instead of all cores, such as a :class:`penstock.RayExecutor`.

    Raises:
        ArgumentError: there is no such goal, or a number is too small.
        KeyboardInterrupt: the interrupt came before anything was found.
        MissingExtraError: a package of the extra ``tune`` is not installed.
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: the scenario has several schemes, or nothing that the goal is measured by; or there is
            nothing to tune.
    """
    asked = GOALS.get(goal)
    if asked is None:
        raise ArgumentError(f'goal="{goal}": unknown goal', f"use one of {', '.join(GOALS)}")
    if trials < 1:
        raise ArgumentError(f"trials={trials}: must be at least 1", "write trials=1 or more")
    if phase_margin is not None and not -180 <= phase_margin <= 180:
        raise ArgumentError(f"phase_margin={phase_margin:g}: must be from -180 to 180", "write degrees, such as 0")
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
    found = subject(own, plan, asked, tuning[0], callbacks, executor)
    given = found.given
    name, standard = _standard(own, given.scheme, against)
    space = knobs(given, _assigned(standard.describe(), given.scheme)["parameters"], keys)
    spots = spread(own, given, space, points, plan["seed"])
    _takes_effect(own, plan, given.scheme, space, spots[0])

    # Goals with the same guards share the search, which begins with a third of its points.
    goals = companions(asked)
    starts = max(_LEAST_STARTS, trials // 3) // len(goals)
    regions = (
        whole(space, spots, goals, starts=starts)
        if found.unpredicted
        else narrow(
            FluidScorer.of(found.periods, plan["warmup_s"], space),
            spots,
            goals,
            starts=starts,
            progress=callbacks.theory,
        )
    )
    same = _assigned(plan, given.scheme)["parameters"] == _assigned(standard.describe(), given.scheme)["parameters"]
    references = {OWN: own} if same or against is None else {OWN: own, name: standard}

    def simulated(scenarios: Iterable[Scenario], seeds: Sequence[int]) -> list[tuple[Observed, ...]]:
        return simulate(list(scenarios), seeds, found.queue, callbacks, executor, more=asked.more)

    def kept(goal: Goal, runs: Iterable[Sequence[Observed]], reserve: float = RESERVE) -> tuple[Guard, ...]:
        return guards(goal, *runs, memory_octets=found.memory_octets, reserve=reserve)

    runs = dict(zip(references, simulated(references.values(), tuning), strict=True))
    search_guards = {each.name: kept(each, runs.values()) for each in goals}
    judging = _judge_of(found, space, phase_margin)
    search = Search(
        own,
        regions,
        search_guards,
        tuning,
        queue=found.queue,
        buffer_octets=given.buffer_octets,
        penalty=lambda point, of: judging.penalty(point, of),
        executor=executor,
        more=asked.more,
    )
    search.learn(point_of(given, space), runs[OWN])
    interrupted = False
    try:
        search.run(trials, callbacks)
    except Interrupted:
        interrupted = True
    seen = runs[OWN]
    against_each = {
        id(tried): judging.objections(tried.point, search_guards[goal], tried.runs) for tried in search.tried
    }
    candidates = tuple(Candidate(tried.point, against_each[id(tried)], mean(tried.runs)) for tried in search.tried)
    allowed = [tried for tried in search.tried if not against_each[id(tried)]]
    best_allowed = min(allowed, key=lambda tried: tried.scores[goal], default=None)

    def worth(of: Sequence[Observed]) -> float:
        """The score by the goal alone: the scenario's own parameters may break a guard themselves."""
        return score(asked, (), of, given.buffer_octets)

    finalists = [tried for tried in search.finalists(goal, allowed) if worth(tried.runs) < worth(seen)]
    compared = 0
    if finalists and not interrupted:
        scenarios = [*references.values(), *(set_to(own, space, tried.point) for tried in finalists)]
        try:
            more = simulated(scenarios, choosing)
        except Interrupted:
            interrupted = True
        else:
            count = len(references)
            runs = {name: (*runs[name], *also) for name, also in zip(references, more[:count], strict=True)}
            finalists = [tried.with_runs(also) for tried, also in zip(finalists, more[count:], strict=True)]
            compared = len(finalists)
    held = kept(asked, runs.values())
    fit = [tried for tried in finalists if not judging.objections(tried.point, held, tried.runs)]
    chosen = min(fit, key=lambda tried: worth(tried.runs), default=None)
    if chosen is not None and worth(chosen.runs) >= worth(runs[OWN]):
        chosen = None
    changed = chosen is not None
    point, tuned_runs = (point_of(given, space), runs[OWN]) if chosen is None else (chosen.point, chosen.runs)
    proposal = set_to(own, space, point) if changed else own

    judged: dict[str, tuple[Observed, ...]] = {}
    if changed and not interrupted:
        try:
            judged = dict(
                zip(["proposal", *references], simulated([proposal, *references.values()], unseen), strict=True)
            )
        except Interrupted:
            interrupted = True
    bounds = kept(asked, (judged[each] for each in references), reserve=0.0) if judged else ()
    verdicts = tuple(
        judge(asked, bounds, judged["proposal"], judged[other], _in_words(other, name, same))
        for other in references
        if judged
    )

    def settings(of: str, scenario: Scenario, tuned: tuple[Observed, ...]) -> Settings:
        return _settings(of, scenario, space, judging, found.unpredicted, tuned, judged.get(of, ()))

    return Tuning(
        scenario=proposal,
        own=own,
        scheme=given.scheme,
        goal=asked,
        guards=search_guards[goal],
        least_phase_rad=judging.least_phase_rad,
        unpredicted=found.unpredicted,
        notes=found.notes,
        queue=found.queue,
        region=regions[goal],
        space=tuple(space),
        trials=len(search.tried),
        refused=search.refused,
        candidates=candidates,
        best_allowed=None if best_allowed is None else best_allowed.runs,
        finalists=compared,
        tuning_seeds=tuning,
        choosing_seeds=choosing,
        verdict_seeds=unseen,
        changed=changed,
        proposal=settings("proposal", proposal, tuned_runs),
        own_objections=tuple(Objection.of(guard, seen) for guard in broken(search_guards[goal], seen)),
        objections=judging.objections(point, bounds, judged["proposal"]) if judged else (),
        others=tuple(settings(other, reference, runs[other]) for other, reference in references.items()),
        verdicts=verdicts,
        interrupted=interrupted,
    )


def _judge_of(found: Subject, space: Sequence[Knob], least_degrees: float | None) -> Judge:
    """The judge of candidates; a smaller phase margin is enough only where the scenario's own parameters have no more.

    Margins are those of the periods with a point's values: nothing of the scenario is laid out again.
    """
    if not found.has_margins:
        return Judge(None, -math.inf, found.given.frame_octets, one_period=False)

    def margins(point: Point) -> LinearMargins:
        return linear_margins([moved(period, space, point) for period in found.periods])

    least_rad = -math.inf
    if least_degrees is not None:
        own_rad = linear_margins(found.periods).phase_rad
        least_rad = math.radians(least_degrees)
        least_rad = least_rad if math.isnan(own_rad) else min(least_rad, own_rad)
    return Judge(margins, least_rad, found.given.frame_octets, one_period=len(found.periods) == 1)


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


def _chosen(scenario: Scenario, scheme: str | None, profile: str | None) -> Scenario:
    """A copy of a scenario that says itself which scheme and profile it runs."""
    copy = scenario.copy()
    # Errors of either are raised before anything is set.
    copy.describe(scheme=scheme, profile=profile)
    if scheme is not None:
        copy.set("scheme", scheme)
    if profile is not None:
        copy.set(f"schemes.{about(scheme or copy.scheme)['name']}.profile", profile)
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
    judges: Judge,
    unpredicted: str,
    tuning: tuple[Observed, ...],
    judging: tuple[Observed, ...],
) -> Settings:
    """A scenario's parameters with their margin and runs."""
    parameters = _assigned(scenario.describe(), space[0].key.split(".")[1])["parameters"]
    values = {knob.name: float(parameters[knob.name]) for knob in space}
    shown = {knob.key: knob.text(values[knob.name]) for knob in space}
    if judges.margins is None:
        return Settings(name, shown, LinearMargins(math.nan, math.nan, unpredicted), None, tuning, judging)
    margin = judges.margins(values)
    return Settings(name, shown, margin, judges.packets_confirm(margin, judging or tuning), tuning, judging)


def _in_words(other: str, standard: str, same: bool) -> str:
    profile = "the catalogue's defaults" if standard == DEFAULTS else f"those of profile {standard}"
    if other == OWN:
        return f"the scenario's own, {profile}" if same else "the scenario's own"
    return profile
