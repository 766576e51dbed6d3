//! Priority flow control, the NIC's side, and that of a port with a watchdog: right and wrong frames, and how long they stop what.

use std::collections::VecDeque;

use penstock_cosim::bits::Bits;
use penstock_cosim::flow_control::{CLOCK, Watched};
use penstock_cosim::stream::{Beat, Data, Frame, Sink, Source, length};
use penstock_cosim::{Random, at_least, pfc_rx, pfc_rx_512, pfc_rx_fast, pfc_rx_watched, pfc_rx_watched_512};
#[cfg(feature = "widths")]
use penstock_cosim::{pfc_rx_128, pfc_rx_256};

use penstock_schemes::Duration;
use penstock_switch::config::{Action, Watchdog};

use super::{beat, pfc_frame};

/// Frames of all kinds, right and wrong.
enum Kind {
    Passes,
    Stops(u8, [u16; 8]),
    Malformed,
    Other,
}

fn any_frame(random: &mut Random) -> (Frame, Kind) {
    let enable = random.word() as u8;
    let times = std::array::from_fn(|_| match random.below(4) {
        0 => 0,
        1 => 1,
        2 => random.below(60) as u16,
        _ => random.below(10) as u16,
    });
    let source = random.next() >> 16;
    let mut frame = Frame::new(pfc_frame(source, enable, times));
    // The enable vector's high octet and the padding say nothing.
    if random.one_in(3) {
        frame.octets[16] = random.word() as u8;
        frame.octets[34..].fill(random.word() as u8);
    }
    match random.below(10) {
        0..=3 => (frame, Kind::Stops(enable, times)),
        4 => {
            frame.bad = true;
            (frame, Kind::Malformed)
        }
        5 => {
            let wrong = random.below(6) as usize;
            frame.octets[wrong] ^= 1 << random.below(8);
            (frame, Kind::Malformed)
        }
        6 => {
            // Around 60, and to the longest frame and beyond; or what 60 octets say again at each sixteenth beat, which a number of
            // beats that wraps would take for them.
            let (octets, again) = match random.below(4) {
                0 => (14 + random.below(100) as usize, false),
                1 => (60 + 8 * random.below(190) as usize, false),
                2 => (14 + random.below(1600) as usize, false),
                _ => (60 + 128 * random.below(12) as usize, true),
            };
            let kind = if octets == 60 { Kind::Stops(enable, times) } else { Kind::Malformed };
            if again {
                frame.octets.resize(128, 0);
                frame.octets = frame.octets.repeat(12);
            }
            frame.octets.resize(octets, 0);
            (frame, kind)
        }
        7 => {
            frame.octets[15] = 0;
            frame.octets[14] = random.word() as u8;
            (frame, Kind::Other)
        }
        8 => {
            // Another EtherType, or none.
            if random.one_in(2) {
                frame.octets[12 + random.below(2) as usize] ^= 1 << random.below(8);
            } else {
                frame.octets.truncate(1 + random.below(13) as usize);
            }
            (frame, Kind::Passes)
        }
        _ => {
            let length = length(random);
            let mut frame = Frame::random(random, length);
            // An address that has the EtherType's octets where a second beat would have it.
            if random.one_in(3) && length > 5 {
                frame.octets[4..6].copy_from_slice(&[0x88, 0x08]);
            }
            frame.bad = random.one_in(9);
            let control = frame.octets.get(12..14) == Some(&[0x88, 0x08]);
            (frame, if control { Kind::Malformed } else { Kind::Passes })
        }
    }
}

/// The wires: octets that `tkeep` leaves out, and all while nothing is shown, lure it into taking them for MAC control. They have its
/// EtherType where a first beat, or with 8 octets a second one, has it.
pub fn on_wires<D: Data>(shown: Option<Beat<D>>) -> Beat<D> {
    let mut octets: Vec<u8> = [0x5a, 0x5a, 0x5a, 0x5a, 0x88, 0x08, 0x5a, 0x5a].repeat(D::OCTETS / 8);
    let Some(beat) = shown else {
        let beat = Frame::new(octets).beats()[0];
        return Beat { user: false, ..beat };
    };
    let shown = beat.octets();
    octets[..shown.len()].copy_from_slice(&shown);
    Beat { data: D::of(&octets), ..beat }
}

/// The beats within: one that is kept until its frame's kind is known, and whether one shows.
struct Within<D: Data> {
    kept: Option<Beat<D>>,
    first: bool,
    control: bool,
    shows: bool,
}

