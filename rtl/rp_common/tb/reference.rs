//! The outputs of a whole reaction point in every clock: the receiver, the demultiplexer and the gates in words, around the state
//! machines of the schemes and the simulator's token bucket.

use std::collections::VecDeque;

use penstock_cosim::bucket::{Bucket, Shape};
use penstock_cosim::messages::{mac_at, message_at, message_of};
use penstock_cosim::reaction_point::{self as point, Event, Machine, Message};
use penstock_cosim::stream::{Beat, Data};

use crate::pins::{POINTS, Pins, Shown};

/// Octets on the line beside a frame's.
pub const LINE: u64 = 20;

/// A counter: an event shows two clocks later.
#[derive(Default)]
struct Counter {
    happened: bool,
    count: u32,
}

impl Counter {
    fn clock(&mut self, happens: bool) {
        self.count += u32::from(self.happened);
        self.happened = happens;
    }
}

/// Takes messages out of the frames that arrive.
struct Receiver<D: Data> {
    kind: u16,
    /// The beat that is shown behind the input, and one that came while that was not taken.
    arrived: VecDeque<Beat<D>>,
    /// The frame that arrives: its octets so far, and whether it is known to be a message.
    octets: Vec<u8>,
    is_message: bool,
    /// Its beats while that is not known, and those of frames that pass.
    held: Vec<Beat<D>>,
    passing: VecDeque<Beat<D>>,
    /// A message and for whom it is.
    message: Option<(u64, Message)>,
    /// One that ended in the clock before, in a single beat: it is shown a clock later, if it says something.
    ended: Option<Option<(u64, Message)>>,
    taken: Counter,
    malformed: Counter,
    /// This message is dropped, for another waits; and those that were.
    refuses: bool,
    drop_if_busy: bool,
    refused: Counter,
}

impl<D: Data> Receiver<D> {
    /// Beats of its memory.
    const WORDS: usize = 4;
    /// By the beat with its octet 23 a frame is known, and in a beat of 60 octets or more all of a message may be.
    const DECISION: usize = 24usize.div_ceil(D::OCTETS);
    const ONE_BEAT: bool = D::OCTETS >= 60;

    fn new(kind: u16) -> Self {
        Self {
            kind,
            arrived: VecDeque::new(),
            octets: Vec::new(),
            is_message: false,
            held: Vec::new(),
            passing: VecDeque::new(),
            message: None,
            ended: None,
            taken: Counter::default(),
            malformed: Counter::default(),
            refuses: false,
            drop_if_busy: false,
            refused: Counter::default(),
        }
    }

    /// Its outputs: that a beat is taken, and the next that passes.
    fn shows(&self) -> (bool, Option<Beat<D>>) {
        (self.arrived.len() < 2, self.passing.front().copied())
    }

    fn clock(&mut self, rx: Option<Beat<D>>, ready: bool, drop_if_busy: bool, done: bool) {
        let (takes, passes) = self.shows();
        let full = self.held.len() + self.passing.len() == Self::WORDS;
        let mut message = self.message.filter(|_| !done);
        let busy = self.message.is_some() || self.ended.is_some();
        if let Some(Some(ended)) = self.ended.take() {
            message = Some(ended);
        }
        let (mut good, mut bad, mut refused) = (false, false, false);
        let shown = self.arrived.front().copied();
        let mut moves = shown.is_none();
        if let Some(beat) = shown {
            let before = self.octets.len();
            self.octets.extend(beat.octets());
            let beats = before / D::OCTETS + 1;
            let decides = !self.is_message && (beats == Self::DECISION || beat.last && beats < Self::DECISION);
            let is_message = self.is_message || decides && message_at(&self.octets, self.kind).is_some();
            let waits = decides && is_message && beats == Self::DECISION && busy && !self.drop_if_busy;
            moves = (self.is_message || !full) && !waits;
            if moves && beats == Self::DECISION {
                self.refuses = busy;
            }
            if !moves {
                self.octets.truncate(before);
            } else if is_message {
                self.held.clear();
                self.is_message = !beat.last;
                if beat.last {
                    let right = (60..=120).contains(&self.octets.len()) && !beat.user;
                    (good, refused, bad) = (right && !self.refuses, right && self.refuses, !right);
                }
                if good {
                    let says = message_of(&self.octets, self.kind);
                    // No congestion says nothing.
                    let says = Some((mac_at(&self.octets, 0).expect("it is long enough"), says))
                        .filter(|(_, says)| self.kind == penstock_cosim::messages::SMCC || says.fb > 0);
                    if Self::ONE_BEAT {
                        self.ended = Some(says);
                    } else {
                        message = says.or(message);
                    }
                }
            } else {
                self.held.push(beat);
                if decides || beats > Self::DECISION {
                    self.passing.extend(self.held.drain(..));
                }
            }
            if moves && beat.last {
                self.octets.clear();
            }
        }
        if passes.is_some() && ready {
            self.passing.pop_front();
        }
        if moves {
            self.arrived.pop_front();
        }
        self.arrived.extend(rx.filter(|_| takes));
        self.message = message;
        self.drop_if_busy = drop_if_busy;
        self.taken.clock(good);
        self.malformed.clock(bad);
        self.refused.clock(refused);
    }
}

