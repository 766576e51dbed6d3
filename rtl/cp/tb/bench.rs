//! The whole congestion point on a bench that knows what each output must show in every clock: the algorithm's
//! answers come from the simulator's state machine, their clocks from the latencies that the documentation states.

use std::collections::VecDeque;

use penstock_cosim::cp_qcn::{In, Out};
use penstock_cosim::{Random, cp_100g, cp_large, cp_qcn, cp_smcc};
#[cfg(feature = "widths")]
use penstock_cosim::{cp_qcn_128, cp_qcn_256};
use penstock_schemes::parts::sampler::Sampling;
use penstock_schemes::parts::sampling_cp::Sample;

use crate::expected::{Expected, Header};
use crate::reference::{Answer, DRAW, QCN_SAMPLE, RELOAD, Reference, SMCC_SAMPLE, Settings, TABLE, Variant};
use crate::wire;
use crate::wires::{Core, Given, WIDEST, Wires};

/// Parameters of the builds.
pub const BUFFER: u64 = 60_000;
pub const LARGE_BUFFER: u64 = 150_000;
pub const MAX_OCTETS: usize = 1522;
const MESSAGES: usize = 8;
/// Words of 32 bits in a message's frame.
const WORDS: u32 = 15;

/// A frame as it is given to the core.
#[derive(Debug, Clone)]
pub struct Sending {
    /// Octets without the FCS.
    pub octets: Vec<u8>,
    /// The flag that says so.
    pub bad: bool,
    /// A tkeep has a hole, that of its last beat or of any other.
    pub hole: bool,
}

/// An arrival that the algorithm has not seen yet.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    shows_at: u64,
    octets: u16,
    dropped: bool,
    met: u64,
    header: Header,
}

/// Counters, as the core has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    pub frames: u32,
    pub octets: u64,
    pub dropped: u32,
    pub bad: u32,
    pub sampled: u32,
    pub messages: u32,
    pub lost: u32,
}

/// A stream's frame as its beats come out.
#[derive(Debug, Default)]
struct Gathering {
    octets: Vec<u8>,
    stays: Option<(Wires, bool)>,
}

impl Gathering {
    /// A clock; the frame that ends in it.
    fn clock(&mut self, valid: bool, ready: bool, beat: Wires, last: bool, full: usize) -> Option<Vec<u8>> {
        if let Some(stayed) = self.stays {
            assert_eq!((valid, (beat, last)), (true, stayed), "a beat that is shown stays");
        }
        self.stays = (valid && !ready).then_some((beat, last));
        if !valid || !ready {
            return None;
        }
        let octets = beat.keep.count_ones() as usize;
        let contiguous = beat.keep & beat.keep.wrapping_add(1) == 0 && octets > 0;
        assert!(contiguous && (last || octets == full), "tkeep {:02x}", beat.keep);
        self.octets.extend_from_slice(&beat.data[..octets]);
        last.then(|| std::mem::take(&mut self.octets))
    }
}

/// A frame that has come whole: when its last beat came, and whether it is one.
struct Whole {
    at: u64,
    octets: Vec<u8>,
    good: bool,
    queued: bool,
}

impl Whole {
    /// Length with its FCS.
    fn len(&self) -> u64 {
        self.octets.len() as u64 + 4
    }
}

/// The state that the core is expected to be in.
#[derive(Default)]
struct Model {
    ready: bool,
    ended: bool,
    /// With beats of more than 64 bits: those in the buffer in front, each with its marks.
    buffer: VecDeque<(Wires, bool, bool)>,
    coming: Vec<u8>,
    hole: bool,
    whole: VecDeque<Whole>,
    queue: u64,
    with_frame: u64,
    left: Option<u64>,
    leaving: Option<u64>,
    settled: bool,
    /// With beats of more than 64 bits: octets that have left and are not taken off yet.
    left_octets: u64,
    arrivals: VecDeque<Arrival>,
    stored: VecDeque<Vec<u8>>,
    free_at: u64,
    done_at: Option<u64>,
    answer: Option<(u64, Answer, Option<Sample>)>,
    reload: Option<(u64, u64)>,
    /// When the maker of frames sees the messages that wait, and the messages then.
    waiting: VecDeque<u64>,
    messages: VecDeque<Expected>,
    word: u32,
    chosen: Option<u32>,
    message_valid: bool,
    counters: Counters,
}

