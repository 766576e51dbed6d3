"""Configurations of switches and network interfaces: written from a scenario, read, and checked.

A module a format, each with ``read(text)`` and ``write(device)``; :data:`FORMATS` lists them.
"""

from penstock.devices.checking import FORMATS, check, read, read_file, write_scenarios
from penstock.devices.findings import ConfigurationError, Finding, Reading
from penstock.devices.model import Device, Pool, Port, Queue, Threshold, Watchdog, Wred, Written
from penstock.devices.of_scenario import devices
from penstock.devices.writing import configurations

__all__ = [
    "FORMATS",
    "ConfigurationError",
    "Device",
    "Finding",
    "Pool",
    "Port",
    "Queue",
    "Reading",
    "Threshold",
    "Watchdog",
    "Wred",
    "Written",
    "check",
    "configurations",
    "devices",
    "read",
    "read_file",
    "write_scenarios",
]
