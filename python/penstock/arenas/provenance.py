"""Where the settings of a competitor come from, as text."""

from collections.abc import Sequence
from dataclasses import dataclass

from penstock import _core
from penstock.arenas.arena_file import Competitor, Workload
from penstock.arenas.speed import faster_workload
from penstock.catalogue import about
from penstock.quantity_text import bit_rate


@dataclass(frozen=True)
class Provenance:
    """The settings of a competitor.

    Attributes:
        profile: the profile of its scheme; empty where it has the registry's defaults.
        text: whose settings they are, for which rate, and what was scaled.
    """

    profile: str
    text: str


def provenance(competitor: Competitor, workloads: Sequence[Workload]) -> Provenance:
    """Say where the settings of a competitor come from; the workloads are those of its arena, whose rates it names."""
    scheme = about(competitor.scheme)
    if not scheme["parameters"]:
        return Provenance("", "There is nothing to set.")
    name = str(competitor.settings.get(f"schemes.{scheme['name']}.profile", ""))
    profile = next((one["description"] for one in scheme["profiles"] if one["name"] == name), "")
    said = [profile, competitor.source]
    if not any(said):
        said.append(f"The registry's defaults: {scheme['source'].rstrip('.')}.")
    if competitor.scaled > 1:
        rate = min(rate for workload in workloads for rate in _rates(workload))
        said.append(
            f"Its makers give none for {bit_rate(rate)}: queues have the length that they have at "
            f"{bit_rate(rate / competitor.scaled)} in time, and steps and least rates the same share of the line."
        )
    return Provenance(name, " ".join(filter(None, said)))


def _rates(workload: Workload) -> list[float]:
    """Return the rates of a workload's lines, bit/s."""
    keys = faster_workload(workload.scenario, 1)
    return [_core.read_quantity(str(value), "bit/s") for key, value in keys.items() if key.startswith("topology.")]
