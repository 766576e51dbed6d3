"""Arrow columns as NumPy arrays, without a copy where the column holds numbers."""

from typing import TYPE_CHECKING, Any

import nanoarrow
import numpy as np
from arro3.core import dictionary_dictionary

if TYPE_CHECKING:
    from arro3.core import Array
    from numpy.typing import NDArray

# In an array of numbers, Arrow's buffer 0 says which values are missing and buffer 1 holds the values.
_VALIDITY = 0
_VALUES = 1

_NUMBERS = frozenset(
    {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"},
)


def to_numpy(column: "Array") -> "NDArray[Any]":
    """Return numbers as a read-only view of the column's memory, anything else as an array of Python objects."""
    view = nanoarrow.c_array(column).view()
    if view.dictionary is None and view.storage_type in _NUMBERS and view.null_count == 0:
        return _values(view)
    return np.array(column.to_pylist(), dtype=object)


def to_floats(column: "Array") -> "NDArray[Any]":
    """Return numbers as floating-point numbers, NaN where there is none."""
    view = nanoarrow.c_array(column).view()
    if view.storage_type not in _NUMBERS:
        return np.array(column.to_pylist(), dtype=float)
    numbers = _values(view).astype(float)
    if view.null_count:
        bits = np.unpackbits(np.asarray(view.buffer(_VALIDITY)).view(np.uint8), bitorder="little")
        numbers[bits[view.offset : view.offset + len(view)] == 0] = np.nan
    return numbers


def codes(column: "Array") -> tuple["NDArray[Any]", list[str]]:
    """Return a column of text as a whole number per row, and the text that each number stands for, sorted."""
    view = nanoarrow.c_array(column).view()
    # Joined chunks keep a dictionary each, so that a word may have several keys.
    entries = (column if view.dictionary is None else dictionary_dictionary(column)).to_pylist()
    words = sorted(set(entries))
    place = {word: number for number, word in enumerate(words)}
    number_of_key = np.fromiter((place[entry] for entry in entries), dtype=np.intp, count=len(entries))
    numbers = number_of_key if view.dictionary is None else number_of_key[_values(view)]
    return numbers, words


def rows_of(column: "Array") -> "dict[str, NDArray[np.intp]]":
    """Return for each text of a column the rows that hold it, in rising order; one pass serves them all."""
    numbers, words = codes(column)
    order = np.argsort(numbers, kind="stable")
    bounds = np.searchsorted(numbers[order], np.arange(len(words) + 1))
    return {word: order[bounds[i] : bounds[i + 1]] for i, word in enumerate(words)}


def _values(view: Any) -> "NDArray[Any]":
    values: NDArray[Any] = np.asarray(view.buffer(_VALUES))
    return values[view.offset : view.offset + len(view)]
