//! The set-up as a run drives it: from a scenario of the event simulator come the settings of the cores, the lines' delays and the
//! flows. In every clock all that the cores decide is held to the state machines of the schemes.

use std::collections::VecDeque;

use penstock_cosim::bits::Bits;
use penstock_cosim::dcqcn_setup::{Core, In, Out};
use penstock_cosim::reaction_point::{DcqcnPoint, DcqcnSettings, Event, Machine, Message};
use penstock_cosim::stream::{Beat, Frame, Sink, Source};
use penstock_schemes::dcqcn::{Cnp, Config, Dcqcn, Np};
use penstock_schemes::parts::marking::Ce;
use penstock_schemes::parts::marking_cp::{MarkingConfig, MarkingCp};
use penstock_schemes::{
    BitRate, Class, CongestionPoint, Draw, Duration, FlowKey, Instant, NotificationPoint, Octets, Out as Sends, To,
};
use penstock_wire::encode::encode;
use penstock_wire::ethernet::ether_type;
use penstock_wire::{ipv4, roce};

type Data = [u32; 16];

pub const SENDERS: usize = 4;
pub const CLOCK_PS: u64 = 5_000;
pub const LINE: u64 = 40_000_000_000;
/// Clocks of the time base: a tenth of a microsecond, so that timers are no later than that.
const TICK: u64 = 20;
const TICK_PS: u64 = TICK * CLOCK_PS;
/// Octets of a frame with its check sequence, of a CNP, and of preamble and gap.
pub const FRAME: u64 = 1_000;
const CNP: u64 = 78;
pub const GAP: u64 = 20;
const BUFFER: u32 = 1_000_000;
/// Clocks from a frame's release until it joins the queue, with a delay line of 0. And clocks from the first beat of a marked frame
/// on the receiver's line until the reaction point of its sender takes the CNP, with another.
const OUT: u64 = 23;
const BACK: u64 = 63;
/// Clocks from a frame's last beat at the receiver to the one whose ticks count as its time.
const SEEN: u64 = 2;

/// Picoseconds of these octets on a line.
fn on_line(octets: u64) -> u64 {
    octets * 8 * 1_000_000_000_000 / LINE
}

/// Clocks that a frame takes to the queue, when its time on the sender's line has passed.
fn way_out(delay: u64) -> u64 {
    (on_line(FRAME + GAP) + delay).div_ceil(CLOCK_PS)
}

/// Clocks from a frame's beginning on the receiver's line until its CNP has passed two lines back.
fn way_back(delay: u64) -> u64 {
    (on_line(FRAME + GAP) + 2 * on_line(CNP + GAP) + 3 * delay).div_ceil(CLOCK_PS)
}

/// The receiver's queue pair of a sender; the sender's is 256 more.
fn qp(sender: usize) -> u32 {
    1 + sender as u32
}

/// A frame of a sender with ECT(0), its number and its invariant CRC, without check sequence. (Operation 4: a send in one packet)
fn data(sender: usize, number: u32) -> Frame {
    let mut octets = vec![2, 0, 0, 0, 0, 0xff, 2, 0, 0, 0, 0, sender as u8, 0x08, 0x00];
    octets.extend([0x45, 0x02, 0x03, 0xd6, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, sender as u8, 10, 0, 0, 0xff]);
    let checksum = ipv4::checksum(&octets[14..34]);
    octets[24..26].copy_from_slice(&checksum.to_be_bytes());
    octets.extend([0xc0, 0x00, 0x12, 0xb7, 0x03, 0xc2, 0, 0, 0x04, 0x00, 0xff, 0xff, 0]);
    octets.extend(&qp(sender).to_be_bytes()[1..]);
    octets.push(0);
    octets.extend(&number.to_be_bytes()[1..]);
    octets.resize(FRAME as usize - 4 - roce::ICRC, 0);
    let crc = roce::icrc(ether_type::IPV4, &octets[14..]).expect("it is a packet of RoCEv2");
    octets.extend(crc);
    Frame::new(octets)
}

