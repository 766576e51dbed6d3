//! Annulus: QCN's messages from queues near the source, and a loop from end to end; the lower of both holds.
//!
//! ```text
//!   reaction point             switches near the source          further switches        destination
//!   rate:   QCN's limiter <--- |Fb|, from the first near_hops
//!   window: DCTCP's       <----------------- marks, from all of them -----------------> echoes them
//! ```
//!
//! Flows of a data center and flows to another one, a thousand times as far away, meet at the first switches of the path. The long loop
//! of the latter is slow; its frames fill the queue meanwhile, and the former wait. A message from that queue to the source
//! takes a few microseconds, for both.
//!
//! The source is near where its frame has passed fewer than `near_hops` other queues: the octet TTL of its header says so.
//!
//! A reconstruction: the paper's abstract gives the idea and the results. QCN's part is this project's, with all of its options. The
//! end-to-end loop is DCTCP's window, as flows of a data center have it in the paper, or none, for flows that a transport limits.
//!
//! Sources: Saeed et al., SIGCOMM 2020 ("Annulus"), abstract; [`qcn`](crate::qcn), [`dctcp`](crate::dctcp).

use crate::dctcp::{self, Dctcp};
use crate::info::values::{choice, count, octets};
use crate::info::{Action, Forms, Info, Profile, Signals, choice, parameters};
use crate::parts::marking::{Ce, Ramp};
use crate::parts::marking_cp::MarkingCp;
use crate::parts::notification::Cnm;
use crate::parts::rate_limiter::{RateLimiter, RpConfig};
use crate::parts::sampling_cp::SamplingCp;
use crate::qcn::{self, Qcn};
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets};
use crate::{
    Ack, Allowance, Class, CongestionPoint, Draw, Fate, Frame, Gate, Label, Never, NotificationPoint, Out, Place,
    Queue, ReactionPoint, Release, Report, Scheme, To, Var,
};

/// Annulus.
#[derive(Debug, Clone, Copy)]
pub struct Annulus;

choice! {
    /// The loop from end to end.
    pub enum Loop {
        /// DCTCP's window.
        Dctcp = "dctcp",
        /// None: a transport has one, or the near loop is enough.
        None = "none",
    }
}

parameters! {
    /// Annulus' parameters.
    pub struct Config {
        ..qcn: qcn::Config;
        ..dctcp: dctcp::Config;
        /// The loop from end to end.
        end_to_end: Loop {
            default: choice("dctcp"),
            source: "Saeed et al. 2020, abstract: an existing loop",
        }
        /// Queues of the path, from the source on, that send messages.
        near_hops: u32 {
            default: count(1),
            range: count(0)..=count(255),
            source: "option; Saeed et al. 2020, abstract: bottlenecks near the source",
        }
    }
}

impl Scheme for Annulus {
    const INFO: Info = Info {
        name: "annulus",
        title: "Annulus",
        source: "Saeed et al., Annulus: A Dual Congestion Control Loop for Datacenter and WAN Traffic Aggregates, SIGCOMM 2020, \
                 abstract; a reconstruction",
        description: "Queues near the source send QCN's messages, all queues mark; the lower of QCN's rate and DCTCP's window holds.",
        parameters: Config::PARAMETERS,
        profiles: PROFILES,
        set_point: Some("q_eq"),
        signals: Some(Signals::backward(Cnm::OCTETS)),
        actions: &[Action::Marks, Action::Notifications, Action::Cuts, Action::Raises],
        tuned: &[
            &["near_hops"],
            &["q_eq"],
            &["w"],
            &["gd_inverse"],
            &["sample_base"],
            &["rpg_byte_reset"],
            &["rpg_time_reset"],
            &["k"],
            &["g_inverse"],
        ],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: true,
        forms: Forms { fluid: Some("annulus"), ..Forms::NONE },
    };
    type Config = Config;
    type Tag = Tag;
    type Echo = Ce;
    type Signal = Cnm;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;

    fn label(tag: &Tag) -> Label {
        Label::Ecn(tag.ce.0)
    }

    fn echoes_mark(echo: &Ce) -> bool {
        echo.0
    }

    fn report(echo: &Ce) -> Report {
        Report { marked: echo.0, ..Report::default() }
    }