impl Model {
    /// Whether a beat that is shown is taken.
    fn takes(&self, wide: bool) -> bool {
        if wide { self.buffer.len() < 2 } else { self.ready }
    }
}

/// The clock and settings of a test, for its message if it fails.
#[derive(Clone, Copy)]
struct At {
    clock: u64,
    settings: Settings,
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "clock {}, {:?}", self.clock, self.settings)
    }
}

/// The core, its drivers, and the expected outputs.
pub struct Bench {
    /// None where another drives it, and shows what it does.
    core: Option<Core>,
    pub input: In,
    wires: Wires,
    /// Octets of a beat, and frames that may wait for the algorithm.
    beat: usize,
    events: usize,
    pub random: Random,
    variant: Variant,
    buffer: u64,
    /// Octets of the longest frame with its FCS.
    longest: usize,
    reference: Reference,
    settings: Settings,
    model: Model,
    clock: u64,
    /// Beats that are still to be given.
    beats: VecDeque<(Wires, bool, bool)>,
    out: Gathering,
    out_message: Gathering,
    /// One clock in this number has a beat.
    pub pause: u64,
    /// Chance in 256 that a sink takes a beat.
    pub sink: u64,
    pub message_sink: u64,
    /// Messages and frames that came out since the start, and clocks in which the source had to wait for the algorithm.
    pub messages_out: u64,
    pub frames_out: u64,
    pub held: u64,
}

impl Bench {
    pub fn new(smcc: bool, seed: u64) -> Self {
        let core = if smcc { Core::Smcc(cp_smcc::Core::new(seed)) } else { Core::Qcn(cp_qcn::Core::new(seed)) };
        Self::of(core, smcc, BUFFER, seed)
    }

    /// QCN's, with the buffer of the switch.
    pub fn of_large(seed: u64) -> Self {
        Self::of(Core::Large(cp_large::Core::new(seed)), false, LARGE_BUFFER, seed)
    }

    /// QCN's for 100 Gb/s: with beats of 512 bits.
    pub fn of_100g(seed: u64) -> Self {
        Self::of(Core::Wide512(cp_100g::Core::new(seed)), false, BUFFER, seed)
    }

    /// QCN's with beats of 128 or 256 bits.
    #[cfg(feature = "widths")]
    pub fn of_width(bits: usize, seed: u64) -> Self {
        let core = match bits {
            128 => Core::Wide128(cp_qcn_128::Core::new(seed)),
            _ => Core::Wide256(cp_qcn_256::Core::new(seed)),
        };
        Self::of(core, false, BUFFER, seed)
    }

    /// QCN's with beats of 512 bits, within another core, from a reset on, with these settings at its inputs.
    #[allow(dead_code, reason = "the bench of a line uses it")]
    pub fn within(input: In, settings: Settings, buffer: u64, longest: usize) -> Self {
        let bench = Self::with((64, 128), false, buffer, 0);
        Self { input, settings, longest, reference: Reference::new(TABLE, &settings), ..bench }
    }

    fn of(core: Core, smcc: bool, buffer: u64, seed: u64) -> Self {
        let bench = Self::with(core.sizes(), smcc, buffer, seed);
        Self { core: Some(core), ..bench }
    }

    /// `sizes` are those of the core.
    fn with(sizes: (usize, usize), smcc: bool, buffer: u64, seed: u64) -> Self {
        let variant = if smcc { Variant { smcc, sampling: Sampling::Count, ..TABLE } } else { TABLE };
        let settings = Settings::default();
        let (beat, events) = sizes;
        Self {
            core: None,
            input: In::default(),
            wires: Wires::NONE,
            beat,
            events,
            random: Random::new(seed),
            variant,
            buffer,
            longest: MAX_OCTETS,
            reference: Reference::new(variant, &settings),
            settings,
            model: Model::default(),
            clock: 0,
            beats: VecDeque::new(),
            out: Gathering::default(),
            out_message: Gathering::default(),
            pause: 1,
            sink: 256,
            message_sink: 256,
            messages_out: 0,
            frames_out: 0,
            held: 0,
        }
    }

