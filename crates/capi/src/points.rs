//! The three points of any scheme behind three traits, so that one handle serves for all schemes.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::size_of;

use penstock_schemes::{
    self as schemes, BitRate, Bound, Class, CongestionPoint, CpId, Draw, Duration, Fate, FlowKey, Instant,
    NotificationPoint, Octets, Out, Parameter, ReactionPoint, Report, Scheme, Signal as _, To, Value,
};

use crate::abi::{Ack, Allowance, Echo, Frame, Host, Label, Message, Signal, TIME, held, length, span, total};

/// A scheme with its parameters, whatever its type.
pub(crate) trait AnyScheme: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Whether sources on a line of this rate can obey its parameters: no rate that they must not exceed is below a least rate.
    fn suits(&self, line: BitRate) -> bool;
    /// A reaction point; `None` if it understands messages or echoes that these structures cannot hold.
    fn reaction_point(&self, line: BitRate, host: Host) -> Option<Box<dyn AnyRp>>;
    /// A congestion point; `None` if frames carry more to it than a label.
    fn congestion_point(&self, place: schemes::Place, host: Host) -> Option<Box<dyn AnyCp>>;
    /// A notification point; `None` likewise.
    fn notification_point(&self, flow: FlowKey, host: Host) -> Option<Box<dyn AnyNp>>;
    /// The parameters, for a point of the same scheme.
    fn config(&self) -> &dyn core::any::Any;
}

/// A reaction point.
pub(crate) trait AnyRp {
    fn configure(&mut self, scheme: &dyn AnyScheme) -> bool;
    fn learn_round_trip(&mut self, round_trip: Duration);
    fn start(&mut self, now: u64, flow: FlowKey);
    fn stop(&mut self, now: u64, flow: FlowKey);
    fn message(&mut self, now: u64, flow: FlowKey, message: &Message) -> bool;
    fn ack(&mut self, now: u64, flow: FlowKey, ack: &Ack) -> bool;
    fn silence(&mut self, now: u64, flow: FlowKey, lost: Octets);
    fn send(&mut self, now: u64, frame: schemes::Release) -> Label;
    fn timeout(&mut self, now: u64);
    fn next_timeout(&self) -> Option<Instant>;
    fn allowance(&self) -> Allowance;
    fn limiting(&self) -> bool;
}

/// A congestion point.
pub(crate) trait AnyCp {
    fn configure(&mut self, scheme: &dyn AnyScheme) -> bool;
    fn arrival(&mut self, now: u64, frame: &mut Frame, fate: Fate, queue: &schemes::Queue);
    fn mark(&mut self, now: u64, frame: &mut Frame, len: Octets) -> bool;
    fn transmission(&mut self, now: u64, frame: &mut Frame, queue: &schemes::Queue);
    fn departure(&mut self, now: u64, frame: &mut Frame, queue: &schemes::Queue);
    fn probe_departure(&mut self, now: u64, message: &mut Message, queue: &schemes::Queue) -> bool;
    fn timeout(&mut self, now: u64, queue: &schemes::Queue);
    fn next_timeout(&self) -> Option<Instant>;
}

/// A notification point.
pub(crate) trait AnyNp {
    fn configure(&mut self, scheme: &dyn AnyScheme) -> bool;
    fn frame(&mut self, now: u64, frame: &mut Frame);
    fn acknowledge(&mut self, now: u64, frame: &mut Frame) -> Option<Echo>;
    fn message(&mut self, now: u64, message: &Message) -> bool;
    fn timeout(&mut self, now: u64);
    fn next_timeout(&self) -> Option<Instant>;
}

/// A scheme of type `S`.
pub(crate) struct Of<S: Scheme> {
    pub(crate) config: S::Config,
    /// The values that it was made of.
    pub(crate) values: Vec<Value>,
}

/// Whether a frame's label holds all that its tag does.
fn has_labels<S: Scheme>() -> bool {
    use schemes::Label as L;
    let same = |label: L| S::label(&S::from_label(label)) == label;
    size_of::<S::Tag>() == 0 || same(L::Ecn(true)) || same(L::Roce(true)) || same(L::Rlt(CpId(1)))
}

/// Whether a message is read back as the signal that it was.
fn has_messages<S: Scheme>() -> bool {
    // A CNP has no content.
    let cnp = S::Signal::from_message(schemes::Message::Cnp).is_some();
    size_of::<Option<S::Signal>>() == 0 || S::INFO.forms.testbed || cnp
}

