"""Scales of axes that more than one kind of figure has."""

import re

from matplotlib.ticker import LogFormatterSciNotation


class Powers(LogFormatterSciNotation):
    """Numbers along a logarithmic axis, such as 2×10⁻³: matplotlib writes them as formulas, which no text here is."""

    def __call__(self, value: float, pos: int | None = None) -> str:
        """Write a number."""
        formula: str = super().__call__(value, pos)
        if formula and 0.01 <= value < 10_000:
            return f"{value:g}"
        words = re.sub(r"\$|\\mathdefault|[{}]", "", re.sub(r"\^\{([-−0-9]+)\}", _raised, formula))
        return words.replace(r"\times", "×")


def _raised(power: "re.Match[str]") -> str:
    return power[1].translate(str.maketrans("-−0123456789", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
