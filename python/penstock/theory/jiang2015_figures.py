"""Figures 2 to 4 and 6 to 9 and remark 2 of Jiang et al. 2015, redrawn from its equations.

The paper gives no numbers for them: it draws curves without scales. The gains here are round numbers that make the
same shapes, in units in which the stiffness of the decrease is 1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Rectangle

from penstock.figures.pages import finish
from penstock.figures.panels import columns
from penstock.figures.style import QUEUE_COLOURS, REFERENCE, Drawn, sheet, styled
from penstock.theory import theorems
from penstock.theory.phase import Trajectory, follow, messages
from penstock.theory.planar import Limits, PairPlane, Plane, QcnPlane, SmccPlane
from penstock.theory.portrait import (
    LAW_COLOURS,
    Window,
    draw_field,
    draw_lines,
    draw_trajectory,
    explain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NOTE: dict[str, Any] = {"fontsize": "medium", "color": "#333333"}
_DASHED: dict[str, Any] = {"color": REFERENCE, "linewidth": 0.9, "linestyle": (0, (5, 3))}
_PANEL: dict[str, Any] = {"fontsize": "medium", "color": "#555555", "loc": "left"}

# The decrease of section 2.3, a spiral since a² < 4 b; the increase; the line u + m v = 0.
_PAIR = PairPlane(slope=0.8, damping=0.5, stiffness=1.0, push=0.8, drag=0.5)
# In figure 4 the increase is stronger, so that the motion slides from everywhere on the lower half of the line.
_STRONG = replace(_PAIR, push=0.4, drag=1.6)
# The circle of figure 7; figure 8 has a smaller alpha.
_CIRCLES = SmccPlane(a1=1.0, b2=0.5)
_FLAT = SmccPlane(a1=0.35, b2=0.5)


def figure_2() -> Drawn:
    """Draw trajectories of equation (5) where a² < 4 b, in the phase plane and over time."""
    starts = [(2.0, 0.0), (-1.2, 1.6), (0.6, -1.9)]
    with styled():
        figure, (plane_axes, time_axes) = _two_panels()
        window = Window(-2.4, 2.4, -2.2, 2.2)
        draw_field(plane_axes, _OneLaw(_PAIR, 0), window)
        for start in starts:
            trajectory = follow(_OneLaw(_PAIR, 0), *start, 14.0)
            draw_trajectory(plane_axes, trajectory, arrows=3)
            time_axes.plot(trajectory.time_s, trajectory.x_frames, color=LAW_COLOURS[0])
            time_axes.plot(0, start[0], "o", color=REFERENCE, markersize=4.5)
        _crossed(plane_axes, "u", "v")
        plane_axes.set_title("(a) v against u", **_PANEL)
        envelope = np.linspace(0, 14, 200)
        for sign in (1, -1):
            high = 2.07 * np.exp(-_PAIR.damping / 2 * envelope)
            time_axes.plot(envelope, sign * high, color=REFERENCE, linewidth=0.8, linestyle=(0, (4, 3)))
        time_axes.set(xlabel="time t", ylabel="u", xlim=(0, 14))
        time_axes.set_title("(b) u against time; dashed: A exp(−a t / 2)", **_PANEL)
        finish(figure, "Figure 2: the rate decrease, u″ = −b u − a v, is a spiral where a² < 4 b")
    return figure


def figure_3() -> Drawn:
    """Draw trajectories of equation (10)."""
    window = Window(-5.0, 5.0, -3.0, 4.0)
    alone = _OneLaw(_PAIR, 1)
    with styled():
        figure = sheet(6.4, 4.8)
        axes = figure.subplots()
        draw_field(axes, alone, window)
        for start in ((-4.9, -1.4), (-2.4, -2.4), (0.4, -2.7), (4.2, -2.9), (-4.8, 3.8), (-1.5, 3.4)):
            draw_trajectory(axes, follow(alone, *start, 9.0), arrows=1)
        limit = _PAIR.push / _PAIR.drag
        axes.axhline(limit, color=REFERENCE, linewidth=1.0, linestyle=(0, (2, 2)))
        axes.text(4.9, limit + 0.1, "v = g/h", ha="right", **_NOTE)
        _crossed(axes, "u", "v")
        finish(figure, "Figure 3: the rate increase, v′ = g − h v, turns back")
    return figure


def figure_4() -> Drawn:
    """Draw the slide with a switch that comes late, as a whole and enlarged."""
    delay_s = 0.12
    late = follow(_STRONG, 0.4, 2.3, 7.0, delay_s=delay_s)
    ideal = follow(_STRONG, 0.4, 2.3, 7.0)
    with styled():
        figure, (whole, detail) = _two_panels()
        near = Window(0.22, 1.12, -1.45, -0.25)
        for axes, window in ((whole, Window(-0.6, 2.4, -2.2, 2.6)), (detail, near)):
            draw_field(axes, _STRONG, window)
            draw_lines(axes, _STRONG, window)
            draw_trajectory(axes, late, arrows=2 if axes is whole else 0)
            _crossed(axes, "u", "v")
        whole.plot(ideal.x_frames, ideal.y_fps, color=LAW_COLOURS[2], linewidth=1.2, linestyle=(0, (1, 1)), zorder=6)
        whole.add_patch(
            Rectangle(
                (near.left, near.bottom),
                near.right - near.left,
                near.top - near.bottom,
                fill=False,
                edgecolor=REFERENCE,
                linewidth=0.9,
                zorder=7,
            )
        )
        whole.set_title(f"(a) a switch that comes {delay_s:g} late, and none (dotted)", **_PANEL)
        detail.set_title("(b) the frame in (a), enlarged", **_PANEL)
        explain(figure, whole, _STRONG, [late])
        finish(figure, "Figure 4: both laws lead to the switching line; a late switch makes the slide a chatter")
    return figure


def figure_6() -> Drawn:
    """Draw QCN's slide, and the same with a longer cycle T."""
    short = QcnPlane(capacity_fps=8.0, weight_s=0.8, gain=0.125, cycle_s=0.3, excess_fps=2.0)
    long = replace(short, cycle_s=3.0)
    window = Window(-3.2, 4.2, -3.4, 3.0)
    with styled():
        figure, panels = _two_panels()
        for axes, plane, says in zip(
            panels,
            (short, long),
            ("(a) 2T < w/(pC): slides from any x > 0", "(b) T ten times as long: (24) holds near the target alone"),
            strict=True,
        ):
            draw_field(axes, plane, window)
            draw_lines(axes, plane, window)
            for start in ((-1.0, 2.6), (3.9, -2.6)):
                draw_trajectory(axes, follow(plane, *start, 60.0), arrows=4)
            _crossed(axes, "x", "y")
            axes.set_title(says, **_PANEL)
        explain(figure, panels[0], short, [follow(plane, -1.0, 2.6, 60.0) for plane in (short, long)])
        finish(figure, "Figure 6: QCN slides to the target where Fast Recovery leads back to the line Fb = 0")
    return figure


