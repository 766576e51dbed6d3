"""Theta-PowerTCP as a fluid: PowerTCP, with power from the round-trip time and its growth.

Addanki et al. (NSDI 2022), algorithm 2. The equations are PowerTCP's, but for

    p = max(1 + R', load) R / T

with the round trip R and its growth of a round trip ago. A window moves once a round trip, by gamma of the way to its
aim. T is the round trip of the empty network on the own path.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from penstock.theory.configuration import Configuration
from penstock.theory.models.base import Array, Value, namespace
from penstock.theory.models.powertcp import PowerTcp


@dataclass(frozen=True)
class ThetaPowerTcp(PowerTcp):
    """PowerTCP by the round-trip time.

    Attributes:
        load: the least load that a source believes.
    """

    load: Value

    scheme: ClassVar[str] = "theta-powertcp"
    source: ClassVar[str] = "Addanki et al., NSDI 2022, algorithm 2 and section 3"

    @classmethod
    def _parameters(cls, configuration: Configuration) -> dict[str, Any]:
        return super()._parameters(configuration) | {"load": configuration.number("load")}

    @classmethod
    def _trip_s(cls, configuration: Configuration) -> float:
        return configuration.round_trip_s

    @classmethod
    def _weight(cls, configuration: Configuration) -> float:
        return configuration.number("gamma")

    def power(self, then: Array) -> Array:
        """Return the power of a round trip and its growth."""
        xp = namespace(then)
        load = 1 + self.growth_octets_per_s(then) / self.drain_octets_per_s
        load = xp.where(load.real > self.load, load, self.load)
        return cast(Array, load * self.round_trip_s(then[0]) / self.trip_s)

    def _queue_at_rest(self) -> Value:
        flying = self.drain_octets_per_s * self.base_s
        return cast(
            Value, self._steps_octets() + self.drain_octets_per_s * self.trip_s * self.target - np.asarray(flying)
        )


MODELS = (ThetaPowerTcp,)
