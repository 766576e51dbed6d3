"""The metrics of these statements alone: completion of sprayed messages, and what flows have of their lines."""

from typing import TYPE_CHECKING, Any

import numpy as np
from penstock import Result
from penstock.metrics.samples import queue_lengths
from penstock.metrics.values import flow_names

if TYPE_CHECKING:
    from numpy.typing import NDArray


def inflation_percent(result: Result, name: str) -> float:
    """By how much the last message with this name takes longer than it could, in percent; infinite if one stays."""
    flows = result.completions["flow"].to_pylist()
    slowdown = np.asarray(result.completions["slowdown"].to_pylist(), dtype=float)
    own = slowdown[[flow.startswith(name) for flow in flows]]
    wanted = sum(flow.startswith(name) for flow in flow_names(result))
    return float(100 * (own.max() - 1)) if len(own) == wanted and np.isfinite(own).all() else float("inf")


def line_share(result: Result, name: str, line_bps: float) -> float:
    """The throughput of the flows with this name, as a share of their lines; the mean of all."""
    own = [flow["throughput_bps"] for flow in result.summary["flows"] if flow["name"].startswith(name)]
    return float(np.mean(own)) / line_bps


def course(result: Result, queue: str) -> "tuple[NDArray[Any], NDArray[Any]]":
    """For figures: the length of a queue."""
    return queue_lengths(result, [queue], points=1500)[queue]
