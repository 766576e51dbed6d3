//! The frames and signals that a scheme's roles meet in a small network, put together by hand.
//!
//! ```text
//!   reaction point ---data, probes---> congestion point ---> notification point
//!        ^                                   |                      |
//!        +-----------signals-----------------+----------------------+
//! ```
//!
//! The queue's length is given: it fills to 150 KB and empties repeatedly, whatever the reaction point does. It fills to 8 MB if a scheme
//! with signals sends none at 150 KB, since its thresholds are for faster lines.

use penstock_schemes::*;

use crate::world::{FLOWS, LINE, Nobody, Words, frame, place};

/// The signals and echoes that the roles were handed.
pub(crate) struct Typical<S: Scheme> {
    /// Signals that reached the source.
    pub(crate) for_source: Vec<S::Signal>,
    /// How many of them the congestion point sent.
    pub(crate) from_queue: usize,
    /// How many of them the notification point sent.
    pub(crate) from_destination: usize,
    /// Signals (probes) that reached the destination.
    pub(crate) for_destination: Vec<S::Signal>,
    /// Signals from one congestion point to the one before it.
    pub(crate) for_previous_hop: Vec<S::Signal>,
    /// Whether the congestion point may signal flows of which it handles no frame.
    pub(crate) remembers_flows: bool,
    /// Whether the destination acknowledges frames.
    pub(crate) acknowledged: bool,
    /// Echoes of the frames that reached the destination.
    pub(crate) echoes: Vec<S::Echo>,
    /// Tags of the frames that reached the destination, those that differ from their neighbours.
    pub(crate) tags: Vec<S::Tag>,
}

/// Keeps signals with their addressees.
struct Sent<S: Scheme>(Vec<(To, S::Signal)>);

impl<S: Scheme> Sent<S> {
    /// How many signals for sources wait.
    fn for_sources(&self) -> usize {
        self.0.iter().filter(|(to, _)| matches!(to, To::Source(_))).count()
    }
}

impl<S: Scheme> Out<S> for Sent<S> {
    fn send(&mut self, to: To, _: Class, signal: S::Signal) {
        self.0.push((to, signal));
    }
}

impl<S: Scheme> Typical<S> {
    pub(crate) fn of(config: &S::Config) -> Self {
        let typical = Self::with_queue(config, 150_000);
        let silent = S::info(config).signals.is_some() && typical.for_source.is_empty();
        if silent { Self::with_queue(config, 8_000_000) } else { typical }
    }

    /// The same with a queue that fills to `longest` octets.
    fn with_queue(config: &S::Config, longest: u64) -> Self {
        let mut typical = Self {
            for_source: Vec::new(),
            from_queue: 0,
            from_destination: 0,
            for_destination: Vec::new(),
            for_previous_hop: Vec::new(),
            remembers_flows: S::Cp::remembers_flows(config),
            acknowledged: S::acknowledges(config),
            echoes: Vec::new(),
            tags: Vec::new(),
        };
        typical.run(config, longest);
        typical
    }

    /// 20 000 frames at line rate.
    fn run(&mut self, config: &S::Config, longest: u64) {
        let place = Place { capacity: Octets(longest), ..place() };
        let (mut cp, mut np, mut rp) =
            (S::Cp::new(config, place), S::Np::new(config, FLOWS[0]), S::Rp::new(config, LINE));
        let (mut words, mut out) = (Words(1), Sent::<S>(Vec::new()));
        let mut last_tag = String::new();
        rp.on_start(Instant(1), FLOWS[0], &mut words, &mut out);
        for i in 1..=20_000u64 {
            let now = Instant(i * 1_200_000);
            let len = (i * 1500) % longest;
            let queue = Queue {
                len: Octets(len),
                frames: (len / 1500) as u32,
                rate: LINE,
                sent: Octets(i * 1500),
                ..Queue::default()
            };
            if rp.next_timeout().is_some_and(|at| at <= now) {
                rp.on_timeout(now, &mut words, &mut out);
            }
            let release = Release { flow: FLOWS[0], octets: 1500, seq: Octets(0), last: false };
            let mut tag = rp.on_send(now, release, &mut words, &mut out);
            let before = out.for_sources();
            cp.on_arrival(now, frame(1500, &mut tag), Fate::Queued, &queue, &mut words, &mut out);
            cp.mark(now, frame(1500, &mut tag), queue.len, &mut words);
            // While the frame is in the queue.
            if cp.next_timeout().is_some_and(|at| at <= now) {
                cp.on_timeout(now, &queue, &mut words, &mut out);
            }
            cp.on_transmission(now, frame(1500, &mut tag), &queue);
            cp.on_departure(now, frame(1500, &mut tag), &queue);
            self.from_queue += out.for_sources() - before;
            let before = out.for_sources();
            if np.next_timeout().is_some_and(|at| at <= now) {
                np.on_timeout(now, &mut words, &mut out);
            }
            np.on_frame(now, frame(1500, &mut tag), &mut words, &mut out);
            if np.asks() {
                np.grant(now, LINE, &mut words, &mut out);
            }
            if S::Np::RANKS {
                np.grant_ranked(now, 0, 1, &mut out);
            }
            self.from_destination += out.for_sources() - before;
            if let Some(echo) = np.acknowledge(now, frame(1500, &mut tag)) {
                self.echoes.push(echo);
                let ack = Ack { acked: Octets(1500), lost: Octets(0), rtt: Duration::from_us(10 + len / 1250), echo };
                rp.on_ack(now, FLOWS[0], &ack, &mut words, &mut out);
            }
            let text = format!("{tag:?}");
            if text != last_tag {
                self.tags.push(tag);
                last_tag = text;
            }
            while !out.0.is_empty() {
                for (to, mut signal) in std::mem::take(&mut out.0) {
                    match to {
                        To::Source(_) => {
                            self.for_source.push(signal);
                            rp.on_signal(now, FLOWS[0], signal, &mut words, &mut out);
                        }
                        To::PreviousHop(flow) => {
                            self.for_previous_hop.push(signal);
                            cp.on_signal(now, flow, signal, &queue, &mut words, &mut out);
                        }
                        To::Destination(_) => {
                            cp.on_probe_departure(now, &mut signal, &queue);
                            self.for_destination.push(signal);
                            let before = out.for_sources();
                            np.on_signal(now, FLOWS[0], signal, &mut words, &mut out);
                            self.from_destination += out.for_sources() - before;
                        }
                    }
                }
            }
        }
    }

