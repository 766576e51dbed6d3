"""Pictures of a tuning: its search, baseline beside proposal over time, and each measure of a verdict."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from penstock.figures.axis_scales import Powers
from penstock.figures.panels import octets_scale
from penstock.figures.style import FLOW_COLOURS, QUEUE_COLOURS, REFERENCE, WIDTH, Drawn, save, sheet, styled
from penstock.figures.what_ifs import draw_lines
from penstock.quantity_text import octets
from penstock.tuning.beside import Beside
from penstock.tuning.goals import Guard, mean
from penstock.tuning.measures import MEASURES
from penstock.tuning.refusals import Objection, counted, title_of
from penstock.tuning.tuning import Tuning
from penstock.tuning.verdict import Paired, Verdict

_APART = 0.16

_PANELS = 3
"""The most guards that have a panel: those that refused most candidates."""

_REASONS = 5
"""The most reasons with a colour; the others have one together."""

_WIDE = 100.0
"""From this ratio of the largest value to the median on, an axis is logarithmic."""


def search(answer: Tuning) -> Drawn:
    """Draw the goal of each candidate against the guards that refused most, a panel each; colours are first reasons."""
    shown = _guards(answer)
    first = [candidate.objections[0].by for candidate in answer.refusals]
    reasons = sorted(dict.fromkeys(first), key=lambda reason: -first.count(reason))[:_REASONS]
    own = mean(answer.baseline.tuning[: len(answer.tuning_seeds)])
    chosen = mean(answer.proposal.tuning[: len(answer.tuning_seeds)]) if answer.changed else None
    goal = answer.goal.measure
    with styled():
        figure = sheet(WIDTH, 1.0 + 2.4 * len(shown))
        several = figure.subplots(len(shown), 1, squeeze=False, sharex=True)[:, 0]
        points = [(candidate.at, _reason(candidate.objections, reasons)) for candidate in answer.candidates]
        everything = [at for at, _ in points] + [own] + ([chosen] if chosen is not None else [])
        for axes, guard in zip(several, shown, strict=True):
            x_scale = _axis(axes.xaxis, axes.set_xscale, [at[goal] for at in everything], goal)
            values = [*(at[guard.measure] for at in everything), guard.bound]
            y_scale = _axis(axes.yaxis, axes.set_yscale, values, guard.measure)
            for place, reason in enumerate([None, *reasons, "other"]):
                found = [at for at, own_reason in points if own_reason == reason]
                if not found:
                    continue
                words = "allowed" if reason is None else "refused: other" if reason == "other" else title_of(reason)
                axes.plot(
                    [at[goal] / x_scale for at in found],
                    [at[guard.measure] / y_scale for at in found],
                    "o" if reason is None else "x",
                    color=FLOW_COLOURS[place % len(FLOW_COLOURS)],
                    markersize=5,
                    label=words if reason in (None, "other") else f"refused: {words}",
                )
            for at, marker, words in ((own, "*", "scenario's own"), (chosen, "D", _name(answer))):
                if at is not None:
                    axes.plot(
                        at[goal] / x_scale, at[guard.measure] / y_scale, marker, color=REFERENCE,
                        markersize=11 if marker == "*" else 7, fillstyle="none", markeredgewidth=1.4, label=words,
                        linestyle="none", zorder=4,
                    )  # fmt: skip
            side = "at most" if guard.sign > 0 else "at least"
            axes.axhline(guard.bound / y_scale, color=REFERENCE, linestyle="--", linewidth=1, label="guard")
            axes.set_title(f"guard: {MEASURES[guard.measure].title} {side} the dashed line", fontsize="medium")
            if axes is not several[-1]:
                axes.set_xlabel("")
        handles = {word: artist for axes in several for artist, word in zip(*axes.get_legend_handles_labels(),
                                                                            strict=True)}  # fmt: skip
        figure.legend(list(handles.values()), list(handles), loc="outside upper center", ncols=3)
        figure.align_ylabels()
    return figure


def _guards(answer: Tuning) -> list[Guard]:
    """Return the guards on metrics that refused most; without any, the first that is not of the goal."""
    by_measure = {guard.measure: guard for guard in answer.guards}
    found = [by_measure[key] for key in counted(answer.refusals) if key in by_measure]
    return found[:_PANELS] or [guard for guard in answer.guards if guard.measure != answer.goal.measure][:1]


def _reason(objections: Sequence[Objection], reasons: Sequence[str]) -> str | None:
    """Return the first reason against a candidate; ``None`` if it may be proposed.

    Guards on metrics come first. So the colours of margin and packets mean that nothing else refuses it.
    """
    if not objections:
        return None
    return objections[0].by if objections[0].by in reasons else "other"


def _name(answer: Tuning) -> str:
    return "proposal" if answer.worth_writing else "candidate"


def _axis(axis: object, set_scale: Callable[..., None], values: Sequence[float], measure: str) -> float:
    """Label an axis, make it logarithmic where values differ widely, and return the unit of its numbers."""
    of = MEASURES[measure]
    highest = max(map(abs, values), default=0.0)
    scale, unit = 1.0, ""
    if of.kind == "octets":
        scale, unit = octets_scale(highest)
    elif of.kind == "share":
        scale, unit = 0.01, "%"
    elif of.kind == "time":
        scale, unit = (1.0, "s") if highest >= 1 else (1e-3, "ms") if highest >= 1e-3 else (1e-6, "µs")
    positive = sorted(value / scale for value in values if value > 0)
    if positive and positive[-1] > _WIDE * positive[len(positive) // 2] and of.kind != "share":
        set_scale("symlog", linthresh=positive[0])
        axis.set_major_formatter(Powers())  # type: ignore[attr-defined]
    axis.set_label_text(f"{of.title} ({unit})" if unit else of.title)  # type: ignore[attr-defined]
    return scale


def write_figures(answer: Tuning, both: Beside | None, folder: Path) -> list[Path]:
    """Write the figures into a folder as PNG and SVG, and return the files.

    Raises:
        OSError: a file cannot be written.
    """
    drawn = {}
    if answer.candidates:
        drawn["search"] = search(answer)
    if both is not None:
        drawn["beside"] = over_time(both)
    if answer.verdicts:
        drawn["differences"] = differences(answer.verdicts)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [(figure, folder / f"{name}.{kind}") for name, figure in drawn.items() for kind in ("png", "svg")]
    for figure, path in paths:
        save(figure, path)
    return [path for _, path in paths]


def over_time(both: Beside) -> Drawn:
    """Draw the queue and the stopped queues over time with both settings, and median and p99 of the queue."""
    tables, percentiles = both.tables, both.percentiles
    with styled():
        heights = [*(1.9 for _ in tables), 0.5 + 0.3 * len(percentiles)]
        figure = sheet(WIDTH, 0.7 + sum(heights))
        *over_time, last = figure.subplots(len(heights), squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
        draw_lines(over_time, tables)
        scale, unit = octets_scale(max((p99 for _, p99 in percentiles.values()), default=0.0))
        for row, (p50, p99) in enumerate(percentiles.values()):
            colour = QUEUE_COLOURS[row % len(QUEUE_COLOURS)]
            last.plot([p50 / scale, p99 / scale], [row, row], "-", color=colour)
            last.plot(p50 / scale, row, "o", color=colour, label="p50" if row == 0 else "_")
            last.plot(p99 / scale, row, "s", color=colour, label="p99" if row == 0 else "_")
            last.annotate(f"  {octets(p50)}, {octets(p99)}", (p99 / scale, row), va="center", fontsize="small")
        last.set_yticks(range(len(percentiles)), list(percentiles))
        last.set_ylim(len(percentiles) - 0.5, -0.5)
        # Room for the numbers beside the marks.
        last.set_xlim(0, 1.35 * max((p99 for _, p99 in percentiles.values()), default=1.0) / scale or 1.0)
        last.set_xlabel(f"queue, median to 99th percentile ({unit})")
        last.legend(loc="lower right", ncols=2)
    return figure


def differences(verdicts: Sequence[Verdict]) -> Drawn:
    """Draw a line for each measure, and on it the proposal over each counterpart; a measure that is 0 has no mark."""
    measures = [pair.measure for pair in verdicts[0].measures]
    with styled():
        figure = sheet(WIDTH, 1.1 + 0.34 * len(measures))
        axes = figure.subplots()
        for number, verdict in enumerate(verdicts):
            known = [(row, pair) for row, pair in enumerate(verdict.measures) if pair.other["mean"]]
            axes.errorbar(
                [1 + pair.difference / _of(pair) for _, pair in known],
                [row + _APART * (number - (len(verdicts) - 1) / 2) for row, _ in known],
                xerr=[_half(pair) / _of(pair) for _, pair in known],
                fmt="os"[number % 2],
                color=QUEUE_COLOURS[number % len(QUEUE_COLOURS)],
                capsize=3,
                label=f"against {verdict.against}",
            )
        axes.axvline(1, color=REFERENCE, linestyle="--", linewidth=1)
        axes.set_yticks(range(len(measures)), [MEASURES[measure].title for measure in measures])
        axes.set_ylim(len(measures) - 0.5, -0.5)
        axes.set_xlabel("proposal over the other")
        figure.legend(loc="outside upper right", ncols=2)
    return figure


def _of(pair: Paired) -> float:
    return pair.other["mean"] or 1.0


def _half(pair: Paired) -> float:
    """Return the half of the interval; of one seed there is none."""
    return (pair.high - pair.low) / 2 if math.isfinite(pair.low) else 0.0
