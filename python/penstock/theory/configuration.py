"""A scenario as the theory sees it: one bottleneck, and N flows of one kind that share it, while nothing changes.

The models of the papers have one queue, sources that are all alike, and a constant link. :func:`configurations` cuts a
scenario into periods in which that holds, and refuses, with the reason, a scenario that no such model describes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from penstock._core import PenstockError
from penstock.catalogue import about
from penstock.declared import AssignedScheme, Description, FlowDescription
from penstock.scenario import Scenario

BITS_PER_OCTET = 8

# Traffic that fills a link but for less than this share of it leaves the queue of the link empty.
_SATURATED = 0.999
# Delays count as one, their mean, if the shortest is at least this share of the longest.
_ALIKE = 0.5
# Length of an acknowledgement without echo (`HEADER` in `crates/schemes/src/lib.rs`).
_ACKNOWLEDGEMENT_OCTETS = 64
# Length of a pause frame.
_PAUSE_OCTETS = 64
# Lines count as alike that differ by no more than clocks do (`network.clock_tolerance`).
_OF_CLOCKS = 0.999


class UnsuitedScenarioError(PenstockError):
    """A scenario, or a period of it, that the model does not describe.

    Attributes:
        reason: the property for which no model describes it.
        hint: a change after which a model would.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(f"{reason}; {hint}" if hint else reason)
        self.reason = reason
        self.hint = hint


@dataclass(frozen=True)
class Pause:
    """Priority flow control of the links from the sources, each of which carries as many flows.

    Attributes:
        xoff_octets: the bottleneck's queue at which all links are paused, octets: the sum of their thresholds.
        xon_octets: the queue at which they send again.
        delay_s: from a threshold until arrivals stop or begin, s.
    """

    xoff_octets: float
    xon_octets: float
    delay_s: float


@dataclass(frozen=True)
class Configuration:
    """One bottleneck and the flows that share it, while nothing changes.

    Attributes:
        scheme: name of the scheme.
        parameters: the scheme's parameters by name, in the units of ``penstock schemes``.
        flows: how many flows the scheme controls (N).
        capacity_bps: the rate that the bottleneck leaves to them (C), bit/s.
        link_bps: rate of the bottleneck with all that it carries, bit/s.
        frame_octets: length of a frame as the queue counts it, octets.
        wire_overhead_octets: octets that a frame takes of the line beyond that; all rates count them.
        buffer_octets: size of the queue, octets.
        line_rate_bps: the largest rate of a source, bit/s.
        forward_delay_s: from a source's pacer until a frame joins the queue, s.
        feedback_delay_s: from a sample until its signal acts at the source, s.
        queue: name of the bottleneck's queue, for people.
        start_s: when the period begins, s of the simulation.
        stop_s: when it ends, s.
        left_out: controlled flows that do not cross the bottleneck: others hold them back.
        other_bottlenecks: queues that other flows fill, where there are several.
        queues: congestion points on the path of a flow.
        queues_before: those before the bottleneck.
        to_one_host: whether the bottleneck is the last link of all flows.
        pause: thresholds of priority flow control at the bottleneck; None without them, or where the sources' own links
            are not those that it pauses.
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
    wire_overhead_octets: float = 0.0
    left_out: tuple[str, ...] = ()
    other_bottlenecks: tuple[str, ...] = ()
    queues: int = 1
    queues_before: int = 0
    to_one_host: bool = False
    pause: Pause | None = None

    @property
    def round_trip_s(self) -> float:
        """Delay of the control loop without the wait in the queue, s."""
        return self.forward_delay_s + self.feedback_delay_s

    @property
    def capacity_fps(self) -> float:
        """C in frames per second, as the papers' models have it."""
        return self.capacity_bps / (BITS_PER_OCTET * (self.frame_octets + self.wire_overhead_octets))

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
            raise TypeError(f"{self.scheme}.{name} is not a number: {value}")
        return value


def configurations(
    scenario: Scenario,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    from_s: float = 0.0,
    binding: bool = False,
) -> list[Configuration]:
    """Cut a scenario into periods in which one bottleneck and its flows stay as they are.

    A period begins when a flow starts or stops, or a link or a parameter changes. Periods without a controlled flow are
    left out, and those that are over at ``from_s``, s. ``binding`` is that of :func:`configuration`.

    Raises:
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: a period has no bottleneck or several, or flows that are not alike.
    """
    periods = _periods(scenario, scheme, profile)
    late = [period.configuration(binding=binding) for period in periods if period.stop_s > from_s]
    if not late:
        raise UnsuitedScenarioError(
            f"no controlled flow runs after {from_s:g} s", "shorten the warm-up, or let flows last longer"
        )
    return late


