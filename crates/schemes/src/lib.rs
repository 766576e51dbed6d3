//! Congestion-management schemes of data-center Ethernet, as state machines without input or output.
//!
//! A scheme has up to three roles, each a state machine that owns no clock, socket or random generator:
//!
//! ```text
//!             data frame + tag                          data frame + tag
//!   +-----------------+        +----------------------+        +--------------------+
//!   | ReactionPoint   | =====> | CongestionPoint      | =====> | NotificationPoint  |
//!   | at the source,  |        | one per output queue |        | at the destination |
//!   | a rate limiter  |        | and priority         |        |                    |
//!   +-----------------+        +----------------------+        +--------------------+
//!            ^                        | signal                          | signal
//!            +------------------------+---------------------------------+
//! ```
//!
//! The caller (the simulator, the Linux testbed, the co-simulation with hardware) passes time, the queue's state, the frame and random words as
//! arguments. The state machine answers through return values, through the frame's tag, and through [`Out`].
//!
//! # Rules for callers and schemes
//!
//! 1. `now` never decreases from one call of an object to its next.
//! 2. Nothing here fails. Illegal messages are refused where octets are parsed, illegal parameters where scenarios are read.
//! 3. The same calls with the same random words give the same outputs; a clone continues as the original does.
//! 4. After every call the caller reads `next_timeout` again (and a reaction point's [`allowance`](ReactionPoint::allowance)).
//!    A timer that was moved later may still fire at the old time: an `on_timeout` before `next_timeout` does nothing.
//!    After an `on_timeout` in time, `next_timeout` is later than `now`, or `None`.
//! 5. A departure at time t is reported before an arrival at t. On arrival the queue's state includes the arriving frame,
//!    unless it was dropped; on departure it no longer includes the departing frame. A header is written before it is sent:
//!    [`CongestionPoint::on_transmission`] and [`CongestionPoint::on_probe_departure`] are called at the start of the
//!    transmission, whether or not the frame still counts as queued. The queue's state that they get does not include it.
//! 6. Memory is allocated in `new` and `configure` alone.
//!
//! # Acknowledgements and windows
//!
//! ```text
//!   source                                   destination
//!   on_send --- frame, seq, tag -----------> on_frame, acknowledge -> Some(echo)
//!   on_ack  <-- Ack: acked, lost, rtt, echo ------+
//! ```
//!
//! A notification point that wants a frame acknowledged answers with an echo. The acknowledgement covers all frames of the
//! flow up to that one. The caller counts from it: octets that are newly known to have arrived or to be lost, the round-trip time, and octets in
//! flight. A scheme states its window ([`Allowance::window`]) and counts nothing itself. One without acknowledgements has the echo [`Never`].
//!
//! # Grants
//!
//! ```text
//!   sources                                  host with several destinations
//!   on_send --- frames --------------------> on_frame   asks? --+
//!   granted <-- signal: go on -------------- grant <--- turns --+  one frame's time each
//! ```
//!
//! A frame goes when its reaction point has been [granted](ReactionPoint::granted) one. A notification point [asks](NotificationPoint::asks) for
//! turns, which the caller gives no faster than the host's line carries the frames, and [grants](NotificationPoint::grant) one in its turn.
//! Points that are [ranked](NotificationPoint::RANKS) grant in the order of what is left instead, and frames have a [rank](ReactionPoint::rank).
//!
//! # Parameters that change
//!
//! A caller may change the parameters of a point while it works: `configure`. With the same parameters nothing changes.
//! Otherwise:
//!
//! - All state and counts of the point stay: rates, windows, estimates, stages, lengths of queues, tables of flows, counts
//!   for [`vars`](ReactionPoint::vars). A point without any input so far starts as `new` would create it now.
//! - Rates and windows, and the targets that they recover towards, stay within the new bounds.
//! - A running count or timer ends with the old value, and uses the new one from then on.
//! - A part that a parameter switches on starts as in `new`: a timer that events start waits for the next one. A part that is
//!   switched off is removed with its state. A count in another unit than before starts again.
//! - A table that becomes smaller keeps as many entries as it has room for.
//!
//! Some parameters never change while points work, and `configure` may ignore them: those on which [`Scheme::tag_octets`],
//! [`Scheme::echo_octets`], [`Scheme::moves_to`], [`Scheme::needs_trimming`], [`Scheme::levels`] and [`Scheme::acknowledges`] depend.
//!
//! # Calling a scheme
//!
//! ```
//! use penstock_schemes::{qcn::Qcn, *};
//!
//! /// Random words; the same words give the same answers.
//! struct Words(u32);
//! impl Draw for Words {
//!     fn draw(&mut self) -> u32 {
//!         self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
//!         self.0
//!     }
//! }
//!
//! /// Keeps the signals that the congestion point sends.
//! struct Sent<S: Scheme>(Vec<S::Signal>);
//! impl<S: Scheme> Out<S> for Sent<S> {
//!     fn send(&mut self, _: To, _: Class, signal: S::Signal) {
//!         self.0.push(signal);
//!     }
//! }
//!
//! /// The rate of a source after two hundred frames of 1500 octets, which come to a queue of `len`.
//! fn rate<S: Scheme>(config: &S::Config, line: BitRate, len: Octets) -> BitRate {
//!     let place = Place { cp: CpId::new(0xaa, 0, 0), line, capacity: Octets(150_000), phase: Duration::ZERO };
//!     let (mut cp, mut rp) = (S::Cp::new(config, place), S::Rp::new(config, line));
//!     let (mut words, mut sent, flow) = (Words(1), Sent::<S>(Vec::new()), FlowKey(7));
//!     for i in 0..200 {
//!         let now = Instant::ZERO + Duration::from_us(i);
//!         let release = Release { flow, octets: 1500, seq: Octets(1500 * i), last: false };
//!         let mut tag = rp.on_send(now, release, &mut words, &mut sent);
//!         let frame = Frame {
//!             flow,
//!             octets: 1500,
//!             weight: 1,
//!             seq: release.seq,
//!             last: false,
//!             trimmed: false,
//!             sent_at: now,
//!             tag: &mut tag,
//!         };
//!         let queue = Queue { len, frames: (len.0 / 1500) as u32, rate: line, ..Queue::default() };
//!         cp.on_arrival(now, frame, Fate::Queued, &queue, &mut words, &mut sent);
//!         for signal in std::mem::take(&mut sent.0) {
//!             rp.on_signal(now, flow, signal, &mut words, &mut sent);
//!         }
//!     }
//!     rp.allowance().rate
//! }
//!
//! let line = BitRate::from_gbps(10);
//! let Some(SchemeConfig::Qcn(config)) = SchemeConfig::with_defaults("qcn") else { unreachable!() };
//! assert_eq!(rate::<Qcn>(&config, line, Octets(1500)), line, "a short queue says nothing");
//! assert!(rate::<Qcn>(&config, line, Octets(100_000)) < line, "a long one has slowed the source down");
//! ```
//!
//! # Defining a scheme
//!
//! One file with parameters ([`parameters!`], [`choice!`]), tag, signal and roles, in any crate: a caller that is generic
//! over [`Scheme`], as the crate `penstock-sim` is, takes it. `penstock_conformance::check` holds it to the rules above. In
//! this crate it has a folder, with its page and its state diagram, and a line in [`registry`], from which scenario files,
//! reference pages and the testbed's list follow. Pieces that two
//! schemes share live in [`parts`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod af_qcn;
pub mod annulus;
pub mod bcn;
pub mod ci;
pub mod dcqcn;
pub mod dcqcn_window;
pub mod dctcp;
mod dispatch;
pub mod e2cm;
pub mod efecn;
pub mod expresspass;
pub mod fast_cnp;
pub mod fecn;
pub mod foreign;
pub mod fqcn;
mod frame;
pub mod homa;
pub mod hpcc;
pub mod ici;
pub mod info;
mod message;
pub mod mixed;
pub mod ndp;
pub mod none;
pub mod nscc;
pub mod parts;
pub mod powertcp;
pub mod qcn;
pub mod qcn_adaptive;
pub mod qcn_bs;
pub mod qcn_bs_adaptive;
pub mod qcn_multicast;
pub mod quantity;
mod queue;
pub mod registry;
pub mod rocc;
pub mod sfc;
mod signal;
pub mod smcc;
mod source;
pub mod swift;
#[cfg(test)]
mod testing;
pub mod theta_powertcp;
pub mod timely;
pub mod units;

