"""The metrics of these statements alone: the age of notifications, tails, shares and peaks."""

from typing import TYPE_CHECKING, Any

import numpy as np
from penstock import Result
from penstock.columns import codes
from penstock.metrics.samples import needs_arrivals
from penstock.metrics.values import flow_names

if TYPE_CHECKING:
    from numpy.typing import NDArray


@needs_arrivals
def notification_age_s(result: Result, queue: str, above_octets: int, percentile: float = 50.0) -> float | None:
    """How long ago a frame joined the queue when its notification reaches the source; a percentile over all flows.

    Thresholds have to be a step at ``above_octets``, notifications without an interval, and no frame or notification
    may be lost: then the k-th frame of a flow that meets a longer queue causes its k-th notification.
    """
    ages: list[float] = []
    for flow in flow_names(result):
        caused_s = _of(result, "arrivals", flow, queue=queue, above_octets=above_octets)
        told_s = _of(result, "signals", flow)
        pairs = min(len(told_s), len(caused_s))
        ages.extend(told_s[:pairs] - caused_s[:pairs])
    return float(np.percentile(ages, percentile)) if ages else None


def tail_slowdown(result: Result, table: str) -> float | None:
    """The 99th percentile of the slowdowns of a table's messages; none if no message completes."""
    of_all = ((row["group"], row["least_octets"], row["most_octets"]) for row in result.summary["completions"])
    found: float | None = result.summary["completions"][list(of_all).index((table, 0, None))]["slowdown_p99"]
    return found


def weighted_jain_index(result: Result, weights: list[float]) -> float:
    """Jain's index of the flows' throughput over their weights, in the order of the flows."""
    shares = np.array([flow["throughput_bps"] for flow in result.summary["flows"]]) / np.array(weights)
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum()))


def peak_octets(result: Result) -> float:
    """The longest that any queue was."""
    return float(max(queue["max_octets"] for queue in result.summary["queues"]))


def _of(result: Result, table: str, flow: str, *, queue: str | None = None, above_octets: int = 0) -> "NDArray[Any]":
    """Return the times of a flow's rows in a table, s; of arrivals at one queue those that meet a longer one."""
    rows = _named(result, table, "flow", flow)
    if queue is not None:
        rows &= _named(result, table, "queue", queue)
        rows &= np.asarray(result.column(table, "queue_octets")) > above_octets
    times_s: NDArray[Any] = np.asarray(result.column(table, "time_s"))[rows]
    return times_s


def _named(result: Result, table: str, column: str, name: str) -> "NDArray[Any]":
    """Return which rows of a table have a name in a column."""
    of, names = codes(getattr(result, table).column(column).chunk(0))
    return np.asarray(of == (names.index(name) if name in names else -1))
