"""Congestion notification domains: managed objects, reaction points of network interfaces, plans of domains.

    >>> from penstock import Scenario, dcb
    >>> domain = dcb.plan(Scenario.named("baseline/ten-gig"), outside=["h0"])
    >>> {port.port: port.mode for port in domain.ports if port.peer == "h0"}
    {'sw0->h0': 'cptEdge'}

:func:`plan` says for each port and priority of a scenario with QCN how the port defends the domain (802.1Q, clause
32.1), and with which managed objects a device would do what the scenario does. :func:`read` and :func:`write` speak to
the kernel about one network interface.
"""

from penstock.dcb.device import Device, read, write
from penstock.dcb.objects import Member, Object, Table, members, tables
from penstock.dcb.planning import DomainPlan, PlannedPoints, PlannedPort, Setting, plan

__all__ = [
    "Device",
    "DomainPlan",
    "Member",
    "Object",
    "PlannedPoints",
    "PlannedPort",
    "Setting",
    "Table",
    "members",
    "plan",
    "read",
    "tables",
    "write",
]