pub use dispatch::{TypeVisitor, Visitor, visit_type};
pub use frame::{Class, Frame, HEADER, Var};
pub use info::{
    AUTO, Action, Alias, AliasUnit, Bound, Condition, Configuration, Forms, Info, Parameter, Profile, SignalPath,
    Signals, Unit, Value,
};
pub use message::{Label, Message};
pub use queue::{Fate, Place, PortView, Queue, Verdict};
pub use registry::{SCHEMES, SchemeConfig};
pub use signal::{CreditLimit, Never, Signal, SignalKind, To};
pub use source::{Ack, Allowance, Gap, Gate, Rank, Release, Report};
pub use units::{BitRate, CpId, Duration, FlowKey, Instant, Octets};

use core::fmt::Debug;

/// A congestion-management scheme: the tag on data frames, the signals and echoes that come back, and the points that
/// act on them.
///
/// Implemented by a unit type that is never made: it names the types that belong together.
pub trait Scheme: Copy + Debug + Send + 'static {
    /// Name, parameters, profiles, properties.
    const INFO: Info;
    /// Typed parameters.
    type Config: Configuration + Clone + Debug + Send + Sync;
    /// The field that each copy of a data frame carries: nothing, an ECN mark, a congestion point's identity,
    /// telemetry.
    type Tag: Copy + Default + Debug + Send;
    /// The field that an acknowledgement carries back to the source: counts of marks, telemetry, or `()` where the
    /// acknowledgement itself is enough. [`Never`] for a scheme whose destinations acknowledge nothing: it then costs
    /// nothing.
    type Echo: Copy + Debug + Send;
    /// Every control frame of the scheme: notification, probe and its echo, acknowledgement.
    type Signal: Signal;
    /// Watches an output queue.
    type Cp: CongestionPoint<Self>;
    /// Answers at the destination.
    type Np: NotificationPoint<Self>;
    /// Limits the source.
    type Rp: ReactionPoint<Self>;

    /// The entry of the scheme that runs with `config`: [`INFO`](Self::INFO), unless the type stands for several ([`foreign`]).
    fn info(_config: &Self::Config) -> &'static Info {
        const { &Self::INFO }
    }

    /// The columns of congestion points, reaction points and signals.
    fn variables(_config: &Self::Config) -> [&'static [Var]; 3] {
        [Self::Cp::VARS, Self::Rp::VARS, Self::Signal::VARS]
    }

    /// Octets by which a tag lengthens each data frame, from its source to its destination.
    fn tag_octets(_config: &Self::Config) -> u16 {
        0
    }

    /// Octets by which an echo lengthens an acknowledgement.
    fn echo_octets(_config: &Self::Config) -> u16 {
        0
    }

    /// The part of a tag that data frames carry in a format of the wire.
    fn label(_tag: &Self::Tag) -> Label {
        Label::Bare
    }

    /// The tag of a data frame that carries `label`: the reverse of [`label`](Self::label), for a scheme that the testbed runs.
    fn from_label(_label: Label) -> Self::Tag {
        Self::Tag::default()
    }

    /// Whether an echo says that a frame was marked. (RFC 3168, section 6.1.3: ECN-Echo)
    fn echoes_mark(_echo: &Self::Echo) -> bool {
        false
    }

    /// The content of an echo, for callers that know no type of a scheme.
    fn report(_echo: &Self::Echo) -> Report {
        Report::default()
    }

    /// The echo with this content: the reverse of [`report`](Self::report). `None` if the scheme has no echo, or one with more in it.
    fn from_report(_report: &Report) -> Option<Self::Echo> {
        None
    }

    /// The priority to whose queues congestion points move frames of others ([`Verdict::Move`]): the caller sees to it that ports have such a
    /// queue.
    fn moves_to(_config: &Self::Config) -> Option<u8> {
        None
    }

    /// Whether it needs switches that trim: a data frame that finds no room there goes on as its header ([`HEADER`] octets), with the control
    /// frames. The caller sees to it, and may trim for other schemes as well.
    fn needs_trimming(_config: &Self::Config) -> bool {
        false
    }

    /// The part of each line that its signals may take where they are credits for data on the opposite direction. The caller sees to it.
    fn credit_limit(_config: &Self::Config) -> Option<CreditLimit> {
        None
    }

    /// How many priorities its frames may have, from that of their flow upwards: see [`ReactionPoint::rank`]. The caller sees to it that ports have
    /// queues for them; where there are none, frames have the priority of their flow.
    fn levels(_config: &Self::Config) -> u8 {
        1
    }

    /// Whether destinations acknowledge frames: the type of echo has values. Under some parameters they may be silent all the
    /// same, as [`mixed`] is where its scheme has no acknowledgements.
    fn acknowledges(_config: &Self::Config) -> bool {
        size_of::<Option<Self::Echo>>() > 0
    }
}

