"""Fabrics: what a scenario's network is built of, as tables, as a picture, and written from a few options."""

from penstock.fabrics.ports import PortKind, SwitchMemory, memory, names_in_short, port_kinds
from penstock.fabrics.template import fabric_template

__all__ = ["PortKind", "SwitchMemory", "fabric_template", "memory", "names_in_short", "port_kinds"]
