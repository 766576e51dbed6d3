//! The CNP generator against the notification point of the schemes, and its frames against those of `crates/wire`.

use std::collections::VecDeque;

use penstock_cosim::dcqcn;
use penstock_cosim::stream::{Beat, Data, Frame, Sink, Source, length};
use penstock_cosim::{Random, at_least};
use penstock_schemes::dcqcn::{Cnp, Config, Dcqcn, Np};
use penstock_schemes::parts::marking::Ce;
use penstock_schemes::{Class, Draw, Duration, FlowKey, Instant, NotificationPoint, Octets, Out, To};
use penstock_wire::encode::encode;

/// Entries of the table.
const ENTRIES: usize = 64;
/// Clocks from a frame's last beat to the one whose ticks count as its time.
const SEEN: u64 = 2;
/// CNPs on their way for which there is always room.
const ROOM: usize = 8;
/// Clocks of one phase at least, from a reset with a new table to the next; and of its parts, that begin with a pause.
const PHASE: u64 = 10_000;
const PART: u64 = 2_000;
const PAUSE: u64 = 700;
/// Clocks from the last mark or CNP to the one in which all counts are right.
const SETTLE: u64 = 8;

/// What a clock brings.
#[derive(Debug, Clone, Copy, Default)]
struct Given<D: Data> {
    reset: bool,
    beat: Option<Beat<D>>,
    taken: bool,
    tick: bool,
    interval: u32,
    /// An entry: where, whether there is one, both queue pairs.
    write: Option<(u8, bool, u32, u32)>,
    tos: u8,
    priority: u8,
    udp_source: u16,
    ready: bool,
}

/// The outputs of all builds, in one shape. Counts of marks, CNPs, marks of others, and of CNPs that found no place.
struct Shown<D: Data> {
    valid: bool,
    beat: Beat<D>,
    counts: [u32; 4],
}

struct Nothing;

impl Draw for Nothing {
    fn draw(&mut self) -> u32 {
        unreachable!("a notification point draws nothing")
    }
}

/// Counts what a notification point sends.
struct Sent(u32);

impl Out<Dcqcn> for Sent {
    fn send(&mut self, _: To, _: Class, _: Cnp) {
        self.0 += 1;
    }
}

/// An entry of the table: this host's queue pair, its peer, and its notification point.
struct Entry {
    qp: u32,
    peer: u32,
    point: Np,
}

/// The fields of a frame that a CNP takes.
#[derive(Debug, Clone)]
struct Fields {
    destination: [u8; 6],
    source: [u8; 6],
    vlan: Option<u16>,
    source_ip: [u8; 4],
    destination_ip: [u8; 4],
    qp: u32,
}

/// A frame of RoCEv2 over IPv4 with these fields, ECN and an operation.
fn roce(fields: &Fields, ecn: u8, opcode: u8, octets: usize) -> Vec<u8> {
    let mut frame = [fields.destination, fields.source].concat();
    if let Some(vlan) = fields.vlan {
        frame.extend([0x81, 0x00]);
        frame.extend(vlan.to_be_bytes());
    }
    frame.extend([0x08, 0x00, 0x45, ecn, 0, 0, 0x12, 0x34, 0x40, 0, 63, 17, 0xab, 0xcd]);
    frame.extend([fields.source_ip, fields.destination_ip].concat());
    frame.extend([0xc0, 0x01, 0x12, 0xb7, 0, 0, 0, 0]);
    frame.extend([opcode, 0, 0xff, 0xff, 0]);
    frame.extend(&fields.qp.to_be_bytes()[1..]);
    frame.extend([0x80, 0, 0, 9]);
    frame.resize(octets.max(frame.len() + 4), 0x5a);
    frame
}

/// The CNP that answers a frame with these fields.
fn answer<D: Data>(fields: &Fields, peer: u32, given: &Given<D>) -> Vec<u8> {
    let mac = |octets: [u8; 6]| octets.map(|octet| format!("{octet:02x}")).join(":");
    let ip = |octets: [u8; 4]| octets.map(|octet| octet.to_string()).join(".");
    let mut pairs = vec![
        ("eth.destination", mac(fields.source)),
        ("eth.source", mac(fields.destination)),
        ("ipv4.dscp", (given.tos >> 2).to_string()),
        ("ipv4.ecn", (given.tos & 3).to_string()),
        ("ipv4.source", ip(fields.destination_ip)),
        ("ipv4.destination", ip(fields.source_ip)),
        ("udp.source_port", given.udp_source.to_string()),
        ("bth.dest_qp", peer.to_string()),
    ];
    if let Some(vlan) = fields.vlan {
        pairs.push(("vlan.vid", (vlan & 0xfff).to_string()));
        pairs.push(("vlan.pcp", given.priority.to_string()));
    }
    let pairs: Vec<_> = pairs.iter().map(|(key, text)| (*key, text.as_str())).collect();
    encode("cnp", &pairs).expect("the fields are its")
}

