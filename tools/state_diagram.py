r"""Draws the state diagram of a scheme from its description, states.toml in its folder, as SVG.

    python tools/state_diagram.py crates/schemes/src/qcn/states.toml qcn.svg

A description has one `[[machine]]` or several (congestion point, reaction point …), drawn below one another:

    [[machine]]
    title = "Reaction point"
    [[machine.state]]
    name = "recovery"                # its name for edges
    label = ["Fast Recovery", '$CR \leftarrow (CR + TR)/2$']    # a text or lines of text, $…$ as in matplotlib
    at = [1, 0]                      # column and row of its centre, fractions allowed; rows grow downwards
    initial = true                   # a dot points to where the machine starts
    kind = "choice"                  # a question, with a lighter frame; default "state"
    [[machine.edge]]
    from = "recovery"
    to = "increase"                  # the same name as `from` is a loop
    label = "5 cycles"
    bend = 0.3                       # to the right of the edge (0: straight); of a loop, the side: "top", "bottom"
    shift = [0.0, -0.2]              # moves the label, in columns and rows
    dashed = true                    # not a step of the machine: a message, for instance

A diagram whose texts overlap is refused, naming them; it is drawn all the same, so that one sees it.
"""

import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from numpy.typing import NDArray
from penstock.figures import save
from penstock.figures.style import styled

COLUMN = 2.5
"""Width of a column, inches."""
ROW = 1.15
"""Height of a row, inches."""
PADDING = 0.11
"""Between the text of a state and its frame, inches."""
MARGIN = 0.15
"""Around a machine, inches."""
STATE_FONT = 9.5
LABEL_FONT = 8.5
LOOP = 0.42
"""Height of a loop over its state, inches."""

INK = "#222222"
FRAME = {"state": "#4477AA", "choice": "#999999"}
FILL = {"state": "#E8EEF6", "choice": "#FFFFFF"}
LINE = "#555555"

Point = NDArray[np.float64]


class DiagramError(Exception):
    """A description that cannot be drawn, with its file."""


@dataclass(frozen=True)
class State:
    """A state, where it is, in inches, upwards from its machine's first row."""

    name: str
    label: str
    centre: Point
    initial: bool
    kind: str


@dataclass(frozen=True)
class Edge:
    """An edge from state to state."""

    start: State
    end: State
    label: str
    bend: float
    side: str
    shift: Point
    dashed: bool


@dataclass(frozen=True)
class Machine:
    """States and edges of one part of a scheme."""

    title: str
    states: list[State]
    edges: list[Edge]


def draw(source: Path, target: Path) -> None:
    """Draws the description `source` into `target`, whose suffix says how.

    Raises:
        DiagramError: a key is unknown or missing, or texts overlap.
    """
    machines = [_machine(entry, source) for entry in tomllib.loads(source.read_text())["machine"]]
    # Labels are Penstock's own, and have formulas.
    with styled(), mpl.rc_context({"text.parse_math": True}):
        figure = Figure()
        FigureCanvasAgg(figure)
        pictures = [_Picture(machine, figure, source) for machine in machines]
        boxes = [picture.extent() for picture in pictures]
        width = max(box.width for box in boxes)
        height = sum(box.height for box in boxes)
        figure.set_size_inches(width, height)
        top = height
        for picture, box in zip(pictures, boxes, strict=True):
            axes = figure.add_axes((0, (top - box.height) / height, width / width, box.height / height))
            # An inch of the picture is an inch of the page.
            axes.set_xlim(box.x0, box.x0 + width)
            axes.set_ylim(box.y0, box.y1)
            axes.set_axis_off()
            picture.draw(axes)
            top -= box.height
        save(figure, target)
    clashes = [clash for picture in pictures if (clash := picture.clash())]
    if clashes:
        raise DiagramError(f"{source}: {'; '.join(clashes)}")


