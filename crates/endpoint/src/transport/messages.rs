//! Messages of a RoCE flow, cut into frames: which octets the frame with a packet sequence number has.
//!
//! Every frame but the last of a message is full. (InfiniBand Architecture Specification, volume 1, section 9.7.2)

use alloc::collections::VecDeque;

/// One frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) octets: u32,
    /// It is the last of its message.
    pub(super) last: bool,
}

/// The messages that are not acknowledged as a whole.
#[derive(Debug, Clone)]
pub(super) struct Messages {
    mtu: u64,
    messages: VecDeque<Message>,
    /// Frames and octets of all messages so far.
    frames: u64,
    octets: u64,
}

#[derive(Debug, Clone, Copy)]
struct Message {
    /// Frames and octets before it.
    frame: u64,
    before: u64,
    octets: u64,
}

impl Messages {
    /// Frames hold `mtu` octets of data.
    pub(super) fn new(mtu: u64) -> Self {
        Self { mtu, messages: VecDeque::new(), frames: 0, octets: 0 }
    }

    /// One message more; one without data needs no frame.
    pub(super) fn post(&mut self, octets: u64) {
        let octets = octets.min(u64::MAX - self.octets);
        if octets > 0 {
            self.messages.push_back(Message { frame: self.frames, before: self.octets, octets });
            self.frames += octets.div_ceil(self.mtu);
            self.octets += octets;
        }
    }

    /// Frames of all messages so far, those that are released too.
    pub(super) fn frames(&self) -> u64 {
        self.frames
    }

    /// Frame `number`, if it has been posted and not released.
    pub(super) fn frame(&self, number: u64) -> Option<Frame> {
        let message = self.holding(number).filter(|_| number < self.frames)?;
        let rest = message.octets - (number - message.frame) * self.mtu;
        Some(Frame { octets: rest.min(self.mtu) as u32, last: rest <= self.mtu })
    }

    /// Octets of the frames before `number`, which is not released.
    pub(super) fn octets_before(&self, number: u64) -> u64 {
        self.holding(number).map_or(self.octets, |m| m.before + ((number - m.frame) * self.mtu).min(m.octets))
    }

    /// Frames below `number` are needed no more.
    pub(super) fn release(&mut self, number: u64) {
        while self.messages.front().is_some_and(|m| m.frame + m.octets.div_ceil(self.mtu) <= number) {
            self.messages.pop_front();
        }
    }

    fn holding(&self, number: u64) -> Option<&Message> {
        let next = self.messages.partition_point(|m| m.frame <= number);
        self.messages.get(next.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_end_with_what_is_left() {
        let mut m = Messages::new(1000);
        m.post(2500);
        m.post(0);
        m.post(1000);
        m.post(1);
        let frames: Vec<_> = (0..5).map(|n| m.frame(n).map(|f| (f.octets, f.last))).collect();
        let expected = [(1000, false), (1000, false), (500, true), (1000, true), (1, true)];
        assert_eq!(frames, expected.map(Some));
        assert_eq!((m.frame(5), m.frames()), (None, 5));
        assert_eq!((0..6).map(|n| m.octets_before(n)).collect::<Vec<_>>(), [0, 1000, 2000, 2500, 3500, 3501]);
        m.release(2);
        assert_eq!(m.frame(1), Some(Frame { octets: 1000, last: false }), "its message is not done");
        m.release(4);
        assert_eq!((m.frame(2), m.frame(4)), (None, Some(Frame { octets: 1, last: true })));
        m.release(5);
        m.post(10);
        assert_eq!((m.frame(5), m.octets_before(6)), (Some(Frame { octets: 10, last: true }), 3511));
    }

    #[test]
    fn a_message_may_be_as_long_as_anything() {
        let mut m = Messages::new(1000);
        m.post(u64::MAX);
        m.post(u64::MAX);
        assert_eq!(m.frames(), u64::MAX.div_ceil(1000));
    }
}
