"""Files of other people's simulators: readers and writers, one module a family, and the configuration of HPCC's."""

from penstock.exchange import hpcc, htsim
from penstock.exchange.exporting import FORMATS, export, write
from penstock.exchange.hpcc_completions import read_fct
from penstock.exchange.importing import Imported, import_files
from penstock.exchange.jobs import WrittenJob, export_job
from penstock.exchange.line_reader import ExchangeError

__all__ = [
    "FORMATS",
    "ExchangeError",
    "Imported",
    "WrittenJob",
    "export",
    "export_job",
    "hpcc",
    "htsim",
    "import_files",
    "read_fct",
    "write",
]
