//! The structures and functions through which a foreign scheme is called: the Rust side of `penstock_scheme.h`.
//!
//! Every structure is plain and has the layout of C. A pointer of the header is a reference here: the engine lends it for the
//! call, and no function keeps one. The first parameter of a point's function is the memory of that point, of which Rust names the
//! first word.

use crate::{Draw, Out};

use super::Foreign;

/// The version of the interface (`PENSTOCK_SCHEME_VERSION`). A change of any structure or function raises it.
pub const VERSION: u32 = 2;
/// No timer is set (`PENSTOCK_NEVER`).
pub const NEVER: u64 = u64::MAX;
/// The most parameters that a scheme may have (`PENSTOCK_PARAMETERS`).
pub const PARAMETERS: usize = 64;
/// The most variables that a point may record (`PENSTOCK_VARIABLES`).
pub const VARIABLES: usize = 16;
/// Words of content in a tag, an echo and a signal (`PENSTOCK_WORDS`).
pub const WORDS: usize = 4;

/// Values of the parameters in the order of their declaration: octets, ps, bit/s, counts, the index of a choice, 0 or 1, or the bits
/// of a `double`.
pub type Values = [u64; PARAMETERS];
/// A row of recorded variables.
pub type Row = [i64; VARIABLES];

/// The field that a data frame carries.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tag {
    /// Content, for the scheme alone.
    pub word: [u64; WORDS],
    /// Its form on the wire: 0 none, 1 ECN of an IP header, 2 ECN of a RoCEv2 packet, 3 a CN-TAG.
    pub label: u8,
    /// 1: it says that a queue was congested.
    pub marked: u8,
    /// Zero.
    pub reserved: [u8; 6],
}

/// The field that an acknowledgement carries.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Echo {
    /// Content, for the scheme alone.
    pub word: [u64; WORDS],
    /// 1: it says that the frame was marked.
    pub marked: u8,
    /// Zero.
    pub reserved: [u8; 7],
}

/// A control frame.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signal {
    /// Content. The variables of a signal are its first words, as signed numbers.
    pub word: [u64; WORDS],
    /// Length of the frame with FCS, from 64 to 1522.
    pub octets: u16,
    /// 0 a notification, 1 a probe, 2 its reply.
    pub kind: u8,
    /// Zero.
    pub reserved: [u8; 5],
}

/// A data frame.
#[repr(C)]
#[derive(Debug)]
pub struct Frame<'a> {
    /// Octets that the flow had sent before it.
    pub seq: u64,
    /// When it was released, ps.
    pub sent_at: u64,
    /// Its tag; edits travel on with the frame.
    pub tag: &'a mut Tag,
    /// The flow.
    pub flow: u32,
    /// Length.
    pub octets: u16,
    /// Weight of the flow.
    pub weight: u16,
    /// 1: the flow ends with it.
    pub last: u8,
    /// 1: a full queue cut it down to its header.
    pub trimmed: u8,
    /// On arrival, 1: it is lost, or its header alone goes on.
    pub dropped: u8,
    /// Zero.
    pub reserved: [u8; 5],
}

/// An output queue.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Queue {
    /// Octets in it.
    pub len: u64,
    /// Octets that have left it.
    pub sent: u64,
    /// Rate of the port, bit/s.
    pub rate: u64,
    /// Frames in it.
    pub frames: u32,
    /// 1: flow control has stopped it.
    pub paused: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

/// Where a congestion point sits.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Its identity (`cnmCpId`).
    pub cp: u64,
    /// Rate of the line, bit/s.
    pub line: u64,
    /// Size of the queue, octets.
    pub capacity: u64,
    /// Offset of periodic measurements, ps.
    pub phase: u64,
}

/// Thresholds of a queue, by which a congestion point marks instead of those of the parameters.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Ramp {
    /// Octets up to which no frame is marked.
    pub k_min: u64,
    /// Octets beyond which every frame is marked.
    pub k_max: u64,
    /// Probability at `k_max`, times 2^32.
    pub p_max: u64,
}

/// A frame that a reaction point lets go.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Release {
    /// Octets that the flow has sent before it.
    pub seq: u64,
    /// The flow.
    pub flow: u32,
    /// Length.
    pub octets: u16,
    /// 1: the flow ends with it.
    pub last: u8,
    /// Zero.
    pub reserved: u8,
}