impl<S: Scheme> AnyScheme for Of<S>
where
    S::Config: 'static,
{
    fn name(&self) -> &'static str {
        S::INFO.name
    }

    fn suits(&self, line: BitRate) -> bool {
        let too_fast = |p: &Parameter, value: &Value| p.bound == Some(Bound::AtMostLine) && *value > Value::Rate(line);
        line > BitRate::ZERO && !S::INFO.parameters.iter().zip(&self.values).any(|(p, value)| too_fast(p, value))
    }

    fn reaction_point(&self, line: BitRate, host: Host) -> Option<Box<dyn AnyRp>> {
        let echoes = !S::acknowledges(&self.config) || S::from_report(&Report::default()).is_some();
        (echoes && has_messages::<S>()).then(|| {
            Box::new(Rp::<S> { point: S::Rp::new(&self.config, line), line, clock: Clock(0), host }) as Box<dyn AnyRp>
        })
    }

    fn congestion_point(&self, place: schemes::Place, host: Host) -> Option<Box<dyn AnyCp>> {
        (has_labels::<S>() && has_messages::<S>() && !S::Cp::ADMITS).then(|| {
            Box::new(Cp::<S> { point: S::Cp::new(&self.config, place), place, clock: Clock(0), host }) as Box<dyn AnyCp>
        })
    }

    fn notification_point(&self, flow: FlowKey, host: Host) -> Option<Box<dyn AnyNp>> {
        let echoes = !S::acknowledges(&self.config) || S::from_report(&Report::default()).is_some();
        (echoes && has_labels::<S>() && has_messages::<S>()).then(|| {
            Box::new(Np::<S> { point: S::Np::new(&self.config, flow), flow, clock: Clock(0), host }) as Box<dyn AnyNp>
        })
    }

    fn config(&self) -> &dyn core::any::Any {
        &self.config
    }
}

/// The time of the last call: schemes want time that never goes back.
struct Clock(u64);

impl Clock {
    fn at(&mut self, now: u64) -> Instant {
        self.0 = self.0.max(now.min(TIME));
        Instant(self.0)
    }
}

/// The caller's random words and its ear for signals.
struct Ends<'a>(&'a Host);

impl Draw for Ends<'_> {
    fn draw(&mut self) -> u32 {
        // SAFETY: the caller's promise in `penstock_host`: the function may be called with its context while the handle lives.
        self.0.draw.map_or(0, |draw| unsafe { draw(self.0.context) })
    }
}

impl<S: Scheme> Out<S> for Ends<'_> {
    fn send(&mut self, to: To, class: Class, signal: S::Signal) {
        let Some(send) = self.0.send else { return };
        let signal = Signal::new(to, class, &signal);
        // SAFETY: as above; the signal lives as long as the call.
        unsafe { send(self.0.context, &raw const signal) }
    }
}

