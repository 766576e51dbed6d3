"""Watermarks and counters of devices, laid over simulated runs.

``read`` takes a CSV file, or the output of SONiC's ``show`` commands; ``overlay`` puts its values beside those of runs.
"""

from penstock.telemetry.columns import Columns, typed_columns
from penstock.telemetry.measures import MEASURES, Measure, Sample
from penstock.telemetry.overlay import Overlay, overlay
from penstock.telemetry.ports import PortNames
from penstock.telemetry.reading import read

__all__ = [
    "MEASURES",
    "Columns",
    "Measure",
    "Overlay",
    "PortNames",
    "Sample",
    "overlay",
    "read",
    "typed_columns",
]