def figure_7() -> Drawn:
    """Draw SMCC's trajectories where a1 = 1: circles in state A."""
    return _smcc(_CIRCLES, "Figure 7: SMCC, α = 1: circles and straight lines")


def figure_8() -> Drawn:
    """Draw SMCC's trajectories where a1 < 1: flat ellipses in state A."""
    return _smcc(_FLAT, "Figure 8: SMCC, α < 1: flat ellipses and straight lines")


def figure_9() -> Drawn:
    """Draw the deal-breaker: the effect of message upon message beside the target, and of alpha and beta on it.

    Equation (27) alone cannot cross y = 0, which the paper's figure 9 has it do: y' = -b2 y ends there. Message by
    message it can, where beta takes back more of a growth than there was.
    """
    interval_s = 1.0
    with styled():
        figure, (closed, several) = _two_panels()
        standing = SmccPlane(a1=0.5, b2=2.0)
        orbit = messages(standing, -2.0, 0.5, interval_s, 6)
        _steps(closed, orbit)
        for name, at in (("S", (-2.0, 0.5)), ("F", (-1.5, -0.5))):
            closed.annotate(name, at, xytext=(-14, 2), textcoords="offset points", fontsize="large", fontweight="bold")
        closed.set_title("(a) β Δt = 2: from S to F and back", **_PANEL)
        rows: tuple[tuple[str, SmccPlane, float], ...] = (
            ("β Δt = 1.6: on to the target", SmccPlane(a1=0.5, b2=1.6), 0.0),
            ("the same with a fifth of α: slower", SmccPlane(a1=0.1, b2=1.6), -1.5),
            ("β Δt = 2.1: away from it", SmccPlane(a1=0.5, b2=2.1), -3.0),
        )
        for says, plane, shift in rows:
            # As large as the steps are when they have settled.
            path = messages(plane, -2.0, 2.0 * plane.a1 / plane.b2, interval_s, 14)
            several.axhline(shift, **_DASHED)
            _steps(several, replace(path, y_fps=path.y_fps + shift))
            several.text(0.15, shift + 0.08, says, va="bottom", **_NOTE)
        several.axvline(0, **_DASHED)
        several.set(xlim=(-2.7, 2.6), ylim=(-4.2, 1.0), yticks=[], xlabel="x")
        several.spines["left"].set_visible(False)
        several.grid(visible=False)
        several.set_title("(b) effect of α and β, from the same x", **_PANEL)
        closed.set(xlim=(-2.6, 0.3), ylim=(-0.9, 0.9), xlabel="x", ylabel="y")
        closed.axhline(0, **_DASHED)
        closed.axvline(0, **_DASHED)
        closed.grid(visible=False)
        for law, name in enumerate(standing.names):
            closed.plot([], [], color=LAW_COLOURS[law], label=name)
        words = closed.get_legend_handles_labels()
        figure.legend(*words, loc="outside lower center", ncols=columns(figure, words[1], 2))
        finish(figure, "Figure 9: the deal-breaker, message by message")
    return figure


