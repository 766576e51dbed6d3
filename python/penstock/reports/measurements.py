"""Measured values in the report of a comparison: the figure, the values that lie farthest apart, what differs."""

from penstock.quantity_text import count, ratio
from penstock.reports.model import Mark, Part, Section, Table
from penstock.reports.page import picture
from penstock.telemetry import MEASURES, Overlay
from penstock.telemetry.measures import in_unit

_MOST_ROWS = 40


def section(found: Overlay, title: str, *, pictures: bool = True) -> Section:
    """Return the section of measured values beside simulated ones.

    Args:
        found: the values.
        title: the title of the figure.
        pictures: whether to draw.
    """
    parts: list[Part] = []
    if pictures and any(row.known for row in found.rows):
        from penstock.figures.measured import measured_figure

        caption = "The measured value of each port and priority beside that of each line, with 95 % of other seeds."
        parts.append(picture(lambda: measured_figure(found, title), caption, "measured"))
    several = len(found.labels) > 1
    rows = []
    pairs = found.farthest_first()
    for row, label in pairs[:_MOST_ROWS]:
        line = row.simulated[label]
        interval = None if line.low is None else f"{in_unit(line.low, row.unit)} .. {in_unit(line.high, row.unit)}"
        rows.append(
            (
                f"{row.device} {row.port}",
                row.link,
                str(row.priority),
                MEASURES[row.measure].title,
                *((label,) if several else ()),
                in_unit(row.measured, row.unit),
                in_unit(line.mean, row.unit),
                interval,
                None if line.ratio is None else ratio(line.ratio),
                None if line.differs is None else Mark("yes" if line.differs else "no", not line.differs),
            )
        )
    head = ("port", "in the fabric", "priority", "watermark or counter", *(("line",) if several else ()),
            "measured", "simulated", "another seed", "ratio", "differs")  # fmt: skip
    more = len(pairs) - _MOST_ROWS
    note = f"{count(more)} more in measured.json: those above differ most" if more > 0 else ""
    parts.append(Table(head, rows, title="Values that differ most first", note=note))
    return Section("Measured beside simulated", parts)


def verdict(found: Overlay) -> tuple[str, bool | None]:
    """Return how many values of each line differ, and whether that is no more than chance gives."""
    said, good = [], []
    for label in found.labels:
        differing, judged = found.differing(label)
        if judged:
            name = f"with {label} " if len(found.labels) > 1 else ""
            said.append(f"{name}{count(differing)} of {count(judged)} measured values differ from the simulated ones")
            good.append(differing <= max(1, judged // 20))
    if not said:
        return "One seed has no interval, so that nothing says which measured values differ.", None
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}; by chance, 1 of 20 does.", any(good)
