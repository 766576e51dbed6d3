"""The search for the reading of a paper that most claims hold under: fitted on half of the figures, judged on the rest.

A fit goes from the profile's reading to the best one that differs in one choice, and so on, and likewise from each
other start of the file. From the best of all it goes on through those that differ in two, unless the file says one, and
takes the best of the first few dozen that have a better one. Where the whole space is small, all of it is tried. Of
readings with as many claims, the one that is nearer to the profile counts, then the one that comes first. Fits look at
few seeds; changes that hold no more claims of their half with all seeds are taken back; the judgement has all seeds.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from penstock import interrupts
from penstock.executors.executor import Executor
from penstock.files import write_text
from penstock.reproduction.paper import load
from penstock.reproduction.readings import Reading, Space, space
from penstock.reproduction.reproduce import folder_of
from penstock.reproduction.search_file import text
from penstock.reproduction.trials import Held, Journal, Trials
from penstock.runs import RunCallbacks

EVIDENCE = "search.toml"

_WHOLE = 256
"""The most readings of a space that is tried whole."""

_AT_ONCE = 64
"""Readings that are tried at a time, of those that differ in two choices."""


@dataclass(frozen=True)
class Fit:
    """The reading that was fitted on one half of the figures, judged with all seeds.

    Attributes:
        half: the half that it was fitted on, 0 or 1.
        changes: the alternatives that differ from the profile's, by choice.
        fitted: how many claims of this half hold.
        unseen: how many of the other half hold.
        gained: claims that hold and do not under the profile, of all figures.
        lost: claims that do not hold and do under the profile.
        unjudged: the choices whose change alone decides no claim of the half that it never saw.
        wins: whether it holds more claims of the half that it never saw than the profile, and no fewer of the
            other.
    """

    half: int
    changes: dict[str, str]
    fitted: int
    unseen: int
    aside: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    unjudged: tuple[str, ...]
    wins: bool


@dataclass(frozen=True)
class Search:
    """A finished search.

    Attributes:
        space: the readings of the paper.
        tested: how many claims each half has that can be tested, then the figures aside.
        profile: how many of them hold under the profile, with all seeds.
        fits: the two readings that were fitted, one on each half.
        alone: of each alternative that the profile does not take: how many claims of each half hold with it alone
            changed, with the search's seeds; ``None`` where no run can take it.
        start: the same under the profile.
        tried: how many readings were tried.
        refused: how many more no run can take.
        path: the search's folder.
    """

    space: Space
    tested: tuple[int, int, int]
    profile: tuple[int, int, int]
    fits: tuple[Fit, Fit]
    alone: dict[tuple[str, str], tuple[int, int] | None]
    start: tuple[int, int]
    tried: int
    refused: int
    path: Path

    @property
    def winner(self) -> Fit | None:
        """The fit to take for the paper's profile; of two that win, the one with more claims. ``None`` if none does."""
        wins = [fit for fit in self.fits if fit.wins]
        return max(wins, key=lambda fit: (fit.fitted + fit.unseen, -len(fit.changes)), default=None)

    def document(self) -> dict[str, Any]:
        """Return the object that ``penstock reproduce PAPER --search --json`` prints."""
        return {
            "paper": self.space.paper.name,
            "own": self.space.names(self.space.own),
            "readings": self.space.size,
            "tried": self.tried,
            "refused": self.refused,
            "seeds": self.space.seeds,
            "changed": self.space.changed,
            "halves": [list(half) for half in self.space.halves],
            "aside": list(self.space.aside),
            "claims": list(self.tested),
            "profile": list(self.profile),
            "fits": [
                {
                    "half": fit.half + 1,
                    "changes": fit.changes,
                    "fitted": fit.fitted,
                    "unseen": fit.unseen,
                    "aside": fit.aside,
                    "wins": fit.wins,
                    "unjudged": list(fit.unjudged),
                    "gained": list(fit.gained),
                    "lost": list(fit.lost),
                }
                for fit in self.fits
            ],
            "start": list(self.start),
            "alone": [
                {"choice": choice, "reading": reading, "holds": None if counts is None else list(counts)}
                for (choice, reading), counts in self.alone.items()
            ],
        }