fn octets<const N: usize>(random: &mut Random) -> [u8; N] {
    if random.one_in(8) { [0xff; N] } else { std::array::from_fn(|_| random.word() as u8) }
}

/// A frame; its fields, if it is to be answered where its queue pair is in the table and due.
fn frame(random: &mut Random, qp: u32, marks: bool) -> (Frame, Option<Fields>) {
    let fields = Fields {
        destination: octets(random),
        source: octets(random),
        vlan: random.one_in(2).then(|| random.word() as u16),
        source_ip: octets(random),
        destination_ip: octets(random),
        qp,
    };
    if !marks {
        return match random.below(3) {
            0 => (Frame::new(roce(&fields, random.below(3) as u8, 4, 60)), None),
            1 => (Frame::new(roce(&fields, 3, 0x81, 60)), None),
            _ => {
                let length = length(random);
                (Frame::random(random, length), None)
            }
        };
    }
    let tagged = 4 * usize::from(fields.vlan.is_some());
    let least = 58 + tagged;
    let opcode = [0x04, 0x0a, 0x11][random.below(3) as usize];
    let long = if random.one_in(2) { least } else { least + random.below(80) as usize };
    let mut frame = Frame::new(roce(&fields, 0xfc | 3, opcode, long));
    // Something is wrong, and it is not answered.
    let ip = 14 + tagged;
    let wrong = random.one_in(4);
    if wrong {
        match random.below(8) {
            0 => frame.bad = true,
            1 => frame.octets.truncate(least - 1),
            2 => frame.octets[ip] = 0x46,
            3 => frame.octets[ip + 6 + random.below(2) as usize] |= 0x20,
            4 => frame.octets[ip + 9] = 6,
            5 => frame.octets[ip + 22 + random.below(2) as usize] ^= 1 << random.below(8),
            6 => frame.octets[ip - 2 + random.below(2) as usize] ^= 1 << random.below(8),
            _ => frame.octets[ip + 1] ^= 1 + random.below(3) as u8,
        }
    } else if random.one_in(16) {
        // Not so a reserved bit, or "do not fragment".
        frame.octets[ip + 6] ^= [0x80, 0x40][random.below(2) as usize];
    }
    (frame, (!wrong).then_some(fields))
}

fn config(interval: u32) -> Config {
    Config { cnp_interval: Duration(interval.into()), ..dcqcn::defaults() }
}

