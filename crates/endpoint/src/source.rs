//! Where data to send comes from.

use penstock_schemes::Instant;

/// The data of one flow: a generator of a simulation, an application behind a socket.
///
/// The order of calls: `when` until it answers with a time that has come, then one `take`.
pub trait DataSource {
    /// When data for a frame is there, seen from `now`: `now` or later, or never. `now` never decreases. Where the answer can
    /// become earlier than it was, as with an application that writes whenever it likes, it is changed through
    /// [`Nic::write`](crate::Nic::write).
    fn when(&mut self, now: Instant) -> Instant;

    /// Octets of the frame that [`take`](Self::take) gives next, with FCS, without tags.
    fn next_octets(&self) -> u16;

    /// Takes the data of one frame, which is there at `now`.
    fn take(&mut self, now: Instant) -> Taken;
}

/// The data of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Length of the frame, with FCS, without tags.
    pub octets: u16,
    /// The flow ends with it.
    pub last: bool,
}
