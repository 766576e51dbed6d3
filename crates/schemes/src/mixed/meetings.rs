//! Points of a member meet signals and acknowledgements as their scheme has them.

use super::{Echo, Member, Mixed, Mixing, Signal};
use crate::units::{FlowKey, Instant};
use crate::{Ack, CongestionPoint, Draw, NotificationPoint, Out, Queue, ReactionPoint};

/// Hands a signal to a member's congestion point.
pub(super) fn cp_meets<M: Member>(
    cp: &mut M::Cp,
    now: Instant,
    flow: FlowKey,
    signal: Signal,
    queue: &Queue,
    draw: &mut impl Draw,
    out: &mut impl Out<Mixed>,
) {
    cp.on_signal(now, flow, M::signal(signal), queue, draw, &mut Mixing(out));
}

/// Hands an acknowledgement to a member's reaction point.
pub(super) fn rp_learns<M: Member>(
    rp: &mut M::Rp,
    now: Instant,
    flow: FlowKey,
    ack: &Ack<Echo>,
    draw: &mut impl Draw,
    out: &mut impl Out<Mixed>,
) {
    let &Ack { acked, lost, rtt, echo } = ack;
    let own = Ack { acked, lost, rtt, echo: M::echo(echo) };
    rp.on_ack(now, flow, &own, draw, &mut Mixing(out));
}

/// Hands a signal to a member's notification point.
pub(super) fn np_meets<M: Member>(
    np: &mut M::Np,
    now: Instant,
    flow: FlowKey,
    signal: Signal,
    draw: &mut impl Draw,
    out: &mut impl Out<Mixed>,
) {
    np.on_signal(now, flow, M::signal(signal), draw, &mut Mixing(out));
}

/// Hands a signal to a member's reaction point.
pub(super) fn rp_meets<M: Member>(
    rp: &mut M::Rp,
    now: Instant,
    flow: FlowKey,
    signal: Signal,
    draw: &mut impl Draw,
    out: &mut impl Out<Mixed>,
) {
    rp.on_signal(now, flow, M::signal(signal), draw, &mut Mixing(out));
}
