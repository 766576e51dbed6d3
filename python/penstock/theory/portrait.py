"""Draws phase portraits: direction field, switching line, sliding regime, trajectories in the colours of their laws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.figures.pages import finish, subtitle
from penstock.figures.panels import columns
from penstock.figures.style import QUEUE_COLOURS, REFERENCE, Drawn, sheet, styled
from penstock.quantity_text import bit_rate, duration
from penstock.theory.configuration import BITS_PER_OCTET, Configuration, UnsuitedScenarioError
from penstock.theory.models import model_of
from penstock.theory.phase import SLIDE, Trajectory, field, follow, is_sliding
from penstock.theory.planar import Model, Plane, QcnPlane, SmccPlane, Switched, plane_of, round_s

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LAW_COLOURS = (QUEUE_COLOURS[1], QUEUE_COLOURS[0], QUEUE_COLOURS[2])
"""Of law 0, law 1 and the slide."""

_RING: dict[str, Any] = {
    "marker": "o",
    "linestyle": "none",
    "markersize": 7,
    "markerfacecolor": "white",
    "markeredgecolor": LAW_COLOURS[SLIDE],
    "markeredgewidth": 1.6,
}
_FIELD = "#b8bcc4"
_WALL = "#f1eee6"
_ARROWS = 19
_SEGMENT_POINTS = 400
# Where y is no more than this share of the figure's height, the queue stands still.
_AT_REST = 2e-3
# Where trajectories begin unless one says so, as shares of the window: one in each quadrant.
_STARTS = ((-0.85, 0.6), (0.3, 0.75), (0.85, -0.6), (-0.3, -0.75))


@dataclass(frozen=True)
class Window:
    """The part of the plane that is shown: x in frames, y in frames/s (or both without a unit, as in the paper)."""

    left: float
    right: float
    bottom: float
    top: float

    def around(self, share: float) -> "Window":
        """Return the window with a margin, as a share of its width and height."""
        across, up = share * (self.right - self.left), share * (self.top - self.bottom)
        return Window(self.left - across, self.right + across, self.bottom - up, self.top + up)


def portrait(
    given: Configuration,
    *,
    model: Model = "sampled",
    target_bps: float | None = None,
    starts: Sequence[tuple[float, float]] = (),
    duration_s: float | None = None,
) -> Drawn:
    """Draw the phase portrait of a configuration, with ends of queue and rate.

    Args:
        given: the configuration; its scheme is QCN or SMCC.
        model: which reading of the paper's rate laws, see :mod:`penstock.theory.planar`.
        target_bps: with QCN, R(0), bit/s; see :meth:`QcnPlane.of`.
        starts: states (q in octets, sum of rates in bit/s) at which trajectories begin; by default one
            in each quadrant.
        duration_s: how long to follow them, s; by default two of the plane's rounds.

    Raises:
        UnsuitedScenarioError: the scheme has no planar model, or a start lies beyond the ends.
    """
    plane = plane_of(given, model=model, target_bps=target_bps)
    window = _window(plane)
    begins = [_to_plane(given, plane, *start) for start in starts] or [
        (x * (window.right if x > 0 else -window.left), y * window.top) for x, y in _STARTS
    ]
    for x, y in begins:
        ends = plane.limits
        if not (ends.low_frames <= x <= ends.high_frames and ends.slowest_fps <= y <= ends.fastest_fps):
            raise UnsuitedScenarioError(
                "a trajectory begins beyond the ends of queue and rates",
                f"begin at a queue of 0 to {given.buffer_octets:g} octets, and a sum of rates of no more than "
                f"{given.flows * given.line_rate_bps:g} bit/s",
            )
    lasts_s = duration_s or 2 * round_s(plane)
    trajectories = [follow(plane, *begin, lasts_s) for begin in begins]
    if starts:
        highest = max(float(np.abs(trajectory.y_fps).max()) for trajectory in trajectories)
        window = replace(window, bottom=max(-highest, plane.limits.slowest_fps), top=highest)
    window = window.around(0.05)
    with styled():
        figure = sheet(8.4, 6.2)
        axes = figure.subplots()
        draw_field(axes, plane, window)
        draw_lines(axes, plane, window)
        for trajectory in trajectories:
            draw_trajectory(axes, trajectory, arrows=2)
        for low, high in ((window.left, plane.limits.low_frames), (plane.limits.high_frames, window.right)):
            axes.axvspan(low, high, color=_WALL, zorder=0)
        _label(axes, given)
        explain(figure, axes, plane, trajectories)
        subtitle(axes, _subtitle(given, model, lasts_s))
        finish(figure, f"{given.scheme.upper()} in the phase plane: the laws of rate, and the line where they meet")
    return figure


def _window(plane: QcnPlane | SmccPlane) -> Window:
    """Return all of the queue, and rates as large as an oscillation over it makes them."""
    low, high = plane.limits.low_frames, plane.limits.high_frames
    reach = 1.3 * float(np.sqrt(plane.stiffness)) * max(-low, high)
    return Window(low, high, -reach, reach)


def draw_field(axes: "Axes", plane: Plane, window: Window) -> None:
    """Draw the direction field as arrows of one length, and set the axes to the window."""
    x, y = np.meshgrid(
        np.linspace(window.left, window.right, _ARROWS + 2)[1:-1],
        np.linspace(window.bottom, window.top, _ARROWS)[1:-1],
    )
    by_x, by_y = field(plane, x, y)
    # Directions as they look on the paper: each axis in shares of the window.
    across, up = by_x / (window.right - window.left), by_y / (window.top - window.bottom)
    length = np.hypot(across, up)
    length[length == 0] = 1.0
    axes.quiver(
        x,
        y,
        across / length,
        up / length,
        color=_FIELD,
        pivot="mid",
        angles="uv",
        scale=34,
        width=0.0019,
        headwidth=4.5,
        zorder=1,
    )
    axes.set_xlim(window.left, window.right)
    axes.set_ylim(window.bottom, window.top)
    axes.grid(visible=False)


def draw_lines(axes: "Axes", plane: Switched, window: Window) -> None:
    """Draw where the plane's laws meet, and the part of it on which the motion slides."""
    dashed: dict[str, Any] = {"color": REFERENCE, "linewidth": 1.1, "linestyle": (0, (5, 3)), "zorder": 2}
    if plane.on_axes:
        axes.axvline(0, **dashed)
        axes.axhline(0, **dashed)
        axes.plot([window.left, window.right], [0, 0], color=LAW_COLOURS[SLIDE], linewidth=4, alpha=0.35, zorder=2)
        return
    # The line u + m v = 0, from its derivatives.
    by_x, by_y = plane.gradient(0.0, 0.0)
    x = np.linspace(window.left, window.right, _SEGMENT_POINTS)
    y = -x * by_x / by_y
    axes.plot(x, y, **dashed)
    axes.axhline(0, color=_FIELD, linewidth=0.7, zorder=0)
    axes.axvline(0, color=_FIELD, linewidth=0.7, zorder=0)
    slides = np.array([is_sliding(plane, *point) for point in zip(x, y, strict=True)])
    part = np.where(slides, y, np.nan)
    axes.plot(x, part, color=LAW_COLOURS[SLIDE], linewidth=4, alpha=0.35, solid_capstyle="butt", zorder=2)