    /// Resets it in the middle of whatever it does. Beats that were to come still come.
    pub fn reset(&mut self, settings: Settings) {
        self.settings = settings;
        self.input.q_eq_i = settings.q_eq;
        self.input.w_i = settings.w;
        self.input.sample_base_i = settings.base;
        self.input.sample_jitter_i = settings.jitter;
        self.input.sample_count_i = settings.count;
        self.input.sample_probability_i = settings.probability;
        self.input.cp_mac_i = self.random.next() & 0xffff_ffff_ffff;
        self.input.cp_id_i = self.random.next();
        self.input.cnm_priority_i = self.random.below(8) as u8;
        self.input.rst_i = true;
        let Given { out, .. } = self.core.as_mut().expect("a core").clock(&self.input, &self.wires);
        if self.input.s_axis_tvalid && out.s_axis_tready {
            self.input.s_axis_tvalid = false;
        }
        self.input.rst_i = false;
        self.reference = Reference::new(self.variant, &settings);
        self.model = Model::default();
        self.out = Gathering::default();
        self.out_message = Gathering::default();
    }

    /// Forgets the beats that were still to be sent.
    pub fn forget(&mut self) {
        self.beats.clear();
        self.input.s_axis_tvalid = false;
    }

    /// Beats that wait.
    pub fn waiting(&self) -> usize {
        self.beats.len() + usize::from(self.input.s_axis_tvalid)
    }

    /// Octets in the queue.
    pub fn queue_octets(&self) -> u64 {
        self.model.queue
    }

    pub fn counters(&self) -> Counters {
        self.model.counters
    }

    /// Nothing is in flight.
    pub fn idle(&self) -> bool {
        let m = &self.model;
        let streams = m.stored.is_empty()
            && m.messages.is_empty()
            && m.left.is_none()
            && m.leaving.is_none()
            && m.left_octets == 0;
        streams
            && self.waiting() == 0
            && m.buffer.is_empty()
            && m.whole.is_empty()
            && m.arrivals.is_empty()
            && m.answer.is_none()
    }

    pub fn send(&mut self, frame: &Sending) {
        let beats = frame.octets.len().div_ceil(self.beat);
        let hole = if self.random.one_in(2) { beats - 1 } else { self.random.below(beats as u64) as usize };
        for (n, octets) in frame.octets.chunks(self.beat).enumerate() {
            let mut data = [0; WIDEST];
            for part in data[..self.beat].chunks_mut(8) {
                part.copy_from_slice(&self.random.next().to_le_bytes());
            }
            data[..octets.len()].copy_from_slice(octets);
            let last = n + 1 == beats;
            let keep = !0 >> (64 - octets.len());
            let keep = match (frame.hole && n == hole, keep) {
                (true, 1) => 0,
                (true, _) => keep & !1,
                _ => keep,
            };
            // The flag counts with the last beat alone.
            let user = if last { frame.bad } else { self.random.one_in(4) };
            self.beats.push_back((Wires { data, keep }, last, user));
        }
    }

    fn at(&self) -> At {
        At { clock: self.clock, settings: self.settings }
    }

    /// A clock: drives the streams, and compares all that shows with what is expected.
    pub fn clock(&mut self) -> Out {
        if !self.input.s_axis_tvalid && !self.beats.is_empty() && self.random.one_in(self.pause) {
            let (wires, last, user) = self.beats.pop_front().expect("there is one");
            self.input.s_axis_tvalid = true;
            self.wires = wires;
            (self.input.s_axis_tlast, self.input.s_axis_tuser) = (last, user);
        }
        self.input.m_axis_tready = self.random.below(256) < self.sink;
        self.input.m_axis_message_tready = self.random.below(256) < self.message_sink;
        self.input.random_i = if self.random.one_in(16) { u32::MAX } else { self.random.word() };
        let given = self.core.as_mut().expect("a core").clock(&self.input, &self.wires);
        self.check(&given);
        given.out
    }

    /// A clock of the core within another, with these wires.
    #[allow(dead_code, reason = "the bench of a line uses it")]
    pub fn see(&mut self, input: impl FnOnce(&mut In), wires: Wires, given: &Given) {
        input(&mut self.input);
        self.wires = wires;
        self.check(given);
    }

    /// Compares all that shows with what is expected, and goes on by a clock.
    fn check(&mut self, Given { out, data, message }: &Given) {
        let seen = Counters {
            frames: out.frames_o,
            octets: out.octets_o,
            dropped: out.dropped_o,
            bad: out.bad_o,
            sampled: out.sampled_o,
            messages: out.messages_o,
            lost: out.messages_lost_o,
        };
        assert_eq!(seen, self.model.counters, "{}", self.at());
        assert_eq!(out.s_axis_tready, self.model.takes(self.beat > 8), "{}", self.at());
        assert!(!out.m_axis_tuser && !out.m_axis_message_tuser);
        self.queue(out, *data);
        let called_for = self.algorithm(out);
        self.notifier(out, *message, called_for);
        self.clock += 1;
    }

