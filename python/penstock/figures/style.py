"""How figures look, how large they are, and how they are written.

A reader's own settings of matplotlib (a ``matplotlibrc``, ``rcParams``) stay as they are; the settings here
stand in for matplotlib's defaults. A :class:`Page` comes before both.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from penstock._core import PenstockError
from penstock.files import whole

# Paul Tol's "bright" palette: distinct for colour-blind readers and in grey print.
QUEUE_COLOURS = ("#4477AA", "#EE6677", "#228833", "#AA3377")
REFERENCE = "#222222"
DROP = "#CC3311"
CROWD = "#4477AA"
MEDIAN = "#EE6677"

WIDTH = 9.6
"""Width of a figure, inches, unless a page or matplotlib's settings say otherwise."""

_POINTS = 9.5
"""Size of type, points, unless a page or matplotlib's settings say otherwise."""

_NARROW_EMS = 52
"""On a figure of fewer ems explanations stand above the panels: beside them they would leave no room for the lines."""

_INCHES = (1.0, 40.0)
_TYPE = (3.0, 40.0)

_LOOK: dict[str, Any] = dict(
    mpl.rc_params_from_file(Path(__file__).parents[1] / "style.mplstyle", use_default_template=False).items()
)
"""What stands in the style sheet."""

FLOW_COLOURS: tuple[str, ...] = tuple(_LOOK.pop("axes.prop_cycle").by_key()["color"])
"""Paul Tol's "muted" palette, by flow or scheme."""

_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)))
"""Lines of the second and third result that have the same colour."""

STYLE: dict[str, Any] = {
    **_LOOK,
    # Names and questions come from users: a dollar is a dollar. Formulas of Penstock's own are written in Unicode.
    "text.parse_math": False,
    # SVG ids come from this salt instead of a random number: the same figure has the same bytes.
    "svg.hashsalt": "penstock",
}

_SIZES = {"figure.titlesize": 12 / 9.5, "axes.titlesize": 11 / 9.5, "legend.fontsize": 8.5 / 9.5}
"""Sizes of type, as parts of the size of all other type."""


@dataclass(frozen=True)
class Page:
    """The size of a figure, and the texts on it.

    Attributes:
        width_in: width, inches.
        font_pt: size of type, points; titles and explanations have the same.
        title: whether the question and the line below it stand above the panels.

    Raises:
        PenstockError: a size is out of its range.
    """

    width_in: float | None = None
    font_pt: float | None = None
    title: bool = True

    def __post_init__(self) -> None:
        for word, value, unit, (least, most) in (
            ("width", self.width_in, "inches", _INCHES),
            ("font_size", self.font_pt, "points", _TYPE),
        ):
            # Not a number is not within either.
            if value is not None and not least <= value <= most:
                raise PenstockError(f"{word} = {value:g}: must be between {least:g} and {most:g} {unit}")


_page: ContextVar[Page] = ContextVar("page", default=Page())  # noqa: B039 - a page does not change


class Drawn(Figure):
    """A figure that a notebook shows without a magic."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """Return the picture for screens with two pixels a point, and its size for any."""
        file = BytesIO()
        with styled():
            self.savefig(file, format="png", dpi=2 * _SCREEN_DPI)
        size = {"width": round(self.get_figwidth() * _SCREEN_DPI), "height": round(self.get_figheight() * _SCREEN_DPI)}
        return file.getvalue(), size


_SCREEN_DPI = 80

_COMPRESSION = 3
"""Of PNG files, from 1 to 9: with 6, which is usual, files are a tenth smaller and take a third more time."""


@contextmanager
def on(page: Page) -> Iterator[None]:
    """Draw on this page, as long as the context lasts."""
    token = _page.set(page)
    try:
        yield
    finally:
        _page.reset(token)


@contextmanager
def styled() -> Iterator[None]:
    """Draw and write in Penstock's style, as long as the context lasts."""
    page = _page.get()
    settings: dict[str, Any] = {key: value for key, value in STYLE.items() if not _chosen(key)}
    if page.font_pt is not None:
        settings["font.size"] = page.font_pt
    points = settings.get("font.size", mpl.rcParams["font.size"])
    for key, part in _SIZES.items():
        if page.font_pt is not None or not _chosen(key):
            settings[key] = points if page.font_pt is not None else part * points
    # matplotlib types the keys of its settings one by one; a checked union of 300 names helps no reader.
    untyped: Any = settings
    with mpl.rc_context(untyped):
        yield