/// The same frame with the mark of congestion.
fn marked(mut frame: Frame) -> Frame {
    frame.octets[15] |= 3;
    frame.octets[24..26].fill(0);
    let checksum = ipv4::checksum(&frame.octets[14..34]);
    frame.octets[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame
}

/// The CNP that answers a sender.
fn cnp(sender: usize) -> Vec<u8> {
    let (mac, ip) = (format!("02:00:00:00:00:{sender:02x}"), format!("10.0.0.{sender}"));
    let pairs = [
        ("eth.destination", mac.as_str()),
        ("eth.source", "02:00:00:00:00:ff"),
        ("ipv4.dscp", "48"),
        ("ipv4.source", "10.0.0.255"),
        ("ipv4.destination", &ip),
        ("udp.source_port", "49152"),
        ("bth.dest_qp", &(qp(sender) + 256).to_string()),
    ];
    encode("cnp", &pairs).expect("the fields are its")
}

/// The settings of a reaction point; times are ticks.
fn point(config: &Config) -> DcqcnSettings {
    let ticks = |time: Duration| u32::try_from(time.0 / TICK_PS).expect("a time of 30 bits");
    assert!(config.g_inverse.is_power_of_two(), "g is a power of two in hardware");
    DcqcnSettings {
        alpha_init: (config.alpha0 * f64::from(1 << 30)) as u32,
        g_shift: config.g_inverse.trailing_zeros() as u8,
        alpha_time: ticks(config.alpha_time),
        threshold: config.f as u8,
        byte_reset: config.byte_reset.0 as u32,
        time_reset: ticks(config.time_reset),
        ai_rate: config.r_ai.0,
        hai_rate: config.r_hai.0,
        min_rate: config.min_rate.0,
        max_rate: LINE,
    }
}

struct Word(u32);

impl Draw for Word {
    fn draw(&mut self) -> u32 {
        self.0
    }
}

/// Counts what a notification point sends.
struct Sent(u32);

impl Sends<Dcqcn> for Sent {
    fn send(&mut self, _: To, _: Class, _: Cnp) {
        self.0 += 1;
    }
}

/// What has happened since the reset.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Sum of the queue over the clocks, octets.
    pub queue: u64,
    /// Frames that began on the receiver's line, of each sender.
    pub frames: [u64; SENDERS],
    pub marks: u64,
    pub cnps: u64,
    pub drops: u64,
}

/// The set-up, the hosts beside it, and the state machines to which it is held.
pub struct Setup {
    core: Core,
    input: In,
    words: Box<dyn FnMut() -> u32>,
    thresholds: [u64; 2],
    clock: u64,
    ticks: u64,
    /// The clocks in which flows start.
    starts: Vec<u64>,
    hosts: [Source<Data>; SENDERS],
    numbers: [u32; SENDERS],
    points: Vec<DcqcnPoint>,
    rates: [u64; SENDERS],
    switch: MarkingCp,
    receiver: Vec<Np>,
    queue: u32,
    /// Frames on their way to the receiver, in each sender's order; of those in the queue, whether they are marked.
    sent: [VecDeque<Frame>; SENDERS],
    queued: VecDeque<bool>,
    arriving: Sink<Data>,
    seen: VecDeque<(u64, usize)>,
    cnps: VecDeque<Vec<u8>>,
    answers: Sink<Data>,
    pub counts: Counts,
    /// The lines' delay, ps.
    delay: u64,
    /// The clocks of the first frame's release and joining, and of the first marked frame's beginning and its CNP's end.
    firsts: [Option<u64>; 4],
}

impl Setup {
    /// The set-up after its reset, with flows that start in these clocks. `words` has the words that the switch draws; the lines
    /// have `delay` picoseconds.
    pub fn new(seed: u64, config: &Config, delay: u64, starts: Vec<u64>, words: Box<dyn FnMut() -> u32>) -> Self {
        let (settings, ramp) = (point(config), config.ramp());
        let mut input = In {
            rst_i: true,
            alpha_init_i: settings.alpha_init,
            g_shift_i: settings.g_shift,
            alpha_time_i: settings.alpha_time,
            threshold_i: settings.threshold,
            byte_reset_i: settings.byte_reset,
            time_reset_i: settings.time_reset,
            ai_rate_i: settings.ai_rate,
            hai_rate_i: settings.hai_rate,
            min_rate_i: settings.min_rate,
            max_rate_i: settings.max_rate,
            k_min_i: ramp.k_min as u32,
            k_max_i: ramp.k_max as u32,
            p_max_i: ramp.p_max,
            rate_i: LINE,
            delay_out_i: (way_out(delay) - OUT) as u32,
            delay_back_i: (way_back(delay) - BACK) as u32,
            interval_i: (config.cnp_interval.0 / TICK_PS) as u32,
            ..In::default()
        };
        let mut core = Core::new(seed);
        core.clock(&input);
        input.rst_i = false;
        for sender in 0..SENDERS {
            input.qp_i.put(24 * sender, 24, (qp(sender) + 256).into());
            input.s_axis_tx_octets_i.put(16 * sender, 16, FRAME);
            input.write_i = true;
            (input.write_index_i, input.write_qp_i) = (qp(sender) as u8, qp(sender));
            input.write_peer_i = qp(sender) + 256;
            core.clock(&input);
        }
        input.write_i = false;
        let mut points: Vec<_> = (0..SENDERS).map(|_| DcqcnPoint::new(&settings)).collect();
        for _ in 0..SENDERS {
            points.iter_mut().for_each(|point| _ = point.clock(&Event::default()));
        }
        // Its times are ticks, as the hardware's.
        let by_ticks = Config { cnp_interval: Duration(config.cnp_interval.0 / TICK_PS), ..config.clone() };
        let mut setup = Self {
            core,
            input,
            words,
            thresholds: [ramp.k_min, ramp.k_max],
            clock: 0,
            ticks: 0,
            starts,
            hosts: Default::default(),
            numbers: [0; SENDERS],
            points,
            rates: [0; SENDERS],
            switch: MarkingCp::new(config, BitRate(LINE)),
            receiver: (0..SENDERS).map(|_| Np::new(&by_ticks, FlowKey(7))).collect(),
            queue: 0,
            sent: Default::default(),
            queued: VecDeque::new(),
            arriving: Sink::default(),
            seen: VecDeque::new(),
            cnps: VecDeque::new(),
            answers: Sink::default(),
            counts: Counts::default(),
            delay,
            firsts: [None; 4],
        };
        setup.input.random_i = (setup.words)();
        setup
    }

