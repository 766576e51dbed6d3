//! The structures that cross the border, with their conversions. `include/penstock.h` has the same, and a test compares sizes and offsets.

use core::ffi::c_void;
use core::mem::offset_of;

use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::{self as schemes, BitRate, Class, CpId, Duration, FlowKey, Instant, Octets, Report, To};

/// Version of the interface. A change that breaks a caller raises it.
pub const VERSION: u32 = 1;

// The layout, which the header checks likewise where it is compiled.
const _: () = {
    assert!(size_of::<Status>() == 4);
    assert!(size_of::<Message>() == 64 && offset_of!(Message, time_ps) == 40 && offset_of!(Message, feedback) == 48);
    assert!(size_of::<Signal>() == 80 && offset_of!(Signal, message) == 16);
    assert!(size_of::<Host>() == 3 * size_of::<*const ()>() && size_of::<Label>() == 16);
    assert!(size_of::<Release>() == 24 && offset_of!(Release, last) == 16);
    assert!(size_of::<Frame>() == 48 && offset_of!(Frame, weight) == 24 && offset_of!(Frame, label) == 32);
    assert!(size_of::<Queue>() == 32 && offset_of!(Queue, frames) == 24);
    assert!(size_of::<Place>() == 32 && size_of::<Allowance>() == 16);
    assert!(size_of::<Echo>() == 8 && offset_of!(Echo, rx_buffer_level) == 5);
    assert!(size_of::<Ack>() == 32 && offset_of!(Ack, echo) == 24);
};

/// No time, no window: the largest number.
pub(crate) const NONE: u64 = u64::MAX;

/// The answer of a function that can refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A pointer is null.
    Null = 1,
    /// There is no scheme of this name, or it was not built.
    UnknownScheme = 2,
    /// The scheme has no such parameter or profile.
    UnknownParameter = 3,
    /// A value is not readable, or out of its range.
    BadValue = 4,
    /// The scheme has no such point, or one whose frames carry more than these structures do.
    NotOffered = 5,
    /// Text that is not UTF-8, or has no end.
    BadText = 6,
    /// A number that no such object can have.
    BadNumber = 7,
}

/// The caller's functions.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Host {
    /// Handed to each function.
    pub context: *mut c_void,
    /// A random word, uniform over all 2^32 values; null gives 0.
    pub draw: Option<unsafe extern "C" fn(*mut c_void) -> u32>,
    /// Takes a signal, which it may not keep; null drops signals.
    pub send: Option<unsafe extern "C" fn(*mut c_void, *const Signal)>,
}

/// What a data frame carries of a scheme.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Label {
    /// 0 nothing, 1 CN-TAG, 2 RLT, 3 ECN of IP, 4 the same in a RoCEv2 packet.
    pub kind: u32,
    /// Congestion Experienced.
    pub marked: u32,
    /// The congestion point of an RLT.
    pub cp: u64,
}

/// The content of a control frame; fields that its kind has not are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Message {
    /// `PENSTOCK_MESSAGE_…`.
    pub kind: u32,
    /// 1: the destination has sent it back. 2: rate, or offset, is there.
    pub flags: u32,
    /// The congestion point.
    pub cp: u64,
    /// Queue length less set point, octets (BCN: units of 64 octets).
    pub q_off: i64,
    /// Growth of the queue since the sample before, likewise.
    pub q_delta: i64,
    /// A rate, bit/s.
    pub rate_bps: u64,
    /// When a probe left its source, or how long a pause is, ps.
    pub time_ps: u64,
    /// Quantised |Fb|, in 1/256 of a step.
    pub feedback: u32,
    /// Number of a probe, or of messages before.
    pub number: u32,
    /// Octets of a frame that it carries.
    pub carried: u32,
    /// 0.
    pub reserved: u32,
}

/// A control frame that a point sends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Signal {
    /// 0 to the source of the flow, 1 to its destination, 2 to the previous hop.
    pub to: u32,
    /// 0 in the flow's own priority, 1 in that of control frames.
    pub class: u32,
    /// The flow.
    pub flow: u32,
    /// Length of the frame with FCS, octets.
    pub octets: u32,
    /// Its content.
    pub message: Message,
}

/// A frame that a reaction point lets go.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Release {
    /// The flow.
    pub flow: u32,
    /// Length, octets.
    pub octets: u32,
    /// Octets that the flow has sent before.
    pub seq: u64,
    /// The flow ends with this frame.
    pub last: u32,
    /// 0.
    pub reserved: u32,
}

/// A data frame on its path.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Frame {
    /// The flow.
    pub flow: u32,
    /// Length, octets.
    pub octets: u32,
    /// Octets that the flow had sent before.
    pub seq: u64,
    /// When the reaction point released it, ps.
    pub sent_at_ps: u64,
    /// Weight of the flow; 0 is taken as 1.
    pub weight: u32,
    /// 1: the flow ends with it. 2: a switch cut it down to its header.
    pub flags: u32,
    /// What it carries. A congestion point may change it.
    pub label: Label,
}

