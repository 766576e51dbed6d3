//! The scheduler of a port: which queue sends next, and which one waits for its shaper.
//!
//! *Strict priority* first, the higher priority before the lower (802.1Q 8.6.8.1). Queues with a *weight* share what that leaves, whatever
//! their numbers (enhanced transmission selection, 802.1Q 8.6.8.3). They do so by deficit round robin (Shreedhar and Varghese, SIGCOMM 1995). A queue in
//! turn gets a quantum in proportion to its weight, sends frames while they fit, and keeps the rest for its next turn. One that is empty or
//! stopped keeps nothing. The round goes from the highest priority down. The least quantum holds the longest frame, so that each turn sends one,
//! and a choice takes constant time.
//!
//! A *shaper* is a token bucket: it fills at a rate, holds `burst` octets at most, and a frame may start while it is not overdrawn.
//! So a queue sends at most `burst` and one frame at once, and over time its rate to the octet.
//!
//! All octets are those of the line, wire overhead included.

use alloc::vec::Vec;

use penstock_endpoint::TrafficClass;
use penstock_schemes::{BitRate, CreditLimit, Duration, HEADER, Instant, Octets};

use crate::config::{Config, Service, Shaper};

/// How a port serves its queues.
#[derive(Debug, Clone)]
pub struct Scheduler {
    /// A bit for each queue with a weight.
    weighted: u32,
    /// By class.
    queues: Vec<Served>,
    /// The queue with a weight whose turn it is.
    turn: TrafficClass,
}

/// How it serves one of them.
#[derive(Debug, Clone, Copy)]
struct Served {
    /// Octets for each turn; 0 for strict priority.
    quantum: u32,
    /// Octets that it may still send in this turn.
    deficit: u32,
    bucket: Option<Bucket>,
}

/// A token bucket.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    rate: BitRate,
    /// The time that fills it.
    depth: Duration,
    /// Since when it has been filling from zero, or when it will have nothing overdrawn.
    zero: Instant,
    /// Remainder of that time, 1/rate ps.
    remainder: u64,
}

impl Bucket {
    /// It holds nothing at the start.
    fn new(shaper: Shaper) -> Self {
        let (depth, _) = shaper.rate.serialisation(shaper.burst.0);
        Self { rate: shaper.rate, depth, zero: Instant::ZERO, remainder: 0 }
    }

    /// A frame of `octets` starts at `at`. When the next one may.
    fn take(&mut self, at: Instant, octets: u32) -> Instant {
        let full = Instant(at.0.saturating_sub(self.depth.0));
        if self.zero < full {
            (self.zero, self.remainder) = (full, 0);
        }
        let (time, remainder) = self.rate.serialisation(u64::from(octets));
        self.remainder += remainder;
        let carry = self.remainder >= self.rate.0;
        self.remainder -= if carry { self.rate.0 } else { 0 };
        self.zero = Instant(self.zero.0 + time.0 + u64::from(carry));
        self.zero
    }
}

impl Scheduler {
    /// That of a switch's port, where any queue is served otherwise than by strict priority alone.
    pub fn new(config: &Config<'_>) -> Option<Self> {
        let weights = || config.service.iter().filter_map(|service| service.weight).map(u32::from);
        if config.credit_limit.is_none() && config.service.iter().all(|service| *service == Service::default()) {
            return None;
        }
        let longest = u32::from(config.largest_frame) + u32::from(config.wire_overhead);
        let unit = longest.div_ceil(weights().min().unwrap_or(1));
        let served = |service: Service| Served {
            quantum: service.weight.map_or(0, |weight| u32::from(weight) * unit),
            deficit: 0,
            bucket: service.shaper.map(Bucket::new),
        };
        let strict = core::iter::repeat(Service::default());
        let queues: Vec<Served> =
            config.service.iter().copied().chain(strict).take(config.queues_per_port()).map(served).collect();
        let classes = (0..).map(TrafficClass).zip(&queues);
        let weighted = classes.filter(|(_, served)| served.quantum > 0).fold(0, |mask, (class, _)| mask | class.bit());
        Some(Self { weighted, queues, turn: TrafficClass(0) })
    }

