"""`penstock plot`: the figures of a results folder, on a page of one's own."""

from typing import Any

import typer

from penstock._core import OutputError, PenstockError
from penstock.cli.failure import InputError
from penstock.cli.locate import assignments, check_folder, file_to_write
from penstock.cli.requests import PlotOptions
from penstock.comparison import FIGURES, Comparison, is_comparison
from penstock.errors import ArgumentError
from penstock.figures import FIGURES_OF_RUNS
from penstock.result import Result
from penstock.sweeps.store import is_sweep
from penstock.sweeps.sweep import Sweep
from penstock.sweeps.view import FIGURES as OF_SWEEPS

_OF_SWEEPS = ("metric", "x", "y", "panel", "where")
"""The options of figures of sweeps alone."""


def plot_folder(given: PlotOptions) -> None:
    """Draw one figure of a results folder, with a width in inches and type in points."""
    folder, show = given.folder, given.show
    check_folder(folder)
    of_several, of_sweep = is_comparison(folder), is_sweep(folder)
    known = OF_SWEEPS if of_sweep else FIGURES if of_several else FIGURES_OF_RUNS
    if not of_sweep and any(getattr(given, name) not in (None, []) for name in _OF_SWEEPS):
        raise InputError(
            f"{folder} holds no sweep: --metric, --x, --y, --panel and --where are for figures of sweeps",
            "leave them out, or name the folder of a sweep",
        )
    if show is not None and show not in known:
        what = "a sweep" if of_sweep else "a comparison" if of_several else "a run"
        raise InputError(f"--show {show}: unknown figure", f"the figures of {what} are {', '.join(known)}")
    chosen = show or known[0]
    path = given.out or folder / f"{chosen}.pdf"
    file_to_write(path)
    if not path.parent.is_dir():
        raise InputError(f"--out {path}: the folder does not exist", "create it first")
    page: dict[str, Any] = {"show": chosen, "width": given.width, "font_size": given.font_size, "title": given.title}
    try:
        if of_sweep:
            Sweep(folder).plot(
                path,
                metric=given.metric,
                x=given.x,
                y=given.y,
                panel=given.panel,
                where=assignments(given.where, "--where "),
                **page,
            )
        else:
            (Comparison.open(folder) if of_several else Result.open(folder)).plot(path, **page)
    except (OutputError, ArgumentError):
        raise
    except PenstockError as error:
        raise InputError(str(error), "`penstock plot --help` has the options") from error
    typer.echo(path)