/// The queue of a congestion point at the time of a call.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Queue {
    /// Octets in it.
    pub octets: u64,
    /// The port's rate, bit/s.
    pub rate_bps: u64,
    /// Octets that have left it since the start.
    pub sent_octets: u64,
    /// Frames in it.
    pub frames: u32,
    /// Stopped by priority flow control.
    pub paused: u32,
}

/// Where a congestion point is.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Place {
    /// Its identity: 48 bits of station address, 13 of port, 3 of priority. (802.1Qau, cnmCpId)
    pub cp: u64,
    /// Rate of the port's line, bit/s.
    pub line_bps: u64,
    /// Size of the queue, octets.
    pub capacity_octets: u64,
    /// Offset of periodic measurements, ps.
    pub phase_ps: u64,
}

/// An acknowledgement for the source.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub struct Ack {
    /// Octets now known to have arrived.
    pub acked_octets: u64,
    /// Octets now known to be lost.
    pub lost_octets: u64,
    /// Time since the acknowledged frame was released, ps.
    pub rtt_ps: u64,
    /// What the destination says of it.
    pub echo: Echo,
}

/// What a destination says of an acknowledged frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Echo {
    /// 1: marked. 2: trimmed. 4: the destination's buffer was full.
    pub flags: u32,
    /// Switches that it has passed.
    pub hops: u8,
    /// Level of the destination's buffer, in 1/31.
    pub rx_buffer_level: u8,
    /// 0.
    pub reserved: u16,
}

/// What a source may do now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Allowance {
    /// Rate, bit/s; 0 stops it.
    pub rate_bps: u64,
    /// Octets that may be in flight; the largest number where the scheme has no window.
    pub window_octets: u64,
}

impl From<Label> for schemes::Label {
    fn from(Label { kind, marked, cp }: Label) -> Self {
        match kind {
            1 => Self::CnTag,
            2 => Self::Rlt(CpId(cp)),
            3 => Self::Ecn(marked != 0),
            4 => Self::Roce(marked != 0),
            _ => Self::Bare,
        }
    }
}

impl From<schemes::Label> for Label {
    fn from(label: schemes::Label) -> Self {
        let (kind, cp) = match label {
            schemes::Label::CnTag => (1, 0),
            schemes::Label::Rlt(cp) => (2, cp.0),
            schemes::Label::Ecn(_) => (3, 0),
            schemes::Label::Roce(_) | schemes::Label::Roce6(_) => (4, 0),
            _ => (0, 0),
        };
        Self { kind, marked: label.marked().into(), cp }
    }
}

const RETURNED: u32 = 1;
const PRESENT: u32 = 2;

impl Message {
    /// As the schemes have it; `None` for a kind or a number that no message has.
    pub(crate) fn read(&self) -> Option<schemes::Message> {
        use schemes::Message as M;
        let cp = CpId(self.cp);
        let small = |x: i64| i32::try_from(x).ok();
        let (returned, present) = (self.flags & RETURNED != 0, self.flags & PRESENT != 0);
        Some(match self.kind {
            1 => M::Cnm {
                cp,
                fb: QntzFb::from_units(u16::try_from(self.feedback).ok().filter(|fb| *fb <= 64 * 256)?, false),
                q_off: offset(self.q_off),
                q_delta: offset(self.q_delta),
            },
            2 => M::Smcc { cp, q_off: small(self.q_off)?, q_delta: small(self.q_delta)? },
            3 => M::Bcn { cp, q_off: small(self.q_off)?, q_delta: small(self.q_delta)? },
            4 => M::RateProbe { round: self.number, rate: present.then_some(rate(self.rate_bps)), cp, returned },
            5 => M::PathProbe {
                sent_at: Instant(self.time_ps.min(TIME)),
                q_off: present.then_some(offset(self.q_off)),
                returned,
            },
            6 => M::Cim { count: self.number as u16, carried: self.carried as u16 },
            7 => M::FairRate { cp, rate: rate(self.rate_bps) },
            8 => M::SourcePause { cp, time: span(self.time_ps) },
            9 => M::Cnp,
            _ => return None,
        })
    }

