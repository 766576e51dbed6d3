"""The numbers of a run as tables and sentences: those that ``penstock run`` prints, and those of its report."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from penstock.columns import to_floats
from penstock.declared import LinkDescription
from penstock.highlights import notable_queues, schemes_in_words
from penstock.metrics.seeds import SLOWDOWNS, in_words, sizes_of
from penstock.quantity_text import bit_rate, count, duration, fair_rate, octets, ratio, share
from penstock.reports import job_paths
from penstock.reports.model import Table
from penstock.result import Result, action_counts
from penstock.summary import (
    CompletionSummary,
    DeadlockSummary,
    FlowSummary,
    JobSummary,
    PoolSummary,
    QueueSummary,
    Summary,
)

if TYPE_CHECKING:
    from arro3.core import Table as Records

_QUEUES_LISTED = 12
_FLOWS_LISTED = 16
_POOLS_LISTED = 8
_DEADLOCKS_LISTED = 4
_GROUPS_LISTED = 8
_JOBS_LISTED = 16
_SLOWEST, _FASTEST = 5, 2
_LOW_USE = 0.5
"""Flows that get a smaller part of their fair share leave the network idle."""


def tables(result: Result, links: list[LinkDescription]) -> list[Table]:
    """Return the tables of a run that have rows: jobs, queues, memory, flows, completions, windows, flow control.

    Args:
        result: the run.
        links: the output ports of its plan.
    """
    summary = result.summary_without_flows
    every = [
        jobs(summary.get("jobs", [])),
        queues(summary["queues"]),
        _pools(summary.get("pools", [])),
        flows(result),
        _completions(summary.get("completions", [])),
        _extremes(result),
        _windows(summary),
        _flow_control(links),
    ]
    return [table for table in every if table.rows]


def balance(summary: Summary, *, flows: int) -> str:
    """Return the counts of a run, in a line."""
    totals = summary["totals"]
    parts = [
        f"data frames sent {count(totals['frames_sent'])}",
        f"delivered {count(totals['frames_delivered'])}",
        f"dropped {count(totals['frames_dropped'])} (loss {share(summary['loss_rate'])})",
    ]
    if "frames_trimmed" in totals:
        lost = f", {count(totals['headers_lost'])} headers lost" if totals["headers_lost"] else ""
        parts.append(f"of these trimmed {count(totals['frames_trimmed'])}{lost}")
    if totals["frames_discarded_at_source"]:
        parts.append(f"discarded at sources {count(totals['frames_discarded_at_source'])}")
    if totals["frames_waiting_at_source"]:
        parts.append(f"waiting at sources {count(totals['frames_waiting_at_source'])}")
    if totals["frames_lost_on_link"]:
        parts.append(f"lost on links {count(totals['frames_lost_on_link'])}")
    feedback = f"feedback {count(totals['feedback_frames'])} ({share(summary['feedback_rate'])})"
    if "probes_returned" in totals:
        kinds = f"notifications {count(totals['notifications'])}, returned probes {count(totals['probes_returned'])}"
        feedback += f", of it {kinds}"
    parts.append(feedback)
    if totals.get("feedback_discarded"):
        parts.append(f"feedback to uncontrolled sources discarded {count(totals['feedback_discarded'])}")
    if "retransmissions" in totals:
        timeouts = count(totals["timeouts"])
        parts.append(f"sent again {count(totals['retransmissions'])}, timeouts {timeouts}")
    if "pause_frames" in totals:
        parts.append(f"pause frames {count(totals['pause_frames'])}")
    if "credit_wait_s" in totals:
        parts.append(f"waited for credits {duration(totals['credit_wait_s'])}")
    if "replays" in totals:
        parts.append(f"replays {count(totals['replays'])} of {count(totals['frames_replayed'])} frames")
    if totals.get("watchdog_fired"):
        dropped = count(totals["watchdog_dropped"])
        parts.append(f"watchdog fired {count(totals['watchdog_fired'])} times, {dropped} frames dropped by it")
    if "lossless" in summary:
        parts.append("lossless, as claimed" if summary["lossless"] else "not lossless, though the scenario claims it")
    if summary.get("actions"):
        parts.append(f"actions of the scheme: {action_counts(summary)}")
    if "acted" in summary:
        parts.append("it acted, as claimed" if summary["acted"] else "it did not act, though the scenario claims it")
    if "finished_at_s" in summary:
        who = "jobs and all flows" if "jobs" in summary else "flows"
        parts.append(f"all {who} with a size finished at {duration(summary['finished_at_s'])}")
    if flows:
        parts.append(f"Jain index {summary['jain_index']:.3f}")
    return ", ".join(parts)


def coverage(summary: Summary) -> str:
    """Say what time the numbers of the tables cover."""
    if not summary["warmup_s"]:
        return "means and counts cover the whole run"
    return (
        f"means, maxima, shares and rates from {duration(summary['warmup_s'])} on (the end of the warm-up); "
        "dropped, feedback, settling and pauses over the whole run"
    )


def deadlocks(summary: Summary) -> list[str]:
    """Return a sentence for each cycle of queues that waited for one another; of many, the first."""
    found = summary.get("deadlocks", [])
    more = len(found) - _DEADLOCKS_LISTED
    return [_deadlock(one) for one in found[:_DEADLOCKS_LISTED]] + (
        [f"and {count(more)} more deadlocks in summary.json"] if more > 0 else []
    )


def _deadlock(deadlock: DeadlockSummary) -> str:
    ended = deadlock["ended_s"]
    end = "to the end of the run" if ended is None else f"to {duration(ended)}, when the watchdog broke it"
    names = [f"{port} ({priority})" for port, priority in zip(deadlock["ports"], deadlock["priorities"], strict=True)]
    return f"deadlock from {duration(deadlock['since_s'])} {end}: {' waits for '.join([*names, names[0]])}"


def notes(result: Result) -> list[str]:
    """Return the remarks on a run, in sentences: those of the scenario, and low use of its flows' rates."""
    return [*result.notes, *_low_use(result)]