def draw_trajectory(axes: "Axes", trajectory: Trajectory, *, arrows: int = 1, width: float = 1.6) -> None:
    """Draw a trajectory, each stretch in the colour of its law: a dot where it begins, a ring at its equilibrium.

    ``width`` is that of the line, in points.
    """
    axes.plot(trajectory.x_frames[0], trajectory.y_fps[0], "o", color=REFERENCE, markersize=4.5, zorder=5)
    for law, x, y in trajectory.pieces():
        axes.plot(x, y, color=LAW_COLOURS[law], linewidth=width, zorder=4, solid_capstyle="round")
    for share in (np.arange(arrows) + 0.5) / max(arrows, 1):
        _arrow(axes, trajectory, share)
    if _rests(axes, trajectory):
        axes.plot(trajectory.x_frames[-1], trajectory.y_fps[-1], zorder=6, **_RING)


def _rests(axes: "Axes", trajectory: Trajectory) -> bool:
    bottom, top = axes.get_ylim()
    return bool(abs(trajectory.y_fps[-1]) < _AT_REST * (top - bottom))


def _arrow(axes: "Axes", trajectory: Trajectory, share: float) -> None:
    """Put an arrowhead on a trajectory, where ``share`` of its length on the paper lies behind."""
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    x, y = trajectory.x_frames, trajectory.y_fps
    steps = np.hypot(np.diff(x) / (right - left), np.diff(y) / (top - bottom))
    if not steps.any():
        return
    way = np.cumsum(steps)
    at = min(int(np.searchsorted(way, share * way[-1])), len(x) - 2)
    while at < len(x) - 2 and not steps[at]:
        at += 1
    colour = LAW_COLOURS[int(trajectory.law[at])]
    axes.annotate(
        "",
        xy=(x[at + 1], y[at + 1]),
        xytext=(x[at], y[at]),
        arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 0, "mutation_scale": 13},
        zorder=5,
    )