    fn from_report(report: &Report) -> Option<Ce> {
        Some(Ce(report.marked))
    }
}

const PROFILES: &[Profile] = &[Profile {
    name: "pan-10g",
    description: "The near loop with R. Pan's pseudo-code at 10 Gb/s, for a buffer of 150 KB.",
    settings: &[("q_eq", octets(33_000))],
}];

/// The field that data frames carry: ECN's code point, and the queues that they have passed (the octet TTL).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tag {
    /// The mark.
    pub ce: Ce,
    /// Queues passed.
    pub hops: u8,
}

/// Takes DCTCP's signals, of which there are none.
struct Nowhere;

impl Out<Dctcp> for Nowhere {
    fn send(&mut self, _: To, _: Class, signal: Never) {
        match signal {}
    }
}

/// A frame as DCTCP sees it.
fn as_far<'a>(frame: Frame<'a, Tag>) -> Frame<'a, Ce> {
    let Frame { flow, octets, weight, seq, last, trimmed, sent_at, tag } = frame;
    Frame { flow, octets, weight, seq, last, trimmed, sent_at, tag: &mut tag.ce }
}

/// Annulus' congestion point: QCN's for frames of near sources, DCTCP's for all.
#[derive(Debug, Clone)]
pub struct Cp {
    near_hops: u32,
    near: SamplingCp,
    far: MarkingCp,
}

impl CongestionPoint<Annulus> for Cp {
    const VARS: &'static [Var] = &SamplingCp::VARS;
    const MARKS: bool = true;

    fn new(config: &Config, place: Place) -> Self {
        Self {
            near_hops: config.near_hops,
            near: <SamplingCp as CongestionPoint<Qcn>>::new(&config.qcn, place),
            far: MarkingCp::new(&config.dctcp, place.line),
        }
    }

    fn configure(&mut self, config: &Config, place: Place) {
        self.near_hops = config.near_hops;
        self.near.configure(&config.qcn.cp);
        CongestionPoint::<Dctcp>::configure(&mut self.far, &config.dctcp, place);
    }

    fn set_thresholds(&mut self, ramp: Ramp) {
        CongestionPoint::<Dctcp>::set_thresholds(&mut self.far, ramp);
    }

    fn remembers_flows(_config: &Config) -> bool {
        false
    }

    #[inline]
    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, Tag>,
        fate: Fate,
        queue: &Queue,
        draw: &mut impl Draw,
        out: &mut impl Out<Annulus>,
    ) {
        let near = u32::from(frame.tag.hops) < self.near_hops;
        frame.tag.hops = frame.tag.hops.saturating_add(1);
        if near && let Some(sample) = self.near.sample(frame.octets, fate, queue, draw) {
            if sample.congested {
                out.send(To::Source(frame.flow), Class::Control, self.near.message(&sample));
            }
            self.near.conclude(&sample, sample.congested, queue.len, draw);
        }
        self.far.on_arrival(now, as_far(frame), fate, queue, draw, &mut Nowhere);
    }

    #[inline]
    fn mark(&mut self, now: Instant, frame: Frame<'_, Tag>, len: Octets, draw: &mut impl Draw) -> bool {
        CongestionPoint::<Dctcp>::mark(&mut self.far, now, as_far(frame), len, draw)
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        CongestionPoint::<Dctcp>::next_timeout(&self.far)
    }

    fn on_timeout(&mut self, now: Instant, queue: &Queue, draw: &mut impl Draw, _: &mut impl Out<Annulus>) {
        self.far.on_timeout(now, queue, draw, &mut Nowhere);
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&self.near.values());
    }
}

/// Annulus' notification point: acknowledges each frame and says whether it was marked, where a window asks for that.
#[derive(Debug, Clone)]
pub struct Np;

impl NotificationPoint<Annulus> for Np {
    fn new(_: &Config, _: FlowKey) -> Self {
        Self
    }

    fn configure(&mut self, _: &Config) {}

    #[inline]
    fn acknowledge(&mut self, _: Instant, frame: Frame<'_, Tag>) -> Option<Ce> {
        Some(frame.tag.ce)
    }
}

