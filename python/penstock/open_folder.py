"""Opens any folder of results: a run, a comparison, a sweep, an arena, a run of the testbed."""

from os import PathLike
from pathlib import Path

from penstock.arenas.arena import Arena, is_arena
from penstock.comparison import Comparison, is_comparison
from penstock.result import Result
from penstock.sweeps.store import MANIFEST
from penstock.sweeps.sweep import Sweep


def open(folder: str | PathLike[str]) -> Result | Comparison | Sweep | Arena:
    """Return what a folder holds: a :class:`Result`, :class:`Comparison`, :class:`Sweep` or :class:`Arena`.

        >>> penstock.open("results/ten-gig-compare").to_pandas()

    Raises:
        OutputError: the folder is not there, or holds none of them.
    """
    if (Path(folder) / MANIFEST).is_file():
        return Sweep(folder)
    if is_arena(folder):
        return Arena.open(folder)
    if is_comparison(folder):
        return Comparison.open(folder)
    return Result.open(folder)