def suited_configurations(
    scenario: Scenario, *, scheme: str | None = None, profile: str | None = None
) -> tuple[list[Configuration], list[UnsuitedScenarioError]]:
    """Cut a scenario into periods as :func:`configurations` does, and leave out those that the model does not describe.

    While flows start one by one, the first of them may fill no link that has a queue.

    Returns:
        The periods that the model describes, at least one, and why each of the others has no model.

    Raises:
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: the model describes no period; the reason is that of the first.
    """
    described: list[Configuration] = []
    left_out: list[UnsuitedScenarioError] = []
    for period in _periods(scenario, scheme, profile):
        try:
            described.append(period.configuration())
        except UnsuitedScenarioError as why:
            left_out.append(why)
    if not described:
        raise left_out[0]
    return described, left_out


def configuration(
    scenario: Scenario,
    *,
    scheme: str | None = None,
    profile: str | None = None,
    at_s: float | None = None,
    binding: bool = False,
) -> Configuration:
    """The configuration at a time of the scenario, s; without a time that of its longest period.

    With ``binding``, where there are several bottlenecks that one counts that leaves a flow least, with the flows that
    cross it. ``left_out`` of the configuration names the other flows, ``other_bottlenecks`` their queues.

    Raises:
        ScenarioError: a value is not legal.
        UnsuitedScenarioError: the period has no bottleneck or several, or flows that are not alike; or no flow runs at
            that time.
    """
    periods = _periods(scenario, scheme, profile)
    if at_s is None:
        return max(periods, key=lambda period: period.stop_s - period.start_s).configuration(binding=binding)
    for period in periods:
        if period.start_s <= at_s < period.stop_s:
            return period.configuration(binding=binding)
    spans = _and([f"{period.start_s:g} to {period.stop_s:g} s" for period in periods])
    raise UnsuitedScenarioError(f"no controlled flow runs at {at_s:g} s", f"controlled flows run from {spans}")


def _periods(scenario: Scenario, scheme: str | None, profile: str | None) -> "list[_Period]":
    """The periods that have controlled flows."""
    plan = scenario.describe(scheme=scheme, profile=profile)
    schemes = {entry["name"] for entry in plan["schemes"]}
    if len(schemes) > 1:
        raise UnsuitedScenarioError(
            f"flows follow {_and(sorted(schemes))}", "a model has one scheme; take the [[priority]] tables out"
        )
    if not plan["flows"] or len(plan["fair"][0]["max_min_bps"]) < len(plan["flows"]):
        raise UnsuitedScenarioError(
            "flows come and go with a [[load]], an [[incast]] or a job",
            "the models have flows that stay: take a scenario with [[flow]] tables alone",
        )
    for flow in plan["flows"]:
        if flow["start_s"] is None:
            raise UnsuitedScenarioError(
                f"flow {flow['name']} begins when others have ended",
                "the models have flows that stay: let it begin at a time",
            )
        if len(flow["destinations"]) > 1:
            raise UnsuitedScenarioError(
                f"flow {flow['name']} is multicast", "the models have one destination for each flow: use unicast flows"
            )
    periods = [
        _Period(plan, index, start_s, stop_s)
        for index, fair in enumerate(plan["fair"])
        for start_s, stop_s in pairwise(_cuts(plan, fair["start_s"], fair["stop_s"]))
    ]
    controlled = [period for period in periods if period.flows]
    if not controlled:
        raise UnsuitedScenarioError(
            "no flow is controlled", "remove controlled = false from the flows that the scheme is to control"
        )
    return controlled


def _cuts(plan: Description, start_s: float, stop_s: float) -> list[float]:
    """The bounds of a time in which traffic and links stay, and the times within at which parameters change."""
    within = {change["at_s"] for change in plan["parameter_changes"] if start_s < change["at_s"] < stop_s}
    return [start_s, *sorted(within), stop_s]