    /// A message of the schemes; of kind 0 if these structures have no such.
    pub(crate) fn write(message: Option<schemes::Message>) -> Self {
        use schemes::Message as M;
        let flags =
            |returned: bool, present: bool| (if returned { RETURNED } else { 0 }) | (if present { PRESENT } else { 0 });
        let none = Self::default();
        match message {
            Some(M::Cnm { cp, fb, q_off, q_delta }) => {
                Self { kind: 1, cp: cp.0, feedback: fb.get().into(), q_off, q_delta, ..none }
            }
            Some(M::Smcc { cp, q_off, q_delta }) => {
                Self { kind: 2, cp: cp.0, q_off: q_off.into(), q_delta: q_delta.into(), ..none }
            }
            Some(M::Bcn { cp, q_off, q_delta }) => {
                Self { kind: 3, cp: cp.0, q_off: q_off.into(), q_delta: q_delta.into(), ..none }
            }
            Some(M::RateProbe { round, rate, cp, returned }) => {
                let rate_bps = rate.map_or(0, |rate| rate.0);
                Self { kind: 4, number: round, flags: flags(returned, rate.is_some()), cp: cp.0, rate_bps, ..none }
            }
            Some(M::PathProbe { sent_at, q_off, returned }) => {
                let flags = flags(returned, q_off.is_some());
                Self { kind: 5, time_ps: sent_at.0, q_off: q_off.unwrap_or(0), flags, ..none }
            }
            Some(M::Cim { count, carried }) => Self { kind: 6, number: count.into(), carried: carried.into(), ..none },
            Some(M::FairRate { cp, rate }) => Self { kind: 7, cp: cp.0, rate_bps: rate.0, ..none },
            Some(M::SourcePause { cp, time }) => Self { kind: 8, cp: cp.0, time_ps: time.0, ..none },
            Some(M::Cnp) => Self { kind: 9, ..none },
            _ => none,
        }
    }
}

impl Signal {
    /// A signal of a scheme.
    pub(crate) fn new(to: To, class: Class, signal: &impl schemes::Signal) -> Self {
        let (to, flow) = match to {
            To::Source(flow) => (0, flow),
            To::Destination(flow) => (1, flow),
            To::PreviousHop(flow) => (2, flow),
        };
        let class = match class {
            Class::Data => 0,
            Class::Control => 1,
        };
        Self { to, class, flow: flow.0, octets: signal.octets().into(), message: Message::write(signal.message()) }
    }
}

impl From<&Queue> for schemes::Queue {
    fn from(queue: &Queue) -> Self {
        Self {
            len: held(queue.octets),
            frames: queue.frames,
            rate: rate(queue.rate_bps),
            sent: total(queue.sent_octets),
            paused: queue.paused != 0,
        }
    }
}

impl From<&Place> for schemes::Place {
    fn from(place: &Place) -> Self {
        Self {
            cp: CpId(place.cp),
            line: BitRate(place.line_bps),
            capacity: Octets(place.capacity_octets),
            phase: Duration(place.phase_ps),
        }
    }
}

/// The largest numbers that a caller has: 2^50 bit/s, 2^40 octets at a place, 2^56 in all, 2^62 ps since the start, 2^60 ps of a span. Larger
/// ones are taken as these, so that no sum of two overflows.
pub(crate) const RATE: u64 = 1 << 50;
pub(crate) const LENGTH: u64 = 1 << 40;
const TOTAL: u64 = 1 << 56;
pub(crate) const TIME: u64 = 1 << 62;
pub(crate) const SPAN: u64 = 1 << 60;

/// A number of octets since the start.
pub(crate) fn total(octets: u64) -> Octets {
    Octets(octets.min(TOTAL))
}

/// A number of octets at a place.
pub(crate) fn held(octets: u64) -> Octets {
    Octets(octets.min(LENGTH))
}

/// A difference of two.
fn offset(octets: i64) -> i64 {
    octets.clamp(-(LENGTH as i64), LENGTH as i64)
}

/// A span of time.
pub(crate) fn span(ps: u64) -> Duration {
    Duration(ps.min(SPAN))
}

/// A rate.
pub(crate) fn rate(bps: u64) -> BitRate {
    BitRate(bps.min(RATE))
}

/// A length, which ends at 65 535 octets.
pub(crate) fn length(octets: u32) -> u16 {
    u16::try_from(octets).unwrap_or(u16::MAX)
}

impl From<&Release> for schemes::Release {
    fn from(frame: &Release) -> Self {
        Self { flow: FlowKey(frame.flow), octets: length(frame.octets), seq: total(frame.seq), last: frame.last != 0 }
    }
}

impl From<Echo> for Report {
    fn from(echo: Echo) -> Self {
        Self {
            marked: echo.flags & 1 != 0,
            trimmed: echo.flags & 2 != 0,
            exhausted: echo.flags & 4 != 0,
            hops: echo.hops,
            rx_buffer_level: echo.rx_buffer_level.min(31),
        }
    }
}

impl From<Report> for Echo {
    fn from(report: Report) -> Self {
        let flags = u32::from(report.marked) | u32::from(report.trimmed) << 1 | u32::from(report.exhausted) << 2;
        Self { flags, hops: report.hops, rx_buffer_level: report.rx_buffer_level, reserved: 0 }
    }
}

impl From<schemes::Allowance> for Allowance {
    fn from(allowance: schemes::Allowance) -> Self {
        Self { rate_bps: allowance.rate.0, window_octets: allowance.window.map_or(NONE, |window| window.0) }
    }
}