/// Annulus' reaction point.
#[derive(Debug, Clone)]
pub struct Rp {
    near: RateLimiter,
    far: Option<dctcp::Rp>,
}

impl ReactionPoint<Annulus> for Rp {
    const LEARNS_ROUND_TRIP: bool = true;
    const VARS: &'static [Var] = &[
        RateLimiter::VARS[0],
        RateLimiter::VARS[1],
        RateLimiter::VARS[2],
        Var { name: "window_octets", description: "window of the loop from end to end; 0 without one" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        let far = (config.end_to_end == Loop::Dctcp).then(|| ReactionPoint::<Dctcp>::new(&config.dctcp, line));
        Self { near: <RateLimiter as ReactionPoint<Qcn>>::new(&config.qcn, line), far }
    }

    fn configure(&mut self, config: &Config, line: BitRate) {
        self.near.configure(config.qcn.rate_limiter(line));
        let mut far = <Self as ReactionPoint<Annulus>>::new(config, line).far;
        if let (Some(fresh), Some(mut old)) = (&mut far, self.far.take()) {
            old.configure(&config.dctcp, line);
            *fresh = old;
        }
        self.far = far;
    }

    fn learn_round_trip(&mut self, round_trip: Duration) {
        if let Some(far) = &mut self.far {
            far.learn_round_trip(round_trip);
        }
    }

    fn on_start(&mut self, now: Instant, _: FlowKey, draw: &mut impl Draw, _: &mut impl Out<Annulus>) {
        self.near.start(now, draw);
    }

    fn on_signal(&mut self, now: Instant, _: FlowKey, signal: Cnm, draw: &mut impl Draw, _: &mut impl Out<Annulus>) {
        self.near.notify(now, signal.fb, signal.q_off, draw);
    }

    fn on_ack(&mut self, now: Instant, flow: FlowKey, ack: &Ack<Ce>, draw: &mut impl Draw, _: &mut impl Out<Annulus>) {
        if let Some(far) = &mut self.far {
            far.on_ack(now, flow, ack, draw, &mut Nowhere);
        }
    }

    fn on_silence(&mut self, now: Instant, flow: FlowKey, lost: Octets) {
        if let Some(far) = &mut self.far {
            far.on_silence(now, flow, lost);
        }
    }

    #[inline]
    fn on_send(&mut self, now: Instant, release: Release, draw: &mut impl Draw, _: &mut impl Out<Annulus>) -> Tag {
        self.near.sent(now, release.octets, draw);
        if let Some(far) = &mut self.far {
            far.on_send(now, release, draw, &mut Nowhere);
        }
        Tag::default()
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.near.due()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, _: &mut impl Out<Annulus>) {
        self.near.timeout(now, draw);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        let window = self.far.as_ref().and_then(|far| far.allowance().window);
        Allowance { rate: self.near.current_rate(), window }
    }

    fn gate(&self) -> Gate {
        self.far.as_ref().map_or(Gate::Whole, ReactionPoint::<Dctcp>::gate)
    }

    fn limiting(&self) -> bool {
        self.near.installed()
    }