/// Shows a point the frame with the scheme's tag, and keeps the label as the point leaves it.
fn with_frame<S: Scheme, R>(frame: &mut Frame, call: impl FnOnce(schemes::Frame<'_, S::Tag>) -> R) -> R {
    let mut tag = S::from_label(frame.label.into());
    let answer = call(schemes::Frame {
        flow: FlowKey(frame.flow),
        octets: length(frame.octets),
        weight: length(frame.weight).max(1),
        seq: total(frame.seq),
        last: frame.flags & 1 != 0,
        trimmed: frame.flags & 2 != 0,
        sent_at: Instant(frame.sent_at_ps.min(TIME)),
        tag: &mut tag,
    });
    if size_of::<S::Tag>() > 0 {
        frame.label = S::label(&tag).into();
    }
    answer
}

/// A message as the scheme's signal.
fn signal<S: Scheme>(message: &Message) -> Option<S::Signal> {
    S::Signal::from_message(message.read()?)
}

/// The parameters of a scheme, if it is `S`.
fn config<S: Scheme>(scheme: &dyn AnyScheme) -> Option<&S::Config>
where
    S::Config: 'static,
{
    scheme.config().downcast_ref::<S::Config>().filter(|_| scheme.name() == S::INFO.name)
}

struct Rp<S: Scheme> {
    point: S::Rp,
    line: BitRate,
    clock: Clock,
    host: Host,
}

impl<S: Scheme> AnyRp for Rp<S>
where
    S::Config: 'static,
{
    fn configure(&mut self, scheme: &dyn AnyScheme) -> bool {
        config::<S>(scheme).map(|config| self.point.configure(config, self.line)).is_some()
    }

    fn learn_round_trip(&mut self, round_trip: Duration) {
        self.point.learn_round_trip(round_trip);
    }

    fn start(&mut self, now: u64, flow: FlowKey) {
        self.point.on_start(self.clock.at(now), flow, &mut Ends(&self.host), &mut Ends(&self.host));
    }

    fn stop(&mut self, now: u64, flow: FlowKey) {
        self.point.on_stop(self.clock.at(now), flow);
    }

    fn message(&mut self, now: u64, flow: FlowKey, message: &Message) -> bool {
        let Some(signal) = signal::<S>(message) else { return false };
        self.point.on_signal(self.clock.at(now), flow, signal, &mut Ends(&self.host), &mut Ends(&self.host));
        true
    }

    fn ack(&mut self, now: u64, flow: FlowKey, ack: &Ack) -> bool {
        let Some(echo) = S::from_report(&ack.echo.into()) else { return false };
        let ack =
            schemes::Ack { acked: held(ack.acked_octets), lost: held(ack.lost_octets), rtt: span(ack.rtt_ps), echo };
        self.point.on_ack(self.clock.at(now), flow, &ack, &mut Ends(&self.host), &mut Ends(&self.host));
        true
    }

    fn silence(&mut self, now: u64, flow: FlowKey, lost: Octets) {
        self.point.on_silence(self.clock.at(now), flow, lost);
    }

    fn send(&mut self, now: u64, frame: schemes::Release) -> Label {
        let tag = self.point.on_send(self.clock.at(now), frame, &mut Ends(&self.host), &mut Ends(&self.host));
        S::label(&tag).into()
    }

    fn timeout(&mut self, now: u64) {
        self.point.on_timeout(self.clock.at(now), &mut Ends(&self.host), &mut Ends(&self.host));
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.point.next_timeout()
    }

    fn allowance(&self) -> Allowance {
        self.point.allowance().into()
    }

    fn limiting(&self) -> bool {
        self.point.limiting()
    }
}

struct Cp<S: Scheme> {
    point: S::Cp,
    place: schemes::Place,
    clock: Clock,
    host: Host,
}

impl<S: Scheme> AnyCp for Cp<S>
where
    S::Config: 'static,
{
    fn configure(&mut self, scheme: &dyn AnyScheme) -> bool {
        config::<S>(scheme).map(|config| self.point.configure(config, self.place)).is_some()
    }

    fn arrival(&mut self, now: u64, frame: &mut Frame, fate: Fate, queue: &schemes::Queue) {
        let (now, host) = (self.clock.at(now), &self.host);
        with_frame::<S, _>(frame, |frame| {
            self.point.on_arrival(now, frame, fate, queue, &mut Ends(host), &mut Ends(host));
        });
    }

    fn mark(&mut self, now: u64, frame: &mut Frame, len: Octets) -> bool {
        let (now, host) = (self.clock.at(now), &self.host);
        with_frame::<S, _>(frame, |frame| self.point.mark(now, frame, len, &mut Ends(host)))
    }

    fn transmission(&mut self, now: u64, frame: &mut Frame, queue: &schemes::Queue) {
        let now = self.clock.at(now);
        with_frame::<S, _>(frame, |frame| self.point.on_transmission(now, frame, queue));
    }

    fn departure(&mut self, now: u64, frame: &mut Frame, queue: &schemes::Queue) {
        let now = self.clock.at(now);
        with_frame::<S, _>(frame, |frame| self.point.on_departure(now, frame, queue));
    }

    fn probe_departure(&mut self, now: u64, message: &mut Message, queue: &schemes::Queue) -> bool {
        let Some(mut signal) = signal::<S>(message) else { return false };
        self.point.on_probe_departure(self.clock.at(now), &mut signal, queue);
        *message = Message::write(signal.message());
        true
    }

    fn timeout(&mut self, now: u64, queue: &schemes::Queue) {
        self.point.on_timeout(self.clock.at(now), queue, &mut Ends(&self.host), &mut Ends(&self.host));
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.point.next_timeout()
    }
}

struct Np<S: Scheme> {
    point: S::Np,
    flow: FlowKey,
    clock: Clock,
    host: Host,
}

impl<S: Scheme> AnyNp for Np<S>
where
    S::Config: 'static,
{
    fn configure(&mut self, scheme: &dyn AnyScheme) -> bool {
        config::<S>(scheme).map(|config| self.point.configure(config)).is_some()
    }

    fn frame(&mut self, now: u64, frame: &mut Frame) {
        let (now, host) = (self.clock.at(now), &self.host);
        with_frame::<S, _>(frame, |frame| self.point.on_frame(now, frame, &mut Ends(host), &mut Ends(host)));
    }

    fn acknowledge(&mut self, now: u64, frame: &mut Frame) -> Option<Echo> {
        let now = self.clock.at(now);
        let echo = with_frame::<S, _>(frame, |frame| self.point.acknowledge(now, frame))?;
        Some(S::report(&echo).into())
    }

    fn message(&mut self, now: u64, message: &Message) -> bool {
        let Some(signal) = signal::<S>(message) else { return false };
        let now = self.clock.at(now);
        self.point.on_signal(now, self.flow, signal, &mut Ends(&self.host), &mut Ends(&self.host));
        true
    }

    fn timeout(&mut self, now: u64) {
        self.point.on_timeout(self.clock.at(now), &mut Ends(&self.host), &mut Ends(&self.host));
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.point.next_timeout()
    }
}
