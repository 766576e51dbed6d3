"""The network of a scenario in a report: its picture, ports, memory, and the notes of its plan."""

from penstock.declared import Outline
from penstock.fabrics import PortKind, SwitchMemory, memory, port_kinds
from penstock.quantity_text import bit_rate, count, duration, octets
from penstock.reports.model import Part, Points, Section, Table
from penstock.reports.page import picture

# Columns of links with credits and with retry.
_LOSSLESS = (("credits", "credit_octets"), ("replay buffer", "replay_octets"))


def in_words(outline: Outline) -> str:
    """Return the size of a network in a line."""
    hosts = sum(node["kind"] == "host" for node in outline["nodes"])
    switches = len(outline["nodes"]) - hosts
    links = len(outline["links"]) // 2
    counted = ((hosts, "host", "s"), (switches, "switch", "es"), (links, "link", "s"))
    return ", ".join(f"{count(number)} {name}{'' if number == 1 else plural}" for number, name, plural in counted)


def ports(kinds: list[PortKind]) -> Table:
    """Return a line for ports that are alike: rate, cable, and the thresholds of flow control."""
    paused = any(kind.headroom_octets is not None for kind in kinds)
    head = ["ports", "to", "number", "rate", "cable", "delay"]
    head += ["response", "XOFF alone", "XOFF all", "headroom", "needed"] if paused else []
    lossless = [(name, field) for name, field in _LOSSLESS if any(getattr(kind, field) is not None for kind in kinds)]
    rows = []
    for kind in kinds:
        cable = "-" if kind.cable_m is None else f"{kind.cable_m:g} m"
        row = [kind.nodes, kind.peers, count(len(kind.ports)), bit_rate(kind.rate_bps), cable, duration(kind.latency_s)]
        if paused:
            sizes = (kind.xoff_octets, kind.xoff_together_octets, kind.headroom_octets, kind.headroom_needed_octets)
            row += ["-" if kind.response_s is None else duration(kind.response_s)]
            row += ["-" if size is None else octets(size) for size in sizes]
        row += ["-" if (size := getattr(kind, field)) is None else octets(size) for _, field in lossless]
        rows.append(row)
    note = (
        "XOFF: where a line is paused if it holds memory alone, and if all lossless lines do; "
        "headroom: of one line and priority"
    )
    return Table([*head, *(name for name, _ in lossless)], rows, note=note if paused else "")


def memory_in_words(chip: SwitchMemory) -> str:
    """Return the memory of switches that are alike, as a sum."""
    parts = []
    for pool in chip.pools:
        alike = f"{pool['pool']} " if len(chip.pools) > 1 else ""
        lacks = pool["headroom_needed_octets"] > pool["headroom_octets"]
        needed = f" ({octets(pool['headroom_needed_octets'])} needed)" if lacks else ""
        parts.append(
            f"{alike}{octets(pool['headroom_octets'])} headroom{needed} + {octets(pool['reserved_octets'])} reserves + "
            f"{octets(pool['shared_octets'])} shared"
        )
    whole = "no [[switch]]" if chip.memory_octets is None else octets(chip.memory_octets)
    return f"memory of {chip.switches}: {whole} = {' + '.join(parts)}"


def section(outline: Outline, *, pictures: bool = True) -> Section:
    """Return the section on the network that a scenario lays out."""
    from penstock.figures.fabric import fabric_figure

    parts: list[Part] = [f"{outline['name']}: {in_words(outline)}."]
    if pictures:
        caption = "The network: switches by their distance from hosts, links by rate and cable."
        parts.append(picture(lambda: fabric_figure(outline), caption, "fabric"))
    parts.append(ports(port_kinds(outline)))
    parts.append(Points([memory_in_words(chip) for chip in memory(outline)]))
    return Section("Fabric", parts)
