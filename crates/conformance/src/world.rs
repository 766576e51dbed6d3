//! The network as the roles see it: a line, two flows, a queue, frames, random words.

use penstock_schemes::*;

pub(crate) const LINE: BitRate = BitRate(10_000_000_000);
/// The flows of the reaction point; the notification point is the first one's.
pub(crate) const FLOWS: [FlowKey; 2] = [FlowKey(3), FlowKey(8)];

/// Words from a counter: the same for an original and its clone.
#[derive(Clone)]
pub(crate) struct Words(pub(crate) u32);

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 ^ self.0 >> 16
    }
}

/// Forgets every signal that is sent.
pub(crate) struct Nobody;

impl<S: Scheme> Out<S> for Nobody {
    fn send(&mut self, _: To, _: Class, _: S::Signal) {}
}

pub(crate) fn place() -> Place {
    Place { cp: CpId::new(0x0200_0000_0001, 2, 3), line: LINE, capacity: Octets(150_000), phase: Duration::ZERO }
}

pub(crate) fn frame<T>(octets: u16, tag: &mut T) -> Frame<'_, T> {
    Frame {
        flow: FLOWS[0],
        octets,
        weight: 1,
        seq: Octets(0),
        last: false,
        trimmed: false,
        sent_at: Instant::ZERO,
        tag,
    }
}

/// The other queues of the port: that of [`place`]'s priority and one more.
pub(crate) struct TwoQueues;

impl PortView for TwoQueues {
    fn queue(&self, priority: u8) -> Option<Queue> {
        [3, 5].contains(&priority).then(|| Queue { rate: LINE, ..Queue::default() })
    }
}