impl<D: Data> Within<D> {
    const EMPTY: Self = Self { kept: None, first: true, control: false, shows: false };
    /// Where the EtherType stands in its beat, and whether that is a frame's first.
    const AT: usize = 12 % D::OCTETS;
    const IN_FIRST: bool = D::OCTETS > 12;

    /// One clock; returns whether the beat that comes is taken.
    fn clock(&mut self, shown: Option<Beat<D>>, ready: bool) -> bool {
        let space = !self.shows || ready;
        let Some(kept) = self.kept else {
            self.kept = shown;
            self.shows &= !space;
            return true;
        };
        let named = |beat: Beat<D>| beat.octets().get(Self::AT..Self::AT + 2) == Some(&[0x88, 0x08]);
        let control = match self.first {
            true if Self::IN_FIRST => named(kept),
            true => !kept.last && shown.is_some_and(named),
            false => self.control,
        };
        // Only a first beat waits for the next, if that says the kind, and MAC control, which shows nowhere, not for room
        // behind a beat that is known to be of it.
        let known = Self::IN_FIRST || !self.first || kept.last || shown.is_some();
        let moves = known && (space || control && (Self::IN_FIRST || !self.first));
        if space {
            self.shows = moves && !control;
        }
        if moves {
            (self.kept, self.first, self.control) = (shown, kept.last, control);
        }
        moves
    }
}

pub struct Obeys<D: Data = u64> {
    pub ready: bool,
    pub valid: bool,
    pub beat: Beat<D>,
    pub paused: u8,
    pub pause_clocks: [u64; 8],
    pub counts: (u32, u32, u32),
}

/// A clock of a build.
macro_rules! obeys {
    ($module:ident) => {
        |core: &mut $module::Core, reset: bool, shown: Option<Beat<_>>, ready: bool| {
            let beat = $crate::rx::on_wires(shown);
            let out = core.clock(&$module::In {
                rst_i: reset,
                s_axis_tdata: beat.data,
                s_axis_tkeep: beat.keep,
                s_axis_tvalid: shown.is_some(),
                s_axis_tlast: beat.last,
                s_axis_tuser: beat.user,
                m_axis_tready: ready,
                ..Default::default()
            });
            $crate::rx::Obeys {
                ready: out.s_axis_tready,
                valid: out.m_axis_tvalid,
                beat: beat!(out),
                paused: out.paused_o,
                pause_clocks: std::array::from_fn(|p| out.pause_clocks_o.get(48 * p, 48)),
                counts: (out.frames_o, out.malformed_o, out.other_o),
            }
        }
    };
}

pub(crate) use obeys;

fn stops_and_goes_on<C, D: Data>(
    mut core: C,
    clock: impl Fn(&mut C, bool, Option<Beat<D>>, bool) -> Obeys<D>,
    quantum: u64,
    seed: u64,
) {
    /// From the clock in which a last beat is taken to the first in which the stop and the counters show.
    const STOP: u64 = 3;
    let mut random = Random::new(seed);
    let (mut source, mut sink) = (Source::default(), Sink::default());
    let mut within = Within::EMPTY;
    let mut kinds = VecDeque::new();
    let mut passing = VecDeque::new();
    let mut until = [0u64; 8];
    let mut pause_clocks = [0u64; 8];
    let mut coming: VecDeque<(u64, u8, [u16; 8])> = VecDeque::new();
    let mut counts: VecDeque<(u64, (u32, u32, u32))> = VecDeque::new();
    let (mut count, mut shown_count) = ((0, 0, 0), (0, 0, 0));
    let (mut since_reset, mut stalls, mut gaps, mut load, mut stopped) = (0, 1, 1, 1, 0u64);
    let clocks = at_least(2_000_000);
    for now in 0..clocks {
        let reset = now == 0 || since_reset > 20_000 && random.one_in(2_000);
        since_reset += 1;
        if reset {
            (stalls, gaps, load) = (1 + random.below(3), 1 + random.below(3), 1 + random.below(300));
        }
        if source.left() < 200 && random.one_in(load) {
            let (frame, kind) = any_frame(&mut random);
            source.push(&frame);
            kinds.push_back((frame, kind));
        }
        let shown = source.show(random.one_in(gaps));
        let ready = random.one_in(stalls);
        let out = clock(&mut core, reset, shown, ready);
        if reset {
            source.clear();
            sink.clear();
            within = Within::EMPTY;
            (kinds, passing) = (VecDeque::new(), VecDeque::new());
            (coming, counts) = (VecDeque::new(), VecDeque::new());
            (until, pause_clocks) = ([0; 8], [0; 8]);
            (count, shown_count, since_reset) = ((0, 0, 0), (0, 0, 0), 0);
            continue;
        }
        while coming.front().is_some_and(|c| c.0 == now) {
            let (at, enable, times) = coming.pop_front().expect("there is one");
            for p in (0..8).filter(|p| enable & 1 << p != 0) {
                until[p] = at + u64::from(times[p]) * quantum;
            }
        }
        while counts.front().is_some_and(|c| c.0 == now) {
            let (_, count) = counts.pop_front().expect("there is one");
            shown_count = count;
        }
        let paused = (0..8).map(|p| u8::from(until[p] > now) << p).sum::<u8>();
        assert_eq!((out.paused, out.counts), (paused, shown_count), "in clock {now}");
        assert_eq!(out.pause_clocks, pause_clocks, "in clock {now}");
        (0..8).for_each(|p| pause_clocks[p] += u64::from(until[p] > now));
        stopped += u64::from(paused != 0);
        let shows = within.shows;
        assert_eq!((out.valid, out.ready), (shows, within.clock(shown, ready)), "in clock {now}");
        if let Some(frame) = sink.see(out.valid, out.beat, ready) {
            assert_eq!(Some(frame), passing.pop_front(), "in clock {now}");
        }
        if shown.is_some() && out.ready && source.take().last {
            let (frame, kind) = kinds.pop_front().expect("it was shown");
            match kind {
                Kind::Passes => passing.push_back(frame),
                Kind::Stops(enable, times) => {
                    coming.push_back((now + STOP, enable, times));
                    count.0 += 1;
                }
                Kind::Malformed => count.1 += 1,
                Kind::Other => count.2 += 1,
            }
            counts.push_back((now + STOP, count));
        }
    }
    assert!(stopped > clocks / 100, "stopped for {stopped} clocks");
}