fn answers<D: Data>(seed: u64, clocks: u64, mut clock: impl FnMut(&Given<D>) -> Shown<D>) {
    let mut random = Random::new(seed);
    let mut source = Source::<D>::default();
    let mut sink = Sink::<D>::default();
    let mut table: Vec<Option<Entry>> = Vec::new();
    // Queue pairs of the table before the reset.
    let mut gone: Vec<u32> = Vec::new();
    let mut given = Given::<D>::default();
    // Frames that arrive; those that were seen, with the clock of their time; and the CNPs that are to leave.
    let mut coming: VecDeque<Option<Fields>> = VecDeque::new();
    let mut seen: VecDeque<(u64, Fields)> = VecDeque::new();
    let mut leaving: VecDeque<Vec<u8>> = VecDeque::new();
    let (mut counts, mut ticks, mut frames, mut since) = ([0u32; 4], 0u64, 0u64, 0u64);
    let (mut ticking, mut gaps, mut stalls, mut marking, mut idle_for) = (1, 1, 1, 1, 0);
    let mut all = [0u64; 4];
    for now in 0..clocks {
        given.reset = now == 0 || since > PHASE && random.one_in(1_000);
        since += 1;
        if given.reset {
            for (all, these) in all.iter_mut().zip(counts) {
                *all += u64::from(these);
            }
            gone = table.iter().flatten().map(|entry| entry.qp).collect();
            table = (0..ENTRIES).map(|_| None).collect();
            source.clear();
            sink.clear();
            (coming, seen, leaving) = Default::default();
            (counts, ticks, since, idle_for) = ([0; 4], 0, 0, 0);
            given.interval = [0, 1, 50, 3_000, random.below(500) as u32][random.below(5) as usize];
            (given.tos, given.priority) = (random.word() as u8, random.below(8) as u8);
            given.udp_source = random.word() as u16;
            ticking = 1 + random.below(20);
            (gaps, stalls) = (1 + random.below(3), 1 + random.below(2));
            marking = [1, 2, 20][random.below(3) as usize];
        }
        // Now and then nothing is on its way, and the table changes.
        let writing = since < 100 || since % PART < PAUSE;
        let idle = source.left() == 0 && seen.is_empty() && leaving.is_empty();
        given.write = None;
        idle_for = if idle { idle_for + 1 } else { 0 };
        if writing && idle_for > SETTLE && !given.reset && random.one_in(2) {
            let (index, valid) = (random.below(ENTRIES as u64) as u32, !random.one_in(8));
            let (qp, peer) = (random.word() >> 8 & !63 | index, random.word() >> 8);
            given.write = Some((index as u8, valid, qp, peer));
            let point = Np::new(&config(given.interval), FlowKey(7));
            table[index as usize] = valid.then_some(Entry { qp, peer, point });
        }
        if !writing && source.left() < 2 {
            let near = random.below(4) as usize;
            let known = table.iter().flatten().nth(if random.one_in(2) { near } else { near * 8 });
            let mut qp = known.map_or(random.word() >> 8, |entry| entry.qp);
            if random.one_in(10) {
                qp ^= 64 << random.below(18);
            }
            // One that the table had before the reset.
            if let (true, Some(old)) = (random.one_in(10), gone.get(random.below(ENTRIES as u64) as usize)) {
                qp = *old;
            }
            let on_their_way = coming.iter().flatten().count() + seen.len() + leaving.len();
            let marks = on_their_way + 1 < ROOM && random.one_in(marking);
            let (frame, fields) = frame(&mut random, qp, marks);
            source.push(&frame);
            coming.push_back(fields);
        }
        given.beat = source.show(random.one_in(gaps));
        given.taken = given.beat.is_some() && !random.one_in(4);
        given.tick = random.one_in(ticking);
        given.ready = random.one_in(stalls);
        let out = clock(&given);
        if given.reset {
            continue;
        }
        // Marks whose time is this clock's.
        while seen.front().is_some_and(|(at, _)| *at == now) {
            let (_, fields) = seen.pop_front().expect("it is there");
            let entry = table[fields.qp as usize % ENTRIES].as_mut().filter(|entry| entry.qp == fields.qp);
            let Some(Entry { peer, point, .. }) = entry else {
                counts[2] += 1;
                continue;
            };
            let (mut tag, mut sent) = (Ce(true), Sent(0));
            let frame = penstock_schemes::Frame {
                flow: FlowKey(7),
                octets: 1500,
                weight: 1,
                seq: Octets(0),
                last: false,
                trimmed: false,
                sent_at: Instant::ZERO,
                tag: &mut tag,
            };
            point.on_frame(Instant(ticks), frame, &mut Nothing, &mut sent);
            counts[0] += 1;
            counts[1] += sent.0;
            if sent.0 > 0 {
                leaving.push_back(answer(&fields, *peer, &given));
            }
        }
        if let Some(frame) = sink.see(out.valid, out.beat, given.ready) {
            assert!(!frame.bad);
            let wanted = leaving.pop_front();
            assert_eq!(Some(frame.octets), wanted, "in clock {now}");
            frames += 1;
        }
        if given.taken
            && source.take().last
            && let Some(fields) = coming.pop_front().expect("a frame is on its way")
        {
            seen.push_back((now + SEEN, fields));
        }
        ticks += u64::from(given.tick);
        if idle_for > SETTLE {
            assert_eq!(out.counts, counts, "in clock {now}");
        }
    }
    println!("{frames} CNPs, {all:?} marks, CNPs, marks of others, and CNPs without a place");
    assert!(frames > clocks / 1_000 && all[0] > all[1] && all[2] > 100 && all[3] == 0, "{frames} CNPs, {all:?}");
}

/// Puts a clock's inputs onto the pins of a build.
macro_rules! clocked {
    ($core:ident, $seed:expr) => {{
        use penstock_cosim::$core::{Core, In};
        let mut core = Core::new($seed);
        move |given: &Given<_>| {
            let beat = given.beat.unwrap_or_default();
            let (index, valid, qp, peer) = given.write.unwrap_or_default();
            let out = core.clock(&In {
                rst_i: given.reset,
                rx_axis_tvalid: given.beat.is_some(),
                rx_axis_tready: given.taken,
                rx_axis_tdata: beat.data,
                rx_axis_tkeep: beat.keep,
                rx_axis_tlast: beat.last,
                rx_axis_tuser: beat.user,
                tick_i: given.tick,
                interval_i: given.interval,
                write_i: given.write.is_some(),
                write_index_i: index,
                write_valid_i: valid,
                write_qp_i: qp,
                write_peer_i: peer,
                tos_i: given.tos,
                priority_i: given.priority,
                udp_source_i: given.udp_source,
                m_axis_tready: given.ready,
            });
            let beat =
                Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
            let counts = [out.marks_o, out.cnps_o, out.unknown_o, out.lost_o];
            Shown { valid: out.m_axis_tvalid, beat, counts }
        }
    }};
}