def sheet(width_in: float, height_in: float) -> Drawn:
    """Return an empty figure: of this size, unless the page or matplotlib's settings say otherwise.

    A page that is narrower keeps the shape, but leaves each panel the height that its type needs.
    """
    page = _page.get()
    if page.width_in is not None:
        height_in *= min(1.0, max(0.6, page.width_in / width_in)) if page.width_in < width_in else 1.0
        width_in = page.width_in
    elif _chosen("figure.figsize"):
        width_in, height_in = mpl.rcParams["figure.figsize"]
    figure = Drawn(figsize=(width_in, height_in), layout="constrained")
    # Without a canvas the figure gets one for each file, and all texts are measured again.
    FigureCanvasAgg(figure)
    return figure


def lay_out(figure: Figure) -> None:
    """Position every part of a figure; it may change afterwards."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


@contextmanager
def written_dpi(figure: Figure) -> Iterator[None]:
    """Let a figure have the dots that its pictures have: texts that are measured now need not be when it is drawn."""
    dpi, written = figure.dpi, mpl.rcParams["savefig.dpi"]
    if written != "figure":
        figure.dpi = written
    try:
        yield
    finally:
        figure.dpi = dpi


def grow(figure: Figure, by_in: float) -> None:
    """Make a figure higher, unless matplotlib's settings say how high it is."""
    if _page.get().width_in is not None or not _chosen("figure.figsize"):
        figure.set_figheight(figure.get_figheight() + by_in)


def width(default_in: float = WIDTH) -> float:
    """Return the width that a figure of this default has on the page, inches."""
    page = _page.get()
    if page.width_in is not None:
        return page.width_in
    return float(mpl.rcParams["figure.figsize"][0]) if _chosen("figure.figsize") else default_in


def line_styles() -> "cycle[tuple[str, Any]]":
    """Return a colour and a dash for one line after another."""
    return cycle([(colour, dashes) for dashes in _DASHES for colour in FLOW_COLOURS])


def titled() -> bool:
    """Return whether a title stands on the page."""
    return _page.get().title


def ems(figure: Figure) -> float:
    """Return how wide a figure is in ems of its type."""
    return figure.get_figwidth() * 72 / float(mpl.rcParams["font.size"])


def is_narrow(figure: Figure) -> bool:
    """Return whether explanations find no room beside the panels."""
    return ems(figure) < _NARROW_EMS


def _chosen(key: str) -> bool:
    """Return whether a setting of matplotlib is no longer its default."""
    settings: Any = mpl.rcParams
    defaults: Any = mpl.rcParamsDefault
    chosen: bool = settings[key] != defaults[key]
    return chosen


def save(figure: Figure, path: Path) -> None:
    """Write a figure; the suffix says in which format. A file under its final name is always whole.

    Raises:
        OSError: the file cannot be written.
    """
    kind = path.suffix.lstrip(".") or "png"
    # The date of writing would make each file differ.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    settings: dict[str, Any] = {"pil_kwargs": {"compress_level": _COMPRESSION}} if kind == "png" else {}
    with whole(path) as partial, styled():
        figure.savefig(partial, format=kind, metadata=metadata, **settings)
    # The old canvas has the picture, megabytes that Python gives back late: a figure is part of a cycle.
    FigureCanvasAgg(figure)
