"""The ports of a fabric by the names that devices give them."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

from penstock.declared import Outline
from penstock.devices import devices
from penstock.devices.checking import module_of
from penstock.errors import ArgumentError, TextFileError, nearest
from penstock.scenario import Scenario
from penstock.telemetry.measures import Sample


@dataclass(frozen=True, kw_only=True)
class Place:
    """A port of the fabric.

    Attributes:
        device: the node that has it.
        port: its name there.
        link: its name in the fabric, ``node->peer``.
        far: the name of the port at the other end of its link.
        cell_octets: the memory cell of the device, octets.
    """

    device: str
    port: str
    link: str
    far: str
    cell_octets: int


class PortNames:
    """The ports of a fabric, found by device and name.

    A port has its name in the fabric (``leaf0->h0``), the name that ``penstock export`` writes for it, and names that
    the user gives.
    """

    def __init__(
        self, scenario: Scenario, form: str = "sonic", given: Mapping[str, str] | None = None, *, limit: int = 1
    ) -> None:
        """Take the ports of a scenario.

        Args:
            scenario: the fabric.
            form: the format whose names the devices have, one of :data:`penstock.devices.FORMATS`.
            given: more names, each with the port of the fabric: ``Ethernet0`` or ``leaf0:Ethernet0``.
            limit: as that of :meth:`Scenario.run`.

        Raises:
            ArgumentError: there is no such format, or a name is given to no port of the fabric.
            ScenarioError: a value of the scenario is not legal.
        """
        module = module_of(form)
        outline = scenario.outline(limit=limit)
        self.places: dict[str, Place] = {}
        self._named: dict[tuple[str | None, str], str] = {}
        self._devices = {node["name"] for node in outline["nodes"]}
        switches = [node["name"] for node in outline["nodes"] if node["kind"] == "switch"]
        self._only = switches[0] if len(switches) == 1 else None
        self._add_ports(scenario, module, outline, limit)
        for name, link in (given or {}).items():
            if link not in self.places:
                hint = nearest(link, self.places, "`penstock show` lists the ports")
                raise ArgumentError(f"{name}={link}: the fabric has no such port", hint)
            device, colon, port = name.rpartition(":")
            self._named[device if colon else self.places[link].device, port if colon else name] = link
            if not colon:
                self._named[None, name] = link

    def _add_ports(self, scenario: Scenario, module: ModuleType, outline: Outline, limit: int) -> None:
        reverse = {link["name"]: link["reverse"] for link in outline["links"]}
        cells = {pool["switch"]: pool["cell_octets"] for pool in outline["memory"]}
        for device in devices(scenario, module.port_name, limit=limit):
            for port in device.ports:
                self.places[port.link] = Place(
                    device=device.name,
                    port=port.name,
                    link=port.link,
                    far=reverse[port.link],
                    cell_octets=cells.get(device.name, 1),
                )
                self._named[device.name, port.name] = port.link

    def recorded(self, scenario: Scenario) -> Scenario:
        """Return a copy of the fabric whose runs record the queues of every port, unless ``record.queues`` says which.

        By default a run leaves out queues that no flow crosses. A port over which frames only come in has such a one.
        """
        copy = scenario.copy()
        if "queues" not in tomllib.loads(scenario.to_toml()).get("record", {}):
            copy.set("record.queues", json.dumps(list(self.places)))
        return copy

    def place(self, sample: Sample) -> Place:
        """Return the port of a value.

        Raises:
            TextFileError: the fabric has no such device or port, or several have the name; the line is named.
        """
        if sample.port in self.places:
            return self.places[sample.port]
        device = sample.device or self._only
        if (None, sample.port) in self._named and sample.device is None:
            return self.places[self._named[None, sample.port]]
        if device is None:
            reason = f"nothing says on which switch {sample.port} is: write DEVICE=FILE, as in --measured leaf0=FILE"
            raise TextFileError(sample.file, sample.line, reason)
        if device not in self._devices:
            hint = nearest(device, self._devices, "name one, as in --measured leaf0=FILE", cutoff=0.7)
            raise TextFileError(sample.file, sample.line, f"the fabric has no node {device!r}: {hint}")
        link = self._named.get((device, sample.port))
        if link is None:
            own = [name for of, name in self._named if of == device]
            hint = nearest(sample.port, own, "give it one: --measured-ports NAME=PORT", cutoff=0.9)
            raise TextFileError(sample.file, sample.line, f"{device} has no port {sample.port!r} in the fabric: {hint}")
        return self.places[link]
