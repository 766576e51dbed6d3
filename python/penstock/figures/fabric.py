"""A picture of a network: switches by their distance from hosts, hosts below their switch, links by rate and cable."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from penstock.declared import LinkDescription, Outline
from penstock.fabrics.ports import names_in_short
from penstock.figures.style import QUEUE_COLOURS, REFERENCE, Drawn, sheet, styled
from penstock.quantity_text import bit_rate, duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LAYER_IN = 1.7
"""Height of a layer, inches."""

_NAMED = 26
"""A layer of more nodes than this names its first and its last alone."""

_Link = tuple[str, str]
_Style = tuple[int, str, int]
"""Rate, length of cable or delay as text, and number of parallel links."""


def fabric_figure(outline: Outline) -> Drawn:
    """Draw the network of a scenario, which :meth:`penstock.Scenario.outline` lays out."""
    is_switch = {node["name"]: node["kind"] == "switch" for node in outline["nodes"]}
    links = _links(outline["links"])
    layers = _layers(is_switch, list(links))
    places = {
        name: ((index + 0.5) / len(layer), float(row))
        for row, layer in enumerate(layers)
        for index, name in enumerate(layer)
    }
    with styled():
        figure = sheet(9.6, 1.0 + _LAYER_IN * (len(layers) + 0.6))
        axes = figure.subplots()
        axes.set_axis_off()
        kinds = list(dict.fromkeys(links.values()))
        colours = {kind: QUEUE_COLOURS[index % len(QUEUE_COLOURS)] for index, kind in enumerate(kinds)}
        for (a, b), kind in links.items():
            if is_switch[a] and is_switch[b]:
                _draw_link(axes, places[a], places[b], colours[kind], kind[2])
        for layer in layers:
            _draw_switches(axes, layer, places)
        _draw_hosts(axes, is_switch, links, places, colours, densest=max(map(len, layers)))
        axes.set_xlim(0, 1)
        axes.set_ylim(-0.75, len(layers) - 0.6)
        handles = [Line2D([], [], color=colours[kind], linewidth=2, label=_words(kind)) for kind in kinds]
        figure.legend(handles=handles, loc="outside lower center", ncols=min(3, len(handles)))
        figure.suptitle(f"{outline['name']}: {_counted(outline)}", x=0.01, ha="left")
    return figure


def _links(descriptions: Sequence[LinkDescription]) -> dict[_Link, _Style]:
    """Return the links, parallel ones as one, each with what its colour says."""
    number = Counter(frozenset((link["node"], link["peer"])) for link in descriptions)
    found: dict[_Link, _Style] = {}
    for link in descriptions:
        a, b = link["node"], link["peer"]
        if (b, a) in found or (a, b) in found:
            continue
        length = duration(link["latency_s"]) if link["cable_m"] is None else f"{link['cable_m']:g} m"
        found[a, b] = (link["rate_bps"], length, number[frozenset((a, b))] // 2)
    return found


def _layers(is_switch: Mapping[str, bool], links: Sequence[_Link]) -> list[list[str]]:
    """Return the switches by their distance from the nearest host, those of hosts first."""
    beside: dict[str, list[str]] = {name: [] for name in is_switch}
    for a, b in links:
        beside[a].append(b)
        beside[b].append(a)
    distance = {name: 0 for name, switch in is_switch.items() if not switch}
    waiting = list(distance)
    for name in waiting:
        for other in beside[name]:
            if is_switch[other] and other not in distance:
                distance[other] = distance[name] + 1
                waiting.append(other)
    layers: list[list[str]] = [[] for _ in range(max(distance.values(), default=0))]
    for name in is_switch:
        if distance.get(name, 0) > 0:
            layers[distance[name] - 1].append(name)
    return layers


def _draw_link(axes: "Axes", start: tuple[float, float], end: tuple[float, float], colour: str, parallel: int) -> None:
    width = 0.9 + 0.5 * (parallel - 1)
    if start[1] != end[1]:
        axes.plot([start[0], end[0]], [start[1], end[1]], color=colour, linewidth=width, zorder=1)
        return
    # Within a layer a straight line would cross the switches between.
    arc = FancyArrowPatch(
        start, end, connectionstyle="arc3,rad=-0.3", arrowstyle="-", color=colour, linewidth=width, zorder=1
    )
    axes.add_patch(arc)


def _draw_switches(axes: "Axes", layer: Sequence[str], places: Mapping[str, tuple[float, float]]) -> None:
    crowded = len(layer) > _NAMED
    for index, name in enumerate(layer):
        x, y = places[name]
        if not crowded:
            box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": REFERENCE, "linewidth": 0.9}
            axes.text(x, y, name, ha="center", va="center", fontsize=min(9.5, 110 / len(layer)), bbox=box, zorder=3)
            continue
        axes.plot([x], [y], marker="s", color=REFERENCE, markersize=4, zorder=3)
        if index in (0, len(layer) - 1):
            axes.text(x, y + 0.12, name, ha="center", va="bottom", fontsize=8)


def _draw_hosts(
    axes: "Axes",
    is_switch: Mapping[str, bool],
    links: Mapping[_Link, _Style],
    places: Mapping[str, tuple[float, float]],
    colours: Mapping[_Style, str],
    *,
    densest: int,
) -> None:
    """Draw the hosts of each switch below it, as one group."""
    groups: dict[tuple[str, _Style], list[str]] = {}
    for (a, b), kind in links.items():
        if is_switch[a] != is_switch[b]:
            host, switch = (b, a) if is_switch[a] else (a, b)
            groups.setdefault((switch, kind), []).append(host)
    drawn: Counter[str] = Counter()
    for (switch, kind), hosts in groups.items():
        x, y = places[switch]
        low = y - 0.5 - 0.14 * drawn[switch]
        axes.plot([x, x], [y, low + 0.06], color=colours[kind], linewidth=1.6, zorder=1)
        if densest <= _NAMED or switch == next(iter(groups))[0]:
            text = names_in_short(hosts).replace("..", "–")
            size = min(8.5, 90 / densest)
            axes.text(x, low, text, ha="center", va="top", fontsize=size, color="#555555", zorder=3)
        drawn[switch] += 1


def _words(kind: _Style) -> str:
    rate, length, parallel = kind
    return f"{f'{parallel} x ' if parallel > 1 else ''}{bit_rate(rate)}, {length}"


def _counted(outline: Outline) -> str:
    hosts = sum(node["kind"] == "host" for node in outline["nodes"])
    ratios = sorted({node["oversubscription"] for node in outline["nodes"]} - {None})  # type: ignore[type-var]
    over = f", oversubscription {ratios[-1]:.3g} to 1" if ratios else ""
    return f"{hosts} hosts, {len(outline['nodes']) - hosts} switches{over}"
