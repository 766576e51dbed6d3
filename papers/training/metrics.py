"""The metrics of training steps: the time of all jobs together, and the counters that explain it."""

from typing import Any

from penstock import Result


def step_time_s(result: Result) -> float | None:
    """Time until the last job has ended, s; none if one has not. Jobs of these experiments begin at 0."""
    times = [job["job_time_s"] for job in result.summary["jobs"]]
    return None if None in times else max(time for time in times if time is not None)


def exposed_s(result: Result, job: str) -> float | None:
    """Time of a job in which a rank does not compute, s, mean of all ranks; none if the job has not ended."""
    (own,) = [each for each in result.summary["jobs"] if each["name"] == job]
    each_s = own["exposed_communication_s"]
    return None if own["job_time_s"] is None or each_s is None else each_s * own["iterations"]


def sharing(result: Result) -> float:
    """Octets of the busiest link between switches over those of the busiest host: connections that share it."""
    queues = result.summary["queues"]
    between = [q["octets_sent"] for q in queues if not _of_a_host(q["name"])]
    return max(between) / max(q["octets_sent"] for q in queues if q["name"].startswith("h"))


def busiest_link(result: Result) -> float:
    """The largest share of the run in which a link between switches is busy."""
    return max(q["utilization"] for q in result.summary["queues"] if not _of_a_host(q["name"]))


def stopped_s(result: Result) -> float:
    """Time for which flow control stops links between switches, s, sum of all."""
    return sum(q["paused_s"] for q in result.summary["queues"] if not _of_a_host(q["name"]))


def pauses(result: Result) -> int:
    """PAUSE frames of flow control in the whole run."""
    return result.summary["totals"]["pause_frames"]


def time_over_sharing(result: Result, ideal_s: float) -> float | None:
    """Time of a step, over the time of its lines times the connections on the most shared link; none as above."""
    time_s = step_time_s(result)
    return None if time_s is None else time_s / (sharing(result) * ideal_s)


def counters(result: Result) -> dict[str, Any]:
    """For figures and the table of counters: times in s, bus bandwidth in bit/s, and the counters of the whole run."""
    summary = result.summary
    totals, actions = summary["totals"], summary.get("actions") or {}
    first = summary["jobs"][0]
    return {
        "step_time_s": step_time_s(result),
        "bus_bandwidth_bps": first.get("bus_bandwidth_bps"),
        "exposed_s": {job["name"]: exposed_s(result, job["name"]) for job in summary["jobs"]},
        "sharing": sharing(result),
        "stopped_s": stopped_s(result),
        "pause_frames": pauses(result),
        "frames_marked": sum(queue["frames_marked"] for queue in summary["queues"]),
        "notifications": actions.get("notifications", 0),
        "cuts": actions.get("cuts", 0),
        "frames_dropped": totals["frames_dropped"],
        "longest_octets": max(queue["max_octets"] for queue in summary["queues"]),
    }


def _of_a_host(queue: str) -> bool:
    """Whether a queue is that of a link of a host: names of hosts begin with h."""
    return any(end.startswith("h") for end in queue.split("->"))
