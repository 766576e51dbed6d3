"""Parts of QCN's points as cores in hardware have them: a golden model for test benches.

Each object takes one call for an event, or for a clock, and holds what the core's registers hold. Random words are
arguments, as a core takes them at a port: ``words`` are used in order, two at the most. The cores of ``rtl/`` are held
to the same state machines, in every clock.

    >>> from penstock import golden
    >>> rate = golden.RateCalculator(10_000_000_000, "profile = pan-10g, jitter_rp = off")
    >>> rate.decrease(0, 63 * golden.STEP, words=[0, 0])
    >>> rate.current_bps, rate.target_bps
    (5078125000, 10000000000)

:class:`RateCalculator` stands at the line's rate. ``decrease`` takes feedback, ``count`` the octets of a frame that
was sent. ``timeout`` ends the timer's cycle if it is due, and ``start_timer`` starts its first. Its registers are
attributes.

:class:`Sampler` has QCN's measure. ``feedback`` is that of a queue now and at the sample before, 0 where Fb >= 0.
``sample`` says whether the frame that comes is sampled at this feedback, in whole steps; ``reload`` starts an interval.

:class:`TokenBucket` is refilled at whole multiples of its interval for a rate that is rounded down to its granularity.
``ready_ps`` says when a frame may go, ``None`` for never; ``take`` takes its tokens.

:func:`jitter` is ``base`` times a number in [1 - spread, 1 + spread) that ``word`` draws, rounded down. The spread
is in 2^16ths.

Parameters are text, "profile = pan-10g, rpg_ai_rate = 5 Mbps", with the names of ``penstock schemes qcn``. A call that
makes no sense raises ``ValueError``. For C and SystemVerilog (DPI) the library ``libpenstock`` has the same, and
``rtl/examples/scoreboard.py`` is a bench that uses this module.
"""

from penstock._core import GoldenRateCalculator as RateCalculator
from penstock._core import GoldenSampler as Sampler
from penstock._core import GoldenTokenBucket as TokenBucket
from penstock._core import golden_jitter as jitter

__all__ = ["STEP", "RateCalculator", "Sampler", "TokenBucket", "jitter"]

STEP = 256
"""Feedback is in 256ths of a step of quantisation: the six bits of a message times this."""