/// A source of random words. Hardware takes the same words at a port.
pub trait Draw {
    /// The next word, uniform over all 2^32 values.
    fn draw(&mut self) -> u32;
}

/// Where signals go: the caller's buffer.
pub trait Out<S: Scheme> {
    /// Sends `signal`.
    fn send(&mut self, to: To, class: Class, signal: S::Signal);
}

/// Watches one output queue and priority, in a switch or at a host's port. (802.1Qau: CP)
pub trait CongestionPoint<S: Scheme>: Clone + Debug + Send {
    /// The columns that [`vars`](Self::vars) fills.
    const VARS: &'static [Var] = &[];

    /// Whether [`admit`](Self::admit) is asked: a question at every hop, which most schemes need not pay for.
    const ADMITS: bool = false;

    /// Whether [`mark`](Self::mark) is called: for each data frame, which most schemes need not pay for.
    const MARKS: bool = false;

    /// Whether [`on_transmission`](Self::on_transmission) and [`on_probe_departure`](Self::on_probe_departure) are called: for each
    /// frame, which most schemes need not pay for.
    const STAMPS: bool = false;

    /// A point at `place` with an empty queue.
    fn new(config: &S::Config, place: Place) -> Self;

    /// The scheme's parameters change: from now on the point goes by `config`. `place` is the one that `new` had. [Parameters that
    /// change](crate#parameters-that-change) says what stays.
    fn configure(&mut self, config: &S::Config, place: Place);

