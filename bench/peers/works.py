"""Workloads: one description each, a scenario of work/, from which the files of every simulator are written.

A pair of peers.toml lays its settings over the scenario. What other simulators are given does not depend on them: the
network and the flows of the workload, laid out once by `penstock export`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from penstock import Scenario
from penstock.errors import ArgumentError, nearest
from penstock.exchange import export, hpcc, htsim

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"


@dataclass(frozen=True)
class Work:
    """A workload: its name, and its scenario without scheme and transport."""

    name: str
    document: Mapping[str, Any]

    @cached_property
    def exported(self) -> Scenario:
        """The scenario whose network and flows are written: without a scheme, with a transport that counts octets."""
        return Scenario(**over(self.document, {"scheme": "none", "each": {"transport": "go-back-n"}}))

    @cached_property
    def topology(self) -> hpcc.Topology:
        """The network as a list of links; hosts come first."""
        return hpcc.parse_topology(export(self.exported, to="hpcc")["topology.txt"], f"{self.name}: topology.txt")

    @cached_property
    def flows(self) -> tuple[hpcc.Flow, ...]:
        """The flows, ordered by their start."""
        return hpcc.parse_flows(export(self.exported, to="hpcc")["flow.txt"], self.name, self.topology).flows

    @cached_property
    def matrix(self) -> htsim.Matrix:
        """The flows as htsim has them."""
        return htsim.parse_matrix(export(self.exported, to="htsim")["connections.cm"], self.name)

    @cached_property
    def fabric(self) -> htsim.Fabric:
        """The network as htsim has it."""
        return htsim.parse_fabric(export(self.exported, to="htsim")["network.topo"], self.name)

    @property
    def listed(self) -> Mapping[str, Any]:
        """The scenario with every flow of a load in a list: how many there are depends on the rates of links."""
        if "load" not in self.document:
            return self.document
        flows = [
            {
                "from": f"h{at.source}",
                "to": f"h{at.destination}",
                "size": f"{at.octets} octets",
                "start": f"{at.start} s",
            }
            for at in self.flows
        ]
        return {key: value for key, value in self.document.items() if key != "load"} | {"flow": flows}

    @property
    def hosts(self) -> int:
        """The number of hosts."""
        return self.topology.nodes - len(self.topology.switches)


@dataclass(frozen=True)
class Pair:
    """A simulator and a scheme that it runs: a table of peers.toml.

    ``here`` is laid over a workload's scenario, ``theirs`` has the simulator's settings; ``on`` has more of both for a
    workload, by its name.
    """

    name: str
    simulator: str
    work: tuple[str, ...]
    here: Mapping[str, Any]
    theirs: Mapping[str, str]
    on: Mapping[str, Mapping[str, Any]]

    def scenario(self, work: Work) -> Scenario:
        """Return the scenario that stands for the simulator's run.

        Raises:
            ScenarioError: a value of peers.toml is not legal.
        """
        laid = over(work.listed, self.here)
        return Scenario(**over(laid, self.on.get(work.name, {}).get("here", {})))

    def settings(self, work: Work) -> dict[str, str]:
        """Return the simulator's settings for a workload."""
        return {**self.theirs, **self.on.get(work.name, {}).get("theirs", {})}


def over(document: Mapping[str, Any], laid: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table with another laid over it: tables are joined, values replaced.

    `each` goes into every flow and load, and what is said of a kind of network into that kind alone.
    """
    joined = dict(document)
    for key, value in laid.items():
        if key == "each":
            for kind in {"flow", "load"} & joined.keys():
                joined[kind] = [over(table, value) for table in joined[kind]]
        elif key == "topology":
            joined[key] = {kind: over(table, value.get(kind, {})) for kind, table in joined[key].items()}
        elif isinstance(value, Mapping) and isinstance(joined.get(key), Mapping):
            joined[key] = over(joined[key], value)
        else:
            joined[key] = value
    return joined


def work_of(name: str) -> Work:
    """Return the workload of a name.

    Raises:
        ArgumentError: there is none.
    """
    known = sorted(path.stem for path in WORK.glob("*.toml"))
    if name not in known:
        raise ArgumentError(f"{name}: no such workload", nearest(name, known, f"write {', '.join(known)}"))
    return Work(name, tomllib.loads((WORK / f"{name}.toml").read_text(encoding="utf-8")))


KEYS = {"simulator", "work", "here", "theirs", "on"}
"""Keys of a table of peers.toml."""


def pairs(text: str, name: str = "peers.toml") -> list[Pair]:
    """Return the pairs of simulator and scheme that peers.toml lists.

    Raises:
        ArgumentError: a table has another key, or lacks one; the message names it.
    """
    found = []
    for scheme, table in tomllib.loads(text).items():
        for key in sorted(table.keys() ^ KEYS):
            if key in table:
                raise ArgumentError(f"{name}: {scheme}.{key}: unknown key", nearest(key, KEYS, "take it out"))
            if key in ("simulator", "work"):
                raise ArgumentError(f"{name}: {scheme}: has no {key}", f"write {key}")
        rest = (table.get(key, {}) for key in ("here", "theirs", "on"))
        found.append(Pair(scheme, table["simulator"], tuple(table["work"]), *rest))
    return found