    /// The streams of data, and the queue between them.
    fn queue(&mut self, out: &Out, beat: Wires) {
        let (now, at) = (self.clock, self.at());
        let events = self.model.arrivals.iter().filter(|arrival| arrival.shows_at <= now).count();
        let (m, wide) = (&mut self.model, self.beat > 8);
        assert_eq!(u64::from(out.queue_o), m.queue, "{at}");
        assert!(m.queue <= self.buffer, "{at}");

        let took = m.queue;
        let coming = m.whole.iter_mut().find(|frame| frame.good && frame.at + 2 == now);
        // A frame that has left is taken off when it has stood for a clock, and no frame comes or is decided.
        let (settled, comes) = (std::mem::take(&mut m.settled) && coming.is_none(), coming.is_some());
        if let Some(frame) = coming {
            m.with_frame = m.queue + frame.len();
        }
        if let Some(frame) = m.whole.iter_mut().find(|frame| frame.good && frame.at + 3 == now) {
            frame.queued = m.with_frame <= self.buffer;
            if frame.queued {
                m.queue = m.with_frame;
                m.stored.push_back(frame.octets.clone());
            }
        } else if settled && let Some(octets) = m.leaving.take() {
            m.queue -= octets;
        } else {
            m.settled = m.leaving.is_some();
        }
        // With wide beats all that has left is, when no frame comes.
        if wide && !comes {
            m.queue -= std::mem::take(&mut m.left_octets);
        }
        if m.whole.iter().any(|frame| !frame.good && frame.at + 2 == now) {
            m.counters.bad += 1;
        }
        if m.whole.front().is_some_and(|frame| frame.at + 4 == now) {
            let frame = m.whole.pop_front().expect("there is one");
            if frame.good {
                m.counters.frames += 1;
                m.counters.octets += frame.len();
                m.counters.dropped += u32::from(!frame.queued);
                let header = Header::of(&frame.octets);
                if header.client != if self.variant.smcc { 0x88b5 } else { 0x22e7 } {
                    let octets = frame.len() as u16;
                    m.arrivals.push_back(Arrival {
                        shows_at: now + 1,
                        octets,
                        dropped: !frame.queued,
                        met: took,
                        header,
                    });
                }
            }
        }

        match m.left.take() {
            Some(octets) if wide => m.left_octets += octets,
            Some(octets) => m.leaving = Some(octets),
            None => (),
        }
        let (valid, ready, last) = (out.m_axis_tvalid, self.input.m_axis_tready, out.m_axis_tlast);
        if let Some(frame) = self.out.clock(valid, ready, beat, last, self.beat) {
            assert_eq!(Some(&frame), m.stored.front(), "{at}");
            m.stored.pop_front();
            m.left = Some(frame.len() as u64 + 4);
            self.frames_out += 1;
        }

        let comes = (self.input.s_axis_tvalid && m.takes(wide)).then_some((
            self.wires,
            self.input.s_axis_tlast,
            self.input.s_axis_tuser,
        ));
        if comes.is_some() {
            self.input.s_axis_tvalid = false;
        }
        // A frame of one wide beat waits for a clock behind the one before.
        let shown = if wide { m.buffer.front().copied() } else { comes };
        let taken = shown.filter(|&(_, last, _)| !wide || m.ready && !(m.ended && last));
        if wide {
            if taken.is_some() {
                m.buffer.pop_front();
            }
            m.buffer.extend(comes);
        }
        let ends = taken.is_some_and(|(_, last, _)| last);
        if let Some((Wires { data, keep }, _, user)) = taken {
            let octets = if ends { keep.count_ones() as usize } else { self.beat };
            m.hole |= keep == 0 || keep & keep.wrapping_add(1) != 0;
            m.coming.extend_from_slice(&data[..octets]);
            if ends {
                let octets = std::mem::take(&mut m.coming);
                let hole = std::mem::take(&mut m.hole);
                let fits = (60..=self.longest - 4).contains(&octets.len());
                m.whole.push_back(Whole { at: now, good: fits && !hole && !user, octets, queued: false });
            }
        }
        // With wide beats two frames may come before a third is held back.
        let full = events + if wide { 2 } else { 0 } >= self.events;
        self.held += u64::from(full);
        m.ready = (wide || !ends && !m.ended) && !full;
        m.ended = ends;
    }