class _Period:
    """One period of a plan, with links and parameters as they are in it."""

    def __init__(self, plan: Description, index: int, start_s: float, stop_s: float) -> None:
        self.plan = plan
        fair = plan["fair"][index]
        self.start_s, self.stop_s = start_s, stop_s
        self.links = {link["name"]: link for link in plan["links"]}
        self.rate_bps = {link["name"]: float(link["rate_bps"]) for link in plan["links"]}
        down: set[str] = set()
        for change in plan["changes"]:
            if change["at_s"] > self.start_s:
                break
            if change["rate_bps"] is not None:
                self.rate_bps[change["link"]] = change["rate_bps"]
            (down.add if change["event"] == "down" else down.discard)(change["link"])
        for name in down:
            self.rate_bps[name] = 0.0
        self.flows: list[FlowDescription] = []
        self.share_bps: dict[str, float] = {}
        self.left_bps = dict(self.rate_bps)
        for flow, share in zip(plan["flows"], fair["max_min_bps"], strict=True):
            if not _runs(flow, self.start_s):
                continue
            if flow["controlled"]:
                self.flows.append(flow)
                self.share_bps[flow["name"]] = share
            else:
                for hop in flow["hops"]:
                    self.left_bps[hop["link"]] -= share

    def configuration(self, *, binding: bool = False) -> Configuration:
        """The period as the theory sees it; with ``binding`` only its tightest bottleneck, if there are several."""
        name, left_out, others = self._bottleneck(binding=binding)
        before = [self._before(flow, name) for flow in self.flows]
        frame = self._same("frames", "octets", [float(flow["frame_octets"]) for flow in self.flows])
        overhead = float(self.plan["wire_overhead_octets"])
        line = self._same("lines", "bit/s", [self.rate_bps[hops[0][0]] for hops in before], _OF_CLOCKS)
        forward = [self._delay_s([link for link, _ in hops], frame + overhead) for hops in before]
        feedback = [self._feedback_s(flow, name, frame + overhead) for flow in self.flows]
        self._same("round trips", "s", [a + b for a, b in zip(forward, feedback, strict=True)], _ALIKE)
        link = self.links[name]
        buffer = link["buffer_octets"] if link["buffer_octets"] is not None else (link["buffer_frames"] or 0) * frame
        scheme = self._scheme()
        return Configuration(
            scheme=scheme["name"],
            parameters=scheme["parameters"],
            flows=len(self.flows),
            capacity_bps=self.left_bps[name],
            link_bps=self.rate_bps[name],
            frame_octets=frame,
            wire_overhead_octets=overhead,
            buffer_octets=float(buffer),
            line_rate_bps=line,
            forward_delay_s=sum(forward) / len(forward),
            feedback_delay_s=sum(feedback) / len(feedback),
            queue=name,
            start_s=self.start_s,
            stop_s=self.stop_s,
            left_out=left_out,
            other_bottlenecks=others,
            queues=max(sum(self._counts(hop["link"]) for hop in flow["hops"]) for flow in self.flows),
            queues_before=max(sum(self._counts(link) for link, _ in hops) for hops in before),
            to_one_host=all(flow["hops"][-1]["link"] == name for flow in self.flows),
            pause=self._pause(before),
        )

    def _counts(self, link: str) -> bool:
        return bool(self.links[link]["congestion_points"])

    def _pause(self, before: Sequence[Sequence[tuple[str, str]]]) -> Pause | None:
        """The thresholds of flow control, if every flow comes to the bottleneck by the first link of its path."""
        firsts = [hops[0] for hops in before]
        by_link = Counter(link for link, _ in firsts)
        control = self.links[firsts[0][0]]["flow_control"]
        if any(len(hops) > 1 for hops in before) or len(set(by_link.values())) > 1 or control is None:
            return None
        alike = all(self.links[link]["flow_control"] == control for link in by_link)
        if not alike or control["pools"]:
            return None
        # A pause frame crosses the line, and then the octets that were under way have to arrive.
        back = [self._delay_s([back], _PAUSE_OCTETS) + self.links[link]["latency_s"] for link, back in set(firsts)]
        return Pause(
            xoff_octets=control["xoff_octets"] * len(by_link),
            xon_octets=control["xon_octets"] * len(by_link),
            delay_s=max(back) + control["response_s"],
        )

    def _scheme(self) -> AssignedScheme:
        """The scheme that the flows follow, with its parameters."""
        priorities = {flow["priority"] for flow in self.flows}
        entry = next(entry for entry in self.plan["schemes"] if entry["priority"] in priorities)
        for change in self.plan["parameter_changes"]:
            if change["priority"] == entry["priority"] and change["at_s"] <= self.start_s:
                entry = {**entry, "parameters": change["parameters"]}
        return entry

    def _bottleneck(self, *, binding: bool) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The link that the flows fill; the first on their path, if one after the other does.

        With ``binding``, of several the one whose flows have the least share. Those that do not cross it are then no
        longer among ``flows``; their names are the second part of the answer, and the bottlenecks of other flows the
        third.
        """
        load: dict[str, float] = {}
        users: dict[str, set[str]] = {}
        before: dict[str, set[str]] = {}
        for flow in self.flows:
            for hop in flow["hops"]:
                load[hop["link"]] = load.get(hop["link"], 0.0) + self.share_bps[flow["name"]]
                users.setdefault(hop["link"], set()).add(flow["name"])
                if hop["after"] is not None:
                    before.setdefault(hop["link"], set()).add(flow["hops"][hop["after"]]["link"])

        def most_bps(link: str) -> float:
            """The largest rate that can come over a link."""
            arrives = before.get(link)
            return min(self.left_bps[link], sum(map(most_bps, arrives)) if arrives else float("inf"))

        # A link whose flows come by lines that are no faster has no queue, however full it is.
        full = [
            name
            for name in load
            if self.links[name]["congestion_points"]
            and load[name] >= _SATURATED * self.left_bps[name]
            and sum(most_bps(link) for link in before.get(name, ())) > self.left_bps[name]
        ]
        if not full:
            raise self._unsuited("no link with a congestion point is full", "add flows, or make a link slower")
        everyone = {flow["name"] for flow in self.flows}
        if binding:
            name = min(full, key=lambda link: max(self.share_bps[flow] for flow in users[link]))
            left_out = tuple(flow["name"] for flow in self.flows if flow["name"] not in users[name])
            self.flows = [flow for flow in self.flows if flow["name"] in users[name]]
            self._check_greedy()
            return name, left_out, tuple(link for link in full if users[link] != users[name])
        sets = {frozenset(users[name]) for name in full}
        if len(sets) > 1:
            raise self._unsuited(
                f"{_and(full)} are bottlenecks of different flows",
                "the models have one bottleneck: use a scenario in which all controlled flows share it",
            )
        name = full[0]
        if users[name] != everyone:
            others = sorted(everyone - users[name])
            raise self._unsuited(
                f"flows {_and(others)} do not cross the bottleneck {name}", "the models have one queue"
            )
        self._check_greedy()
        return name, (), ()

    def _check_greedy(self) -> None:
        for flow in self.flows:
            if flow["rate_bps"] is not None and flow["rate_bps"] <= self.share_bps[flow["name"]]:
                raise self._unsuited(
                    f"flow {flow['name']} sends no more than its share", "the models' sources are greedy"
                )

    @staticmethod
    def _before(flow: FlowDescription, link: str) -> list[tuple[str, str]]:
        """The links before ``link`` on the path of a flow, each with that of the opposite direction."""
        hops = [(hop["link"], hop["back"]) for hop in flow["hops"]]
        return hops[: [name for name, _ in hops].index(link)]

    def _delay_s(self, links: Sequence[str], octets: float) -> float:
        """The time that a frame takes over links whose queues are empty, s."""
        return sum(BITS_PER_OCTET * octets / self.rate_bps[name] + self.links[name]["latency_s"] for name in links)

    def _feedback_s(self, flow: FlowDescription, link: str, frame_octets: float) -> float:
        """The time that a signal or an acknowledgement takes from a sample at ``link`` to the source, s."""
        fixed, scheme = self.plan["feedback_s"], about(self._scheme()["name"])
        signals = scheme["signals"]
        if signals is None and not scheme["actions"]:
            # It leaves traffic alone.
            return 0.0
        if fixed is not None and signals is not None:
            return fixed
        before = self._before(flow, link)
        if signals is not None and signals["path"] == "backward":
            return self._delay_s([back for _, back in before], signals["octets"])
        hops = flow["hops"]
        onwards = self._delay_s([hop["link"] for hop in hops[len(before) :]], frame_octets)
        # Without signals, acknowledgements tell the source.
        octets = _ACKNOWLEDGEMENT_OCTETS if signals is None else signals["octets"]
        return onwards + self._delay_s([hop["back"] for hop in hops], octets)

    def _same(self, what: str, unit: str, values: Sequence[float], alike: float = 1.0) -> float:
        """The value that all flows have; the smallest is at least the share ``alike`` of the largest."""
        low, high = min(values), max(values)
        if low < alike * high:
            reason = f"flows have {what} of {low:g} to {high:g} {unit}"
            raise self._unsuited(reason, "the models need flows that are all alike")
        return values[0]

    def _unsuited(self, reason: str, hint: str) -> UnsuitedScenarioError:
        return UnsuitedScenarioError(f"from {self.start_s:g} to {self.stop_s:g} s {reason}", hint)


def _runs(flow: FlowDescription, time_s: float) -> bool:
    start_s = flow["start_s"]
    return start_s is not None and start_s <= time_s and (flow["stop_s"] is None or flow["stop_s"] > time_s)


def _and(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
