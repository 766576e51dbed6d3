"""Figures of a run: whole ones for a page, and panels that are drawn into a figure of the caller."""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from penstock import _core

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from penstock.result import Result


class ResultPlots:
    """The figures of a run, as :attr:`Result.plot` has them.

    Called, it draws a whole figure. :meth:`queue`, :meth:`utilization` and :meth:`rates` draw one panel into axes of
    matplotlib, by default the current ones, in the style that these have.
    """

    def __init__(self, result: "Result") -> None:
        self._result = result

    def __call__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        show: str = "overview",
        width: float | None = None,
        font_size: float | None = None,
        title: bool = True,
    ) -> "Figure":
        """Draw queue length, link utilisation and the rate of each flow, over time. A notebook shows the figure.

        With ``path`` the figure is also written there; the suffix (``.png``, ``.svg``, ``.pdf``) says how. ``show`` is
        ``overview``, or one of its panels: ``queue``, ``utilization``, ``rates``; ``cdf``, the distribution of the
        longest queue; or ``pauses-over-time``, the number of queues that priority flow control stops. Where flows
        complete it may also be ``slowdown`` against size, ``percentiles`` of it in a panel each (alone:
        ``slowdown-p50``, ``slowdown-p95``, ``slowdown-p99``), or ``completions``: how flow completion times, goodputs
        and retransmissions are spread (alone: ``fct``, ``goodput``, ``retransmissions``). Where there are
        jobs, ``jobs`` has when each rank computes and communicates, ``path`` what determined their ends, and ``links``
        when their messages used links. ``width`` is in inches, ``font_size`` in points; without them the figure has
        what matplotlib's settings (``figure.figsize``, ``font.size``) say, if these are not its defaults.
        ``title = False`` leaves the question and the line below it out, for a caption.

        Raises:
            PenstockError: there is no such figure, or a size is out of its range.
            OSError: the file cannot be written.
        """
        from penstock.figures import (
            FIGURES_OF_FLOWS,
            FIGURES_OF_JOBS,
            FIGURES_OF_RUNS,
            Page,
            cumulative,
            of_flows,
            on,
            overview,
            pauses_over_time,
            save,
        )
        from penstock.highlights import notable_queues

        if show not in FIGURES_OF_RUNS:
            raise _core.PenstockError(f"show = {show!r}: the figures are {', '.join(FIGURES_OF_RUNS)}")
        with on(Page(width, font_size, title)):
            line = {self._result.summary_in_brief["scheme"]: [self._result]}
            if show in FIGURES_OF_FLOWS:
                figure = of_flows(line, show)
            elif show == "cdf":
                recorded = self._result.summary["queues"]
                if not recorded:
                    raise _core.PenstockError("the run recorded no queue whose distribution could be drawn")
                figure = cumulative(line, notable_queues(recorded, 1)[0]["name"])
            elif show == "pauses-over-time":
                figure = pauses_over_time(line)
            elif show in FIGURES_OF_JOBS:
                figure = FIGURES_OF_JOBS[show](self._result)
            else:
                figure = overview(self._result, show)
            if path is not None:
                save(figure, Path(path))
        return figure

    def queue(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the length of queues over time, with their set points, and return the axes."""
        return self._panel("queue", ax)

    def utilization(self, ax: "Axes | None" = None) -> "Axes":
        """Draw how much of its rate each queue's link carries over time, and return the axes."""
        return self._panel("utilization", ax)

    def rates(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the delivered rate of each flow over time beside its fair share, and return the axes."""
        return self._panel("rates", ax)

    def _panel(self, name: str, ax: "Axes | None") -> "Axes":
        from matplotlib import pyplot

        from penstock.figures.pages import draw_panel

        axes = pyplot.gca() if ax is None else ax
        draw_panel(self._result, name, axes)
        return axes