def remark_2() -> Drawn:
    """Draw the generalisations of remark 2: spirals where a2 is not 0, hyperbolas where b1 < 0."""
    spirals = SmccPlane(a1=1.0, b2=0.5, a2=0.9)
    saddles = SmccPlane(a1=1.0, b2=0.5, b1=-0.35)
    with styled():
        figure, panels = _two_panels()
        window = Window(-3.0, 3.0, -2.6, 2.6)
        starts = ((-2.6, 2.3), (0.5, 2.3), (2.6, -2.3), (-0.5, -2.3), (-2.8, 1.2), (2.8, -1.2))
        for axes, plane, says in zip(
            panels,
            (spirals, saddles),
            (
                f"(a) a2 = {spirals.a2:g}: spirals in state A",
                f"(b) b1 = −{-saddles.b1:g}: hyperbolas in state B, with their asymptotes",
            ),
            strict=True,
        ):
            draw_field(axes, plane, window)
            draw_lines(axes, plane, window)
            for start in starts:
                draw_trajectory(axes, follow(plane, *start, 12.0), arrows=2)
            _crossed(axes, "x", "y")
            axes.set_title(says, **_PANEL)
        for slope, name in zip(theorems.asymptotes(saddles.b1, saddles.b2), ("γ1", "γ2"), strict=True):
            x = np.array([window.left, window.right])
            panels[1].plot(x, slope * x, color=QUEUE_COLOURS[3], linewidth=1.0, linestyle=(0, (2, 2)))
            at = 1.9 if slope > 0 else -1.9
            panels[1].text(
                at, slope * at + 0.18, f"y = {name} x", color=QUEUE_COLOURS[3], fontsize="medium", ha="center"
            )
        explain(figure, panels[0], spirals, [follow(spirals, *start, 12.0) for start in starts])
        finish(figure, "Remark 2: SMCC with a2 > 0, and with b1 < 0")
    return figure


DRAWINGS: Mapping[str, Callable[[], Drawn]] = {
    "figure-2": figure_2,
    "figure-3": figure_3,
    "figure-4": figure_4,
    "figure-6": figure_6,
    "figure-7": figure_7,
    "figure-8": figure_8,
    "figure-9": figure_9,
    "remark-2": remark_2,
}
"""The drawings by their names."""


class _OneLaw:
    """A plane in which one of its laws rules everywhere."""

    def __init__(self, plane: Plane, law: int) -> None:
        self._plane, self._law = plane, law

    @property
    def names(self) -> tuple[str, str]:
        return self._plane.names

    @property
    def limits(self) -> Limits:
        return self._plane.limits

    def side(self, x: Any, y: Any) -> Any:
        return 0.0 * (x + y) + (-1.0 if self._law else 1.0)

    def gradient(self, x: Any, y: Any) -> tuple[Any, Any]:
        return 0.0 * x, 0.0 * y

    def motion(self, law: int, x: Any, y: Any) -> tuple[Any, Any]:
        return self._plane.motion(law, x, y)


def _smcc(plane: SmccPlane, title: str) -> Drawn:
    window = Window(-3.0, 3.0, -2.6, 2.6)
    starts = [(-2.8, 2.3), (-2.8, 1.1), (0.4, 2.3), (2.8, -2.3), (2.8, -1.1), (-0.4, -2.3), (1.0, 1.0), (-1.0, -1.0)]
    trajectories = [follow(plane, *start, 12.0) for start in starts]
    with styled():
        figure = sheet(6.6, 5.6)
        axes = figure.subplots()
        draw_field(axes, plane, window)
        draw_lines(axes, plane, window)
        for trajectory in trajectories:
            draw_trajectory(axes, trajectory, arrows=2)
        for x, y, name in ((2.75, 2.35, "A"), (-2.75, -2.35, "A"), (-0.6, 2.35, "B"), (0.6, -2.35, "B")):
            axes.text(
                x, y, name, ha="center", va="center", fontsize="large", fontweight="bold", color="#888888", zorder=7
            )
        _crossed(axes, "x", "y")
        explain(figure, axes, plane, trajectories)
        finish(figure, title)
    return figure


def _two_panels() -> "tuple[Drawn, Sequence[Axes]]":
    figure = sheet(9.6, 4.7)
    return figure, figure.subplots(1, 2)


def _crossed(axes: "Axes", across: str, up: str) -> None:
    """Name the axes, which have no scale: the paper's curves have none."""
    axes.set(xlabel=across, ylabel=up)
    axes.axhline(0, color=REFERENCE, linewidth=0.5, zorder=1)
    axes.axvline(0, color=REFERENCE, linewidth=0.5, zorder=1)


def _steps(axes: "Axes", path: Trajectory) -> None:
    """Draw a path of messages: the queue's path between them in grey, each step of the rate in its law's colour."""
    x, y = path.x_frames, path.y_fps
    for row in range(1, len(x)):
        colour = "#888888" if x[row] != x[row - 1] else LAW_COLOURS[int(path.law[row])]
        if (x[row], y[row]) == (x[row - 1], y[row - 1]):
            continue
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.3, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}
        axes.annotate("", xy=(x[row], y[row]), xytext=(x[row - 1], y[row - 1]), arrowprops=arrow)
    axes.plot(x[0], y[0], "o", color=REFERENCE, markersize=4.5)