    /// That of a port with a line of `rate`, where control frames are credits; of each frame there are `overhead` octets more on the line. A bucket of
    /// two credits lets neither of two that come together wait.
    pub fn limit_credits(&mut self, limit: CreditLimit, rate: BitRate, overhead: u16) {
        let [credit, data] = [u64::from(HEADER), limit.frame.0].map(|octets| octets + u64::from(overhead));
        let share = u128::from(rate.0) * u128::from(credit) / u128::from(credit + data);
        if let Some(control) = self.queues.last_mut() {
            let rate = BitRate((share as u64).max(1));
            control.bucket = Some(Bucket::new(Shaper { rate, burst: Octets(2 * credit) }));
        }
    }

    /// Whether any queue has a shaper.
    pub fn shapes(&self) -> bool {
        self.queues.iter().any(|served| served.bucket.is_some())
    }

    /// The queue that sends next, one of those of `eligible`, of which there is one at least. `first` gives the octets of a queue's first frame,
    /// and whether no other one waits there.
    pub fn choose(&mut self, eligible: u32, first: impl Fn(TrafficClass) -> (u32, bool)) -> TrafficClass {
        let strict = eligible & !self.weighted;
        if strict != 0 {
            return highest(strict);
        }
        if eligible & self.turn.bit() == 0 {
            self.queues[self.turn.index()].deficit = 0;
            self.pass_turn(eligible);
        }
        loop {
            let (octets, last) = first(self.turn);
            let deficit = &mut self.queues[self.turn.index()].deficit;
            if octets <= *deficit {
                *deficit = if last { 0 } else { *deficit - octets };
                return self.turn;
            }
            self.pass_turn(eligible);
        }
    }

    /// The next queue in the round gets its quantum.
    fn pass_turn(&mut self, eligible: u32) {
        let below = eligible & (self.turn.bit() - 1);
        self.turn = highest(if below == 0 { eligible } else { below });
        let next = &mut self.queues[self.turn.index()];
        next.deficit += next.quantum;
    }

    /// A frame of `octets` of a queue starts at `at`: when the next one may.
    pub fn take(&mut self, class: TrafficClass, at: Instant, octets: u32) -> Instant {
        self.queues[class.index()].bucket.as_mut().map_or(at, |bucket| bucket.take(at, octets))
    }

    /// When the shaper of a queue lets the next frame start.
    pub fn due(&self, class: TrafficClass) -> Instant {
        self.queues[class.index()].bucket.map_or(Instant::ZERO, |bucket| bucket.zero)
    }
}

