"""When the next sample comes, and whose frame it is: two answers, for the forms that go sample by sample.

By chance: a sample comes when the arrivals, a fluid, have added up to the interval's frames. Its frame is any
stream's, in proportion to the rates. So it is where samples are drawn, or where the intervals between them vary.

By phases: each stream is a row of frames at the distance that its rate gives, and samples are counted in these frames.
Streams are then struck in an order. Of three of equal rates, of which every 75th frame is sampled at the same phase of
their common period, the same stream is struck until a rate changes.
"""

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from penstock.theory.models.base import Source

NONE = 1e-9
"""Less than this share of a frame is nothing."""


class StreamSampling(StrEnum):
    """How a sample finds the stream that it strikes."""

    CHANCE = "chance"
    PHASES = "phases"


class Sampler(ABC):
    """Where the samples of some streams come."""

    @abstractmethod
    def begin(self, frames: float) -> None:
        """Begin the interval to the next sample, in frames."""

    @abstractmethod
    def wait_s(self) -> float:
        """Return the time until the next sample while no rate changes, s."""

    @abstractmethod
    def pass_by(self, wait_s: float) -> int | None:
        """Let a time pass, s, no longer than the wait, in which no rate changes.

        Returns the number of the stream that a sample at its end strikes; None if there is no sample.
        """


def sampler(
    strikes: StreamSampling,
    streams: Sequence[Source],
    octets_per_bit: float,
    frame_octets: float,
    random: np.random.Generator,
) -> Sampler:
    """Return what samples ``streams``, whose rates may change from call to call.

    Raises:
        ValueError: a stream sends nothing, or its next frame is not within the distance of two.
    """
    for number, stream in enumerate(streams):
        if not stream.rate_bps > 0:
            raise ValueError(f"stream {number} sends {stream.rate_bps:g} bit/s; leave out what sends nothing")
        if stream.ahead_frames is not None and not -NONE <= stream.ahead_frames <= 1 + NONE:
            raise ValueError(f"the next frame of stream {number} is {stream.ahead_frames:g} frames ahead, not 0 to 1")
    if strikes is StreamSampling.CHANCE:
        return _ByChance(streams, octets_per_bit, frame_octets, random)
    return _ByPhases(streams, octets_per_bit / frame_octets, random)


class _ByChance(Sampler):
    def __init__(
        self, streams: Sequence[Source], octets_per_bit: float, frame_octets: float, random: np.random.Generator
    ) -> None:
        self.streams, self.scale, self.frame, self.random = streams, octets_per_bit, frame_octets, random
        self.left_octets = 0.0

    def begin(self, frames: float) -> None:
        self.left_octets = frames * self.frame

    def wait_s(self) -> float:
        return self.left_octets / (self._total_bps() * self.scale)

    def pass_by(self, wait_s: float) -> int | None:
        self.left_octets -= self._total_bps() * self.scale * wait_s
        return self._struck() if self.left_octets <= NONE * self.frame else None

    def _struck(self) -> int:
        place_bps = self.random.random() * self._total_bps()
        for number, stream in enumerate(self.streams):
            place_bps -= stream.rate_bps
            if place_bps < 0:
                return number
        return len(self.streams) - 1

    def _total_bps(self) -> float:
        return sum(stream.rate_bps for stream in self.streams)


class _ByPhases(Sampler):
    def __init__(self, streams: Sequence[Source], frames_per_bit: float, random: np.random.Generator) -> None:
        self.streams, self.scale = streams, frames_per_bit
        for stream in streams:
            if stream.ahead_frames is None:
                stream.ahead_frames = random.random()
        # Of each stream, how far its next frame is ahead.
        self.ahead = [stream.ahead_frames or 0.0 for stream in streams]
        self.left_frames = 0
        # How many frames of each stream come until the sample, when that is, and which stream has the last of them.
        self.passing: list[int] = []
        self.until_s = 0.0
        self.last = 0

    def begin(self, frames: float) -> None:
        # The first frame that completes the interval; a whole number is not rounded up for the sake of its last bit.
        self.left_frames = max(1, math.ceil(frames - NONE))

    def wait_s(self) -> float:
        rates, ahead = self._rates_fps(), self.ahead
        # Of all frames up to now and those that are begun, none can complete the interval before this.
        early_s = max(0.0, (self.left_frames - len(rates) + sum(ahead)) / sum(rates) * (1 - NONE))
        self.passing = _frames(rates, ahead, early_s) if early_s > 0 else [0] * len(rates)
        missing = self.left_frames - sum(self.passing)
        # Frames that come at once come in the order of the streams.
        following = [
            ((frames + first) / rate, index)
            for index, (frames, first, rate) in enumerate(zip(self.passing, ahead, rates, strict=True))
        ]
        heapq.heapify(following)
        while True:
            at_s, self.last = following[0]
            self.passing[self.last] += 1
            missing -= 1
            if missing <= 0:
                break
            heapq.heapreplace(following, ((self.passing[self.last] + ahead[self.last]) / rates[self.last], self.last))
        self.until_s = max(at_s, 0.0)
        return self.until_s

    def pass_by(self, wait_s: float) -> int | None:
        rates = self._rates_fps()
        passed = _frames(rates, self.ahead, wait_s)
        sampled = wait_s >= self.until_s or sum(passed) >= self.left_frames
        if sampled:
            passed = self.passing
        self.left_frames -= sum(passed)
        for index, (stream, rate, frames) in enumerate(zip(self.streams, rates, passed, strict=True)):
            self.ahead[index] += frames - rate * wait_s
            stream.ahead_frames = self.ahead[index]
        return self.last if sampled else None

    def _rates_fps(self) -> list[float]:
        return [stream.rate_bps * self.scale for stream in self.streams]


def _frames(rates_fps: Sequence[float], ahead: Sequence[float], time_s: float) -> list[int]:
    """Return how many frames of each stream come in a time: the first of them is ``ahead`` frames away."""
    return [max(0, math.floor(rate * time_s - first) + 1) for rate, first in zip(rates_fps, ahead, strict=True)]