/// An acknowledgement.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Ack {
    /// Octets that are now known to have arrived.
    pub acked: u64,
    /// Octets that are now known to be lost.
    pub lost: u64,
    /// Time since the release of the acknowledged frame, ps.
    pub rtt: u64,
    /// The echo.
    pub echo: Echo,
}

/// The state of a reaction point that the engine reads after each call. It keeps its values from call to call.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Rate at which frames may be released, bit/s: from 0 to the line's.
    pub rate: i64,
    /// Octets that may be in flight; -1 for no window.
    pub window: i64,
    /// When the timer runs out, ps; [`NEVER`] for no timer.
    pub timeout: u64,
    /// 1: a rate limiter is installed.
    pub limiting: u8,
    /// 0: a frame goes that fits the window as a whole; 1: any, while less than the window is in flight.
    pub gate: u8,
    /// 0: a new rate stretches the rest of the gap; 1: all of it.
    pub gap: u8,
    /// Zero.
    pub reserved: [u8; 5],
}

/// A call's time, random words and signals.
#[repr(C)]
pub struct Call<'a> {
    /// Now, ps.
    pub now: u64,
    /// The next random word, uniform over all 2^32 values.
    pub draw: DrawFn,
    /// Sends a signal.
    pub send: SendFn,
    host: Host<'a>,
}

/// What a call's functions reach: the header has it as two pairs of pointers that are nobody else's.
struct Host<'a> {
    draw: &'a mut dyn Draw,
    out: &'a mut dyn Out<Foreign>,
}