#[test]
fn stops_at_1_gbps() {
    stops_and_goes_on(pfc_rx::Core::new(65), obeys!(pfc_rx), 64, 66);
}

#[test]
fn stops_at_8_gbps() {
    stops_and_goes_on(pfc_rx_fast::Core::new(67), obeys!(pfc_rx_fast), 8, 68);
}

#[test]
fn stops_at_400_gbps_behind_512_bits() {
    stops_and_goes_on(pfc_rx_512::Core::new(73), obeys!(pfc_rx_512), 1, 74);
}

#[cfg(feature = "widths")]
#[test]
fn stops_behind_128_and_256_bits() {
    stops_and_goes_on(pfc_rx_128::Core::new(77), obeys!(pfc_rx_128), 64, 78);
    stops_and_goes_on(pfc_rx_256::Core::new(79), obeys!(pfc_rx_256), 64, 80);
}

/// Storms of pause frames, single ones and none, and a watchdog that looks in every clock or seldom, and drops, sends or only counts. The
/// queue of each priority is stopped, let go and emptied as that of a port of the simulator's switch.
fn is_watched<C, D: Data>(
    mut core: C,
    clock: impl Fn(&mut C, &Watching, Option<Beat<D>>) -> Seen,
    quantum: u64,
    seed: u64,
) {
    /// From the clock in which a last beat is taken to the one in which its frame acts; that shows in the next.
    const ACTS: u64 = 2;
    let mut random = Random::new(seed);
    let mut given = Watching::default();
    let mut source = Source::default();
    let mut model = Watched::new(None);
    let (mut frames, mut coming) = (VecDeque::new(), VecDeque::new());
    let (mut now, mut poll, mut load, mut seen, mut storms) = (0, 1, 1, 0u64, [0u64; 3]);
    let clocks = at_least(1_000_000);
    for total in 0..clocks {
        given.reset = total % 50_000 == 0;
        if given.reset {
            (now, poll, load) = (0, [1, 1, 7, 100][random.below(4) as usize], 1 + random.below(400));
            given.watch = if random.one_in(4) { 0 } else { 0xff };
            // None counts as one look.
            let mut looks =
                || if random.one_in(4) { 0 } else { random.below(if poll == 1 { 2_000 } else { 12 }) as u16 };
            (given.after, given.restoration) = (looks(), looks());
            given.action = random.below(3) as u8;
            let time = |looks: u16| Duration(CLOCK.0 * u64::from(looks.max(1)) * poll);
            model = Watched::new((given.watch != 0).then(|| Watchdog {
                after: time(given.after),
                restoration: time(given.restoration),
                poll: Duration(CLOCK.0 * poll),
                action: [Action::Drop, Action::Forward, Action::Alert][usize::from(given.action)],
            }));
        }
        given.tick = now % poll == 0;
        if source.left() < 30 && random.one_in(load) {
            let enable = random.word() as u8;
            let times = std::array::from_fn(|_| if random.one_in(5) { 0 } else { random.below(90) as u16 });
            let frame = Frame::new(pfc_frame(7, enable, times));
            source.push(&frame);
            frames.push_back((enable, times));
        }
        let shown = source.show(true);
        let out = clock(&mut core, &given, shown);
        if given.reset {
            source.clear();
            (frames, coming) = (VecDeque::new(), VecDeque::new());
            seen = 0;
            now = 0;
            // The first clock behind the reset is that of time 0.
            continue;
        }
        let clocks: [u64; 8] = std::array::from_fn(|p| model.pause_clocks(p as u8));
        assert_eq!(
            (out.paused, out.drops, out.pause_clocks),
            (model.paused(), model.drops(), clocks),
            "in clock {now}: {given:?}"
        );
        assert_eq!(u64::from(out.storms), seen, "in clock {now}");
        seen = model.storms();
        if shown.is_some() {
            assert!(out.ready);
            if source.take().last {
                coming.push_back((now + ACTS, frames.pop_front().expect("it was shown")));
            }
        }
        let before = model.storms();
        let due = coming.front().is_some_and(|c: &(u64, (u8, [u16; 8]))| c.0 == now);
        let acts = if due { coming.pop_front() } else { None }.map(|(_, (enable, times))| {
            std::array::from_fn(|p| (enable & 1 << p != 0).then(|| u64::from(times[p]) * quantum))
        });
        model.clock(now, acts);
        storms[usize::from(given.action)] += model.storms() - before;
        now += 1;
    }
    println!("storms that were dropped, sent, counted: {storms:?}");
    assert!(storms.iter().all(|&n| n > 20), "{storms:?}");
}

