//! Several schemes in one network, by priority: an enum of all schemes that is itself a scheme.
//!
//! ```text
//!   priority 3 : qcn     tag, signal, points of Qcn  --+
//!   priority 5 : smcc    tag, signal, points of Smcc --+--> variants of Tag, Signal, Cp, Np, Rp of Mixed
//!   priority 7 : none    …                           --+
//! ```
//!
//! Each point is made from its own priority's parameters and from then on meets only frames and signals of that priority;
//! a priority therefore behaves as if its scheme ran alone. Calls are not inlined, or each engine that is compiled would
//! contain the code of all schemes at every call.
//!
//! `Mixed` is not listed: it has no name in files and no parameters. [`SchemeConfig::visit`] uses it where the priorities'
//! schemes differ, and [`SchemeConfig::visit_engine`] everywhere with the feature `one-engine`. It declares no variables, since
//! those of its members differ; a row that is not empty has been made for the one scheme that all priorities have.

mod meetings;

use self::meetings::{cp_meets, np_meets, rp_learns, rp_meets};
use crate::info::{Configuration, Info, Value};
use crate::parts::marking::Ramp;
use crate::registry::{SchemeConfig, for_each_scheme};
use crate::units::{Duration, FlowKey, Instant, Octets};
use crate::{
    Ack, Allowance, BitRate, Class, CongestionPoint, CreditLimit, Draw, Fate, Frame, Gap, Gate, Label, Message,
    NotificationPoint, Out, Place, PortView, Queue, Rank, ReactionPoint, Release, Scheme, To, Verdict,
};

/// The schemes of a network whose priorities have different ones.
#[derive(Debug, Clone, Copy)]
pub struct Mixed;

/// A scheme of the registry, with the conversions between its types and those of [`Mixed`].
trait Member: Scheme {
    /// The parameters.
    fn config(config: &SchemeConfig) -> &Self::Config;
    /// The tag, if it is of this scheme. It is not where a frame comes from a source that nothing controls: its tag is bare.
    fn tag(tag: Tag) -> Option<Self::Tag>;
    /// As a variant.
    fn mixed_tag(tag: Self::Tag) -> Tag;
    /// The echo.
    fn echo(echo: Echo) -> Self::Echo;
    /// As a variant.
    fn mixed_echo(echo: Self::Echo) -> Echo;
    /// The signal.
    fn signal(signal: Signal) -> Self::Signal;
    /// As a variant.
    fn mixed_signal(signal: Self::Signal) -> Signal;
}

/// Takes a member's signals to the caller's buffer.
struct Mixing<'a, O>(&'a mut O);

impl<M: Member, O: Out<Mixed>> Out<M> for Mixing<'_, O> {
    fn send(&mut self, to: To, class: Class, signal: M::Signal) {
        self.0.send(to, class, M::mixed_signal(signal));
    }
}

/// Shows a member the frame with its own tag, and keeps the tag as the member leaves it.
fn with_own_tag<M: Member, R>(frame: Frame<'_, Tag>, call: impl FnOnce(Frame<'_, M::Tag>) -> R) -> R {
    let Frame { flow, octets, weight, seq, last, trimmed, sent_at, tag } = frame;
    let mut own = M::tag(*tag).unwrap_or_default();
    let answer = call(Frame { flow, octets, weight, seq, last, trimmed, sent_at, tag: &mut own });
    *tag = M::mixed_tag(own);
    answer
}

/// Shows a member the signal as its own, and keeps the signal as the member leaves it.
fn with_own_signal<M: Member>(signal: &mut Signal, call: impl FnOnce(&mut M::Signal)) {
    let mut own = M::signal(*signal);
    call(&mut own);
    *signal = M::mixed_signal(own);
}

