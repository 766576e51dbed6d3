"""Numbers along an axis: as many as there is room for beside one another, and none twice."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axis import Axis, XAxis
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from penstock.figures.pages import points

if TYPE_CHECKING:
    from numpy.typing import NDArray

Text = Callable[[float], str]
"""Writes a number."""

_LETTER_EM = 0.6
"""Width of a letter, on average."""

_GAP_EM = 1.0
"""Least distance of two numbers side by side."""

_LINE_EM = 1.5
"""Height of a line."""

_CLOSEST = math.log10(2)
"""Least distance of 1, 2, 5 and 10, decades."""

_DIGITS = 3
"""Digits of a number as :mod:`penstock.quantity_text` writes it."""

_NARROWEST = 5
"""Least length of a linear axis, in steps of the last of these digits."""


def logarithmic(axis: Axis, text: Text, *, between: bool = True) -> None:
    """Write numbers along a logarithmic axis at powers of ten, and ``between`` them at 2 and 5 where those fit."""
    room = _Room(axis, text)

    def other(value: float, _place: int | None) -> str:
        return text(value) if f"{value:e}"[0] in "25" and room.decades_apart() <= _CLOSEST else ""

    axis.set_major_locator(_PowersOfTen(room))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(FuncFormatter(other if between else lambda _value, _place: ""))


def linear(axis: Axis, text: Text) -> None:
    """Write numbers along a linear axis, each that ``text`` tells from the one before it.

    Where the ends of the axis have the same number, the axis becomes longer until it has another.
    """
    low, high = axis.get_view_interval()
    step = _last_digit(low, high)
    if high - low < _NARROWEST * step:
        # Above a power of ten the steps are larger.
        step = _last_digit(low, high + _NARROWEST * step)
        middle = step * round((low + high) / 2 / step)
        set_limits = axis.axes.set_xlim if isinstance(axis, XAxis) else axis.axes.set_ylim
        set_limits(middle - _NARROWEST * step, middle + _NARROWEST * step)
    axis.set_major_locator(_Distinct(_Room(axis, text)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def chosen(axis: Axis, places: Sequence[float], text: Text, *, turned: bool = False) -> None:
    """Write numbers or names along an axis at these positions, in rising order, or at those of them that have room.

    ``turned`` are names below an axis that are rotated.
    """
    axis.set_major_locator(_WithRoom(_Room(axis, text, turned=turned), places))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_tick_params(labelrotation=90.0 if turned else 0.0)


def words(axis: Axis, names: Sequence[str], *, turned: bool = False) -> None:
    """Write names along an axis at 0, 1, 2, …, or at every second, third, …, where no more have room."""
    chosen(axis, range(len(names)), lambda value: names[round(value)], turned=turned)


def fitting(axis: Axis, names: Sequence[str], *, turned: bool = False) -> int:
    """Return how many of these names would have room, on the page as it is."""
    return len(_Room(axis, lambda value: names[round(value)], turned=turned).kept(range(len(names))))


def width_em(names: Sequence[str]) -> float:
    """Return about how wide the widest of some texts is."""
    return _LETTER_EM * max(map(len, names))


class _Room:
    """The room that numbers have along an axis, on the page as it is when it is drawn."""

    def __init__(self, axis: Axis, text: Text, *, turned: bool = False) -> None:
        self._axis = axis
        self._text = text
        self._is_x = isinstance(axis, XAxis)
        self._turned = turned
        self._type_pt = points("xtick.labelsize" if self._is_x else "ytick.labelsize")

    def decades_apart(self) -> float:
        """Return the least distance of numbers along a logarithmic axis, decades."""
        low, high = np.log10(self._axis.get_view_interval())
        label_pt = self._label_pt(10.0 ** np.arange(math.floor(low), math.ceil(high) + 1))
        return float(label_pt / self._length_pt() * (high - low))

    def parts(self, low: float, high: float) -> int:
        """Return how many parts of a linear axis may have a number at both ends."""
        return max(1, int(self._length_pt() / self._label_pt([low, high])))

    def kept(self, places: Sequence[float]) -> list[float]:
        """Return those of some rising positions whose texts do not overlap: each that the last leaves room for."""
        low, high, *along = self._axis.get_transform().transform(np.array([*self._axis.get_view_interval(), *places]))
        label_pt, point = self._label_pt(places), self._length_pt() / (high - low)
        found: list[float] = []
        last = -math.inf
        for place, at in zip(places, along, strict=True):
            if abs(at - last) * point >= label_pt:
                found.append(place)
                last = at
        return found

    def _length_pt(self) -> float:
        box = self._axis.axes.get_window_extent()
        return 72 * (box.width if self._is_x else box.height) / self._axis.axes.figure.dpi

    def _label_pt(self, values: "NDArray[Any] | Sequence[float]") -> float:
        if not self._is_x or self._turned:
            return _LINE_EM * self._type_pt
        return (width_em([self._text(value) for value in values]) + _GAP_EM) * self._type_pt


class _PowersOfTen(LogLocator):
    """Every power of ten, or every second, third, …: the most that have room."""

    def __init__(self, room: _Room) -> None:
        super().__init__()
        self._room = room

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        low, high = math.ceil(math.log10(vmin) - 1e-9), math.floor(math.log10(vmax) + 1e-9)
        stride = max(1, math.ceil(self._room.decades_apart()))
        first = math.ceil(low / stride) * stride
        return [10.0**power for power in range(first if first <= high else low, high + 1, stride)]


class _WithRoom(FixedLocator):
    """Given positions, as many as have room."""

    def __init__(self, room: _Room, places: Sequence[float]) -> None:
        super().__init__(places)
        self._room = room
        self._places = places

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        return self._room.kept(self._places)


class _Distinct(MaxNLocator):
    """Numbers that three digits tell apart, as many as have room."""

    def __init__(self, room: _Room) -> None:
        super().__init__(steps=[1, 2, 2.5, 5, 10], min_n_ticks=1)
        self._room = room

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        self.set_params(nbins=self._room.parts(vmin, vmax))
        step = _last_digit(vmin, vmax)
        return [value for value in super().tick_values(vmin, vmax) if abs(value / step - round(value / step)) < 1e-6]


def _last_digit(low: float, high: float) -> float:
    """Return by how much numbers of this size differ in their last digit."""
    return 10.0 ** (math.floor(math.log10(max(abs(low), abs(high), 1e-300))) + 1 - _DIGITS)
