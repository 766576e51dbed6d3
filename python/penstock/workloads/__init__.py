"""Distributions of flow sizes: five that the field's papers use, and a reader of a user's own.

A file is text: one point a line, a size in octets and the share in percent of the flows that are at most as long. This
is the format of the traffic generator of Li et al. 2019 (HPCC). Between two points the share grows linearly. Here text
behind ``#`` is a comment, and an empty line is passed over; HPCC's own generator knows neither. A last share of 1 says
that shares are fractions.
"""

from penstock.workloads.distribution import (
    POINTS_MAX,
    Distribution,
    DistributionError,
    Point,
    distribution,
    names,
    parse,
    read,
)

__all__ = ["POINTS_MAX", "Distribution", "DistributionError", "Point", "distribution", "names", "parse", "read"]