    fn vars(&self, row: &mut [i64]) {
        let [target, byte_stage, time_stage] = self.near.values();
        let window = self.allowance().window.map_or(0, |window| window.0 as i64);
        row.copy_from_slice(&[target, byte_stage, time_stage, window]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CpId;
    use crate::info::Value;
    use crate::parts::quantiser::QntzFb;
    use crate::testing::{Middle, Sent, config, frame_of};

    const FLOW: FlowKey = FlowKey(7);
    const LINE: BitRate = BitRate::from_gbps(10);

    /// Every frame is a sample.
    fn cp(near_hops: u64) -> Cp {
        let changes = [("near_hops", count(near_hops)), ("sampling", choice("every-frame"))];
        let place = Place { cp: CpId(1), line: LINE, capacity: Octets(150_000), phase: Duration::ZERO };
        Cp::new(&config::<Annulus>("pan-10g", &changes), place)
    }

    /// A frame that has passed `hops` queues finds one of `len`: the number of messages, and the tag.
    fn arrive(cp: &mut Cp, hops: u8, len: u64) -> (usize, Tag) {
        let mut sent = Sent::default();
        let mut tag = Tag { hops, ..Tag::default() };
        let queue = Queue { len: Octets(len), ..Queue::default() };
        let frame = frame_of(FLOW, Instant::ZERO, &mut tag);
        cp.on_arrival(Instant::ZERO, frame, Fate::Queued, &queue, &mut Middle, &mut sent);
        cp.mark(Instant::ZERO, frame_of(FLOW, Instant::ZERO, &mut tag), queue.len, &mut Middle);
        assert!(sent.0.iter().all(|(to, _)| *to == To::Source(FLOW)));
        (sent.0.len(), tag)
    }

    /// Qeq is 33 KB, K 97.5 KB.
    #[test]
    fn near_queues_send_messages_and_all_queues_mark() {
        for (near_hops, hops, len, messages, marked) in [
            (1, 0, 60_000, 1, false),
            (1, 0, 120_000, 1, true),
            (1, 1, 60_000, 0, false),
            (1, 1, 120_000, 0, true),
            (2, 1, 60_000, 1, false),
            (0, 0, 60_000, 0, false),
            (1, 0, 10_000, 0, false),
        ] {
            let seen = arrive(&mut cp(near_hops), hops, len);
            assert_eq!(seen, (messages, Tag { ce: Ce(marked), hops: hops + 1 }), "{near_hops} {hops} {len}");
        }
        assert_eq!(arrive(&mut cp(1), 255, 10_000).1.hops, 255);
    }

    fn rp(changes: &[(&str, Value)]) -> Rp {
        Rp::new(&config::<Annulus>("pan-10g", changes), LINE)
    }

    fn notify(rp: &mut Rp, fb: u8) {
        let cnm = Cnm { fb: QntzFb::from_steps(fb), cp: CpId(1), q_off: 1000, q_delta: 0 };
        rp.on_signal(Instant(1_000_000), FLOW, cnm, &mut Middle, &mut Sent::default());
    }

    fn ack(rp: &mut Rp, marked: bool) {
        let ack = Ack { acked: Octets(1500), lost: Octets(0), rtt: Duration::from_us(100), echo: Ce(marked) };
        rp.on_ack(Instant(2_000_000), FLOW, &ack, &mut Middle, &mut Sent::default());
    }

    fn send(rp: &mut Rp) {
        let release = Release { flow: FLOW, octets: 1500, seq: Octets(0), last: false };
        rp.on_send(Instant::ZERO, release, &mut Middle, &mut Sent::<Annulus>::default());
    }

    /// |Fb| = 32 takes a quarter; a mark after the first acknowledgement takes 15/32 of 16 500 octets, 7734. Each loop leaves the
    /// other alone.
    #[test]
    fn a_message_lowers_the_rate_and_a_mark_the_window() {
        let mut rp = rp(&[]);
        (0..10).for_each(|_| send(&mut rp));
        assert_eq!(rp.allowance(), Allowance { rate: LINE, window: Some(Octets(15_000)) });
        notify(&mut rp, 32);
        assert_eq!(rp.allowance(), Allowance { rate: BitRate(7_500_000_000), window: Some(Octets(15_000)) });
        assert!(rp.limiting());
        ack(&mut rp, false);
        ack(&mut rp, true);
        assert_eq!(rp.allowance(), Allowance { rate: BitRate(7_500_000_000), window: Some(Octets(16_500 - 7_734)) });
    }

    #[test]
    fn without_the_loop_from_end_to_end_it_is_qcn() {
        let mut rp = rp(&[("end_to_end", choice("none"))]);
        send(&mut rp);
        ack(&mut rp, true);
        rp.on_silence(Instant(3_000_000), FLOW, Octets(1500));
        assert_eq!(rp.allowance(), Allowance { rate: LINE, window: None });
        notify(&mut rp, 32);
        assert_eq!(rp.allowance(), Allowance { rate: BitRate(7_500_000_000), window: None });
    }

    #[test]
    fn the_destination_echoes_marks() {
        for marked in [false, true] {
            let mut tag = Tag { ce: Ce(marked), hops: 3 };
            assert_eq!(Np.acknowledge(Instant::ZERO, frame_of(FLOW, Instant::ZERO, &mut tag)), Some(Ce(marked)));
        }
    }
}
