"""Other simulators: the files that each is given, how it is started, and what it says.

A simulator is found by an environment variable, which names a program or a folder of its build; README.md says how each
is built. Times of flows are in microseconds, from their start to the last acknowledgement at the sender, or to the
last octet at the receiver where `ends` is "receiver".
"""

import csv
import io
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import ClassVar, Literal

import inet_files
import numpy as np
from foreign_files import daytone_configuration, hpcc_configuration
from numpy.typing import NDArray
from penstock.errors import ArgumentError
from penstock.exchange import hpcc_completions
from penstock.exchange.hpcc import Flows
from works import HERE, Work

Times = NDArray[np.float64]


def percentiles(times_us: Times, flows: int) -> dict[str, float]:
    """Return the numbers of flows that are compared, by metric.

    Raises:
        ArgumentError: fewer flows ended than there are.
    """
    if len(times_us) != flows:
        raise ArgumentError(f"{len(times_us)} of {flows} flows ended", "let the simulator run for longer")
    at = {f"fct_p{share}_us": float(np.percentile(times_us, share, method="higher")) for share in (50, 99)}
    return {"fct_mean_us": float(times_us.mean()), **at, "fct_max_us": float(times_us.max())}


class Simulator(ABC):
    """A simulator that is not Penstock."""

    name: ClassVar[str]
    variable: ClassVar[str]
    """The environment variable that says where it is."""
    wanted: ClassVar[str]
    """What the variable names."""
    ends: ClassVar[Literal["sender", "receiver"]] = "sender"

    def program(self) -> Path | None:
        """Return the program, or None where the variable is not set or names none."""
        named = os.environ.get(self.variable)
        found = self.inside(Path(named)) if named else None
        return found if found is not None and found.is_file() else None

    def inside(self, named: Path) -> Path:
        """Return the program that the variable's value means."""
        return named

    def environment(self, program: Path) -> dict[str, str]:
        """Return the environment variables that it needs."""
        return {}

    @abstractmethod
    def files(self, work: Work, settings: Mapping[str, str]) -> dict[str, str]:
        """Return the files of a workload, by name."""

    @abstractmethod
    def command(self, program: Path, work: Work, settings: Mapping[str, str]) -> list[str]:
        """Return the command line, for the folder of the files."""

    @abstractmethod
    def numbers(self, folder: Path, printed: str, work: Work) -> dict[str, float]:
        """Return what a run says, by metric.

        Raises:
            ArgumentError: it says too little.
        """


class HpccNs3(Simulator):
    """The simulator of HPCC's authors, on ns-3.17."""

    name = "hpcc-ns3"
    variable = "HPCC_NS3"
    wanted = "the folder `simulation` of its build"
    LATER_S = 2
    """Its traces begin then."""

    def inside(self, named: Path) -> Path:
        """Return the program of its one scenario."""
        return named / "build" / "scratch" / "third"

    def environment(self, program: Path) -> dict[str, str]:
        """Acknowledgements go first in switches, too; its libraries lie beside the program."""
        return {"LD_LIBRARY_PATH": str(program.parents[1]), "NS_ATTRIBUTE_DEFAULT": "ns3::SwitchNode::AckHighPrio=1"}

    def files(self, work: Work, settings: Mapping[str, str]) -> dict[str, str]:
        """Return the topology, the flows, their configuration, and a list of traced nodes, which is empty."""
        later = [replace(at, start=str(Decimal(at.start) + self.LATER_S)) for at in work.flows]
        rates = sorted({at.rate for at in work.topology.links}, key=lambda rate: (len(rate), rate))
        return {
            "topology.txt": work.topology.text(),
            "flow.txt": Flows(tuple(later)).text(),
            "trace.txt": "0\n",
            "config.txt": hpcc_configuration(rates, settings, stop_s=self.LATER_S + 0.2),
        }

    def command(self, program: Path, work: Work, settings: Mapping[str, str]) -> list[str]:
        """Return the command line."""
        return [str(program), "config.txt"]

    def numbers(self, folder: Path, printed: str, work: Work) -> dict[str, float]:
        """Read fct.txt."""
        done = hpcc_completions.parse((folder / "fct.txt").read_text(encoding="utf-8"), "fct.txt")
        return percentiles(np.array([at.fct_ns / 1000 for at in done]), len(work.flows))


