"""What the theory knows of a scenario: one bottleneck, and N flows of one kind that share it, while nothing changes.

The models of the papers have one queue, sources that are all alike, and a constant link. :func:`configurations` cuts a
scenario into periods in which that holds, and refuses, with the reason, what no such model describes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from penstock._core import PenstockError
from penstock.scenario import Description, FlowDescription, Scenario

BITS_PER_OCTET = 8

# Traffic that fills a link but for less than this share of it leaves the queue of the link empty.
_SATURATED = 0.999
# Delays that differ by no more than this share of the longest count as one.
_ALIKE = 0.1


class Unsuited(PenstockError):  # noqa: N818 - not every scenario has a theory, and that is no fault of it
    """A scenario, or a period of it, that the model does not describe.

    Attributes:
        reason: what the model lacks.
        hint: what would have a model.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(f"{reason}; {hint}" if hint else reason)
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True)
class Configuration:
    """One bottleneck and the flows that share it, while nothing changes.

    Attributes:
        scheme: name of the scheme.
        parameters: the scheme's parameters by name, in the units of ``penstock schemes``: octets, s, bit/s, count, ratio.
        flows: how many flows the scheme controls (N).
        capacity_bps: what the bottleneck leaves to them (C), bit/s.
        link_bps: rate of the bottleneck with all that it carries, bit/s.
        frame_octets: length of a frame as queue and line count it, octets.
        buffer_octets: size of the queue, octets.
        line_rate_bps: the largest rate of a source, bit/s.
        forward_delay_s: from a source's pacer until a frame joins the queue, s.
        feedback_delay_s: from a sample until its signal acts at the source, s.
        queue: name of the bottleneck's queue, for people.
        start_s: when the period begins, s of the simulation.
        stop_s: when it ends, s.
    """

    scheme: str
    parameters: Mapping[str, float | str | bool]
    flows: int
    capacity_bps: float
    link_bps: float
    frame_octets: float
    buffer_octets: float
    line_rate_bps: float
    forward_delay_s: float = 0.0
    feedback_delay_s: float = 0.0
    queue: str = ""
    start_s: float = 0.0
    stop_s: float = float("inf")
    notes: tuple[str, ...] = field(default=())

    @property
    def round_trip_s(self) -> float:
        """Delay of the control loop without the wait in the queue, s."""
        return self.forward_delay_s + self.feedback_delay_s

    @property
    def capacity_fps(self) -> float:
        """C in frames per second, as the papers' models have it."""
        return self.capacity_bps / (BITS_PER_OCTET * self.frame_octets)

    @property
    def fair_rate_bps(self) -> float:
        """C / N, bit/s."""
        return self.capacity_bps / self.flows

    def number(self, name: str) -> float:
        """A parameter of the scheme that is a number, in its unit.

        Raises:
            KeyError: the scheme has no parameter of that name.
            TypeError: it is a word or a switch.
        """
        value = self.parameters[name]
        if isinstance(value, bool | str):
            raise TypeError(f"{self.scheme}.{name} is no number: {value}")
        return value