    /// The queue has its own thresholds (WRED): a point that marks by its length goes by these from now on, whatever its parameters say.
    fn set_thresholds(&mut self, _ramp: parts::marking::Ramp) {}

    /// Whether it may signal a flow other than that of the frame it handles. If so, a simulator keeps the state of finished
    /// flows. Return false if it only ever signals the flow of that frame.
    fn remembers_flows(_config: &S::Config) -> bool {
        true
    }

    /// A data frame comes to the queue, which `fits` it or not; the queue's state does not include it yet.
    fn admit(
        &mut self,
        _now: Instant,
        _frame: Frame<'_, S::Tag>,
        _fits: bool,
        _queue: &Queue,
        _port: &impl PortView,
        _draw: &mut impl Draw,
    ) -> Verdict {
        Verdict::Accept
    }

    /// A data frame has come to the queue, or was dropped or trimmed at it. Where it was moved to another queue, the congestion
    /// point of that other queue hears of it, if there is one. Marks are for [`mark`](Self::mark).
    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, S::Tag>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<S>,
    );

    /// Marks a data frame, or leaves it as it is; says whether it marks it, marked elsewhere before or not. The caller asks once a frame, after
    /// [`on_arrival`](Self::on_arrival) or as its transmission starts, and decides on `len`: octets in the queue or the port, this frame included.
    fn mark(&mut self, _now: Instant, _frame: Frame<'_, S::Tag>, _len: Octets, _draw: &mut impl Draw) -> bool {
        false
    }

    /// The transmission of a data frame starts: the last moment at which a switch can write into it. May edit the tag; cannot send.
    /// Neither `queue.len` nor `queue.sent` includes the frame.
    fn on_transmission(&mut self, _now: Instant, _frame: Frame<'_, S::Tag>, _queue: &Queue) {}

    /// A data frame has left the queue, as the network counts queues: at the start of its transmission or at its end. The frame
    /// itself can no longer be edited: that is for [`on_transmission`](Self::on_transmission).
    fn on_departure(&mut self, _now: Instant, _frame: Frame<'_, S::Tag>, _queue: &Queue) {}

    /// The next hop of `flow` has sent a signal ([`To::PreviousHop`]).
    fn on_signal(
        &mut self,
        _now: Instant,
        _flow: FlowKey,
        _signal: S::Signal,
        _queue: &Queue,
        _draw: &mut impl Draw,
        _out: &mut impl Out<S>,
    ) {
    }

    /// The transmission of a signal towards the destination starts at this port; may be edited (a rate probe's rate, for
    /// instance). Called where the point [`STAMPS`](Self::STAMPS).
    fn on_probe_departure(&mut self, _now: Instant, _signal: &mut S::Signal, _queue: &Queue) {}

    /// When [`on_timeout`](Self::on_timeout) is due.
    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    /// A timer has run out (or fires early, and then nothing happens). Where the point [`MARKS`](Self::MARKS), `queue.len` is the
    /// length by which it marks: that of the queue, or of all data queues of the port.
    fn on_timeout(&mut self, _now: Instant, _queue: &Queue, _draw: &mut impl Draw, _out: &mut impl Out<S>) {}

    /// Writes the current value of each of [`VARS`](Self::VARS) to `row`.
    fn vars(&self, _row: &mut [i64]) {}
}

/// Sits at a destination, one per flow: turns marks into signals, reflects probes, grants frames. (RoCEv2: NP)
pub trait NotificationPoint<S: Scheme>: Clone + Debug + Send {
    /// Whether it grants frames, in turns with the others of its host: else nothing [asks](Self::asks) after a frame.
    const GRANTS: bool = false;

    /// The point for `flow`.
    fn new(config: &S::Config, flow: FlowKey) -> Self;

    /// The scheme's parameters change: from now on the point goes by `config`. [Parameters that
    /// change](crate#parameters-that-change) says what stays.
    fn configure(&mut self, config: &S::Config);

    /// A data frame has arrived.
    fn on_frame(&mut self, _now: Instant, _frame: Frame<'_, S::Tag>, _draw: &mut impl Draw, _out: &mut impl Out<S>) {}

    /// The echo that the acknowledgement of a data frame carries back; `None` acknowledges nothing now. Asked after
    /// [`on_frame`](Self::on_frame). An acknowledgement covers all frames of the flow up to this one, so that a point
    /// may leave out some; it must not leave out the last.
    fn acknowledge(&mut self, _now: Instant, _frame: Frame<'_, S::Tag>) -> Option<S::Echo> {
        None
    }

    /// Every octet of the flow, or of a message of it, has arrived.
    fn on_complete(&mut self, _now: Instant, _out: &mut impl Out<S>) {}

    /// Whether the point waits for a turn among those of its host that do.
    fn asks(&self) -> bool {
        false
    }

    /// It is the point's turn, though it may no longer [ask](Self::asks). Sends its grant; returns the octets of the frame that may come of it, or 0.
    /// The next turn is when the host's line, of rate `line`, could have carried that.
    fn grant(&mut self, _now: Instant, _line: BitRate, _draw: &mut impl Draw, _out: &mut impl Out<S>) -> u16 {
        0
    }

    /// Whether the points of a host grant by rank: else nothing asks [what is left](Self::left_to_grant).
    const RANKS: bool = false;

    /// Octets that it has not granted, by which the points of its host are ranked, the least first; `None` without any.
    fn left_to_grant(&self) -> Option<u64> {
        None
    }

    /// It has place `place`, from 0, among the `of` points of its host with something left to grant: sends a grant, if one is due. Whether the point
    /// after it may grant as well. Called for each in turn after a frame, a signal or a timer of one.
    fn grant_ranked(&mut self, _now: Instant, _place: u32, _of: u32, _out: &mut impl Out<S>) -> bool {
        false
    }

    /// A signal for the destination (a probe) of `flow` has arrived.
    fn on_signal(
        &mut self,
        _now: Instant,
        _flow: FlowKey,
        _signal: S::Signal,
        _draw: &mut impl Draw,
        _out: &mut impl Out<S>,
    ) {
    }

    /// When [`on_timeout`](Self::on_timeout) is due.
    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    /// A timer has run out (or fires early, and then nothing happens).
    fn on_timeout(&mut self, _now: Instant, _draw: &mut impl Draw, _out: &mut impl Out<S>) {}
}

/// Limits one source: a flow, or the flows that share a rate limiter. (802.1Qau: RP)
pub trait ReactionPoint<S: Scheme>: Clone + Debug + Send {
    /// The columns that [`vars`](Self::vars) fills.
    const VARS: &'static [Var] = &[];

    /// A point in front of a line of rate `line`, before its first flow starts.
    fn new(config: &S::Config, line: BitRate) -> Self;

    /// The scheme's parameters change: from now on the point goes by `config`. `line` is the one that `new` had. [Parameters that
    /// change](crate#parameters-that-change) says what stays. Rate and window stay within the new bounds: below a new minimum they
    /// are raised to it.
    fn configure(&mut self, config: &S::Config, line: BitRate);

    /// Whether the point uses the round-trip time given to [`learn_round_trip`](Self::learn_round_trip).
    const LEARNS_ROUND_TRIP: bool = false;

    /// Sets the round-trip time of a frame and its acknowledgement in the empty network, over the longest path of the point's flows.
    /// Called before the first of them starts, by callers that know it: a simulator does, a network interface does not.
    fn learn_round_trip(&mut self, _round_trip: Duration) {}

    /// `flow` starts.
    fn on_start(&mut self, _now: Instant, _flow: FlowKey, _draw: &mut impl Draw, _out: &mut impl Out<S>) {}

    /// `flow` is stopped: it sends no more. (One that ends by itself says so in its last frame: [`Release::last`].)
    fn on_stop(&mut self, _now: Instant, _flow: FlowKey) {}

    /// A signal for the source of `flow` has arrived.
    fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowKey,
        signal: S::Signal,
        draw: &mut impl Draw,
        out: &mut impl Out<S>,
    );

    /// Frames of `flow` have been acknowledged.
    fn on_ack(
        &mut self,
        _now: Instant,
        _flow: FlowKey,
        _ack: &Ack<S::Echo>,
        _draw: &mut impl Draw,
        _out: &mut impl Out<S>,
    ) {
    }

    /// No acknowledgement of `flow` has come for so long that the caller holds `lost` octets, all that were in flight, for
    /// lost.
    fn on_silence(&mut self, _now: Instant, _flow: FlowKey, _lost: Octets) {}

    /// A frame is released. Returns the tag that it carries.
    fn on_send(&mut self, now: Instant, frame: Release, draw: &mut impl Draw, out: &mut impl Out<S>) -> S::Tag;

    /// When [`on_timeout`](Self::on_timeout) is due.
    fn next_timeout(&self) -> Option<Instant>;

    /// A timer has run out (or fires early, and then nothing happens).
    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<S>);

    /// The rate and the window in force now. The rate is in [minimum, line rate], or zero.
    fn allowance(&self) -> Allowance;

    /// Whether frames need grants of their destination: else nothing asks whether one is [granted](Self::granted).
    const NEEDS_GRANTS: bool = false;

    /// Whether a frame is granted.
    fn granted(&self) -> bool {
        true
    }

    /// Whether its frames have a rank: else nothing asks for it, and messages are not announced.
    const RANKS: bool = false;

    /// A message of `flow` is to be sent, or its only one: `octets` in frames. Called before it starts; not for a flow without end.
    fn on_message(&mut self, _flow: FlowKey, _octets: Octets) {}

    /// The rank of its next frame; `None` without one.
    fn rank(&self) -> Option<Rank> {
        None
    }

    /// The rule by which the window lets a frame go.
    fn gate(&self) -> Gate {
        Gate::Whole
    }

    /// What a new rate does to the time until the next frame, where the caller paces by time.
    fn gap(&self) -> Gap {
        Gap::Rest
    }

    /// When the next frame of `flow` may go as far as its own regulator is concerned: `now`, or earlier, if there is none. Asked where several flows
    /// share a reaction point that keeps more than one regulator; the rate of [`allowance`](Self::allowance) holds for all of them together.
    fn admits(&self, now: Instant, _flow: FlowKey) -> Instant {
        now
    }

    /// The priority whose pauses stop `flow`, where it is not its own. Asked after a signal of the next hop ([`To::PreviousHop`]).
    fn stopped_by(&self, _flow: FlowKey) -> Option<u8> {
        None
    }

    /// Whether a rate limiter is installed. False before the first signal and after its release: then the rate is the line's.
    fn limiting(&self) -> bool;

    /// Writes the current value of each of [`VARS`](Self::VARS) to `row`.
    fn vars(&self, _row: &mut [i64]) {}
}