def explain(figure: Drawn, axes: "Axes", plane: Plane, trajectories: Sequence[Trajectory]) -> None:
    """Explain the colours that occur, below the figure."""
    used = set(np.concatenate([trajectory.law for trajectory in trajectories]).tolist())
    for law, name in enumerate((*plane.names, "slide")):
        if law in used:
            axes.plot([], [], color=LAW_COLOURS[law], linewidth=1.8, label=name)
    axes.plot([], [], color=REFERENCE, linewidth=1.1, linestyle=(0, (5, 3)), label="switching line")
    axes.plot([], [], color=LAW_COLOURS[SLIDE], linewidth=4, alpha=0.35, label="sliding regime")
    if any(_rests(axes, trajectory) for trajectory in trajectories):
        axes.plot([], [], label="equilibrium", **_RING)
    words = axes.get_legend_handles_labels()
    figure.legend(*words, loc="outside lower center", ncols=columns(figure, words[1], 6))


def _to_plane(given: Configuration, plane: Plane, octets: float, rates_bps: float) -> tuple[float, float]:
    """Return (x, y) of a queue in octets and a sum of rates in bit/s."""
    per_frame_bits = BITS_PER_OCTET * (given.frame_octets + given.wire_overhead_octets)
    low = plane.limits.low_frames
    return octets / given.frame_octets + low, rates_bps / per_frame_bits - given.capacity_fps


def _label(axes: "Axes", given: Configuration) -> None:
    """Label the axes in the paper's coordinates, and in KB and Mb/s beside them."""
    per_frame_bits = BITS_PER_OCTET * (given.frame_octets + given.wire_overhead_octets)
    axes.set_xlabel("x = q − q0 (frames)")
    axes.set_ylabel("y = N r − C (frames/s)")
    axes.spines[["top", "right"]].set_visible(False)
    target = float(model_of(given).set_point_octets())
    scale = given.frame_octets / 1e3
    bits = per_frame_bits / 1e6
    queue = axes.secondary_xaxis("top", functions=_line(scale, target / 1e3))
    queue.set_xlabel("queue (KB)")
    rates = axes.secondary_yaxis("right", functions=_line(bits, given.capacity_fps * bits))
    rates.set_ylabel("sum of the rates (Mb/s)")
    for extra in (queue, rates):
        extra.spines[:].set_color("#888888")


def _line(scale: float, shift: float) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return scale times a value plus a shift, and back: how an axis becomes another."""
    return lambda value: scale * value + shift, lambda value: (value - shift) / scale


def _subtitle(given: Configuration, model: Model, lasts_s: float) -> str:
    until = "on" if given.stop_s == float("inf") else f"to {given.stop_s:g} s"
    return (
        f"{given.flows} sources, {bit_rate(given.capacity_bps)}, from {given.start_s:g} s {until}"
        f"   ·   model {model}, {duration(lasts_s)} shown"
    )
