"""The equilibrium of SMCC: the deal-breaker of remark 1 (Jiang et al. 2015, section 4.3).

Chatter between two points S and F of the phase plane, neither of them the target, needs two balances at once. The
queue must lose in state A its gain of state B, and the sum of rates must lose in one state its gain of the other. In
state A a message changes a rate by alpha |x|, in state B by beta |dQ|. Below the target all growth is state B and all
shrinking state A, so that the sums of |dQ| over both are the same, and the balance of rates is

    alpha |x| (messages of state A) = beta (sum of |dQ| over them),   hence   |x| = beta/alpha times the mean |dQ| in A.

A message of state A that says dQ = 0 brings that mean down to almost nothing. So the reading of dQ = 0 decides:

- It is state A (``state-a``): the queue settles at its target.
- By the sign bits (``sign-bit``) it is state B below the target: there every message of state A says at least a frame,
  and the queue settles at least beta/alpha frames below. Only the quotient of alpha and beta counts.
- It is state B (``state-b``): a queue with dQ = 0 stays, wherever that is. So it does in the planar model (26), (27),
  in which every point of y = 0 is an equilibrium: the regime that theorem 3 calls sliding leads nowhere.
"""

from dataclasses import dataclass
from typing import Literal

from penstock.theory.configuration import Configuration
from penstock.theory.models.smcc import Smcc

Place = Literal["target", "below", "anywhere"]


@dataclass(frozen=True)
class Equilibrium:
    """The equilibrium of SMCC's queue.

    Attributes:
        place: ``target``; ``below`` it, the deal-breaker; or ``anywhere``, where the rates first balance: often at the
            full queue.
        balance_octets: beta/alpha times a frame, octets: the distance below the target at which the two states balance
            if each message of state A says one frame of change. It is a multiple of this where messages say more.
        answer: beta times the time between samples: the part of a growth that one message of state B takes back. Above
            1 it takes back more than all.
    """

    place: Place
    balance_octets: float
    answer: float


def equilibrium(given: Configuration) -> Equilibrium:
    """Return where the queue settles with a configuration of SMCC.

    Raises:
        UnsuitedScenarioError: the scheme is not SMCC.
    """
    model = Smcc.of(given)
    elsewhere: Place = "below" if model.zero_above == 1.0 else "anywhere"
    return Equilibrium(
        place="target" if model.comes_to_rest() else elsewhere,
        balance_octets=float(model.balance_frames()) * given.frame_octets,
        answer=float(model.beta) * float(model.octets_per_bit) * float(model.interval_s),
    )