class Htsim(Simulator):
    """What the two forks of htsim have in common."""

    PICOSECONDS: ClassVar[int]
    """The unit of a connection's start."""
    ENDED: ClassVar[re.Pattern[str]]
    """The line of a flow that ended: its number from `FIRST`, and the time, us."""
    FIRST: ClassVar[int]

    def files(self, work: Work, settings: Mapping[str, str]) -> dict[str, str]:
        """Return the network, whose queues it sizes itself, and the connections."""
        tiers = tuple(replace(tier, queue_up=None, queue_down=None) for tier in work.fabric.tiers)
        starts = self.starts(work)
        connections = tuple(
            replace(at, start_ps=start) for at, start in zip(work.matrix.connections, starts, strict=True)
        )
        return {
            "network.topo": replace(work.fabric, tiers=tiers).text(),
            "connections.cm": replace(work.matrix, connections=connections).text(),
        }

    def starts(self, work: Work) -> list[int]:
        """Return the starts of the connections in the simulator's unit, rounded.

        Raises:
            ArgumentError: one waits for another.
        """
        starts = [at.start_ps for at in work.matrix.connections]
        if None in starts:
            raise ArgumentError(f"{work.name}: a flow waits for another", "write a start")
        return [round((start or 0) / self.PICOSECONDS) for start in starts]

    def numbers(self, folder: Path, printed: str, work: Work) -> dict[str, float]:
        """Read the lines of flows that ended."""
        starts_us = [start * self.PICOSECONDS / 1e6 for start in self.starts(work)]
        ended = [(int(found[1]) - self.FIRST, float(found[2])) for found in self.ENDED.finditer(printed)]
        return percentiles(np.array([end - starts_us[number] for number, end in ended]), len(starts_us))


class UetHtsim(Htsim):
    """htsim of the Ultra Ethernet Consortium: NSCC."""

    name = "uet-htsim"
    variable = "HTSIM_UEC"
    wanted = "its program htsim_uec"
    PICOSECONDS = 1_000_000
    """main_uec.cpp:986 reads microseconds."""
    ENDED = re.compile(r"^Flow \S+ flowId \d+ uecSrc (\d+) finished at (\S+)", re.MULTILINE)
    FIRST = 0

    def command(self, program: Path, work: Work, settings: Mapping[str, str]) -> list[str]:
        """Return the command line."""
        files = ["-topo", "network.topo", "-tm", "connections.cm", "-nodes", str(work.hosts)]
        return [str(program), *files, "-paths", settings["paths"], *settings["options"].split()]


class CsgHtsim(Htsim):
    """htsim of Broadcom: NDP."""

    name = "csg-htsim"
    variable = "HTSIM_NDP"
    wanted = "its program htsim_ndp"
    PICOSECONDS = 1
    """main_ndp.cpp:690 reads picoseconds."""
    ENDED = re.compile(r"^Flow \S+ flow_id (\d+) finished at (\S+)", re.MULTILINE)
    FIRST = 1

    def command(self, program: Path, work: Work, settings: Mapping[str, str]) -> list[str]:
        """Return the command line."""
        tiers = str(len(work.fabric.tiers))
        files = ["-topo", "network.topo", "-tm", "connections.cm", "-nodes", str(work.hosts), "-tiers", tiers]
        sizes = ["-paths", settings["paths"], "-cwnd", settings["cwnd"]]
        return [str(program), *files, *sizes, *settings["options"].split()]


