"""How figures look, and how they are written."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from matplotlib.figure import Figure

# Paul Tol's "bright" and "muted" palettes: told apart by colour-blind readers and in grey print.
QUEUE_COLOURS = ("#4477AA", "#EE6677", "#228833", "#AA3377")
FLOW_COLOURS = ("#332288", "#CC6677", "#117733", "#88CCEE", "#AA4499", "#44AA99", "#999933", "#882255")
REFERENCE = "#222222"
DROP = "#CC3311"
CROWD = "#4477AA"

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": "#333333",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "lines.linewidth": 1.1,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "savefig.dpi": 150,
    # SVG ids come from this salt instead of a random number: the same figure has the same bytes.
    "svg.hashsalt": "penstock",
}


def styled() -> "AbstractContextManager[None]":
    """Return a context in which figures are drawn and written in Penstock's style."""
    # matplotlib types the keys of its settings one by one; a checked union of 300 words helps no reader.
    settings: Any = STYLE
    return mpl.rc_context(settings)


def save(figure: "Figure", path: Path) -> None:
    """Write a figure; the suffix says in which format. A file under its final name is always whole.

    Raises:
        OSError: the file cannot be written.
    """
    kind = path.suffix.lstrip(".") or "png"
    partial = path.with_name(f".{path.name}.partial")
    # The date of writing would make each file differ.
    metadata = {"Date": None} if kind == "svg" else None
    try:
        with styled():
            figure.savefig(partial, format=kind, metadata=metadata)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
