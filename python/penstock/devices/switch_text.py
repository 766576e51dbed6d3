"""What the commands of NVUE, EOS, NX-OS and Junos have in common: profiles of ports, and ports that use them."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from penstock.devices.findings import ConfigurationError, Finding, Kind, Place, Reading
from penstock.devices.hosts import fault, note, warning
from penstock.devices.model import Device, Pool, Port, Queue, Watchdog, Wred, percentages
from penstock.errors import nearest

TAGGED = 22
"""Octets of a frame beyond the MTU: header, one tag and FCS."""


PortMemory = Callable[[Port, str, dict[tuple[object, ...], Place]], Port]
"""Returns a port with thresholds of memory, given its profile of PFC, and adds where they stand."""

UNITS = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}
"""Octets of the units of thresholds in commands."""


def reduced(
    device: Device,
    lost: dict[str, None],
    *,
    wred: Callable[[Port, int, Wred], Wred | None] = lambda port, priority, wred: wred,
    watchdog: Watchdog | None = None,
    cable: bool = False,
    rate: bool = False,
    rate_step_bps: int = 1000,
    frame: bool = True,
    memory: bool = False,
) -> Device:
    """Return a switch as commands without pools and thresholds of memory have it; add what is lost.

    Args:
        device: the switch.
        lost: receives a sentence for each loss.
        wred: rounds thresholds.
        watchdog: the watchdog as the target has it.
        cable: whether ports have lengths of cables.
        rate: whether ports have their speed.
        rate_step_bps: the unit of shapers, bit/s.
        frame: whether ports have an MTU.
        memory: whether the caller adds pools and thresholds.
    """
    lost |= dict.fromkeys(device.beyond)
    if any(port.ingress for port in device.ports) and not memory:
        lost["pools, headroom and alphas: the system computes them for its platform"] = None
    if device.watchdogs:
        lost[f"watchdogs of single ports: {', '.join(device.watchdogs)}"] = None
    if watchdog is None and any(port.pfc for port in device.ports):
        lost[device.why("watchdog") or "no watchdog"] = None
    ports = []
    for port in device.ports:
        shares = {p: queue.weight for p, queue in port.queues.items() if queue.weight is not None}
        percent = percentages(shares) if shares else {}
        queues: dict[int, Queue] = {}
        for priority, queue in port.queues.items():
            limit = queue.max_rate_bps
            if limit is not None and limit % rate_step_bps:
                lost[f"{limit} bit/s is written in units of {rate_step_bps} bit/s"] = None
                limit = max(1, limit // rate_step_bps) * rate_step_bps
            if queue.wred is not None and not queue.wred.ecn and priority in port.pfc:
                lost["early drops in a lossless queue"] = None
            one = None if queue.wred is None else wred(port, priority, queue.wred)
            queues[priority] = Queue(wred=one, weight=percent.get(priority), max_rate_bps=limit)
        ports.append(
            Port(
                name=port.name,
                link=port.link,
                rate_bps=port.rate_bps if rate else 0,
                frame_octets=port.frame_octets if frame else 0,
                cable_m=port.cable_m if cable and port.pfc else None,
                pfc=port.pfc,
                queues=queues,
            )
        )
    return replace(device, name="", ports=tuple(ports), pools={}, pcp={}, watchdog=watchdog, watchdogs={})


@dataclass
class Draft:
    """A switch while its commands are read: profiles by name, and the profiles that ports use.

    Attributes:
        form: the format, which stands in findings.
        queues: the queues of each profile.
        pfc: the lossless priorities of each profile.
        cables: the length of cable of each profile, m.
        uses: for each port the profiles that it uses, by kind, with the line.
        ports: ports with speed and MTU.
        dscp: the priority of each DSCP.
        watchdog: the watchdog.
    """

    form: str
    queues: dict[str, dict[int, Queue]] = field(default_factory=dict)
    pfc: dict[str, set[int]] = field(default_factory=dict)
    cables: dict[str, int] = field(default_factory=dict)
    uses: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    ports: dict[str, Port] = field(default_factory=dict)
    dscp: dict[int, int] = field(default_factory=dict)
    watchdog: Watchdog | None = None
    lines: dict[tuple[object, ...], int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    unread: list[tuple[int, str]] = field(default_factory=list)
    seen: bool = False
    """Whether a command of quality of service has been read."""

    def fault(self, line: int | None, where: str, kind: Kind, message: str, remedy: str = "") -> None:
        """Add an error."""
        self.findings.append(fault(line, where, kind, message, remedy))

    def warn(self, line: int | None, where: str, message: str, remedy: str = "") -> None:
        """Add a warning."""
        self.findings.append(warning(line, where, message, remedy))

    def passed(self, line: int, text: str) -> None:
        """Count a line that is not looked at."""
        self.unread.append((line, text[:60]))

    def number(self, line: int, where: str, text: str, low: int, high: int) -> int | None:
        """Return a whole number from ``low`` to ``high``, or add an error."""
        if not re.fullmatch(r"-?\d{1,15}", text, re.ASCII):
            self.fault(line, where, "syntax", f"{text[:30] or 'nothing'}: no whole number", f"write {low} to {high}")
            return None
        if not low <= int(text) <= high:
            self.fault(line, where, "range", f"{text}: out of range", f"write {low} to {high}")
            return None
        return int(text)

    def numbers(self, line: int, where: str, text: str, high: int) -> list[int]:
        """Return the numbers of a list with ranges, as in ``0-2,7``, or add an error."""
        found: list[int] = []
        for part in text.split(","):
            first, dash, last = part.partition("-")
            low = self.number(line, where, first, 0, high)
            end = self.number(line, where, last, 0, high) if dash else low
            if low is None or end is None:
                return []
            found += range(low, end + 1)
        return found

    def port(self, name: str, line: int) -> Port:
        """Return a port, which is made if it is new."""
        self.lines.setdefault(("port", name), line)
        return self.ports.setdefault(name, Port(name=name))

    def use(self, port: str, kind: str, profile: str, line: int) -> None:
        """Note that a port uses a profile."""
        self.port(port, line)
        self.uses.setdefault(port, {})[kind] = profile, line

    def queue(self, profile: str, priority: int) -> Queue:
        """Return a queue of a profile."""
        return self.queues.setdefault(profile, {}).get(priority, Queue())

    def set_queue(self, profile: str, priority: int, queue: Queue) -> None:
        """Set a queue of a profile."""
        self.queues.setdefault(profile, {})[priority] = queue

    def set_wred(self, profile: str, priority: int, line: int, where: str, **values: int | bool | str) -> None:
        """Set values of the early detection of a queue; the order of its ends is checked at the end."""
        queue = self.queue(profile, priority)
        wred = queue.wred or Wred(min_octets=0, max_octets=0, percent=100, ecn=False)
        self.set_queue(profile, priority, replace(queue, wred=replace(wred, **values)))  # type: ignore[arg-type]
        self.lines["wred", profile, priority] = line
        self.lines.setdefault(("where", profile, priority), line)

    def reading(
        self,
        file: str,
        known: Mapping[str, Mapping[str, object]],
        everywhere: str = "",
        *,
        memory: PortMemory = lambda port, profile, places: port,
        pools: Mapping[str, Pool] | None = None,
        at: Mapping[tuple[object, ...], Place] | None = None,
    ) -> Reading:
        """Return the switch; check that profiles exist and that thresholds rise.

        Args:
            file: stands in the error of a file without quality of service.
            known: the profiles of each kind by name.
            everywhere: the profile of ports that name none.
            memory: adds the thresholds of memory to a port with this profile of PFC, and where they stand.
            pools: the pools by name.
            at: where values stand that no port has.

        Raises:
            ConfigurationError: no command of quality of service was found.
        """
        if not self.seen:
            raise ConfigurationError(file, None, f"no quality of service of {self.form} in it")
        places: dict[tuple[object, ...], Place] = {("watchdog",): Place(self.lines.get(("watchdog",)), "watchdog")}
        places |= at or {}
        for profile, queues in self.queues.items():
            self._thresholds(profile, queues)
        if self.unread:
            first, text = self.unread[0]
            self.findings.append(note(first, "lines", f"{len(self.unread)} not looked at, the first: {text}"))
        if everywhere and not self.ports and (everywhere in self.queues or everywhere in self.pfc):
            self.ports[everywhere] = Port(name=everywhere)
        ports = []
        for name, port in self.ports.items():
            uses = self.uses.get(name, {})
            for kind, (profile, line) in uses.items():
                if profile not in known.get(kind, {profile: None}):
                    hint = nearest(profile, known[kind], f"define it, or take {kind} from {name}")
                    self.fault(line, f"{name} {kind}", "reference", f"{profile}: no {kind} of this name", hint)
            of_queues = uses.get("queues", (everywhere, 0))[0]
            of_pfc = uses.get("pfc", (everywhere, 0))[0]
            queues = self.queues.get(of_queues, {})
            pfc = tuple(sorted(self.pfc.get(of_pfc, ())))
            places["pfc", name] = Place(self.lines.get(("pfc", of_pfc)), f"{of_pfc} pfc")
            for priority in queues:
                places["wred", name, priority] = Place(
                    self.lines.get(("wred", of_queues, priority)), f"{of_queues} queue {priority}"
                )
            one = replace(port, queues=queues, pfc=pfc, cable_m=self.cables.get(of_pfc))
            ports.append(memory(one, of_pfc, places))
        for code in self.dscp:
            places["dscp", code] = Place(self.lines.get(("dscp", code)), f"dscp {code}")
        device = Device(ports=tuple(ports), dscp=self.dscp, watchdog=self.watchdog, pools=pools or {})
        return Reading(device=device, places=places, findings=self.findings)

    def _thresholds(self, profile: str, queues: Mapping[int, Queue]) -> None:
        for priority, queue in queues.items():
            wred = queue.wred
            if wred is not None and wred.max_octets < wred.min_octets:
                text = f"the maximum {wred.max_octets} is below the minimum {wred.min_octets}"
                at = self.lines.get(("wred", profile, priority))
                self.fault(at, f"{profile} queue {priority}", "range", text, f"write {wred.min_octets} or more")
        shares = [queue.weight or 0 for queue in queues.values()]
        if sum(shares) > 100:
            at = max((self.lines.get(("weight", profile, p), 0) for p in queues), default=0) or None
            self.fault(at, profile, "sum", f"{sum(shares)} per cent in all", "write shares of 100 per cent at the most")


def profile_names(device: Device, key: Callable[[Port], object], name: Callable[[Port], str]) -> dict[str, str]:
    """Return the profile of each port: ports that are alike share one."""
    found: dict[object, str] = {}
    taken: dict[str, int] = {}
    names: dict[str, str] = {}
    for port in device.ports:
        alike = key(port)
        if alike not in found:
            wanted = name(port)
            taken[wanted] = taken.get(wanted, 0) + 1
            found[alike] = wanted if taken[wanted] == 1 else f"{wanted}_{taken[wanted]}"
        names[port.name] = found[alike]
    return names


def queues_key(port: Port) -> object:
    """Return what makes the queues of ports alike."""
    return tuple(sorted((priority, repr(queue)) for priority, queue in port.queues.items()))


def speed(port: Port) -> str:
    """Return a rate for the name of a profile, as in ``200G``."""
    return f"{port.rate_bps / 1e9:g}G".replace(".", "_")


def reasons_of(device: Device, port: Port, mark: str) -> list[str]:
    """Return comments: why the thresholds of a port's queues are as they are."""
    return [
        f"{mark} Queue {priority}: {queue.wred.min_octets} to {queue.wred.max_octets} octets, {queue.wred.percent} %: "
        f"{device.why(f'wred|{priority}|{port.rate_bps}')}."
        for priority, queue in sorted(port.queues.items())
        if queue.wred is not None
    ]


def indented(text: str) -> Iterator[tuple[int, list[list[str]], list[str]]]:
    """Give the commands of an indented configuration: line, the commands that they stand under, and their words."""
    above: list[tuple[int, list[str]]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.partition("!")[0].split()
        if not words:
            continue
        depth = len(line) - len(line.lstrip())
        while above and above[-1][0] >= depth:
            above.pop()
        yield number, [words for _, words in above], words
        above.append((depth, words))
