"""Why a candidate may not be proposed: the guards that it breaks, its phase margin, packets that contradict its margin.

The fluid calls an equilibrium stable, and its packets may swing from an empty queue to a full one. Then the margin that
a candidate has to have is that of another system than the packets', and the candidate is refused. That it swings less
than the scenario's own parameters does not help: a guard is kept or not, whatever the others do. Who wants such a
candidate asks for no margin, and then packets alone are the judges.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.quantity_text import octets
from penstock.theory.packet_oscillation import distance, rests
from penstock.tuning.goals import Guard, broken, mean
from penstock.tuning.linear_margins import LinearMargins
from penstock.tuning.measures import MEASURES, Observed
from penstock.tuning.prose import value
from penstock.tuning.search_space import Point

PHASE_MARGIN = "phase_margin"
PACKETS = "packets"

TITLES = {PHASE_MARGIN: "phase margin", PACKETS: "packets that contradict the margin"}
"""The reasons that are no guard on a metric, with their titles."""


@dataclass(frozen=True)
class Objection:
    """A reason against a candidate.

    Attributes:
        by: the metric of the guard, or a key of :data:`TITLES`.
        reason: in words and numbers.
    """

    by: str
    reason: str

    @classmethod
    def of(cls, guard: Guard, runs: Sequence[Observed]) -> "Objection":
        """Return the objection of a guard that runs break, in mean over the seeds."""
        measure, found = MEASURES[guard.measure], mean(runs)[guard.measure]
        side = "at most" if guard.sign > 0 else "at least"
        return cls(
            guard.measure,
            f"{measure.title} {value(found, measure.kind)}, {side} {value(guard.bound, measure.kind)}",
        )

    @property
    def title(self) -> str:
        """Its guard in words."""
        return TITLES[self.by] if self.by in TITLES else MEASURES[self.by].title


@dataclass(frozen=True)
class Candidate:
    """A point that was simulated.

    Attributes:
        point: its values.
        objections: the reasons against it; none where it may be proposed.
        at: its metrics, mean over the seeds of the search.
    """

    point: Point
    objections: tuple[Objection, ...]
    at: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Judge:
    """Objections to candidates by theory and by their packets.

    Attributes:
        margins: linear theory of a point; None where it has no say.
        least_phase_rad: the phase margin that a candidate has to have where there is one.
        frame_octets: length of a frame, octets.
        one_period: whether flows and links stay as they are in the measured time; else packets leave the equilibrium
            for other reasons too.
    """

    margins: Callable[[Point], LinearMargins] | None
    least_phase_rad: float
    frame_octets: float
    one_period: bool

    def objections(self, point: Point, kept: Sequence[Guard], runs: Sequence[Observed]) -> tuple[Objection, ...]:
        """Return all reasons against a point."""
        at = mean(runs)
        found = [Objection.of(guard, runs) for guard in broken(kept, runs)]
        if self.margins is None:
            return tuple(found)
        margin = self.margins(point)
        if self.shortfall_rad(point) > 0:
            least, phase = (math.degrees(rad) for rad in (self.least_phase_rad, margin.phase_rad))
            found.append(Objection(PHASE_MARGIN, f"phase margin {phase:.1f} degrees, at least {least:.1f} degrees"))
        if self._contradicted(margin, runs):
            spread = f"{octets(at['queue_mean_octets'])} ± {octets(at['queue_std_octets'])}"
            found.append(
                Objection(
                    PACKETS,
                    f"the fluid is stable at {octets(margin.rest_octets)}, and packets contradict it: queue {spread}",
                )
            )
        return tuple(found)

    def shortfall_rad(self, point: Point) -> float:
        """By how much a point's phase margin is too small, rad; 0 where it is not, or there is none."""
        if self.margins is None or math.isinf(self.least_phase_rad):
            return 0.0
        short = self.least_phase_rad - self.margins(point).phase_rad
        return short if short > 0 else 0.0

    def penalty(self, point: Point, runs: Sequence[Observed]) -> float:
        """By how much margin and packets speak against a point, for the search to rank by; 0 where they do not."""
        if self.margins is None:
            return 0.0
        margin, short = self.margins(point), self.shortfall_rad(point)
        if not self._contradicted(margin, runs):
            return short
        at = mean(runs)
        return short + math.log(
            distance(at["queue_mean_octets"], at["queue_std_octets"], margin.rest_octets, self.frame_octets)
        )

    def _contradicted(self, margin: LinearMargins, runs: Sequence[Observed]) -> bool:
        """Whether packets contradict a margin that was asked for."""
        return not math.isinf(self.least_phase_rad) and self.packets_confirm(margin, runs) is False

    def packets_confirm(self, margin: LinearMargins, runs: Sequence[Observed]) -> bool | None:
        """Whether packets stay at the equilibrium that the fluid calls stable; None where it calls none stable."""
        if not self.one_period or not margin.phase_rad >= 0:
            return None
        at = mean(runs)
        return rests(at["queue_mean_octets"], at["queue_std_octets"], margin.rest_octets, self.frame_octets)


def counted(refusals: Sequence[Candidate]) -> dict[str, int]:
    """Return how many candidates each guard refuses, the most frequent first; one may break several."""
    keys = [objection.by for refusal in refusals for objection in refusal.objections]
    return {key: keys.count(key) for key in sorted(dict.fromkeys(keys), key=lambda key: -keys.count(key))}


def title_of(key: str) -> str:
    """Return the title of a guard by its key."""
    return Objection(key, "").title