    /// The algorithm: arrivals, samples, intervals. The frame of the message that is called for.
    fn algorithm(&mut self, out: &Out) -> Option<Expected> {
        let (now, at) = (self.clock, self.at());
        let m = &mut self.model;
        let table = self.variant.sampling == Sampling::Table;
        let after = if self.variant.smcc { SMCC_SAMPLE } else { QCN_SAMPLE };
        let head = m.arrivals.front().copied().filter(|arrival| arrival.shows_at <= now);
        let taken = head.filter(|_| now >= m.free_at);
        assert_eq!(out.event_o, taken.is_some(), "{at}");
        if let Some(Arrival { octets, dropped, met, .. }) = taken {
            let seen = (out.event_octets_o, out.event_dropped_o, u64::from(out.event_queue_o));
            assert_eq!(seen, (octets, dropped, met), "{at}");
            match self.reference.arrive(octets, dropped, met, self.input.random_i) {
                None => (m.done_at, m.free_at) = (Some(now + 1), now + 2),
                Some((answer, sample)) => {
                    m.done_at = Some(now + after);
                    m.free_at = now + after + 1 + if table { RELOAD } else { 0 };
                    m.answer = Some((now + after, answer, sample));
                }
            }
        }
        let shows = m.answer.filter(|&(then, ..)| then == now).map(|(_, answer, _)| answer);
        assert_eq!(out.sample_o, shows.is_some(), "{at}");
        let mut called_for = None;
        if let Some(answer) = shows {
            m.counters.sampled += 1;
            assert_eq!((out.congested_o, out.fb_o), (answer.congested, answer.fb), "{at}");
            let header = head.expect("it is not done yet").header;
            called_for = answer.congested.then(|| Expected::new(&self.input, self.variant.smcc, &header, &answer));
        }
        let draws = m.answer.filter(|&(then, ..)| now == then + if table { DRAW } else { 0 });
        assert_eq!(out.draw_o, draws.is_some() && table, "{at}");
        if let Some((then, _, sample)) = draws {
            m.answer = None;
            if let Some(sample) = sample {
                let len = (sample.measure.q_off + i64::from(self.settings.q_eq)) as u64;
                self.reference.conclude(&sample, len, self.input.random_i);
            }
            if table {
                m.reload = Some((then + RELOAD, self.reference.left()));
            }
        }
        if table {
            let reloaded = m.reload.take_if(|(then, _)| *then == now);
            assert_eq!(out.reloaded_o.then_some(u64::from(out.interval_o)), reloaded.map(|(_, left)| left), "{at}");
        }
        if m.done_at == Some(now) {
            m.done_at = None;
            m.arrivals.pop_front();
        }
        called_for
    }

    /// The maker of the frames of messages, and their stream.
    fn notifier(&mut self, out: &Out, beat: Wires, called_for: Option<Expected>) {
        let (now, at) = (self.clock, self.at());
        let m = &mut self.model;
        assert_eq!(out.m_axis_message_tvalid, m.message_valid, "{at}");
        let (ready, last) = (self.input.m_axis_message_tready, out.m_axis_message_tlast);
        let full_beat = self.beat;
        if let Some(frame) = self.out_message.clock(out.m_axis_message_tvalid, ready, beat, last, full_beat) {
            let message = m.messages.pop_front().expect("the sample called for a message");
            assert_eq!(frame, message.octets, "{at}");
            assert_eq!(wire::read(&frame), message.says, "{at}");
            self.messages_out += 1;
        }
        let full = m.waiting.len() == MESSAGES;
        // A word is chosen, then put into its place in a beat; both wait while a beat is not taken.
        if !m.message_valid || ready {
            let words = (full_beat / 4) as u32;
            m.message_valid = m.chosen.is_some_and(|word| (word + 1) % words == 0 || word == WORDS - 1);
            m.chosen = None;
            if m.waiting.front().is_some_and(|&shows_at| shows_at <= now) {
                m.chosen = Some(m.word);
                m.word = (m.word + 1) % WORDS;
                if m.word == 0 {
                    m.waiting.pop_front();
                }
            }
        }
        if let Some(message) = called_for {
            if full {
                m.counters.lost += 1;
            } else {
                m.counters.messages += 1;
                m.waiting.push_back(now + 1);
                m.messages.push_back(message);
            }
        }
    }
}