/// `penstock_call.draw`.
pub type DrawFn = extern "C" fn(&mut Call<'_>) -> u32;
/// `penstock_call.send`: to 0 the source, 1 the destination, 2 the previous hop of a flow; in the queue of 0 the flow's priority, 1 control
/// frames.
pub type SendFn = extern "C" fn(&mut Call<'_>, u32, u32, u32, &Signal);

#[allow(improper_ctypes_definitions, reason = "the header gives nobody a name for the references at the end of a call")]
extern "C" fn draw(call: &mut Call<'_>) -> u32 {
    call.host.draw.draw()
}

#[allow(improper_ctypes_definitions, reason = "as above")]
extern "C" fn send(call: &mut Call<'_>, to: u32, flow: u32, class: u32, signal: &Signal) {
    let flow = crate::FlowKey(flow);
    let to = match to {
        0 => crate::To::Source(flow),
        1 => crate::To::Destination(flow),
        _ => crate::To::PreviousHop(flow),
    };
    let class = if class == 0 { crate::Class::Data } else { crate::Class::Control };
    let octets = signal.octets.clamp(64, 1522);
    call.host.out.send(to, class, Signal { octets, ..*signal });
}

impl<'a> Call<'a> {
    pub(super) fn new(now: crate::Instant, words: &'a mut dyn Draw, out: &'a mut dyn Out<Foreign>) -> Self {
        Self { now: now.0, draw, send, host: Host { draw: words, out } }
    }
}

/// What a point is made from.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// The word that the scheme's definition has for its functions.
    pub user: u64,
    /// The parameters.
    pub values: &'a Values,
}

/// Declares the table of functions, the enum that names them, and their names.
macro_rules! functions {
    ($($(#[$doc:meta])* $field:ident $variant:ident: fn($($argument:ty),*) $(-> $answer:ty)?;)+) => {
        /// The functions of a scheme, in the order of `penstock_functions`. One that is null is not called.
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default)]
        pub struct Functions {
            $($(#[$doc])* pub $field: Option<extern "C" fn($($argument),*) $(-> $answer)?>,)+
        }

        /// A function of the table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Function {
            $($(#[$doc])* $variant),+
        }

        impl Function {
            /// Every function, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in the header.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($field)),+ }
            }
        }
    };
}

functions! {
    /// A congestion point is made: its memory is zero.
    cp_create CpCreate: fn(&mut u64, &Setup<'_>, &Place, &mut u64);
    /// Its parameters change.
    cp_configure CpConfigure: fn(&mut u64, &Setup<'_>, &Place, &mut u64);
    /// The scenario gives the queue other thresholds: marks follow these from now on, whatever the parameters say.
    cp_set_thresholds CpSetThresholds: fn(&mut u64, &Ramp);
    /// A data frame has come to the queue, or was dropped at it.
    cp_on_arrival CpOnArrival: fn(&mut u64, &mut Call<'_>, &mut Frame<'_>, &Queue, &mut u64);
    /// Whether a data frame among this number of octets is marked.
    cp_mark CpMark: fn(&mut u64, &mut Call<'_>, &mut Frame<'_>, u64) -> u32;
    /// The transmission of a data frame starts, at this time.
    cp_on_transmission CpOnTransmission: fn(&mut u64, u64, &mut Frame<'_>, &Queue);
    /// A data frame has left the queue, at this time.
    cp_on_departure CpOnDeparture: fn(&mut u64, u64, &mut Frame<'_>, &Queue, &mut u64);
    /// The transmission of a signal towards the destination starts, at this time: the point may edit it.
    cp_on_probe_departure CpOnProbeDeparture: fn(&mut u64, u64, &mut Signal, &Queue);
    /// The next hop of a flow has sent a signal.
    cp_on_signal CpOnSignal: fn(&mut u64, &mut Call<'_>, u32, &Signal, &Queue, &mut u64);
    /// The timer of a congestion point has run out.
    cp_on_timer CpOnTimer: fn(&mut u64, &mut Call<'_>, &Queue, &mut u64);
    /// Writes the variables of a congestion point.
    cp_variables CpVariables: fn(&u64, &mut Row);
    /// A notification point is made, for a flow.
    np_create NpCreate: fn(&mut u64, &Setup<'_>, u32, &mut u64);
    /// Its parameters change.
    np_configure NpConfigure: fn(&mut u64, &Setup<'_>, &mut u64);
    /// A data frame has arrived at its destination.
    np_on_frame NpOnFrame: fn(&mut u64, &mut Call<'_>, &mut Frame<'_>, &mut u64);
    /// Writes the echo of a data frame; 0 acknowledges nothing now.
    np_acknowledge NpAcknowledge: fn(&mut u64, u64, &mut Frame<'_>, &mut Echo) -> u32;
    /// A signal for the destination has arrived.
    np_on_signal NpOnSignal: fn(&mut u64, &mut Call<'_>, u32, &Signal, &mut u64);
    /// The timer of a notification point has run out.
    np_on_timer NpOnTimer: fn(&mut u64, &mut Call<'_>, &mut u64);
    /// A reaction point is made, before a line of this rate.
    rp_create RpCreate: fn(&mut u64, &Setup<'_>, u64, &mut Limits);
    /// Its parameters change.
    rp_configure RpConfigure: fn(&mut u64, &Setup<'_>, u64, &mut Limits);
    /// The round-trip time of the empty network, ps.
    rp_on_round_trip RpOnRoundTrip: fn(&mut u64, u64, &mut Limits);
    /// A flow starts.
    rp_on_start RpOnStart: fn(&mut u64, &mut Call<'_>, u32, &mut Limits);
    /// A flow is stopped, at this time.
    rp_on_stop RpOnStop: fn(&mut u64, u64, u32, &mut Limits);
    /// A signal for the source has arrived.
    rp_on_signal RpOnSignal: fn(&mut u64, &mut Call<'_>, u32, &Signal, &mut Limits);
    /// Frames have been acknowledged.
    rp_on_ack RpOnAck: fn(&mut u64, &mut Call<'_>, u32, &Ack, &mut Limits);
    /// No acknowledgement has come: all that was in flight, this number of octets, counts as lost.
    rp_on_silence RpOnSilence: fn(&mut u64, u64, u32, u64, &mut Limits);
    /// A frame is released, and gets its tag.
    rp_on_send RpOnSend: fn(&mut u64, &mut Call<'_>, &Release, &mut Tag, &mut Limits);
    /// The timer of a reaction point has run out.
    rp_on_timer RpOnTimer: fn(&mut u64, &mut Call<'_>, &mut Limits);
    /// Writes the variables of a reaction point.
    rp_variables RpVariables: fn(&u64, &mut Row);
    /// Copies what a point has outside of its memory, after the memory itself was copied.
    clone Clone: fn(&mut u64);
    /// Frees what a point has outside of its memory.
    destroy Destroy: fn(&mut u64);
}