class _Picture:
    """A machine with the sizes of its texts."""

    def __init__(self, machine: Machine, figure: Figure, source: Path) -> None:
        self.machine = machine
        self._source = source
        self._figure = figure
        self._frames = {
            state.name: self._around(state.label, STATE_FONT, state.centre, PADDING) for state in machine.states
        }
        self._ways = [self._way(edge) for edge in machine.edges]
        self._labels = [self._label(edge, way) for edge, way in zip(machine.edges, self._ways, strict=True)]

    def extent(self) -> Bbox:
        """The size of the machine, its title and margins included, inches."""
        ways = [Bbox([way.min(axis=0), way.max(axis=0)]) for way in self._ways]
        labels = [box for box in self._labels if box is not None]
        dots = [Bbox([self._dot(s) - 0.1, self._dot(s) + 0.1]) for s in self.machine.states if s.initial]
        box = Bbox.union([*self._frames.values(), *ways, *labels, *dots])
        title = 0.4 if self.machine.title else 0.0
        return Bbox([[box.x0 - MARGIN, box.y0 - MARGIN], [box.x1 + MARGIN, box.y1 + MARGIN + title]])

    def draw(self, axes: Any) -> None:
        """Draws the machine into axes whose unit is an inch."""
        for edge, way in zip(self.machine.edges, self._ways, strict=True):
            self._arrow(axes, way, dashed=edge.dashed)
        for state in self.machine.states:
            frame = self._frames[state.name]
            axes.add_patch(
                FancyBboxPatch(
                    (frame.x0, frame.y0),
                    frame.width,
                    frame.height,
                    boxstyle="round,pad=0,rounding_size=0.09",
                    facecolor=FILL[state.kind],
                    edgecolor=FRAME[state.kind],
                    linewidth=1.3,
                )
            )
            axes.text(*state.centre, state.label, fontsize=STATE_FONT, color=INK, ha="center", va="center")
            if state.initial:
                dot = self._dot(state)
                axes.add_patch(Circle((dot[0], dot[1]), 0.06, color=LINE))
                self._arrow(axes, np.array([dot, [frame.x0, dot[1]]]), dashed=False)
        for edge, box in zip(self.machine.edges, self._labels, strict=True):
            if box is not None:
                centre = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
                # On its own line a label stands on white; the check keeps it off all others.
                axes.text(
                    *centre,
                    edge.label,
                    fontsize=LABEL_FONT,
                    color=INK,
                    ha="center",
                    va="center",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
                )
        if self.machine.title:
            box = self.extent()
            axes.text(
                box.x0 + MARGIN, box.y1 - 0.1, self.machine.title, fontsize=11, fontweight="bold", color=INK, va="top"
            )

    def clash(self) -> str | None:
        """Which texts overlap, or lie on lines that are not theirs; None if all can be read."""
        named = [(f"the state {name!r}", box) for name, box in self._frames.items()]
        named += [
            (f"the label {edge.label!r}", box)
            for edge, box in zip(self.machine.edges, self._labels, strict=True)
            if box is not None
        ]
        for (one, a), (other, b) in combinations(named, 2):
            if a.overlaps(b):
                return f"{one} overlaps {other}; move one of them (at, bend, shift)"
        for edge, way in zip(self.machine.edges, self._ways, strict=True):
            ends = {f"the state {edge.start.name!r}", f"the state {edge.end.name!r}", f"the label {edge.label!r}"}
            for name, box in named:
                # A label's own line may cross it; a state's line ends at its frame.
                if name not in ends and any(box.contains(*point) for point in way):
                    return f"the edge from {edge.start.name!r} to {edge.end.name!r} crosses {name}; bend it"
        return None

    def _around(self, text: str, size: float, centre: Point, padding: float) -> Bbox:
        artist = self._figure.add_artist(Text(0, 0, text, fontsize=size))
        extent = artist.get_window_extent()
        artist.remove()
        half = np.array([extent.width, extent.height]) / self._figure.dpi / 2 + padding
        return Bbox([centre - half, centre + half])

    def _dot(self, state: State) -> Point:
        """Where the dot of an initial state is: on its left."""
        frame = self._frames[state.name]
        return np.array([frame.x0 - 0.38, (frame.y0 + frame.y1) / 2])

    def _way(self, edge: Edge) -> Point:
        """The points of an edge, from frame to frame."""
        start, end = self._frames[edge.start.name], self._frames[edge.end.name]
        if edge.start is edge.end:
            return _loop(start, edge.side)
        a, b = edge.start.centre, edge.end.centre
        across = np.array([b[1] - a[1], a[0] - b[0]])
        control = (a + b) / 2 + edge.bend * across
        t = np.linspace(0, 1, 400)[:, None]
        curve = (1 - t) ** 2 * a + 2 * t * (1 - t) * control + t**2 * b
        outside = [not start.contains(*point) and not end.contains(*point) for point in curve]
        if not any(outside):
            pair = f"{edge.start.name!r} and {edge.end.name!r}"
            raise DiagramError(f"{self._source}: the states {pair} touch; move one of them (at)")
        return curve[outside]

    def _label(self, edge: Edge, way: Point) -> Bbox | None:
        if not edge.label:
            return None
        return self._around(edge.label, LABEL_FONT, way[len(way) // 2] + edge.shift, 0.02)

    def _arrow(self, axes: Any, way: Point, *, dashed: bool) -> None:
        # The last piece carries the head; the rest is a line, so that the head points along the curve's end.
        axes.plot(way[:, 0], way[:, 1], color=LINE, linewidth=1.1, linestyle=(0, (4, 2)) if dashed else "-")
        before, last = way[max(0, len(way) - 8)], way[-1]
        axes.add_patch(
            FancyArrowPatch(
                before, last, arrowstyle="-|>", mutation_scale=11, color=LINE, shrinkA=0, shrinkB=0, linewidth=0.5
            )
        )


def _loop(frame: Bbox, side: str) -> Point:
    """An edge from a state's side round to the same side."""
    up = 1.0 if side == "top" else -1.0
    y = frame.y1 if side == "top" else frame.y0
    x = (frame.x0 + frame.x1) / 2
    half = min(0.3, frame.width / 3)
    t = np.linspace(0, 1, 200)[:, None]
    corners = [
        np.array(c) for c in ((x - half, y), (x - half, y + up * LOOP), (x + half, y + up * LOOP), (x + half, y))
    ]
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    curve: Point = sum((w * c for w, c in zip(weights, corners, strict=True)), start=np.zeros(2))
    return curve


def _machine(entry: dict[str, Any], source: Path) -> Machine:
    _known(entry, ("title", "state", "edge"), ("state",), "machine", source)
    states: dict[str, State] = {}
    for item in entry["state"]:
        _known(item, ("name", "label", "at", "initial", "kind"), ("name", "label", "at"), "state", source)
        kind = item.get("kind", "state")
        if kind not in FILL:
            raise DiagramError(f"{source}: kind {kind!r} of state {item['name']!r} is none of {', '.join(FILL)}")
        if item["name"] in states:
            raise DiagramError(f"{source}: two states are called {item['name']!r}")
        column, row = item["at"]
        centre = np.array([column * COLUMN, -row * ROW])
        states[item["name"]] = State(item["name"], _text(item["label"]), centre, item.get("initial", False), kind)
    return Machine(
        entry.get("title", ""), list(states.values()), [_edge(e, states, source) for e in entry.get("edge", [])]
    )


def _edge(item: dict[str, Any], states: dict[str, State], source: Path) -> Edge:
    _known(item, ("from", "to", "label", "bend", "shift", "dashed"), ("from", "to"), "edge", source)
    for end in (item["from"], item["to"]):
        if end not in states:
            raise DiagramError(f"{source}: no state is called {end!r}; there are {', '.join(states)}")
    loop = item["from"] == item["to"]
    bend = item.get("bend", "top" if loop else 0.0)
    if loop and bend not in ("top", "bottom"):
        raise DiagramError(f'{source}: the loop of {item["from"]!r} bends {bend!r}; it can be "top" or "bottom"')
    shift = np.array(item.get("shift", (0.0, 0.0))) * (COLUMN, -ROW)
    return Edge(
        states[item["from"]],
        states[item["to"]],
        _text(item.get("label", "")),
        0.0 if loop else float(bend),
        str(bend) if loop else "",
        shift,
        item.get("dashed", False),
    )


def _text(label: str | list[str]) -> str:
    return label if isinstance(label, str) else "\n".join(label)


def _known(entry: dict[str, Any], keys: Sequence[str], needed: Sequence[str], what: str, source: Path) -> None:
    for key in entry:
        if key not in keys:
            raise DiagramError(f"{source}: a {what} has no key {key!r}; it has {', '.join(keys)}")
    for key in needed:
        if key not in entry:
            raise DiagramError(f"{source}: a {what} lacks {key!r}")


if __name__ == "__main__":
    try:
        draw(Path(sys.argv[1]), Path(sys.argv[2]))
    except DiagramError as error:
        sys.exit(f"error: {error}")
