"""Tables as data frames of pandas and polars, which are extras."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock._core import PenstockError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from arro3.core import Table


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


def polars_frame(table: "Table") -> "pl.DataFrame":
    """Return a table as a data frame of polars."""
    frame: pl.DataFrame = _need("polars", "polars").DataFrame(table)
    return frame


def _need(package: str, extra: str) -> Any:
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingExtraError(package, extra) from error
