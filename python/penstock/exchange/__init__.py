"""Files of other people's simulators: readers and writers, one module a family."""

from penstock.exchange import hpcc, htsim
from penstock.exchange.completions import read_fct
from penstock.exchange.reading import ExchangeError

__all__ = ["ExchangeError", "hpcc", "htsim", "read_fct"]
