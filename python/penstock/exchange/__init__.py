"""Files of other people's simulators: readers and writers, one module a family."""

from penstock.exchange import hpcc

__all__ = ["hpcc"]