    /// The next clock.
    pub fn clock(&mut self) {
        let now = self.clock;
        self.input.start_i = 0;
        for sender in 0..self.starts.len() {
            if now == self.starts[sender] {
                self.input.start_i.put(sender, 1, 1);
            }
            self.show(sender);
        }
        self.input.tick_i = now % TICK == TICK - 1;
        let out = self.core.clock(&self.input);
        assert!(!out.lost_o, "a line or a table has lost something in clock {now}");
        self.senders(&out);
        self.switch(&out);
        self.receiver(&out);
        self.ticks += u64::from(self.input.tick_i);
        self.clock += 1;
    }

    /// A sender's next beat.
    fn show(&mut self, sender: usize) {
        let host = &mut self.hosts[sender];
        if host.left() == 0 && self.clock > self.starts[sender] {
            let frame = data(sender, self.numbers[sender]);
            self.numbers[sender] += 1;
            host.push(&frame);
            self.sent[sender].push_back(frame);
        }
        let shown = host.show(true);
        self.input.s_axis_tx_tvalid.put(sender, 1, shown.is_some().into());
        if let Some(beat) = shown {
            self.input.s_axis_tx_tdata[16 * sender..][..16].copy_from_slice(&beat.data);
            self.input.s_axis_tx_tkeep.put(64 * sender, 64, beat.keep);
            self.input.s_axis_tx_tlast.put(sender, 1, beat.last.into());
        }
    }

    /// The reaction points do what their state machines do.
    fn senders(&mut self, out: &Out) {
        for (i, point) in self.points.iter_mut().enumerate() {
            let bit = |port: u8| port >> i & 1 == 1;
            let event = Event {
                start: bit(self.input.start_i),
                signal: bit(out.signal_o).then_some(Message { fb: 0, cp: 0, q_off: 0, q_delta: 0 }),
                sent: bit(out.sent_valid_o).then(|| out.sent_octets_o.get(16 * i, 16) as u16),
                tick: self.input.tick_i,
                words: [0; 2],
            };
            let alpha = point.alpha().into();
            let wanted = point.clock(&event).point;
            let wanted =
                [wanted.current_rate, wanted.target_rate, alpha, wanted.byte_stage.into(), wanted.time_stage.into()];
            let shown = [
                out.current_rate_o.get(40 * i, 40),
                out.target_rate_o.get(40 * i, 40),
                out.alpha_o.get(31 * i, 31),
                out.byte_stage_o.get(8 * i, 8),
                out.time_stage_o.get(8 * i, 8),
            ];
            self.rates[i] = shown[0];
            assert_eq!(shown, wanted, "sender {i} in clock {}, {event:?}", self.clock);
            if event.sent.is_some() {
                self.firsts[0].get_or_insert(self.clock);
            }
            if event.signal.is_some() {
                self.firsts[3].get_or_insert(self.clock);
            }
            if bit(out.s_axis_tx_tready) && self.input.s_axis_tx_tvalid >> i & 1 == 1 {
                self.hosts[i].take();
            }
        }
    }

