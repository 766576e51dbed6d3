"""Frames of congestion management as octets: decode and encode them, count them in captures, show them in Wireshark.

    >>> from penstock import wire
    >>> frame = wire.encode("cnm", quantized_feedback=25, flow_identifier=5)
    >>> wire.decode(frame)["cnm"].quantized_feedback
    25

Formats, and the names of their fields, are those of :func:`formats`. Layers for scapy are in
:mod:`penstock.wire.scapy_layers`, with the extra ``penstock[wire]``.
"""

from penstock.wire.capture import Captured, CaptureError, by_port, by_source, read, roce_by_source, statistics, write
from penstock.wire.dissector import install_dissector
from penstock.wire.frame import EtherTypes, Field, Frame, Layer, decode, encode, formats, kinds

__all__ = [
    "CaptureError",
    "Captured",
    "EtherTypes",
    "Field",
    "Frame",
    "Layer",
    "by_port",
    "by_source",
    "decode",
    "encode",
    "formats",
    "install_dissector",
    "kinds",
    "read",
    "roce_by_source",
    "statistics",
    "write",
]