macro_rules! mixed {
    ($($variant:ident: $scheme:ty),+ $(,)?) => {
        /// The tag of one of the schemes.
        #[derive(Debug, Clone, Copy, Default)]
        pub enum Tag {
            /// No scheme has seen the frame yet.
            #[default]
            Bare,
            $(#[doc = concat!("Of `", stringify!($scheme), "`.")] $variant(<$scheme as Scheme>::Tag)),+
        }

        /// The echo of one of the schemes.
        #[derive(Debug, Clone, Copy)]
        pub enum Echo {
            $(#[doc = concat!("Of `", stringify!($scheme), "`.")] $variant(<$scheme as Scheme>::Echo)),+
        }

        /// The signal of one of the schemes.
        #[derive(Debug, Clone, Copy)]
        pub enum Signal {
            $(#[doc = concat!("Of `", stringify!($scheme), "`.")] $variant(<$scheme as Scheme>::Signal)),+
        }

        impl crate::Signal for Signal {
            fn octets(&self) -> u16 {
                match self { $(Self::$variant(own) => own.octets()),+ }
            }

            fn kind(&self) -> crate::SignalKind {
                match self { $(Self::$variant(own) => own.kind()),+ }
            }

            fn message(&self) -> Option<Message> {
                match self { $(Self::$variant(own) => own.message()),+ }
            }

            fn vars(&self, row: &mut [i64]) {
                if !row.is_empty() {
                    match self { $(Self::$variant(own) => own.vars(row)),+ }
                }
            }
        }

        /// The congestion point of one of the schemes.
        #[derive(Debug, Clone)]
        #[allow(clippy::large_enum_variant, reason = "a box would cost an allocation and a detour at each call")]
        pub enum Cp {
            $(#[doc = concat!("Of `", stringify!($scheme), "`.")] $variant(<$scheme as Scheme>::Cp)),+
        }

        /// The notification point of one of the schemes.
        #[derive(Debug, Clone)]
        #[allow(clippy::large_enum_variant, reason = "a box would cost an allocation and a detour at each call")]
        pub enum Np {
            $(#[doc = concat!("Of `", stringify!($scheme), "`.")] $variant(<$scheme as Scheme>::Np)),+
        }

        /// The reaction point of one of the schemes.
        #[derive(Debug, Clone)]
        #[allow(clippy::large_enum_variant, reason = "a box would cost an allocation and a detour at each call")]
        pub enum Rp {
            $(#[doc = concat!("Of `", stringify!($scheme), "`.")] $variant(<$scheme as Scheme>::Rp)),+
        }

        $(impl Member for $scheme {
            fn tag(tag: Tag) -> Option<Self::Tag> {
                if let Tag::$variant(own) = tag { Some(own) } else { None }
            }

            fn config(config: &SchemeConfig) -> &Self::Config {
                if let SchemeConfig::$variant(own) = config { own } else {
                    panic!("{config:?} has come to a point of {}: parameters stay in their priority", Self::INFO.name)
                }
            }

            fn mixed_tag(tag: Self::Tag) -> Tag {
                Tag::$variant(tag)
            }

            #[allow(irrefutable_let_patterns, reason = "while one scheme alone has acknowledgements, or none")]
            fn echo(echo: Echo) -> Self::Echo {
                if let Echo::$variant(own) = echo { own } else {
                    panic!("{echo:?} has come to a point of {}: acknowledgements stay in their priority", Self::INFO.name)
                }
            }

            fn mixed_echo(echo: Self::Echo) -> Echo {
                Echo::$variant(echo)
            }

            fn signal(signal: Signal) -> Self::Signal {
                if let Signal::$variant(own) = signal { own } else {
                    panic!("{signal:?} has come to a point of {}: signals stay in their priority", Self::INFO.name)
                }
            }

            fn mixed_signal(signal: Self::Signal) -> Signal {
                Signal::$variant(signal)
            }
        })+

        impl Scheme for Mixed {
            const INFO: Info = Info {
                name: "mixed",
                title: "Several schemes by priority",
                source: "802.1Qau clause 30: a congestion-managed domain is one of a priority",
                description: "Each priority runs its own scheme.",
                ..Info::UNLISTED
            };
            type Config = SchemeConfig;
            type Tag = Tag;
            type Echo = Echo;
            type Signal = Signal;
            type Cp = Cp;
            type Np = Np;
            type Rp = Rp;

            fn tag_octets(config: &SchemeConfig) -> u16 {
                match config { $(SchemeConfig::$variant(own) => <$scheme as Scheme>::tag_octets(own)),+ }
            }

            fn echo_octets(config: &SchemeConfig) -> u16 {
                match config { $(SchemeConfig::$variant(own) => <$scheme as Scheme>::echo_octets(own)),+ }
            }

            fn label(tag: &Tag) -> Label {
                match tag {
                    Tag::Bare => Label::Bare,
                    $(Tag::$variant(own) => <$scheme as Scheme>::label(own)),+
                }
            }

            fn echoes_mark(echo: &Echo) -> bool {
                match echo { $(Echo::$variant(own) => <$scheme as Scheme>::echoes_mark(own)),+ }
            }

            fn moves_to(config: &SchemeConfig) -> Option<u8> {
                match config { $(SchemeConfig::$variant(own) => <$scheme as Scheme>::moves_to(own)),+ }
            }

            fn needs_trimming(config: &SchemeConfig) -> bool {
                match config { $(SchemeConfig::$variant(own) => <$scheme as Scheme>::needs_trimming(own)),+ }
            }

            fn credit_limit(config: &SchemeConfig) -> Option<CreditLimit> {
                match config { $(SchemeConfig::$variant(own) => <$scheme as Scheme>::credit_limit(own)),+ }
            }

            fn levels(config: &SchemeConfig) -> u8 {
                match config { $(SchemeConfig::$variant(own) => <$scheme as Scheme>::levels(own)),+ }
            }

            fn acknowledges(config: &SchemeConfig) -> bool {
                match config { $(SchemeConfig::$variant(own) => <$scheme as Scheme>::acknowledges(own)),+ }
            }
        }

        impl CongestionPoint<Mixed> for Cp {
            const ADMITS: bool = false $(|| <<$scheme as Scheme>::Cp as CongestionPoint<$scheme>>::ADMITS)+;
            const MARKS: bool = false $(|| <<$scheme as Scheme>::Cp as CongestionPoint<$scheme>>::MARKS)+;
            const STAMPS: bool = false $(|| <<$scheme as Scheme>::Cp as CongestionPoint<$scheme>>::STAMPS)+;

            fn new(config: &SchemeConfig, place: Place) -> Self {
                match config {
                    $(SchemeConfig::$variant(own) => Self::$variant(CongestionPoint::<$scheme>::new(own, place)),)+
                }
            }

            #[inline(never)]
            fn configure(&mut self, config: &SchemeConfig, place: Place) {
                match self {
                    $(Self::$variant(own) => CongestionPoint::<$scheme>::configure(own, <$scheme as Member>::config(config), place),)+
                }
            }

            fn set_thresholds(&mut self, ramp: Ramp) {
                match self { $(Self::$variant(own) => CongestionPoint::<$scheme>::set_thresholds(own, ramp),)+ }
            }

            fn remembers_flows(config: &SchemeConfig) -> bool {
                match config {
                    $(SchemeConfig::$variant(own) => {
                        <<$scheme as Scheme>::Cp as CongestionPoint<$scheme>>::remembers_flows(own)
                    })+
                }
            }

            #[inline(never)]
            fn on_arrival(
                &mut self,
                now: Instant,
                frame: Frame<'_, Tag>,
                fate: Fate,
                queue: &Queue,
                draw: &mut impl Draw,
                out: &mut impl Out<Mixed>,
            ) {
                match self {
                    $(Self::$variant(cp) => with_own_tag::<$scheme, _>(frame, |frame| {
                        CongestionPoint::<$scheme>::on_arrival(cp, now, frame, fate, queue, draw, &mut Mixing(out));
                    }),)+
                }
            }

            #[inline(never)]
            fn admit(
                &mut self,
                now: Instant,
                frame: Frame<'_, Tag>,
                fits: bool,
                queue: &Queue,
                port: &impl PortView,
                draw: &mut impl Draw,
            ) -> Verdict {
                match self {
                    $(Self::$variant(cp) => with_own_tag::<$scheme, _>(frame, |frame| {
                        CongestionPoint::<$scheme>::admit(cp, now, frame, fits, queue, port, draw)
                    }),)+
                }
            }

            #[inline(never)]
            fn mark(&mut self, now: Instant, frame: Frame<'_, Tag>, len: Octets, draw: &mut impl Draw) -> bool {
                match self {
                    $(Self::$variant(cp) => with_own_tag::<$scheme, _>(frame, |frame| {
                        CongestionPoint::<$scheme>::mark(cp, now, frame, len, draw)
                    }),)+
                }
            }

            #[inline(never)]
            fn on_transmission(&mut self, now: Instant, frame: Frame<'_, Tag>, queue: &Queue) {
                match self {
                    $(Self::$variant(cp) => with_own_tag::<$scheme, _>(frame, |frame| {
                        CongestionPoint::<$scheme>::on_transmission(cp, now, frame, queue);
                    }),)+
                }
            }

            #[inline(never)]
            fn on_departure(&mut self, now: Instant, frame: Frame<'_, Tag>, queue: &Queue) {
                match self {
                    $(Self::$variant(cp) => with_own_tag::<$scheme, _>(frame, |frame| {
                        CongestionPoint::<$scheme>::on_departure(cp, now, frame, queue);
                    }),)+
                }
            }

            #[inline(never)]
            fn on_signal(
                &mut self,
                now: Instant,
                flow: FlowKey,
                signal: Signal,
                queue: &Queue,
                draw: &mut impl Draw,
                out: &mut impl Out<Mixed>,
            ) {
                match self {
                    $(Self::$variant(cp) => cp_meets::<$scheme>(cp, now, flow, signal, queue, draw, out),)+
                }
            }

            #[inline(never)]
            fn on_probe_departure(&mut self, now: Instant, signal: &mut Signal, queue: &Queue) {
                match self {
                    $(Self::$variant(cp) => with_own_signal::<$scheme>(signal, |signal| {
                        CongestionPoint::<$scheme>::on_probe_departure(cp, now, signal, queue);
                    }),)+
                }
            }

            fn next_timeout(&self) -> Option<Instant> {
                match self { $(Self::$variant(cp) => CongestionPoint::<$scheme>::next_timeout(cp),)+ }
            }

            #[inline(never)]
            fn on_timeout(&mut self, now: Instant, queue: &Queue, draw: &mut impl Draw, out: &mut impl Out<Mixed>) {
                match self {
                    $(Self::$variant(cp) => {
                        CongestionPoint::<$scheme>::on_timeout(cp, now, queue, draw, &mut Mixing(out));
                    })+
                }
            }

            fn vars(&self, row: &mut [i64]) {
                if !row.is_empty() {
                    match self { $(Self::$variant(cp) => CongestionPoint::<$scheme>::vars(cp, row)),+ }
                }
            }
        }

        impl NotificationPoint<Mixed> for Np {
            const GRANTS: bool = false $(|| <<$scheme as Scheme>::Np as NotificationPoint<$scheme>>::GRANTS)+;

            fn new(config: &SchemeConfig, flow: FlowKey) -> Self {
                match config {
                    $(SchemeConfig::$variant(own) => Self::$variant(NotificationPoint::<$scheme>::new(own, flow)),)+
                }
            }

            #[inline(never)]
            fn configure(&mut self, config: &SchemeConfig) {
                match self {
                    $(Self::$variant(own) => NotificationPoint::<$scheme>::configure(own, <$scheme as Member>::config(config)),)+
                }
            }

            #[inline(never)]
            fn on_frame(&mut self, now: Instant, frame: Frame<'_, Tag>, draw: &mut impl Draw, out: &mut impl Out<Mixed>) {
                match self {
                    $(Self::$variant(np) => with_own_tag::<$scheme, _>(frame, |frame| {
                        NotificationPoint::<$scheme>::on_frame(np, now, frame, draw, &mut Mixing(out));
                    }),)+
                }
            }

            #[inline(never)]
            fn acknowledge(&mut self, now: Instant, frame: Frame<'_, Tag>) -> Option<Echo> {
                match self {
                    $(Self::$variant(np) => with_own_tag::<$scheme, _>(frame, |frame| {
                        NotificationPoint::<$scheme>::acknowledge(np, now, frame).map(<$scheme as Member>::mixed_echo)
                    }),)+
                }
            }

            fn on_complete(&mut self, now: Instant, out: &mut impl Out<Mixed>) {
                match self { $(Self::$variant(np) => NotificationPoint::<$scheme>::on_complete(np, now, &mut Mixing(out)),)+ }
            }

            fn asks(&self) -> bool {
                match self { $(Self::$variant(np) => NotificationPoint::<$scheme>::asks(np),)+ }
            }

            #[inline(never)]
            fn grant(&mut self, now: Instant, line: BitRate, draw: &mut impl Draw, out: &mut impl Out<Mixed>) -> u16 {
                match self { $(Self::$variant(np) => NotificationPoint::<$scheme>::grant(np, now, line, draw, &mut Mixing(out)),)+ }
            }

            const RANKS: bool = false $(|| <<$scheme as Scheme>::Np as NotificationPoint<$scheme>>::RANKS)+;

            fn left_to_grant(&self) -> Option<u64> {
                match self { $(Self::$variant(np) => NotificationPoint::<$scheme>::left_to_grant(np),)+ }
            }

            fn grant_ranked(&mut self, now: Instant, place: u32, of: u32, out: &mut impl Out<Mixed>) -> bool {
                match self { $(Self::$variant(np) => NotificationPoint::<$scheme>::grant_ranked(np, now, place, of, &mut Mixing(out)),)+ }
            }

            #[inline(never)]
            fn on_signal(&mut self, now: Instant, flow: FlowKey, signal: Signal, draw: &mut impl Draw, out: &mut impl Out<Mixed>) {
                match self { $(Self::$variant(np) => np_meets::<$scheme>(np, now, flow, signal, draw, out),)+ }
            }

            fn next_timeout(&self) -> Option<Instant> {
                match self { $(Self::$variant(np) => NotificationPoint::<$scheme>::next_timeout(np),)+ }
            }

            #[inline(never)]
            fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<Mixed>) {
                match self { $(Self::$variant(np) => NotificationPoint::<$scheme>::on_timeout(np, now, draw, &mut Mixing(out)),)+ }
            }
        }

        impl ReactionPoint<Mixed> for Rp {
            fn new(config: &SchemeConfig, line: BitRate) -> Self {
                match config {
                    $(SchemeConfig::$variant(own) => Self::$variant(ReactionPoint::<$scheme>::new(own, line)),)+
                }
            }

            #[inline(never)]
            fn configure(&mut self, config: &SchemeConfig, line: BitRate) {
                match self {
                    $(Self::$variant(own) => ReactionPoint::<$scheme>::configure(own, <$scheme as Member>::config(config), line),)+
                }
            }

            const LEARNS_ROUND_TRIP: bool = true;

            fn learn_round_trip(&mut self, round_trip: Duration) {
                match self { $(Self::$variant(own) => ReactionPoint::<$scheme>::learn_round_trip(own, round_trip),)+ }
            }

            #[inline(never)]
            fn on_start(&mut self, now: Instant, flow: FlowKey, draw: &mut impl Draw, out: &mut impl Out<Mixed>) {
                match self {
                    $(Self::$variant(rp) => ReactionPoint::<$scheme>::on_start(rp, now, flow, draw, &mut Mixing(out)),)+
                }
            }

            fn on_stop(&mut self, now: Instant, flow: FlowKey) {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::on_stop(rp, now, flow),)+ }
            }

            #[inline(never)]
            fn on_signal(&mut self, now: Instant, flow: FlowKey, signal: Signal, draw: &mut impl Draw, out: &mut impl Out<Mixed>) {
                match self { $(Self::$variant(rp) => rp_meets::<$scheme>(rp, now, flow, signal, draw, out),)+ }
            }

            #[inline(never)]
            fn on_ack(
                &mut self,
                now: Instant,
                flow: FlowKey,
                ack: &Ack<Echo>,
                draw: &mut impl Draw,
                out: &mut impl Out<Mixed>,
            ) {
                match self {
                    $(Self::$variant(rp) => rp_learns::<$scheme>(rp, now, flow, ack, draw, out),)+
                }
            }

            fn on_silence(&mut self, now: Instant, flow: FlowKey, lost: Octets) {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::on_silence(rp, now, flow, lost),)+ }
            }

            #[inline(never)]
            fn on_send(&mut self, now: Instant, frame: Release, draw: &mut impl Draw, out: &mut impl Out<Mixed>) -> Tag {
                match self {
                    $(Self::$variant(rp) => <$scheme as Member>::mixed_tag(
                        ReactionPoint::<$scheme>::on_send(rp, now, frame, draw, &mut Mixing(out))
                    ),)+
                }
            }

            fn next_timeout(&self) -> Option<Instant> {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::next_timeout(rp),)+ }
            }

            #[inline(never)]
            fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<Mixed>) {
                match self {
                    $(Self::$variant(rp) => ReactionPoint::<$scheme>::on_timeout(rp, now, draw, &mut Mixing(out)),)+
                }
            }

            fn allowance(&self) -> Allowance {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::allowance(rp),)+ }
            }

            const NEEDS_GRANTS: bool = false $(|| <<$scheme as Scheme>::Rp as ReactionPoint<$scheme>>::NEEDS_GRANTS)+;

            fn granted(&self) -> bool {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::granted(rp),)+ }
            }

            const RANKS: bool = false $(|| <<$scheme as Scheme>::Rp as ReactionPoint<$scheme>>::RANKS)+;

            fn on_message(&mut self, flow: FlowKey, octets: Octets) {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::on_message(rp, flow, octets),)+ }
            }

            fn rank(&self) -> Option<Rank> {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::rank(rp),)+ }
            }

            fn gate(&self) -> Gate {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::gate(rp),)+ }
            }

            fn gap(&self) -> Gap {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::gap(rp),)+ }
            }

            fn admits(&self, now: Instant, flow: FlowKey) -> Instant {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::admits(rp, now, flow),)+ }
            }

            fn stopped_by(&self, flow: FlowKey) -> Option<u8> {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::stopped_by(rp, flow),)+ }
            }

            fn limiting(&self) -> bool {
                match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::limiting(rp),)+ }
            }

            fn vars(&self, row: &mut [i64]) {
                if !row.is_empty() {
                    match self { $(Self::$variant(rp) => ReactionPoint::<$scheme>::vars(rp, row)),+ }
                }
            }
        }
    };
}

for_each_scheme!(mixed);

impl Configuration for SchemeConfig {
    /// None can be made from values alone: [`SchemeConfig::new`] needs a scheme's name as well.
    fn from_values(_: &[Value]) -> Option<Self> {
        None
    }
}