    /// The least rate that a configuration allows, as seen from outside (which takes a while). It is the lowest non-zero rate after
    /// signals and acknowledgements: each of them once, some of them a thousand times, at once and at intervals. Silence is tried
    /// too, as probes can go unanswered.
    pub(crate) fn least(&self, config: &S::Config) -> u64 {
        let signals: Vec<_> = self.for_source.iter().map(|&signal| Input::Signal(signal)).collect();
        let some = |n: usize| signals.iter().step_by(signals.len() / n + 1);
        let once = some(4000).map(|&signal| lowest::<S>(config, &[signal], 1, Duration::ZERO));
        let often = some(50).flat_map(|&signal| {
            [Duration::ZERO, Duration::from_us(10)].map(|step| lowest::<S>(config, &[signal], 1000, step))
        });
        // Round trips that grow, and long ones alone.
        let acknowledged = self.echoes.iter().step_by(self.echoes.len() / 50 + 1).flat_map(|&echo| {
            [&ROUND_TRIPS[..], &ROUND_TRIPS[ROUND_TRIPS.len() - 1..]].map(|round_trips| {
                let inputs: Vec<_> = round_trips.iter().map(|&us| Input::Ack(echo, Duration::from_us(us))).collect();
                lowest::<S>(config, &inputs, 1000, Duration::from_us(10))
            })
        });
        // Acknowledgements in the order in which they came.
        let in_turn: Vec<_> = self.echoes.iter().map(|&echo| Input::Ack(echo, Duration::from_us(20))).collect();
        let in_turn = lowest::<S>(config, &in_turn, in_turn.len().min(4000), Duration::from_us(10));
        // Silences in a row after one acknowledgement.
        let silent = self.echoes.first().map(|&echo| {
            let inputs = [&[Input::Ack(echo, Duration::from_us(ROUND_TRIPS[5]))][..], &[Input::Silence; 20]].concat();
            lowest::<S>(config, &inputs, inputs.len(), Duration::from_ms(50))
        });
        let all = lowest::<S>(config, &signals, 1000, Duration::ZERO);
        let lowest_of_all = once.chain(often).chain(acknowledged).chain(silent).min().unwrap_or(LINE.0).min(all);
        lowest_of_all.min(in_turn).min(lowest::<S>(config, &[], 0, Duration::ZERO))
    }
}

/// A source hears this.
#[derive(Clone, Copy)]
enum Input<S: Scheme> {
    Signal(S::Signal),
    /// An acknowledgement after this round trip; it reports a loss too.
    Ack(S::Echo, Duration),
    /// Nothing for too long.
    Silence,
}

/// Round trips in microseconds that grow from one acknowledgement to the next, up to more than any queue can make.
const ROUND_TRIPS: [u64; 6] = [10, 50, 200, 1_000, 5_000, 20_000];

/// The lowest non-zero rate of a new reaction point that gets `inputs` in turn, `times` in all, one every `step`, and whose
/// timers then expire a hundred times.
fn lowest<S: Scheme>(config: &S::Config, inputs: &[Input<S>], times: usize, step: Duration) -> u64 {
    let (mut rp, mut words) = (S::Rp::new(config, LINE), Words(1));
    let (mut now, mut lowest) = (Instant(1), LINE.0);
    let mut see = |rp: &S::Rp| match rp.allowance().rate.0 {
        0 => {}
        rate => lowest = lowest.min(rate),
    };
    for flow in FLOWS {
        rp.on_start(now, flow, &mut words, &mut Nobody);
    }
    see(&rp);
    for &input in inputs.iter().cycle().take(times) {
        now += step;
        if rp.next_timeout().is_some_and(|at| at <= now) {
            rp.on_timeout(now, &mut words, &mut Nobody);
        }
        match input {
            Input::Signal(signal) => rp.on_signal(now, FLOWS[0], signal, &mut words, &mut Nobody),
            Input::Ack(echo, rtt) => {
                let ack = Ack { acked: Octets(1500), lost: Octets(1500), rtt, echo };
                rp.on_ack(now, FLOWS[0], &ack, &mut words, &mut Nobody);
            }
            Input::Silence => rp.on_silence(now, FLOWS[0], Octets(3000)),
        }
        see(&rp);
    }
    for _ in 0..100 {
        let Some(at) = rp.next_timeout() else { break };
        now = now.max(at);
        rp.on_timeout(now, &mut words, &mut Nobody);
        see(&rp);
    }
    lowest
}
