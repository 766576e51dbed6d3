"""The subject of a search: the scheme and its parameters, the queue that it is judged by, and what theory knows of it.

Where a fluid model describes the scenario, its periods say where the bottleneck is. Where flows come and go, or flows
of many kinds share a fabric, no model does. Then the queue that is longest on average is the one to judge by, and
simulation alone searches.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.declared import Description, LinkDescription
from penstock.executors.executor import Executor
from penstock.quantity_text import octets
from penstock.result import ClaimError, Result
from penstock.runs import Run, RunCallbacks, copies, run_many
from penstock.scenario import Scenario, parts_of
from penstock.theory.configuration import Configuration, UnsuitedScenarioError, configurations
from penstock.theory.models import DELAYED
from penstock.theory.packet_oscillation import doubts
from penstock.tuning.goals import Goal
from penstock.tuning.measures import busiest, has_finite_flows


@dataclass(frozen=True)
class Subject:
    """A scenario as the search sees it.

    Attributes:
        given: scheme, parameters, frames and lines: of the longest period where theory knows periods.
        periods: those that the fluid model describes, as far as they are measured; none where it describes none.
        queue: the queue that points are judged by.
        memory_octets: under flow control the most that the queue may hold; None without.
        unpredicted: why theory does not narrow the search, in a sentence; "" where it does.
        notes: what a reader of the answer should know, in sentences.
    """

    given: Configuration
    periods: tuple[Configuration, ...]
    queue: str
    memory_octets: float | None
    unpredicted: str
    notes: tuple[str, ...]

    @property
    def has_margins(self) -> bool:
        """Whether linear theory has margins for points."""
        return bool(self.periods) and _predicts(self.given.scheme)


@dataclass(frozen=True)
class _Look:
    """What a first run shows, taken where it runs."""

    def __call__(self, _index: int, result: Result, _loss: ClaimError | None) -> tuple[str, bool]:
        """Take the longest queue, and whether flows end."""
        return busiest(result), has_finite_flows(result)


def subject(
    own: Scenario, plan: Description, goal: Goal, seed: int, callbacks: RunCallbacks, executor: Executor | None
) -> Subject:
    """Find the subject of a scenario; one run shows it where the plan does not.

    Raises:
        KeyboardInterrupt: Ctrl-C during that run.
        UnsuitedScenarioError: the scenario has nothing that the goal could be measured by, several schemes, no
            controlled flow, or a bottleneck that is not recorded.
    """
    controlled = any(link["flow_control"] for link in plan["links"])
    if goal.measure == "paused_s" and not controlled:
        raise UnsuitedScenarioError(
            f"goal={goal.name}: flow control stops no port of the scenario", "add [pfc], or name another goal"
        )
    unpredicted = ""
    periods: tuple[Configuration, ...] = ()
    try:
        periods = tuple(configurations(own, from_s=plan["warmup_s"], binding=True))
    except UnsuitedScenarioError as why:
        if len({entry["name"] for entry in plan["schemes"]}) > 1 or not any(f["controlled"] for f in plan["flows"]):
            raise
        unpredicted = f"the fluid model does not describe the scenario ({why.reason})"
    links = {link["name"]: link for link in plan["links"]}
    if periods and not goal.of_completions:
        longest = max(periods, key=lambda period: period.stop_s - period.start_s)
        queue = longest.queue
    else:
        queue, ends = _seen(own, seed, callbacks, executor)
        if goal.of_completions and not ends:
            raise UnsuitedScenarioError(
                f"goal={goal.name}: no flow with a size starts after the warm-up",
                "give flows a size, or add a [[load]] or an [[incast]]; or name another goal",
            )
        longest = _without_theory(plan, links[queue])
    if queue not in plan["queues"]:
        raise UnsuitedScenarioError(f"the bottleneck {queue} is not recorded", "add it to record.queues")
    if not unpredicted:
        unpredicted = _unpredicted(goal, longest)
    held = _memory_octets(plan, links[queue], longest.buffer_octets) if controlled else None
    notes = (*_others(periods), *_memory_notes(plan, queue), *_scaled(own, longest.scheme))
    return Subject(longest, periods, queue, held, unpredicted, notes)


def _seen(own: Scenario, seed: int, callbacks: RunCallbacks, executor: Executor | None) -> tuple[str, bool]:
    found = run_many([Run(f"{own.name}, seed {seed}", copies(own), seed)], _Look(), callbacks, executor=executor)
    if not found:
        raise KeyboardInterrupt
    return found[0]


def _unpredicted(goal: Goal, given: Configuration) -> str:
    """Why theory does not narrow the search of a scenario that has a bottleneck."""
    if not _predicts(given.scheme):
        return f"there is no fluid model of {given.scheme}"
    if not goal.predicted:
        return f"a fluid has no {'flow completion times' if goal.of_completions else 'pauses'}"
    doubt = doubts(given)
    return f"the fluid model does not apply ({doubt[0]})" if doubt else ""


def _predicts(scheme: str) -> bool:
    return scheme in DELAYED and DELAYED[scheme].predicts_runs


def _without_theory(plan: Description, link: LinkDescription) -> Configuration:
    """A configuration for bounds alone: the longest frame of controlled flows, the fastest of their lines."""
    flows = [flow for flow in plan["flows"] if flow["controlled"]]
    rates: Mapping[str, float] = {each["name"]: float(each["rate_bps"]) for each in plan["links"]}
    frame = float(max(flow["frame_octets"] for flow in flows))
    priorities = {flow["priority"] for flow in flows}
    scheme = next(entry for entry in plan["schemes"] if entry["priority"] in priorities)
    buffer = link["buffer_octets"] if link["buffer_octets"] is not None else (link["buffer_frames"] or 0) * frame
    return Configuration(
        scheme=scheme["name"],
        parameters=scheme["parameters"],
        flows=len(flows),
        capacity_bps=float(link["rate_bps"]),
        link_bps=float(link["rate_bps"]),
        frame_octets=frame,
        wire_overhead_octets=float(plan["wire_overhead_octets"]),
        buffer_octets=float(buffer),
        line_rate_bps=max(rates[flow["hops"][0]["link"]] for flow in flows),
        queue=link["name"],
    )


def _memory_octets(plan: Description, link: LinkDescription, buffer_octets: float) -> float:
    """The most that a queue may hold: its buffer, or the memory of its switch, whichever is less."""
    pools = [pool for pool in plan["memory"] if pool["switch"] == link["node"]]
    if not pools:
        return buffer_octets
    parts = sum(pool["reserved_octets"] + pool["shared_octets"] + pool["headroom_octets"] for pool in pools)
    return min(buffer_octets, float(pools[0]["memory_octets"] or parts))


def _others(periods: Sequence[Configuration]) -> tuple[str, ...]:
    """The flows that do not cross the bottleneck, if there are any."""
    left_out = max((period.left_out for period in periods), key=len, default=())
    if not left_out:
        return ()
    return (
        f"{len(left_out)} controlled flows do not cross {periods[0].queue}, the bottleneck that leaves a flow least: "
        "theory leaves them out, and Jain's index has them",
    )


def _scaled(own: Scenario, scheme: str) -> tuple[str, ...]:
    """The parameters that are given for each Gb/s of a line: a proposal has one value for all lines."""
    table = tomllib.loads(parts_of(own)[0]).get("schemes", {}).get(scheme, {})
    names = [name for name, given in table.items() if isinstance(given, str) and " per " in given]
    if not names:
        return ()
    return (
        f"{', '.join(names)} follow the rate of each line, and a proposal has one value for all lines: the table has "
        "that of the fastest",
    )


def _memory_notes(plan: Description, queue: str) -> tuple[str, ...]:
    """What bounds the memory of the queue, where that is not what it seems."""
    switch = queue.partition("->")[0]
    lines = [
        link["flow_control"] for link in plan["links"] if link["name"].endswith(f"->{switch}") and link["flow_control"]
    ]
    held = sum(line["buffer_octets"] for line in lines)
    if not lines or any(line["pools"] for line in lines):
        return ()
    return (
        f"the scenario has [pfc] and no [[buffer]]: each of the {len(lines)} lines that lead to {switch} has a buffer "
        f"for itself, {octets(held)} in all, and no frame is lost; the search lets the queue hold no more than its own "
        "buffer. A [[buffer]] gives the switch the memory that it has",
    )
