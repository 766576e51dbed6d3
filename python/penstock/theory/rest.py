"""Where SMCC comes to rest: the deal-breaker of remark 1 (paper 004, section 4.3).

Chatter between two points S and F of the phase plane, neither of them the target, asks for two balances at once: what
the queue gains in state B it must lose in state A, and what the sum of rates gains in one it must lose in the other. In
state A a message changes a rate by alpha |x|, in state B by beta |dQ|. Below the target all growth is state B and all
shrinking state A, so that the sums of |dQ| over both are the same, and the balance of rates is

    alpha |x| (messages of state A) = beta (sum of |dQ| over them),   hence   |x| = beta/alpha times the mean |dQ| in A.

A message of state A that says dQ = 0 would bring that mean down to almost nothing. So the reading of dQ = 0 decides: by
the sign bits, dQ = 0 is state B below the target, every message of state A says at least a frame, and the queue rests
at least beta/alpha frames below the target. Only the quotient of alpha and beta counts.
"""

from dataclasses import dataclass

from penstock.theory.configuration import BITS_PER_OCTET, Configuration, Unsuited
from penstock.theory.planar import sampling_probability

_APART = 3.0
"""Frames below the target from which a rest is one of its own: nearer, the chatter about the target reaches it."""


@dataclass(frozen=True)
class Rest:
    """Where the queue of SMCC comes to rest.

    Attributes:
        balance_octets: beta/alpha times a frame, octets: how far below the target the two states balance, if every
            message of state A says one frame of change.
        deal_breaker: whether the queue rests below the target.
        offset_octets: the offset of the rest, octets: 0, or ``-balance_octets``; an upper bound, for messages that say
            more than a frame lead further away.
        answer: beta times the time between samples: the part of a growth that one message of state B takes back. Above
            1 it takes back more than all.
    """

    balance_octets: float
    deal_breaker: bool
    offset_octets: float
    answer: float


def rest(given: Configuration) -> Rest:
    """Return where the queue rests with a configuration of SMCC.

    Raises:
        Unsuited: the scheme is not SMCC, or its alpha is 0.
    """
    if given.scheme != "smcc":
        raise Unsuited(f"{given.scheme} has no states A and B", "the deal-breaker is SMCC's (paper 004, remark 1)")
    alpha, beta = gains(given)
    if not alpha:
        raise Unsuited("alpha is 0: state A changes nothing", "ra above 0")
    balance = beta / alpha * given.frame_octets
    # Below the target dQ = 0 is state B by the sign bits, and by name; above it state B by name alone.
    breaks = given.parameters["delta_zero"] == "sign-bit" and balance >= _APART * given.frame_octets
    sample_s = BITS_PER_OCTET * given.frame_octets / sampling_probability(given) / given.link_bps
    return Rest(balance, breaks, -balance if breaks else 0.0, beta * sample_s / BITS_PER_OCTET)


def gains(given: Configuration) -> tuple[float, float]:
    """Return alpha and beta of equation (25), bit/s for each octet; with two stages the alpha of small changes."""
    step = "ra_small" if given.parameters["two_stage"] else "ra"
    return given.number(step) / given.number("ra_at"), given.number("rb") / given.number("rb_at")