/// The highest of some classes.
fn highest(classes: u32) -> TrafficClass {
    TrafficClass((31 - classes.leading_zeros()) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Node, Port};
    use alloc::collections::VecDeque;

    /// Frames of up to 1500 octets in the queues of priorities 0, 1, …, with these weights.
    fn scheduler(weights: &[Option<u16>]) -> Scheduler {
        let priorities: Vec<u8> = (0..weights.len() as u8).collect();
        let service: Vec<Service> = weights.iter().map(|&weight| Service { weight, shaper: None }).collect();
        let (nodes, ports): ([Node; 0], [Port; 0]) = ([], []);
        let mut config = Config::new(&nodes, &ports);
        (config.priorities, config.service, config.largest_frame) = (&priorities, &service, 1500);
        Scheduler::new(&config).expect("some have a weight")
    }

    /// Sends `frames` frames of these backlogs; gives their classes in order.
    fn departures(scheduler: &mut Scheduler, backlogs: &mut [VecDeque<u32>], frames: usize) -> Vec<u8> {
        let choice = |_| {
            let ready = (0..).zip(&*backlogs).filter(|(_, queue)| !queue.is_empty());
            let eligible = ready.fold(0, |mask, (class, _)| mask | TrafficClass(class).bit());
            let class = scheduler.choose(eligible, |class| {
                let queue = &backlogs[class.index()];
                (queue[0], queue.len() == 1)
            });
            backlogs[class.index()].pop_front();
            class.0
        };
        (0..frames).map(choice).collect()
    }

    /// Weights 3 and 1, quanta 4500 and 1500; frames of 1000 octets in queue 1, of 900 in queue 0.
    ///
    /// ```text
    ///   turn of 1: 4500, four frames, 500 left    turn of 0: 1500, one frame, 600 left
    ///              5000, five, 0 left                        2100, two, 300 left
    ///              4500, four, 500 left                      1800, two, 0 left
    /// ```
    #[test]
    fn quanta_and_deficits_decide_who_sends() {
        let mut backlogs = [VecDeque::from([900; 50]), VecDeque::from([1000; 50])];
        let sent = departures(&mut scheduler(&[Some(1), Some(3)]), &mut backlogs, 18);
        assert_eq!(sent, [1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0]);
    }

    /// In T turns a queue sends T quanta but for less than a frame, and the turns of two queues differ by one at most. So each queue has its share
    /// of what the least one has, to a quantum and its share of a frame.
    #[test]
    fn shares_are_those_of_the_weights() {
        let sizes = |seed: u32| (0..9000).map(|i: u32| 64 + i.wrapping_mul(seed) % 1437).collect::<VecDeque<u32>>();
        let mut backlogs = [sizes(7919), sizes(104_729), sizes(1_299_709)];
        let mut scheduler = scheduler(&[Some(10), Some(30), Some(60)]);
        let before: Vec<u32> = backlogs.iter().map(|queue| queue.iter().sum()).collect();
        departures(&mut scheduler, &mut backlogs, 9000);
        let sent: Vec<u32> = backlogs.iter().zip(before).map(|(queue, sum)| sum - queue.iter().sum::<u32>()).collect();
        for (own, ratio) in sent.iter().zip([1, 3, 6]) {
            assert!(own.abs_diff(ratio * sent[0]) <= ratio * 1500 + ratio * 1500, "{sent:?}, ratio {ratio}");
        }
    }

    /// A strict queue goes first, whatever its number; an empty queue saves nothing up.
    #[test]
    fn strict_queues_go_first_and_empty_ones_save_nothing() {
        let mut scheduler = scheduler(&[None, Some(1), Some(1)]);
        let mut backlogs = [VecDeque::from([500; 2]), VecDeque::from([1500; 4]), VecDeque::from([100; 2])];
        assert_eq!(departures(&mut scheduler, &mut backlogs, 8), [0, 0, 2, 2, 1, 1, 1, 1]);
        backlogs = [VecDeque::new(), VecDeque::from([1500; 2]), VecDeque::from([1000; 3])];
        assert_eq!(departures(&mut scheduler, &mut backlogs, 5), [2, 1, 2, 2, 1]);
    }

    /// 1 Gb/s, a bucket of 1000 octets, frames of 1500: 12 us each. At 0 the bucket is full (8 us): 4 us overdrawn after the first.
    #[test]
    fn the_bucket_gives_its_rate_and_its_burst() {
        let at = |ns: u64| Instant(ns * 1000);
        let mut bucket = Bucket::new(Shaper { rate: BitRate::from_gbps(1), burst: Octets(1000) });
        bucket.zero = at(0);
        assert_eq!(bucket.take(at(100_000), 1500), at(104_000));
        assert_eq!(bucket.take(at(104_000), 1500), at(116_000));
        assert_eq!(bucket.take(at(120_000), 1500), at(128_000), "4 us were saved");
        assert_eq!(bucket.take(at(200_000), 1500), at(204_000), "and no more than 8 us are");
    }

    /// 3 frames of 1 octet at 7 bit/s take 24/7 s to the picosecond.
    #[test]
    fn remainders_are_carried() {
        let mut bucket = Bucket::new(Shaper { rate: BitRate(7), burst: Octets(0) });
        let mut at = Instant::ZERO;
        for _ in 0..3 {
            at = bucket.take(at, 1);
        }
        assert_eq!(at, Instant(24_000_000_000_000 / 7));
    }
}
