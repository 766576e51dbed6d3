"""The metrics of these statements alone: slowdowns of messages by size, and what a receiver's line carries."""

import numpy as np
from penstock import Result


def slowdown(result: Result, least: int, most: int, percent: float, after_s: float = 0.0) -> float:
    """A percentile of the slowdowns of messages of `least` to `most` octets that started after `after_s`.

    A message that has not ended counts as infinitely slow.
    """
    table = result.completions
    size = np.asarray(table["size_octets"].to_pylist())
    start = np.asarray(table["start_s"].to_pylist(), dtype=float)
    slowdowns = np.asarray(table["slowdown"].to_pylist(), dtype=float)
    own = slowdowns[(size >= least) & (size <= most) & (start >= after_s)]
    return float(np.percentile(np.where(np.isnan(own), np.inf, own), percent, method="inverted_cdf"))


def last_s(result: Result) -> float:
    """The time that the last message took; infinite if one has not ended."""
    table = result.completions
    ends = np.asarray(table["end_s"].to_pylist(), dtype=float)
    took = ends - np.asarray(table["start_s"].to_pylist(), dtype=float)
    return float(took.max()) if np.isfinite(took).all() else float("inf")


def sent_again_frames(result: Result) -> float:
    """Frames that transports sent again."""
    return float(result.summary["totals"]["retransmissions"])


BINS = ((1_443, 8_652), (8_653, 76_426), (76_427, 961_814), (961_815, 4_806_186), (4_806_187, 28_840_000))
"""The least and the longest message of each group, octets."""


def by_size(result: Result, after_s: float = 0.0) -> list[tuple[float, float]]:
    """For figures: median and 99th percentile of the slowdowns of each of :data:`BINS`."""
    return [(slowdown(result, *bounds, 50, after_s), slowdown(result, *bounds, 99, after_s)) for bounds in BINS]