def _low_use(result: Result) -> list[str]:
    """Say so where a scheme leaves the rate of its flows unused: seldom what a reader was after."""
    if not result.flows.num_rows:
        return []
    controlled = result.column("flows", "controlled").astype(bool)
    fair, got = (float(result.column("flows", key)[controlled].sum()) for key in ("fair_rate_bps", "throughput_bps"))
    if not fair > 0 or got >= _LOW_USE * fair:
        return []
    scheme = schemes_in_words(result.summary_without_flows)
    return [
        f"low use: the flows that {scheme} controls get {share(got / fair)} of their fair shares together. Its "
        "constants may be those of another line rate (`penstock schemes` lists its profiles), or the run is too short "
        "for its rates to rise"
    ]


def _pools(pools: list[PoolSummary]) -> Table:
    """Return the memory that queues share, the fullest pools first."""
    fullest = sorted(pools, key=lambda pool: pool["max_octets"] / pool["size_octets"], reverse=True)
    more = len(fullest) - _POOLS_LISTED
    return Table(
        ("shared memory", "pool", "size", "mean", "max", "headroom", "needed", "max of it", "refused"),
        [
            (
                pool["switch"],
                pool["name"],
                octets(pool["size_octets"]),
                octets(pool["mean_octets"]),
                octets(pool["max_octets"]),
                octets(pool["headroom_octets"]),
                octets(pool["headroom_needed_octets"]),
                octets(pool["headroom_max_octets"]),
                count(pool["frames_refused"]),
            )
            for pool in fullest[:_POOLS_LISTED]
        ],
        note=f"and {count(more)} more pools in summary.json" if more > 0 else "",
    )


def jobs(jobs: list[JobSummary]) -> Table:
    """Return a line a job; a job that had not ended has "not ended" as its time."""
    listed = jobs[:_JOBS_LISTED]
    more = len(jobs) - len(listed)
    together = any("kind" in job for job in listed)
    bandwidths = ("collective", "algbw", "busbw", "of ideal")
    return Table(
        (
            *("job", "kind", "algorithm", "ranks", "iterations", "time", "iteration"),
            *(bandwidths if together else ()),
            *("exposed", "straggling"),
        ),
        [
            (
                job["name"],
                job.get("kind", "graph"),
                job.get("algorithm"),
                _ranks(job),
                _iterations(job),
                "not ended" if job["job_time_s"] is None else duration(job["job_time_s"]),
                _known(job["iteration_mean_s"], duration),
                *(_collective(job) if together else ()),
                _known(job["exposed_communication_s"], duration),
                _known(job["straggling_s"], duration),
            )
            for job in listed
        ],
        note="; ".join(
            [
                *filter(None, map(job_paths.sentence, listed)),
                *([f"and {count(more)} more jobs in summary.json"] if more > 0 else []),
            ]
        ),
    )


def _ranks(job: JobSummary) -> str:
    members = job.get("group_ranks", job["ranks"])
    return count(job["ranks"]) + (f" in groups of {count(members)}" if members < job["ranks"] else "")


