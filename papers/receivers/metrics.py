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