/// Settings of the watchdog in a clock.
#[derive(Debug, Default)]
struct Watching {
    reset: bool,
    tick: bool,
    watch: u8,
    after: u16,
    restoration: u16,
    action: u8,
}

struct Seen {
    ready: bool,
    paused: u8,
    drops: u8,
    storms: u32,
    pause_clocks: [u64; 8],
}

macro_rules! watched {
    ($module:ident) => {
        |core: &mut $module::Core, given: &Watching, shown: Option<Beat<_>>| {
            let beat = on_wires(shown);
            let out = core.clock(&$module::In {
                rst_i: given.reset,
                tick_i: given.tick,
                watch_i: given.watch,
                after_i: given.after,
                restoration_i: given.restoration,
                action_i: given.action,
                s_axis_tdata: beat.data,
                s_axis_tkeep: beat.keep,
                s_axis_tvalid: shown.is_some(),
                s_axis_tlast: beat.last,
                s_axis_tuser: beat.user,
                m_axis_tready: true,
            });
            Seen {
                ready: out.s_axis_tready,
                paused: out.paused_o,
                drops: out.drop_o,
                storms: out.storms_o,
                pause_clocks: std::array::from_fn(|p| out.pause_clocks_o.get(48 * p, 48)),
            }
        }
    };
}

#[test]
fn a_watchdog_ends_storms() {
    is_watched(pfc_rx_watched::Core::new(80), watched!(pfc_rx_watched), 8, 81);
}

#[test]
fn a_watchdog_behind_512_bits() {
    is_watched(pfc_rx_watched_512::Core::new(82), watched!(pfc_rx_watched_512), 8, 83);
}

/// It stays stopped with an alert alone, for more looks than are counted.
#[test]
fn a_stop_is_judged_once() {
    let mut core = pfc_rx_watched::Core::new(84);
    let clock = watched!(pfc_rx_watched);
    let mut given = Watching { reset: true, tick: true, watch: 0xff, after: 10, restoration: 10, action: 2 };
    clock(&mut core, &given, None);
    given.reset = false;
    let mut source = Source::default();
    source.push(&Frame::new(pfc_frame(7, 1, [0xffff; 8])));
    let mut storms = 0;
    for _ in 0..(1 << 16) + 100 {
        let shown = source.show(true);
        let seen = clock(&mut core, &given, shown);
        if shown.is_some() {
            source.take();
        }
        assert_eq!((seen.paused & !1, seen.drops), (0, 0));
        storms = seen.storms;
    }
    assert_eq!(storms, 1);
}
