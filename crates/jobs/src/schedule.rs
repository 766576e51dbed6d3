//! The messages of a collective among members of a group, by algorithm.

use alloc::vec::Vec;

use crate::collective::Collective;

/// A message of a collective. Members are indices into the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Its size.
    pub octets: u64,
}

/// The messages of a collective, by their senders. A message starts when its sender takes part and the messages that it waits for have
/// been delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    messages: Vec<Message>,
    waiting_ends: Vec<u32>,
    waiting: Vec<u32>,
}

impl Schedule {
    /// The messages of a collective among `members`.
    #[must_use]
    pub fn new(_collective: &Collective, _members: u32) -> Self {
        unimplemented!()
    }

    /// All messages, those of the first member first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The messages that wait for a message.
    #[must_use]
    pub fn waiting_for(&self, message: u32) -> &[u32] {
        let message = message as usize;
        let begin = if message == 0 { 0 } else { self.waiting_ends[message - 1] };
        &self.waiting[begin as usize..self.waiting_ends[message] as usize]
    }
}
