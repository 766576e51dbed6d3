//! Rule 6 of the contract: state machines allocate memory in `new` and `configure` alone. A loop of all three roles, under every
//! profile of every scheme, makes no allocation after that.

use allocation_counter::measure;
use penstock_conformance::configurations;
use penstock_schemes::*;

const LINE: BitRate = BitRate(10_000_000_000);
/// The longest queue.
const LONGEST: u64 = 150_000;
/// The same for thresholds of faster lines.
const LONGER: u64 = 8_000_000;
/// Flows of one reaction point; more of them pass the congestion point.
const FLOWS: u32 = 4;
/// Flows that pass the congestion point: more than tables of flows hold.
const PASSING: u32 = 5000;
/// Signals that wait to be delivered: no call sends more.
const ROOM: usize = 64;

#[derive(Debug, Clone)]
struct Words(u32);

impl Draw for Words {
    fn draw(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 ^ self.0 >> 16
    }
}

/// Signals in flight. Its buffer has room from the start.
struct Sent<S: Scheme>(Vec<(To, S::Signal)>);

impl<S: Scheme> Out<S> for Sent<S> {
    fn send(&mut self, to: To, _: Class, signal: S::Signal) {
        assert!(self.0.len() < ROOM, "one call sends more than {ROOM} signals");
        self.0.push((to, signal));
    }
}

/// One queue of each priority.
struct Port(Queue);

impl PortView for Port {
    fn queue(&self, _: u8) -> Option<Queue> {
        Some(self.0)
    }
}

/// One source, one queue, one destination.
struct Loop<S: Scheme> {
    now: Instant,
    words: Words,
    cp: S::Cp,
    np: S::Np,
    rp: S::Rp,
    sent: Sent<S>,
    signals: u64,
    /// Longest queue, octets.
    longest: u64,
}

impl<S: Scheme> Loop<S> {
    fn new(config: &S::Config, longest: u64) -> Self {
        let place = Place { cp: CpId::new(7, 2, 3), line: LINE, capacity: Octets(longest), phase: Duration::ZERO };
        Self {
            now: Instant(1),
            words: Words(1),
            cp: S::Cp::new(config, place),
            np: S::Np::new(config, FlowKey(0)),
            rp: S::Rp::new(config, LINE),
            sent: Sent(Vec::with_capacity(ROOM)),
            signals: 0,
            longest,
        }
    }

    /// `frames` frames, with a queue that goes from empty to full and back.
    fn run(&mut self, frames: u64) {
        for flow in 0..FLOWS {
            self.rp.on_start(self.now, FlowKey(flow), &mut self.words, &mut self.sent);
            self.deliver();
        }
        for i in 0..frames {
            self.now += Duration(u64::from(self.words.draw() % 4_000_000));
            // There and back takes 400 frames.
            let len = Octets((i % 400).abs_diff(200) * self.longest / 200);
            let queue = Queue { len, frames: (len.0 / 1500) as u32, rate: LINE, sent: Octets(i * 1500), paused: false };
            let release = Release { flow: FlowKey(i as u32 % FLOWS), octets: 1500, seq: Octets(i * 1500), last: false };
            let mut tag = self.rp.on_send(self.now, release, &mut self.words, &mut self.sent);
            self.deliver();
            let flow = if i % 2 == 0 { release.flow } else { FlowKey(self.words.draw() % PASSING) };
            self.pass(flow, release.seq, &queue, &mut tag);
            self.deliver();
            if flow == FlowKey(0) {
                let frame = seen(flow, release.seq, self.now, &mut tag);
                self.np.on_frame(self.now, frame, &mut self.words, &mut self.sent);
                if self.np.asks() {
                    self.np.grant(self.now, LINE, &mut self.words, &mut self.sent);
                }
                if S::Np::RANKS && self.np.left_to_grant().is_some() {
                    self.np.grant_ranked(self.now, 0, 1, &mut self.sent);
                }
                let frame = seen(flow, release.seq, self.now, &mut tag);
                if let Some(echo) = self.np.acknowledge(self.now, frame) {
                    let ack = Ack { acked: Octets(1500), lost: Octets(0), rtt: Duration::from_us(10), echo };
                    self.rp.on_ack(self.now, flow, &ack, &mut self.words, &mut self.sent);
                }
                self.deliver();
            }
            self.expire(&queue);
        }
    }

