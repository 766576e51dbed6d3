//! The kinds of events, packed into 32 bits: five for the kind, the rest for an index.

/// What happens, and to which entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The frame in this slot reaches the far end of the line that it is on.
    Deliver(u32),
    /// This limiter may release a frame.
    Release(u32),
    /// The line of this host port is free for the next limiter in turn.
    NicFree(u32),
    /// The timer of this limiter's reaction point.
    RpTimer(u32),
    /// The timer of this congestion point.
    CpTimer(u32),
    /// The timer of this notification point.
    NpTimer(u32),
    /// This flow starts.
    Start(u32),
    /// This flow stops.
    Stop(u32),
    /// This entry of the list of changes is due.
    Change(u32),
    /// A signal outside of the network (its frame's slot) reaches its source or destinations.
    Ideal(u32),
    /// The probe samples.
    Sample,
    /// A transmission on the line of this watched port ends.
    LineFree(u32),
    /// This pause frame reaches the far end of its line.
    Pause(u32),
    /// A stop of a queue of this port begins or runs out.
    Stopping(u32),
    /// The pause frame for this ingress counter is due again.
    Refresh(u32),
    /// This flow's generator is to make what is due. Housekeeping: it changes nothing, and counts as no event.
    Generate(u32),
    /// No acknowledgement of this flow may have come for too long.
    Silence(u32),
}

const INDEX_BITS: u32 = 27;

/// The largest number of entities of a kind.
pub(crate) const MAX_INDEX: usize = (1 << INDEX_BITS) - 1;

impl Event {
    #[inline(always)]
    pub(crate) fn pack(self) -> u32 {
        let (kind, index) = match self {
            Self::Deliver(i) => (0, i),
            Self::Release(i) => (1, i),
            Self::NicFree(i) => (2, i),
            Self::RpTimer(i) => (3, i),
            Self::CpTimer(i) => (4, i),
            Self::NpTimer(i) => (5, i),
            Self::Start(i) => (6, i),
            Self::Stop(i) => (7, i),
            Self::Change(i) => (8, i),
            Self::Ideal(i) => (9, i),
            Self::Sample => (10, 0),
            Self::LineFree(i) => (11, i),
            Self::Pause(i) => (12, i),
            Self::Stopping(i) => (13, i),
            Self::Refresh(i) => (14, i),
            Self::Generate(i) => (15, i),
            Self::Silence(i) => (16, i),
        };
        kind << INDEX_BITS | index
    }

    /// The frame's slot, if this is a delivery.
    #[inline(always)]
    pub(crate) fn delivery(what: u32) -> Option<u32> {
        (what <= MAX_INDEX as u32).then_some(what)
    }

    #[inline(always)]
    pub(crate) fn unpack(what: u32) -> Self {
        let i = what & MAX_INDEX as u32;
        match what >> INDEX_BITS {
            0 => Self::Deliver(i),
            1 => Self::Release(i),
            2 => Self::NicFree(i),
            3 => Self::RpTimer(i),
            4 => Self::CpTimer(i),
            5 => Self::NpTimer(i),
            6 => Self::Start(i),
            7 => Self::Stop(i),
            8 => Self::Change(i),
            9 => Self::Ideal(i),
            10 => Self::Sample,
            11 => Self::LineFree(i),
            12 => Self::Pause(i),
            13 => Self::Stopping(i),
            14 => Self::Refresh(i),
            15 => Self::Generate(i),
            _ => Self::Silence(i),
        }
    }
}
