"""What the slowest path of a job waited for, in numbers and in a sentence."""

from penstock.quantity_text import duration, share
from penstock.summary import JobSummary

CAUSES = {
    "computing": "computing",
    "local": "inside of hosts",
    "ideal": "sending as on an idle network",
    "queue": "in queues",
    "pause": "in pauses",
    "limited": "by rate limiters",
    "lost": "after losses",
    "host": "waiting at hosts",
}
"""The causes that a path's time is split into, keys ``path_…_s`` of the summary, with their words."""

_LEAST = 0.005
"""Smaller parts are not named."""


def of_job(job: JobSummary) -> dict[str, float]:
    """Return the time of a job's slowest path by cause, s; empty if it is not known."""
    if job.get("path_ideal_s") is None:
        return {}
    return {cause: float(job[f"path_{cause}_s"] or 0) for cause in CAUSES}  # type: ignore[literal-required]


def sentence(job: JobSummary) -> str:
    """Return what the slowest path of a job waited for, the longest first; empty if it is not known."""
    parts = of_job(job)
    whole = sum(parts.values())
    if not whole:
        return ""
    waits = parts["queue"] + parts["pause"]

    def words(cause: str) -> str:
        text = f"{share(parts[cause] / whole)} {CAUSES[cause]}"
        port, at_port_s = job["path_port"], job["path_port_s"]
        longest = max(("queue", "pause"), key=lambda one: parts[one])
        if cause != longest or port is None or not at_port_s or waits < _LEAST * whole:
            return text
        return f"{text} ({share(min(1.0, at_port_s / waits))} of the waits at {port})"

    named = sorted((cause for cause in parts if parts[cause] >= _LEAST * whole), key=lambda one: -parts[one])
    return f"slowest path of {job['name']}, {duration(whole)}: {', '.join(words(cause) for cause in named)}"