def _iterations(job: JobSummary) -> str:
    asked, ended = job["iterations"], job["iterations_ended"]
    return count(asked) if ended == asked else f"{count(ended)} of {count(asked)}"


def _collective(job: JobSummary) -> tuple[str | None, ...]:
    return (
        _known(job["collective_mean_s"], duration),
        _known(job["algorithm_bandwidth_bps"], bit_rate),
        _known(job["bus_bandwidth_bps"], bit_rate),
        _known(job["efficiency"], share),
    )


def _known(value: float | None, text: Callable[[float], str]) -> str | None:
    return None if value is None else text(value)


def _completions(completions: list[CompletionSummary]) -> Table:
    """Return the slowdowns of finite flows: all together, by size, and by group."""
    groups = dict.fromkeys(line["group"] for line in completions if line["group"] is not None)
    few = len(groups) <= _GROUPS_LISTED
    return Table(
        ("flows", "number", "not completed", *(title for _, title in SLOWDOWNS)),
        [
            (
                in_words(sizes_of(line)),
                count(line["flows"]),
                count(line["flows"] - line["completed"]),
                *(None if (value := line[key]) is None else ratio(value) for key, _ in SLOWDOWNS),
            )
            for line in completions
            if line["group"] is None or few
        ],
        title="slowdown: flow completion time over that on an empty network",
        note="" if few else f"and {count(len(groups))} groups of flows, in summary.json",
    )


def _extremes(result: Result) -> Table:
    """Return the flows that waited most, and those that waited least, of all that completed; of a few, all."""
    summary = result.summary_without_flows
    rows = []
    title = "flows"
    if any(line["completed"] for line in summary.get("completions", [])):
        columns = {name: result.completions.column(name).chunk(0) for name in result.completions.column_names}
        slowdown, start_s = (to_floats(columns[key]) for key in ("slowdown", "start_s"))
        done = np.flatnonzero(~np.isnan(slowdown) & (start_s >= summary["warmup_s"]))
        order = done[np.argsort(-slowdown[done], kind="stable")]
        listed = [*order[:_SLOWEST], *order[max(_SLOWEST, len(order) - _FASTEST) :]]
        if len(order) > _SLOWEST + _FASTEST:
            title = f"slowest {_SLOWEST}, quickest {_FASTEST}"
        for place in listed:
            flow = {name: column[int(place)].as_py() for name, column in columns.items()}
            rows.append(
                (
                    flow["flow"],
                    flow["source"],
                    _to(flow["destinations"]),
                    octets(flow["size_octets"]),
                    duration(flow["start_s"]),
                    duration(flow["end_s"] - flow["start_s"]),
                    ratio(flow["slowdown"]),
                    count(flow["retransmissions"]),
                    count(flow["timeouts"]),
                )
            )
    return Table((title, "from", "to", "size", "start", "completed in", "slowdown", "sent again", "timeouts"), rows)


def queues(queues: list[QueueSummary]) -> Table:
    """Return a line a queue; of many, the notable ones."""
    listed = queues if len(queues) <= _QUEUES_LISTED else notable_queues(queues, _QUEUES_LISTED)
    several_priorities = len({queue["priority"] for queue in queues}) > 1
    paused = any(queue["pause_frames"] for queue in queues)
    # Acknowledgements and signals that share a queue with data may be dropped, too; no count of data has them.
    control = any(queue["control_frames_dropped"] for queue in queues)
    return Table(
        (
            *("queue", "mean", "σ", "max", "empty", "utilisation", "dropped", "feedback"),
            *(["control dropped"] if control else []),
            *(["paused", "stops", "pause frames"] if paused else []),
        ),
        [
            (
                f"{queue['name']} p{queue['priority']}" if several_priorities else queue["name"],
                octets(queue["mean_octets"]),
                octets(queue["std_octets"]),
                octets(queue["max_octets"]),
                share(queue["empty_fraction"]),
                share(queue["utilization"]),
                count(queue["frames_dropped"]),
                count(queue["feedback_frames"]),
                *([count(queue["control_frames_dropped"])] if control else []),
                *([duration(queue["paused_s"]), count(queue["stops"]), count(queue["pause_frames"])] if paused else []),
            )
            for queue in listed
        ],
        note=f"and {len(queues) - len(listed)} quieter queues, in summary.json" if len(listed) < len(queues) else "",
    )


def flows(result: Result) -> Table:
    """Return a line a flow; of many, the least, the median and the most of each number."""
    few = result.flows.num_rows <= _FLOWS_LISTED
    return _flow_by_flow(result.summary["flows"]) if few else _flows_in_one(result.flows)