/// A message that the demultiplexer has looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// It waits for this reaction point.
    For(usize),
    /// Its reaction point took it in the clock before.
    Taken,
    /// It is for none.
    Unknown,
}

/// Hands a message to its reaction point, or to none.
#[derive(Default)]
struct Demux {
    /// The point that it is for, by the addresses of the clock before.
    message: Option<Looked>,
    mac: [u64; POINTS],
    unknown: u32,
}

impl Demux {
    fn offers(&self, i: usize) -> bool {
        self.message == Some(Looked::For(i))
    }

    /// The core signals to the receiver that the message is done.
    fn done(&self) -> bool {
        matches!(self.message, Some(Looked::Taken | Looked::Unknown))
    }

    fn clock(&mut self, destination: Option<u64>, mac: [u64; POINTS], taken: bool) {
        self.unknown += u32::from(self.message == Some(Looked::Unknown));
        let whose = |to| self.mac.iter().position(|&own| own == to).map_or(Looked::Unknown, Looked::For);
        self.message = match self.message {
            _ if self.done() => None,
            None => destination.map(whose),
            Some(_) if taken => Some(Looked::Taken),
            looked => looked,
        };
        self.mac = mac;
    }
}

/// The decision of a gate on the frame in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It is new.
    Waits,
    /// Its length is known, and the bucket asked for it; or it is more than a bucket holds.
    Asks(u64),
    Never,
    /// It goes, or is dropped.
    Passes,
    Drops,
}

/// Lets a reaction point's frames go at its rate.
struct Gate<D: Data> {
    way: Way,
    /// With beats of more than 64 bits: the one in the register, with its frame's length, and whether the next is a frame's first.
    held: Option<(Beat<D>, u16)>,
    first: bool,
    bucket: Bucket,
    depth: u64,
    sent: Option<u16>,
    dropped: Counter,
}

impl<D: Data> Gate<D> {
    const WIDE: bool = D::OCTETS > 8;

    fn new(shape: Shape) -> Self {
        let (bucket, dropped) = (Bucket::new(shape), Counter::default());
        Self { way: Way::Waits, held: None, first: true, bucket, depth: shape.depth, sent: None, dropped }
    }

    /// The way of a frame that asks the bucket, by its length.
    fn asks(&self, octets: u16) -> Way {
        match u64::from(octets) + LINE {
            octets if octets <= self.depth => Way::Asks(octets),
            _ => Way::Never,
        }
    }

    /// Whether a beat is taken, and the beat that is shown.
    fn shows(&self, tx: Option<Beat<D>>, ready: bool) -> (bool, Option<Beat<D>>) {
        let passes = self.way == Way::Passes;
        if Self::WIDE {
            let leaves = self.way == Way::Drops || passes && ready;
            return (self.held.is_none() || leaves, self.held.map(|(beat, _)| beat).filter(|_| passes));
        }
        (self.way == Way::Drops || passes && ready, tx.filter(|_| passes))
    }

    fn clock(&mut self, tx: Option<(Beat<D>, u16)>, ready: bool, rate: u64) {
        if Self::WIDE { self.clock_register(tx, ready, rate) } else { self.clock_wire(tx, ready, rate) }
    }