def search_readings(
    paper: str | PathLike[str],
    out: str | PathLike[str],
    *,
    callbacks: RunCallbacks | None = None,
    log: Callable[[str], object] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Search:
    """Look for the reading of a paper under which most claims hold, fitted on half of the figures, judged on the rest.

        >>> found = penstock.search_readings("multicast", "results/multicast-search")
        >>> found.winner

    The paper's ``readings.toml`` has the choices. Each run is kept in ``out`` as soon as it has finished: the same call
    goes on with a search that was ended or killed, and repeats no run. A paper's folder may hold Python, which is run.

    Args:
        paper: a paper's name below ``./papers``, or its folder.
        out: the search's folder; it is made if it does not exist. ``search.toml`` in it has the outcome.
        callbacks: how to watch and end the runs.
        log: called with a line for each step.
        workers: how many runs at a time; by default one for each core.
        executor: where runs run instead, such as a :class:`penstock.RayExecutor`.

    Raises:
        ArgumentError: there is no such paper, the folder holds something else, or another search is at work there.
        KeyboardInterrupt: the search was ended; what had finished is in ``out``.
        PaperError: the paper's folder, or its ``readings.toml``, cannot be read.
        PenstockError: a run failed.
    """
    found = space(load(folder_of(paper)))
    folder = Path(out)
    with Journal(folder) as journal:
        trials = Trials(found, journal, callbacks or RunCallbacks(), workers=workers, executor=executor)
        done = _searched(found, trials, log or (lambda _: None), folder)
    interrupts.writes(folder / EVIDENCE)
    write_text(folder / EVIDENCE, text(done.document()))
    return done


def _searched(found: Space, trials: Trials, log: Callable[[str], object], folder: Path) -> Search:
    log(f"{found.paper.name}: {found.size} readings of {len(found.choices)} choices")
    for number, half in enumerate(found.halves, 1):
        log(f"half {number}: {', '.join(half)}")
    single = [found.own, *found.beside(found.own, 1)]
    counts = [[_count(held) for held in trials.held(single, half, found.seeds)] for half in found.halves]
    alone: dict[tuple[str, str], tuple[int, int] | None] = {}
    for reading, one, two in zip(single[1:], *(column[1:] for column in counts), strict=True):
        ((choice, name),) = found.changes(reading).items()
        alone[choice, name] = None if one is None or two is None else (one, two)
    fitted = [_pruned(found, trials, _fit(found, trials, half, log), half, log) for half in (0, 1)]
    log("judgement, with all seeds")
    parts = (*found.halves, found.aside)
    under = {reading: [_held(trials, reading, part) for part in parts] for reading in (found.own, *fitted)}
    own = [len(held) for held in under[found.own]]
    return Search(
        space=found,
        tested=_three([_tested(found, part) for part in parts]),
        profile=_three(own),
        fits=(_judged(found, trials, 0, fitted[0], under), _judged(found, trials, 1, fitted[1], under)),
        alone=alone,
        start=(counts[0][0] or 0, counts[1][0] or 0),
        tried=trials.tried,
        refused=trials.refused,
        path=folder,
    )


def _fit(found: Space, trials: Trials, half: int, log: Callable[[str], object]) -> Reading:
    """Return the reading under which most claims of a half hold, of those that the search comes by."""
    figures = found.halves[half]

    def best(readings: Sequence[Reading]) -> tuple[int, Reading]:
        held = trials.held(readings, figures, found.seeds)
        ranked = [
            (len(claims), -len(found.changes(reading)), -place, reading)
            for place, (reading, claims) in enumerate(zip(readings, held, strict=True))
            if claims is not None
        ]
        count, _, _, reading = max(ranked, default=(-1, 0, 0, found.own))
        return count, reading

    if found.size <= _WHOLE:
        # The profile's comes first, so that it wins ties.
        held, reading = best([found.own, *(other for other in found.all() if other != found.own)])
        log(f"half {half + 1}: {held} claims hold with {_changes(found, reading)}")
        return reading

    def climbed(start: Reading, most: int) -> Reading:
        held, reading = best([start])
        log(f"half {half + 1}: {held} claims hold with {_changes(found, reading)}")
        steps = _steps(found, reading, most)
        while batch := next(steps, None):
            more, beside = best(batch)
            if more > held:
                held, reading = more, beside
                steps = _steps(found, reading, most)
                log(f"half {half + 1}: {held} claims hold with {_changes(found, reading)}")
        return reading

    _, reading = best([climbed(start, 1) for start in found.starts])
    return climbed(reading, found.changed)


def _pruned(found: Space, trials: Trials, reading: Reading, half: int, log: Callable[[str], object]) -> Reading:
    """Return a fitted reading without the changes that hold no more claims of its half with all their seeds."""
    figures = found.halves[half]
    held = len(_held(trials, reading, figures))
    while reading != found.own:
        # The profile's comes first, so that it wins ties.
        without = [found.own, *found.reverted(reading).values()]
        counts = [len(_held(trials, other, figures)) for other in without]
        if max(counts) < held:
            break
        held, reading = max(counts), without[counts.index(max(counts))]
    log(f"half {half + 1}: {held} claims hold, with all seeds, with {_changes(found, reading)}")
    return reading


def _steps(found: Space, reading: Reading, most: int) -> Iterator[list[Reading]]:
    """Yield the readings beside one: all that differ in one choice; if ``most`` is two then those in two, in parts."""
    yield list(found.beside(reading, 1))
    pairs = found.beside(reading, 2) if most > 1 else iter(())
    while batch := list(islice(pairs, _AT_ONCE)):
        yield batch


def _judged(found: Space, trials: Trials, half: int, reading: Reading, under: dict[Reading, list[Held]]) -> Fit:
    before, after = under[found.own], under[reading]
    counts = [len(held) for held in after]
    own = [len(held) for held in before]
    other = 1 - half
    order = [claim.id for claim in found.paper.claims]
    had, has = (frozenset().union(*parts) for parts in (before, after))
    return Fit(
        half=half,
        changes=found.changes(reading),
        fitted=counts[half],
        unseen=counts[other],
        aside=counts[2],
        gained=tuple(name for name in order if name in has - had),
        lost=tuple(name for name in order if name in had - has),
        unjudged=_unjudged(found, trials, reading, other),
        wins=counts[other] > own[other] and counts[half] >= own[half],
    )


def _unjudged(found: Space, trials: Trials, reading: Reading, half: int) -> tuple[str, ...]:
    """Return the choices that may be as in the profile, and the same claims of a half hold."""
    held = _held(trials, reading, found.halves[half])
    without = found.reverted(reading)
    return tuple(name for name, other in without.items() if _held(trials, other, found.halves[half]) == held)


def _held(trials: Trials, reading: Reading, figures: tuple[str, ...]) -> Held:
    (held,) = trials.held([reading], figures)
    return held if held is not None else frozenset()


def _tested(found: Space, figures: Sequence[str]) -> int:
    return sum(claim.testable is not None and claim.figure in figures for claim in found.paper.claims)


def _count(held: Held | None) -> int | None:
    return None if held is None else len(held)


def _changes(found: Space, reading: Reading) -> str:
    changes = found.changes(reading)
    return ", ".join(f"{choice} = {name}" for choice, name in changes.items()) or "the profile's reading"


def _three(numbers: Sequence[int]) -> tuple[int, int, int]:
    one, two, three = numbers
    return one, two, three
