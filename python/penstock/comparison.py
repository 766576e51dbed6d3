"""A comparison: the folder that `penstock compare` writes, read back."""

import json
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from penstock import _core
from penstock.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOCUMENT = "compare.json"

FIGURES = ("compare", "cdf", "pauses")
"""The figures of a comparison."""


def is_comparison(folder: str | PathLike[str]) -> bool:
    """Return whether a folder is that of a comparison."""
    return (Path(folder) / _DOCUMENT).is_file()


class Comparison:
    """What `penstock compare` recorded: several lines, each a scenario with a scheme, and a run of each for each seed.

    Made by :meth:`open`.
    """

    def __init__(self, path: Path, document: dict[str, Any]) -> None:
        self._path = path
        self._document = document

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> Self:
        """Read the folder of a comparison.

        Raises:
            OutputError: the folder is not there, or holds no comparison.
        """
        path = Path(folder)
        try:
            document = json.loads((path / _DOCUMENT).read_text(encoding="utf-8"))
            document["queue"], [(line["label"], line["seeds"]) for line in document["schemes"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise unread(f"{path} holds no comparison: {_DOCUMENT} cannot be read ({error})") from error
        return cls(path, document)

    @property
    def path(self) -> Path:
        """The folder."""
        return self._path

    @property
    def document(self) -> dict[str, Any]:
        """The comparison in numbers: the object of ``compare.json``."""
        return self._document

    @property
    def labels(self) -> list[str]:
        """The lines, in their order: names of schemes, or of scenarios."""
        return [line["label"] for line in self._document["schemes"]]

    @cached_property
    def runs(self) -> dict[str, list[Result]]:
        """The results of each line, one a seed.

        Raises:
            OutputError: the folder of a run is not there, or not whole.
        """
        return {
            line["label"]: [Result.open(self._path / folder) for folder in run_folders(line)]
            for line in self._document["schemes"]
        }

    def plot(
        self,
        path: str | PathLike[str] | None = None,
        *,
        show: str = "compare",
        width: float | None = None,
        font_size: float | None = None,
        title: bool = True,
    ) -> "Figure":
        """Draw the lines side by side (``compare``), the distribution of the queue (``cdf``), or ``pauses``.

        The other arguments are those of :meth:`Result.plot`.

        Raises:
            PenstockError: there is no such figure, nothing to draw, or a size is out of its range.
            OSError: the file cannot be written.
        """
        from penstock.figures import Page, comparison, cumulative, on, pauses, save

        if show not in FIGURES:
            raise _core.PenstockError(f"show = {show!r}: the figures are {', '.join(FIGURES)}")
        queue = self._document["queue"]
        stopped = (queue["paused_s"] for runs in self.runs.values() for run in runs for queue in run.summary["queues"])
        if show == "pauses" and not any(stopped):
            raise _core.PenstockError("no queue was stopped: without priority flow control there are no pauses to draw")
        if show == "cdf" and queue is None:
            raise _core.PenstockError("the runs have no queue in common, whose distribution could be drawn")
        with on(Page(width, font_size, title)):
            if show == "compare":
                firsts = {label: results[0] for label, results in self.runs.items() if results}
                figure = comparison(list(firsts.values()), labels=list(firsts), queue=queue)
            else:
                figure = pauses(self.runs) if show == "pauses" else cumulative(self.runs, queue)
            if path is not None:
                save(figure, Path(path))
        return figure

    def _repr_html_(self) -> str:
        from penstock.display import comparison_html

        return comparison_html(self)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.labels)} in {str(self._path)!r}>"


def run_folders(line: dict[str, Any]) -> list[str]:
    """Return the names of the folders of a line's runs, in the order of its seeds."""
    stem = line["label"].replace(": ", "-")
    return [f"{stem}-seed{seed}" for seed in line["seeds"]]


def unread(message: str) -> _core.OutputError:
    """Return the error of a folder that cannot be read."""
    error = _core.OutputError(message)
    error.refused = False
    return error