macro_rules! lockstep {
    ($name:ident, $core:ident, $data:ty, $seed:expr, $clocks:expr) => {
        #[test]
        fn $name() {
            answers::<$data>($seed, at_least($clocks), clocked!($core, $seed));
        }
    };
}

lockstep!(answers_as_the_scheme_does, cnp_generator, u64, 71, 2_000_000);
lockstep!(answers_512_bits_as_the_scheme_does, cnp_generator_512, [u32; 16], 72, 1_000_000);
#[cfg(feature = "widths")]
lockstep!(answers_128_bits_as_the_scheme_does, cnp_generator_128, [u32; 4], 73, 2_000_000);
#[cfg(feature = "widths")]
lockstep!(answers_256_bits_as_the_scheme_does, cnp_generator_256, [u32; 8], 74, 2_000_000);

/// The golden frame, whose octets were computed by hand: for queue pair 17, from 10.0.0.2 to 10.0.0.1.
#[test]
fn makes_the_golden_frame() {
    let text = include_str!("../../../crates/wire/tests/golden.txt");
    let lines = text.lines().skip_while(|line| *line != "[cnp]").skip(1).take_while(|line| !line.starts_with('['));
    let digits: String = lines.filter_map(|line| line.strip_prefix("hex:")).flat_map(str::split_whitespace).collect();
    let octet = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("digits");
    let golden: Vec<u8> = (0..digits.len()).step_by(2).map(octet).collect();
    assert_eq!(golden.len(), 74);

    let fields = Fields {
        destination: [2, 0, 0, 0, 0, 2],
        source: [2, 0, 0, 0, 0, 1],
        vlan: None,
        source_ip: [10, 0, 0, 1],
        destination_ip: [10, 0, 0, 2],
        qp: 5,
    };
    let mut clock = clocked!(cnp_generator, 75);
    let usual = Given { tos: 0xc0, udp_source: 0xc000, interval: 50, ready: true, ..Given::<u64>::default() };
    clock(&Given { reset: true, ..usual });
    clock(&Given { write: Some((5, true, 5, 17)), ..usual });
    let (mut source, mut sink, mut made) = (Source::<u64>::default(), Sink::default(), Vec::new());
    // Two marks within the interval: one answer.
    for _ in 0..2 {
        source.push(&Frame::new(roce(&fields, 3, 4, 100)));
    }
    let mut first = None;
    for now in 0..200 {
        let beat = source.show(true);
        let last = beat.is_some() && source.take().last;
        let out = clock(&Given { beat, taken: beat.is_some(), ..usual });
        if last && first.is_none() {
            first = Some((now, None));
        }
        if let Some((_, begins @ None)) = first.as_mut().filter(|_| out.valid) {
            *begins = Some(now);
        }
        made.extend(sink.see(out.valid, out.beat, true));
    }
    assert_eq!(made, [Frame::new(golden)]);
    let (ended, began) = first.expect("a frame came");
    assert_eq!(began.expect("a CNP left") - ended, 9, "clocks from the mark's last beat to the CNP's first");
}

/// Behind a stalled line CNPs beyond those that may wait are lost and counted; the next mark of each is answered all
/// the same.
#[test]
fn counts_what_finds_no_place() {
    let mut clock = clocked!(cnp_generator, 76);
    let usual = Given { interval: 1_000_000, ..Given::<u64>::default() };
    clock(&Given { reset: true, ..usual });
    for qp in 0..12 {
        clock(&Given { write: Some((qp as u8, true, qp, 100 + qp)), ..usual });
    }
    let mut random = Random::new(77);
    let marked = |random: &mut Random, qp| loop {
        if let (frame, Some(_)) = frame(random, qp, true) {
            return frame;
        }
    };
    let (mut source, mut sink, mut made) = (Source::<u64>::default(), Sink::default(), 0);
    let mut counts = [0; 4];
    for (ready, marks, wanted) in [(false, 12, [12, 8, 0, 4]), (true, 0, [12, 8, 0, 4]), (true, 12, [24, 12, 0, 4])] {
        for qp in 0..marks {
            source.push(&marked(&mut random, qp));
        }
        for _ in 0..1_200 {
            let beat = source.show(true);
            if beat.is_some() {
                source.take();
            }
            let out = clock(&Given { beat, taken: beat.is_some(), ready, ..usual });
            made += usize::from(sink.see(out.valid, out.beat, ready).is_some());
            counts = out.counts;
        }
        assert_eq!(counts, wanted);
    }
    assert_eq!(made, 12);
}