class Ns3(Simulator):
    """ns-3 by its wheel: TCP over point-to-point links."""

    name = "ns-3"
    variable = "NS3_PYTHON"
    wanted = "a Python that has its wheel, as tools/check_ns3.py installs it"
    ends = "receiver"

    def files(self, work: Work, settings: Mapping[str, str]) -> dict[str, str]:
        """Return topology and flows in HPCC's formats, and settings."""
        return {
            "topology.txt": work.topology.text(),
            "flow.txt": Flows(work.flows).text(),
            "settings.json": json.dumps(dict(settings)) + "\n",
        }

    def command(self, program: Path, work: Work, settings: Mapping[str, str]) -> list[str]:
        """Return the command line."""
        return [str(program), str(HERE / "ns3_flows.py"), "."]

    def numbers(self, folder: Path, printed: str, work: Work) -> dict[str, float]:
        """Read the lines of JSON: the microseconds of each flow that ended."""
        times = [json.loads(line)["took_us"] for line in printed.splitlines() if line.startswith('{"flow": ')]
        return percentiles(np.array(times), len(work.flows))


class Inet(Simulator):
    """INET on OMNeT++: TCP over point-to-point links."""

    name = "inet"
    variable = "INET"
    wanted = "the folder of its build, with OMNeT++'s programs in the path"
    ends = "receiver"

    def inside(self, named: Path) -> Path:
        """Return the script that starts it."""
        return named / "bin" / "inet"

    def environment(self, program: Path) -> dict[str, str]:
        """Its script asks where it is."""
        return {"INET_ROOT": str(program.parents[1])}

    def files(self, work: Work, settings: Mapping[str, str]) -> dict[str, str]:
        """Return the network, and its configuration with the flows."""
        return {
            "network.ned": inet_files.network(work.topology),
            "omnetpp.ini": inet_files.configuration(work.topology, work.flows, settings),
        }

    def command(self, program: Path, work: Work, settings: Mapping[str, str]) -> list[str]:
        """Return the command line."""
        return [str(program), "--release", "-u", "Cmdenv", "-n", ".", "omnetpp.ini"]

    def numbers(self, folder: Path, printed: str, work: Work) -> dict[str, float]:
        """Read flows.vec."""
        ended = inet_files.ended_s((folder / "flows.vec").read_text(encoding="utf-8"), work.flows)
        later = float(inet_files.LATER_S)
        took = [end - later - float(work.flows[number].start) for number, end in ended.items()]
        return percentiles(np.array(took) * 1e6, len(work.flows))


class Daytone(Simulator):
    """Daytone by its wheel: sources at a steady rate."""

    name = "daytone"
    variable = "DAYTONE"
    wanted = "its program"

    def files(self, work: Work, settings: Mapping[str, str]) -> dict[str, str]:
        """Return its configuration."""
        return {"configuration.toml": daytone_configuration(work.topology, work.flows, settings)}

    def command(self, program: Path, work: Work, settings: Mapping[str, str]) -> list[str]:
        """Return the command line."""
        return [str(program), "configuration.toml"]

    def numbers(self, folder: Path, printed: str, work: Work) -> dict[str, float]:
        """Read the last line of each flow in sinks.csv: packets, and the mean of their waits in queues."""
        text = (folder / "output" / "sinks.csv").read_text(encoding="utf-8")
        last = {row["flow_id"]: row for row in csv.DictReader(io.StringIO(text))}
        if len(last) != len(work.flows):
            raise ArgumentError(f"sinks.csv has {len(last)} of {len(work.flows)} flows", "look at what it prints")
        packets = np.array([int(row["received_packets"]) for row in last.values()])
        waits = np.array([float(row["queueing_delay_mean"]) for row in last.values()])
        return {"frames": float(packets.sum()), "wait_mean_us": float((packets * waits).sum() / packets.sum() * 1e6)}


SIMULATORS: dict[str, Simulator] = {at.name: at for at in (HpccNs3(), UetHtsim(), CsgHtsim(), Ns3(), Inet(), Daytone())}
