"""Tables of runs, as Arrow and as data frames of pandas and polars, which are extras."""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock._core import PenstockError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import xarray
    from arro3.core import Table


RUNS = "runs"
"""The table with one row a run."""


class MissingExtraError(PenstockError, ImportError):
    """A package that only some have need of is not installed.

    Attributes:
        package: the package that is not installed.
        extra: the extra to install: ``pip install 'penstock[extra]'``.
    """

    def __init__(self, package: str, extra: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(f"{package} is not installed: pip install 'penstock[{extra}]'")


def pandas_frame(table: "Table") -> "pd.DataFrame":
    """Return a table as a data frame of pandas; text is categorical."""
    _need("pandas", "pandas")
    pyarrow = _need("pyarrow", "pandas")
    frame: pd.DataFrame = pyarrow.table(table).to_pandas(split_blocks=True)
    return frame


def xarray_dataset(frame: "pd.DataFrame") -> "xarray.Dataset":
    """Return a data frame as a dataset of xarray, whose dimensions are the levels of its index."""
    _need("xarray", "xarray")
    return frame.to_xarray()


def polars_frame(table: "Table") -> "pl.DataFrame":
    """Return a table as a data frame of polars."""
    frame: pl.DataFrame = _need("polars", "polars").DataFrame(table)
    return frame


class Tables(ABC):
    """What has tidy tables: each a row a run or a sample, with a column a number."""

    @abstractmethod
    def table(self, name: str = RUNS) -> "Table":
        """Return a table as Arrow."""

    def to_pandas(self, table: str = RUNS) -> "pd.DataFrame":
        """Return a table as a data frame of pandas; text is categorical.

        Raises:
            MissingExtraError: pandas or pyarrow is not installed: ``pip install 'penstock[pandas]'``.
            PenstockError: there is no table of that name.
        """
        return pandas_frame(self.table(table))

    def to_polars(self, table: str = RUNS) -> "pl.DataFrame":
        """Return a table as a data frame of polars.

        Raises:
            MissingExtraError: polars is not installed: ``pip install 'penstock[polars]'``.
            PenstockError: there is no table of that name.
        """
        return polars_frame(self.table(table))


def _need(package: str, extra: str) -> Any:
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingExtraError(package, extra) from error