def _flow_by_flow(flows: list[FlowSummary]) -> Table:
    finite = any(flow["completion_time_s"] is not None for flow in flows)
    head = ("flow", "from", "to", "delivers", "fair share", "allowed", "dropped", "feedback", "settled")
    return Table(
        (*head, *(["completed"] if finite else [])),
        [
            (
                flow["name"],
                flow["source"],
                _to(flow["destinations"]),
                bit_rate(flow["throughput_bps"]),
                fair_rate(flow["fair_rate_bps"]),
                bit_rate(flow["mean_rate_bps"]),
                count(flow["frames_dropped"]),
                count(flow["feedback_received"]),
                _time(flow["settling_time_s"]),
                *([_time(flow["completion_time_s"])] if finite else []),
            )
            for flow in flows
        ],
    )


def _flows_in_one(flows: "Records") -> Table:
    rows = []
    for title, key, text in (
        ("delivers", "throughput_bps", bit_rate),
        ("fair share", "fair_rate_bps", bit_rate),
        ("allowed", "mean_rate_bps", bit_rate),
        ("dropped", "frames_dropped", _whole),
        ("feedback", "feedback_received", _whole),
        ("settled", "settling_time_s", duration),
        ("completed", "completion_time_s", duration),
    ):
        every = to_floats(flows.column(key).chunk(0))
        values = np.sort(every[~np.isnan(every)])
        # Where flows wait for others, nobody knows beforehand when they share a link: no share is computed.
        if len(values) and (key != "fair_rate_bps" or values[-1] > 0):
            known = "" if len(values) == flows.num_rows else f" ({len(values)} of {flows.num_rows})"
            rows.append((title + known, *(text(values[place].item()) for place in (0, len(values) // 2, -1))))
    return Table((f"{flows.num_rows} flows", "least", "median", "most"), rows)


def _windows(summary: Summary) -> Table:
    """Return a line a window of measurement: counts, and the queue that is the longest in the whole run."""
    longest = notable_queues(summary["queues"], 1)
    head = [f"window; queue {longest[0]['name']}" if longest else "window", "from", "to"]
    head += ["mean", "σ", "max", "utilisation"] if longest else []
    head += ["sent", "delivered", "dropped", "feedback", "Jain index"]
    rows = []
    for window in summary.get("windows", []):
        totals = window["totals"]
        cells = [window["name"], duration(window["start_s"]), duration(window["end_s"])]
        if longest:
            place = summary["queues"].index(longest[0])
            queue = window["queues"][place]
            cells += [octets(queue["mean_octets"]), octets(queue["std_octets"]), octets(queue["max_octets"])]
            cells.append(share(queue["utilization"]))
        cells += [count(totals["frames_sent"]), count(totals["frames_delivered"])]
        cells += [count(totals["frames_dropped"]), count(totals["feedback_frames"])]
        rows.append([*cells, f"{window['jain_index']:.3f}"])
    return Table(head, rows)


def _flow_control(links: list[LinkDescription]) -> Table:
    """Return the thresholds behind the ports that flow control can stop, a line for those that read alike.

    Where a pool stops a line, its threshold and its cells are those that act: the ingress buffer only bounds them.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    pooled = False
    for link in links:
        if (at := link["flow_control"]) is None:
            continue
        # The first pool is that of the first lossless priorities; most switches have one.
        if at["pools"]:
            pool, pooled = at["pools"][0], True
            sizes = (pool["xoff_alone_octets"], pool["xoff_together_octets"])
            rooms = (pool["headroom_octets"], pool["headroom_needed_octets"])
            row = (f"pool {pool['name']}", *map(octets, sizes), "-", *map(octets, rooms))
        else:
            xoff, xon = octets(at["xoff_octets"]), octets(at["xon_octets"])
            rooms = (at["headroom_octets"], at["headroom_needed_octets"])
            row = (octets(at["buffer_octets"]), xoff, xoff, xon, *map(octets, rooms))
        alike.setdefault((*row, duration(at["response_s"])), []).append(link["name"])
    columns = ("xoff alone", "xoff of all") if pooled else ("xoff",)
    rows = []
    for (buffer, alone, together, *rest), names in alike.items():
        shown = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        rows.append([shown, buffer, *((alone, together) if pooled else (alone,)), *rest])
    return Table(("flow control stops", "buffer", *columns, "xon", "headroom", "needed", "response"), rows)


def _to(destinations: list[str]) -> str:
    return destinations[0] if len(destinations) == 1 else f"{len(destinations)} hosts"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else duration(seconds)


def _whole(number: float) -> str:
    return count(int(number))