    /// A frame passes the queue.
    fn pass(&mut self, flow: FlowKey, seq: Octets, queue: &Queue, tag: &mut S::Tag) {
        let fits = queue.len.0 < self.longest - 1500;
        if S::Cp::ADMITS {
            self.cp.admit(self.now, seen(flow, seq, self.now, tag), fits, queue, &Port(*queue), &mut self.words);
        }
        let fate = if fits { Fate::Queued } else { Fate::Dropped };
        let frame = seen(flow, seq, self.now, tag);
        self.cp.on_arrival(self.now, frame, fate, queue, &mut self.words, &mut self.sent);
        if fits {
            self.cp.mark(self.now, seen(flow, seq, self.now, tag), queue.len, &mut self.words);
            self.expire_queue(queue);
            self.cp.on_transmission(self.now, seen(flow, seq, self.now, tag), queue);
            self.cp.on_departure(self.now, seen(flow, seq, self.now, tag), queue);
        }
    }

    /// Brings all signals to their addressees, as long as they send others.
    fn deliver(&mut self) {
        while let Some((to, mut signal)) = self.sent.0.pop() {
            self.signals += 1;
            match to {
                To::Source(flow) => self.rp.on_signal(self.now, flow, signal, &mut self.words, &mut self.sent),
                To::Destination(flow) => {
                    let queue = Queue { rate: LINE, ..Queue::default() };
                    self.cp.on_probe_departure(self.now, &mut signal, &queue);
                    if flow == FlowKey(0) {
                        self.np.on_signal(self.now, flow, signal, &mut self.words, &mut self.sent);
                    }
                }
                To::PreviousHop(flow) => {
                    let queue = Queue::default();
                    self.cp.on_signal(self.now, flow, signal, &queue, &mut self.words, &mut self.sent);
                }
            }
        }
    }

    /// Lets the queue's timer run out if it is due.
    fn expire_queue(&mut self, queue: &Queue) {
        if self.cp.next_timeout().is_some_and(|at| at <= self.now) {
            self.cp.on_timeout(self.now, queue, &mut self.words, &mut self.sent);
            self.deliver();
        }
    }

    /// Lets the timers run out that are due.
    fn expire(&mut self, queue: &Queue) {
        self.expire_queue(queue);
        if self.np.next_timeout().is_some_and(|at| at <= self.now) {
            self.np.on_timeout(self.now, &mut self.words, &mut self.sent);
            self.deliver();
        }
        if self.rp.next_timeout().is_some_and(|at| at <= self.now) {
            self.rp.on_timeout(self.now, &mut self.words, &mut self.sent);
            self.deliver();
        }
    }
}

/// A frame of 1500 octets.
fn seen<T>(flow: FlowKey, seq: Octets, sent_at: Instant, tag: &mut T) -> Frame<'_, T> {
    Frame { flow, octets: 1500, weight: 1, seq, last: false, trimmed: false, sent_at, tag }
}

struct AllocatesInNewAlone;

impl Visitor for AllocatesInNewAlone {
    type Output = ();

    fn visit<S: Scheme>(self, _: &[S::Config]) {
        for (profile, config) in configurations::<S>() {
            let name = S::INFO.name;
            let run = |longest| {
                let mut roles = Loop::<S>::new(&config, longest);
                let counted = measure(|| roles.run(20_000));
                assert_eq!(counted.count_total, 0, "{name} {profile} allocates after `new`");
                roles.signals
            };
            let tells = S::INFO.signals.is_some() || S::INFO.actions.contains(&Action::NeighbourMessages);
            let signals = run(LONGEST);
            let signals = if tells && signals == 0 { run(LONGER) } else { signals };
            assert_eq!(signals > 0, tells, "{name} {profile}: {signals} signals");
        }
    }
}

#[test]
fn every_scheme_allocates_in_new_alone() {
    for info in SCHEMES {
        let config = SchemeConfig::with_defaults(info.name).expect("a scheme");
        SchemeConfig::visit(&[config], AllocatesInNewAlone);
    }
}
