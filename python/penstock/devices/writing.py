"""The configuration of each device of a scenario."""

from penstock.devices.checking import module_of
from penstock.devices.model import Written
from penstock.devices.of_scenario import devices
from penstock.errors import ArgumentError
from penstock.scenario import Scenario

_HOSTS = ("mlnx_qos", "dcb")
"""Formats of hosts; all others are of switches."""


def configurations(scenario: Scenario, *, to: str, limit: int = 1) -> dict[str, Written]:
    """Return the configuration of each device of a fabric, by its name: of hosts or of switches, as the format has it.

    Args:
        scenario: the fabric.
        to: one of :data:`penstock.devices.FORMATS`.
        limit: as that of :meth:`Scenario.run`.

    Raises:
        ArgumentError: the format is not known, or the fabric has no device of its kind.
        ScenarioError: a value of the scenario is not legal.
    """
    module = module_of(to)
    kind = "nic" if to in _HOSTS else "switch"
    found = [device for device in devices(scenario, module.port_name, limit=limit) if device.kind == kind]
    if not found:
        raise ArgumentError(f"to={to}: the scenario has no {kind}", "give a scenario with hosts and switches")
    return {device.name: module.write(device) for device in found}
