"""`penstock plot`: the figures of a results folder, on a page of one's own."""

from pathlib import Path

import typer

from penstock._core import OutputError, PenstockError
from penstock.cli.failure import InputError
from penstock.cli.locate import file_to_write
from penstock.comparison import FIGURES, Comparison, is_comparison
from penstock.figures import FIGURES_OF_FLOWS, PANELS
from penstock.result import Result


def plot_folder(
    folder: Path, *, show: str | None, out: Path | None, width: float | None, font_size: float | None, title: bool
) -> None:
    """Draw one figure of a results folder."""
    of_several = is_comparison(folder)
    known = FIGURES if of_several else (*PANELS, *FIGURES_OF_FLOWS)
    if show is not None and show not in known:
        what = "a comparison" if of_several else "a run"
        raise InputError(f"--show {show}: unknown figure", f"the figures of {what} are {', '.join(known)}")
    chosen = show or known[0]
    path = out or folder / f"{chosen}.pdf"
    file_to_write(path)
    if not path.parent.is_dir():
        raise InputError(f"--out {path}: the folder does not exist", "create it first")
    opened = Comparison.open(folder) if of_several else Result.open(folder)
    try:
        opened.plot(path, show=chosen, width=width, font_size=font_size, title=title)
    except OutputError:
        raise
    except PenstockError as error:
        raise InputError(str(error), "`penstock plot --help` has the options") from error
    typer.echo(path)
