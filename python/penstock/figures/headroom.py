"""A picture of headroom: each formula's over the exact need, a mark for each kind of port."""

from collections.abc import Sequence

from penstock.figures.style import QUEUE_COLOURS, REFERENCE, WIDTH, Drawn, sheet, styled
from penstock.headroom.survey import Kind, merged, short

_MARKERS = ("o", "s", "^", "D", "v", "P")


def shares(kinds: Sequence[Kind]) -> Drawn:
    """Draw a line for each formula or table, and on it the share of the need that it gives each kind of port."""
    listed = merged(kinds)
    with styled():
        figure = sheet(WIDTH, 1.1 + 0.26 * len(listed))
        axes = figure.subplots()
        for number, kind in enumerate(kinds):
            known = [
                (entry.xoff_octets / entry.need_octets, row)
                for row, (_, (index, *_)) in enumerate(listed)
                if (entry := kind.entries[index]).xoff_octets is not None
            ]
            colour = QUEUE_COLOURS[number % len(QUEUE_COLOURS)]
            marker = _MARKERS[number % len(_MARKERS)]
            axes.plot(*zip(*known, strict=True), marker, color=colour, label=short(kind.port), alpha=0.85)
        axes.axvline(1, color=REFERENCE, linestyle="--", linewidth=1)
        axes.set_yticks(range(len(listed)), [name for name, _ in listed])
        axes.set_ylim(len(listed) - 0.5, -0.5)
        axes.set_xlim(left=0)
        axes.set_xlabel("headroom over the exact need")
        figure.legend(loc="outside upper right", ncols=min(4, len(kinds)))
    return figure