    /// The queue has what has joined and not left; frames are dropped and marked as the state machine says.
    fn switch(&mut self, out: &Out) {
        if out.m_axis_tvalid {
            self.queue -= out.m_axis_tkeep.count_ones() + if out.m_axis_tlast { 4 } else { 0 };
        }
        assert_eq!(out.queue_o, self.queue, "clock {}", self.clock);
        assert_eq!(u64::from(out.dropped_o), self.counts.drops, "clock {}", self.clock);
        self.counts.queue += u64::from(self.queue);
        if !out.join_o && !out.drop_o {
            return;
        }
        let with = self.queue + FRAME as u32;
        assert_eq!((u64::from(out.octets_o), out.with_o), (FRAME, with), "clock {}", self.clock);
        assert_eq!(out.drop_o, with > BUFFER, "clock {}", self.clock);
        assert!(out.join_o != out.drop_o, "clock {}", self.clock);
        if out.drop_o {
            self.counts.drops += 1;
            // It came after those that are in the queue. Of several senders it would not be known whose it is.
            self.sent[0].remove(self.queued.len()).expect("it was sent");
            return;
        }
        self.firsts[1].get_or_insert(self.clock);
        self.queue = with;
        let mut tag = Ce(false);
        let frame = frame(&mut tag);
        let length = Octets(with.into());
        CongestionPoint::<Dcqcn>::mark(&mut self.switch, Instant::ZERO, frame, length, &mut Word(self.input.random_i));
        self.queued.push_back(tag.0);
        self.counts.marks += u64::from(tag.0);
        // A word that the state machine draws is drawn.
        if (self.thresholds[0] + 1..=self.thresholds[1]).contains(&length.0) {
            self.input.random_i = (self.words)();
        }
    }

    /// Frames come whole, in their order, with their marks; the state machine answers the same of them.
    fn receiver(&mut self, out: &Out) {
        let now = self.clock;
        let beat =
            Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
        if let Some(frame) = self.arriving.see(out.m_axis_tvalid, beat, true) {
            let sender = usize::from(frame.octets[11]);
            let marks = self.queued.pop_front().expect("it was in the queue");
            let sent = self.sent[sender].pop_front().expect("it was sent");
            assert_eq!(frame, if marks { marked(sent) } else { sent }, "clock {now}");
            self.counts.frames[sender] += 1;
            if marks {
                self.seen.push_back((now + SEEN, sender));
            }
        }
        if let Some((_, sender)) = self.seen.front().copied().filter(|(at, _)| *at == now) {
            self.seen.pop_front();
            let (mut tag, mut sends) = (Ce(true), Sent(0));
            let frame = frame(&mut tag);
            self.receiver[sender].on_frame(Instant(self.ticks), frame, &mut Word(0), &mut sends);
            if sends.0 > 0 {
                self.cnps.push_back(cnp(sender));
                // The first of its beats was taken a clock before it showed.
                self.firsts[2].get_or_insert(now - SEEN - FRAME.div_ceil(64));
            }
        }
        let beat = Beat {
            data: out.cnp_axis_tdata,
            keep: out.cnp_axis_tkeep,
            last: out.cnp_axis_tlast,
            user: out.cnp_axis_tuser,
        };
        if let Some(frame) = self.answers.see(out.cnp_axis_tvalid, beat, true) {
            assert_eq!(Some(frame.octets), self.cnps.pop_front(), "clock {now}");
            self.counts.cnps += 1;
        }
    }

    /// The receiver's line has another rate, bit/s.
    pub fn set_rate(&mut self, rate: u64) {
        self.input.rate_i = rate;
    }

    /// Clocks until `end`.
    pub fn run_until(&mut self, end: u64) {
        while self.clock < end {
            self.clock();
        }
    }

    /// The current rates, bit/s, and the queue, octets.
    pub fn shown(&self) -> ([u64; SENDERS], u32) {
        (self.rates, self.queue)
    }

    /// Clocks that the first frame took to the queue, and the first notification to its sender; and what wires would take.
    pub fn ways(&self) -> [[u64; 2]; 2] {
        let [sent, joined, began, notified] = self.firsts.map(|clock| clock.expect("it has happened"));
        [[joined - sent, notified - began], [way_out(self.delay), way_back(self.delay)]]
    }
}

/// A frame as the state machines see it.
fn frame(tag: &mut Ce) -> penstock_schemes::Frame<'_, Ce> {
    penstock_schemes::Frame {
        flow: FlowKey(7),
        octets: FRAME as u16,
        weight: 1,
        seq: Octets(0),
        last: false,
        trimmed: false,
        sent_at: Instant::ZERO,
        tag,
    }
}
