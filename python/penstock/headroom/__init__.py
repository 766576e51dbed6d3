"""Headroom of priority flow control: the exact need of a port, formulas and tables of vendors, and proof by search.

    >>> from penstock import headroom
    >>> port = headroom.Port(speed_mbps=200_000, cable_m=5, cell=256)
    >>> headroom.need(port).cells
    543
    >>> headroom.annex_o(port)
    48811

:func:`survey` compares them for each kind of port of a fabric; :func:`prove` finds the minimum by attack in simulation;
:func:`judge` judges the rows of a ``pg_profile_lookup.ini`` of SONiC.
"""

from penstock.headroom.formulas import (
    Formula,
    Port,
    Profile,
    annex_o,
    barefoot,
    connectx,
    formulas,
    mlxsw,
    nvidia,
)
from penstock.headroom.prove import Proof, prove
from penstock.headroom.responses import Response, read_response
from penstock.headroom.single_port import Need, need
from penstock.headroom.survey import ChipRest, Entry, Kind, Survey, falls, survey
from penstock.headroom.tables import Judgement, Row, Table, findings, judge, parse_table, read_table, row_scenario

__all__ = [
    "ChipRest",
    "Entry",
    "Formula",
    "Judgement",
    "Kind",
    "Need",
    "Port",
    "Profile",
    "Proof",
    "Response",
    "Row",
    "Survey",
    "Table",
    "annex_o",
    "barefoot",
    "connectx",
    "falls",
    "findings",
    "formulas",
    "judge",
    "mlxsw",
    "need",
    "nvidia",
    "parse_table",
    "prove",
    "read_response",
    "read_table",
    "row_scenario",
    "survey",
]
