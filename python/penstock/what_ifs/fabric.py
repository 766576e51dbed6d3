"""The network of a fabric as trials need it: hosts with their switches, links by the names that users write."""

import re
from dataclasses import dataclass
from functools import cached_property

from penstock import _core
from penstock.declared import LinkDescription, Outline
from penstock.errors import ArgumentError, nearest
from penstock.fabrics import names_in_short

_PERCENT = re.compile(r"^(\d+(?:\.\d+)?)\s*%$")


@dataclass(frozen=True)
class Fabric:
    """A network laid out.

    Attributes:
        outline: the scenario's outline.
    """

    outline: Outline

    @cached_property
    def links(self) -> dict[str, LinkDescription]:
        """The output ports by name."""
        return {link["name"]: link for link in self.outline["links"]}

    @cached_property
    def hosts(self) -> list[str]:
        """The hosts, in the order of the scenario."""
        return [node["name"] for node in self.outline["nodes"] if node["kind"] == "host"]

    @cached_property
    def switches(self) -> set[str]:
        """The switches."""
        return {node["name"] for node in self.outline["nodes"] if node["kind"] == "switch"}

    @cached_property
    def uplinks(self) -> dict[str, LinkDescription]:
        """The first port of each host."""
        found: dict[str, LinkDescription] = {}
        for link in self.outline["links"]:
            if link["node"] not in self.switches:
                found.setdefault(link["node"], link)
        return found

    def switch_of(self, host: str) -> str:
        """Return the switch of a host's first link."""
        return self.uplinks[host]["peer"]

    def port_to(self, host: str) -> str:
        """Return the port of a switch that leads to a host, as ``leaf0->h0``."""
        return self.uplinks[host]["reverse"]

    def rate_of(self, host: str) -> int:
        """Return the rate of a host's first link, bit/s."""
        return self.uplinks[host]["rate_bps"]

    def rack_of(self, host: str) -> list[str]:
        """Return the other hosts at the same switch."""
        return [other for other in self.hosts if other != host and self.switch_of(other) == self.switch_of(host)]

    def others(self, host: str) -> list[str]:
        """Return the hosts at other switches, one of each switch in turn."""
        racks: dict[str, list[str]] = {}
        for other in self.hosts:
            if self.switch_of(other) != self.switch_of(host):
                racks.setdefault(self.switch_of(other), []).append(other)
        longest = max(map(len, racks.values()), default=0)
        return [rack[place] for place in range(longest) for rack in racks.values() if place < len(rack)]

    def host(self, option: str, name: str) -> str:
        """Return a host of that name.

        Raises:
            ArgumentError: there is none; the message begins with ``option``.
        """
        if name in self.hosts:
            return name
        hint = nearest(name, self.hosts, f"the hosts are {names_in_short(self.hosts)}", cutoff=0.6)
        raise ArgumentError(f'{option}="{name}": no host has this name', hint)

    def directions(self, option: str, name: str) -> list[LinkDescription]:
        """Return the ports of a link: both of ``A--B``, the one of ``A->B``.

        Raises:
            ArgumentError: there is no such link; the message begins with ``option``.
        """
        a, both, b = name.partition("--")
        first = self.links.get(f"{a}->{b}" if both else name)
        if first is not None:
            return [first, self.links[first["reverse"]]] if both else [first]
        numbered = f"{name}.1"
        if f"{a}->{b}.1" in self.links or numbered in self.links:
            raise ArgumentError(f'{option}="{name}": parallel links join these nodes', f"name one, such as {numbered}")
        pairs = [self._both(link) for link in self.outline["links"] if link["node"] in self.switches]
        hint = nearest(name, pairs, f"links are named as in {', '.join(pairs[:4])}", cutoff=0.6)
        raise ArgumentError(f'{option}="{name}": no link has this name', hint)

    @staticmethod
    def _both(link: LinkDescription) -> str:
        return link["name"].replace("->", "--")

    @staticmethod
    def rate(given_as: str, text: str, full_bps: int | None = None) -> str:
        """Read a rate such as ``10G`` or ``10 Gbps``, or a share of ``full_bps`` such as ``50%``, as a scenario's text.

        Raises:
            ArgumentError: it is no rate above zero, or a share beyond 100 %; the message begins with ``given_as``.
        """
        given = text.strip()
        share = _PERCENT.match(given)
        example = "write, for instance, 10G" if full_bps is None else "write, for instance, 50% or 10G"
        if share is not None and full_bps is not None:
            if not 0 < float(share[1]) <= 100:
                raise ArgumentError(f"{given_as}: a share is above 0 % and up to 100 %", example)
            return _core.write_quantity(full_bps * float(share[1]) / 100, "bit/s")
        try:
            bps = _core.read_quantity(re.sub(r"([kKMGT])$", r"\1bps", given), "bit/s")
        except ValueError as error:
            raise ArgumentError(f"{given_as}: not a rate", example) from error
        if not bps > 0:
            raise ArgumentError(f"{given_as}: a rate is above 0", example)
        return _core.write_quantity(bps, "bit/s")

    def check_same(self, other: "Fabric") -> None:
        """Check that another scenario has the same hosts and links.

        Raises:
            ArgumentError: it has not; the message names the first that differ.
        """
        for kind, own, its in (
            ("host", self.hosts, other.hosts),
            ("link", list(self.links), list(other.links)),
        ):
            differ = sorted(set(own) ^ set(its), key=[*own, *its].index)
            if differ:
                which = "proposal" if differ[0] in own else "fabric"
                raise ArgumentError(
                    f"proposed: the {which} has no {kind} {differ[0]}",
                    "propose settings for the same hosts and links; compare other networks with `penstock compare`",
                )

    def is_between_switches(self, port: str) -> bool:
        """Return whether a port leads from a switch to a switch."""
        link = self.links[port]
        return link["node"] in self.switches and link["peer"] in self.switches
