"""Is SMCC fair because it is AIMD? The effect of equation (25) on the ratio and on the difference of two rates.

Section 4.2 of Jiang et al. 2015: with (13) in (25) the rate adjustment "involves both additive increase phase and
multiple decrease phase", thus SMCC is fair by Chiu and Jain's analysis. That needs a decrease in proportion to a
source's own rate, and an increase that does not depend on it. :func:`flow` writes out the effect of (25) on two
sources; the signs of its parts say whether rates come together.
"""

from dataclasses import dataclass
from typing import Any, Literal

import sympy as sp

Decrease = Literal["step", "share"]
Messages = Literal["by rate", "to all"]


@dataclass(frozen=True)
class Split:
    """The effect of a rate adjustment on two sources, of rates r1 and r2.

    Attributes:
        ratio: derivative of ln(r1/r2), 1/s, a SymPy expression: 0 where ratios stay.
        difference: derivative of r1 - r2, a SymPy expression: 0 where differences stay.
    """

    ratio: Any
    difference: Any


r1, r2 = sp.symbols("r_1 r_2", positive=True)
up, down = sp.symbols("u d", positive=True)
message_share = sp.Symbol("p", positive=True)


def flow(decrease: Decrease, phase: Literal["increase", "decrease"], messages: Messages = "by rate") -> Split:
    """Return what happens to two sources while rates increase or decrease.

    A message raises a rate by u. In SMCC it lowers it by a step d, whatever the rate, as Qoff and dQ = (N r - C)/(pC)
    are those of the whole queue. In BCN, equation (2), and in AIMD it lowers it by a share of it, d r.

    Args:
        decrease: the amount by which a message lowers the rate.
        phase: whether messages raise or lower rates.
        messages: ``by rate``: a source gets p r messages a second, as samples of its frames; ``to all``: all get
            the same, as congestion signals in Chiu and Jain's analysis.
    """

    def rate_change(rate: Any) -> Any:
        step = up if phase == "increase" else -down * (1 if decrease == "step" else rate)
        return step * message_share * (rate if messages == "by rate" else 1)

    first, second = rate_change(r1), rate_change(r2)
    return Split(sp.simplify(first / r1 - second / r2), sp.factor(first - second))


def comes_together(decrease: Decrease, messages: Messages = "by rate") -> bool:
    """Whether rates come together over increases and decreases in turn.

    With messages by rate, (25) keeps the ratio of two rates as it is: fairness is won and lost by chance alone.

    They do if in both phases the ratio of the larger to the smaller falls or stays, and in one of them it falls.
    """
    # r1 = r2 + gap is the larger.
    gap = sp.Symbol("g", positive=True)
    phases: tuple[Literal["increase", "decrease"], ...] = ("increase", "decrease")
    ratios = [sp.simplify(flow(decrease, phase, messages).ratio.subs(r1, r2 + gap)) for phase in phases]
    return all(ratio.is_nonpositive for ratio in ratios) and any(ratio.is_negative for ratio in ratios)