    /// Each beat is in a register, and a first one asks as it gets there.
    fn clock_register(&mut self, tx: Option<(Beat<D>, u16)>, ready: bool, rate: u64) {
        let (takes, _) = self.shows(None, ready);
        let left = if takes { self.held.take() } else { None };
        self.dropped.clock(self.way == Way::Drops && left.is_some_and(|(beat, _)| beat.last));
        if left.is_some_and(|(beat, _)| beat.last) {
            self.way = Way::Waits;
        }
        if takes && let Some((beat, octets)) = tx {
            self.held = tx;
            if self.first {
                self.way = self.asks(octets);
            }
            self.first = beat.last;
        }
        let asked = match self.way {
            Way::Asks(octets) => octets as u32,
            _ => 0,
        };
        let goes = asked > 0 && self.bucket.shows(asked).0;
        self.bucket.clock(rate, goes.then_some(asked));
        self.sent = self.held.filter(|_| goes).map(|(_, octets)| octets);
        self.way = match self.way {
            Way::Asks(_) if goes => Way::Passes,
            Way::Never => Way::Drops,
            way => way,
        };
    }

    /// Within a frame it is a wire.
    fn clock_wire(&mut self, tx: Option<(Beat<D>, u16)>, ready: bool, rate: u64) {
        let (takes, _) = self.shows(None, ready);
        let ends = takes && tx.is_some_and(|(beat, _)| beat.last);
        let asked = match self.way {
            Way::Asks(octets) if tx.is_some() => octets as u32,
            _ => 0,
        };
        let goes = asked > 0 && self.bucket.shows(asked).0;
        self.bucket.clock(rate, goes.then_some(asked));
        self.sent = tx.filter(|_| goes).map(|(_, octets)| octets);
        self.dropped.clock(self.way == Way::Drops && ends);
        self.way = match (self.way, tx) {
            (Way::Passes | Way::Drops, _) if ends => Way::Waits,
            (way @ (Way::Passes | Way::Drops), _) => way,
            (Way::Asks(_), _) if goes => Way::Passes,
            (Way::Never, Some(_)) => Way::Drops,
            (_, Some((_, octets))) => self.asks(octets),
            (_, None) => Way::Waits,
        };
    }
}

/// A core with two reaction points from a reset on.
pub struct Reference<M, D: Data> {
    receiver: Receiver<D>,
    demux: Demux,
    pub machines: [M; POINTS],
    gates: [Gate<D>; POINTS],
}

impl<M: Machine, D: Data> Reference<M, D> {
    /// With the token bucket of a shape.
    pub fn new(kind: u16, shape: Shape, machine: impl Fn() -> M) -> Self {
        Self {
            receiver: Receiver::new(kind),
            demux: Demux::default(),
            machines: std::array::from_fn(|_| machine()),
            gates: std::array::from_fn(|_| Gate::new(shape)),
        }
    }

    /// The outputs in a clock; then it passes.
    pub fn clock(&mut self, pins: &Pins<D>) -> Shown<D> {
        let mut shown = Shown::default();
        (shown.rx_ready, shown.rx) = self.receiver.shows();
        (shown.taken, shown.malformed) = (self.receiver.taken.count, self.receiver.malformed.count);
        shown.refused = self.receiver.refused.count;
        shown.unknown = self.demux.unknown;
        for (i, (machine, gate)) in self.machines.iter_mut().zip(&mut self.gates).enumerate() {
            let signal = self.receiver.message.filter(|_| self.demux.offers(i)).map(|(_, message)| message);
            let (start, sent, tick, words) = (pins.start[i], gate.sent, pins.tick, pins.words[i]);
            let says = machine.clock(&Event { start, signal, sent, tick, words });
            // Whether it would take a message shows with one alone.
            shown.point[i] = point::Shown { ready: false, ..says };
            shown.signal[i] = signal.is_some() && says.ready;
            let (tx, ready) = (pins.tx[i], pins.tx_ready[i]);
            (shown.tx_ready[i], shown.tx[i]) = gate.shows(tx.map(|(beat, _)| beat), ready);
            (shown.sent[i], shown.dropped[i]) = (gate.sent, gate.dropped.count);
            shown.tokens[i] = gate.bucket.shows(0).1 as u16;
            gate.clock(tx, ready, says.point.current_rate);
        }
        let (message, done) = (self.receiver.message, self.demux.done());
        self.demux.clock(message.map(|(to, _)| to), pins.mac, shown.signal.contains(&true));
        self.receiver.clock(pins.rx, pins.rx_ready, pins.drop_if_busy, done);
        shown
    }
}
