//! The memory that lines share: decisions, stops and watermarks by the simulator's pool, in every clock.

use std::collections::VecDeque;

use penstock_cosim::bits::Bits;
use penstock_cosim::flow_control::{Held, PoolSettings, SharedMemory};
use penstock_cosim::{Random, at_least, pfc_pool};

/// As the build has them: priority 7 is lossy.
const LINES: u32 = 4;
const LOSSLESS: u8 = 0x7f;
const GROUPS: usize = 8 * LINES as usize;

fn any(random: &mut Random) -> PoolSettings {
    let shared = 20_000 + random.below(200_000) as u32;
    let headroom = random.below(60_000) as u32;
    let grain = if random.one_in(3) { 400 } else { 1 };
    // Fixed thresholds that are reached, or none but the dynamic ones.
    let fixed = random.one_in(2);
    let mut settings = PoolSettings {
        shared: shared / grain * grain,
        headroom: headroom / grain * grain,
        most: random.below(u64::from(headroom) + 1) as u32 / grain * grain,
        alpha: std::array::from_fn(|_| {
            (!random.one_in(5)).then(|| [-8, 7, -3, -2, -1, 0, 1][random.below(7) as usize])
        }),
        ..PoolSettings::default()
    };
    for p in 0..8 {
        let (xoff, offset) = if fixed {
            let xoff = (2_000 + random.below(30_000) as u32) / grain * grain;
            (xoff, 1 + random.below(xoff.into()) as u32)
        } else {
            ((1 << 24) - 1, 1 + random.below(9_000) as u32)
        };
        (settings.xoff[p], settings.xon[p]) = (xoff, (xoff - offset) / grain * grain);
    }
    settings
}

fn given(settings: &PoolSettings) -> pfc_pool::In {
    let mut given = pfc_pool::In { shared_i: settings.shared, headroom_i: settings.headroom, ..Default::default() };
    for p in 0..8 {
        given.dynamic_i |= u8::from(settings.alpha[p].is_some()) << p;
        given.alpha_i.put(4 * p, 4, settings.alpha[p].unwrap_or(3) as u64 & 15);
        given.most_i.put(24 * p, 24, settings.most.into());
        given.xoff_i.put(24 * p, 24, settings.xoff[p].into());
        given.xon_i.put(24 * p, 24, settings.xon[p].into());
    }
    given
}

/// What each line and priority holds, and the most of it; and the most of the headroom that all took.
type Snapshot = ([[u32; 4]; GROUPS], u32);

fn snapshot(model: &SharedMemory) -> Snapshot {
    (std::array::from_fn(|g| model.holds(g as u32 / 8, g as u8 % 8)), model.headroom()[1])
}

/// Settings of all kinds; frames of some lines and all priorities, an arrival and a departure in two clocks among them.
#[test]
fn shares_memory_as_the_simulator_does() {
    const EPISODE: u64 = 20_000;
    let mut random = Random::new(91);
    let mut core = pfc_pool::Core::new(92);
    let (mut stops, mut refusals, mut watermark, mut now) = (0u64, 0u64, 0u32, 0);
    let clocks = at_least(1_000_000);
    while now < clocks {
        let settings = any(&mut random);
        let mut inputs = given(&settings);
        let mut model = SharedMemory::new(LINES, LOSSLESS, &settings);
        inputs.rst_i = true;
        core.clock(&inputs);
        inputs.rst_i = false;
        let grain = if random.one_in(2) { 400 } else { 1 };
        let (mut coming, mut leaving) = (None::<(u32, u8, u16)>, None::<Held>);
        let mut held: VecDeque<Held> = VecDeque::new();
        // Decisions show in the next clock, stops and watermarks in the one after.
        let (mut decided, mut refused, mut arriving) = (None, 0, false);
        let (mut full, mut most) = ([0u32; 2], [snapshot(&model); 2]);
        let (few, rush, mut drains) = (1 + random.below(LINES.into()), 1 + random.below(3), 1);
        for clock in 0..EPISODE {
            if clock % 2_000 == 0 {
                drains = 1 + random.below(6);
            }
            if coming.is_none() && random.one_in(rush) {
                let octets = match (grain, random.below(2)) {
                    (1, 0) => 64,
                    (1, _) => 64 + random.below(9_153) as u16,
                    (_, _) => 400 * (1 + random.below(20) as u16),
                };
                coming = Some((random.below(few) as u32, random.below(8) as u8, octets));
            }
            if leaving.is_none() && random.one_in(drains) && !held.is_empty() {
                let at = if random.one_in(4) { random.below(held.len() as u64) as usize } else { 0 };
                leaving = held.remove(at);
            }
            let (line, priority, octets) = coming.unwrap_or((3, 3, 999));
            inputs.arrive_valid_i = coming.is_some();
            (inputs.arrive_line_i, inputs.arrive_priority_i, inputs.arrive_octets_i) = (line as u8, priority, octets);
            inputs.depart_valid_i = leaving.is_some();
            if let Some(held) = leaving {
                inputs.depart_line_i = held.line as u8;
                (inputs.depart_priority_i, inputs.depart_octets_i) = (held.priority, held.octets);
            }
            inputs.restart_i = random.one_in(3_000);
            let out = core.clock(&inputs);
            let at = || format!("clock {clock} since {now}: {settings:?}");
            assert_eq!((out.arrive_ready_o, out.depart_ready_o), (arriving, !arriving), "{}", at());
            assert_eq!((out.decided_o, out.room_o), (decided.is_some(), decided == Some(true)), "{}", at());
            assert_eq!((out.full_o, out.refused_o), (full[1], refused), "{}", at());
            let mut free = settings.shared;
            for (g, most) in most[1].0.iter().enumerate() {
                let [own, headroom, ..] = model.holds(g as u32 / 8, g as u8 % 8);
                let seen = [&out.held_o, &out.in_headroom_o, &out.most_held_o, &out.most_in_headroom_o]
                    .map(|field| field.get(24 * g, 24) as u32);
                assert_eq!(seen, [own, headroom, most[2], most[3]], "group {g}, {}", at());
                free -= own;
            }
            let all = (out.free_o, out.all_in_headroom_o, out.most_all_in_headroom_o);
            assert_eq!(all, (free, model.headroom()[0], most[1].1), "{}", at());
            refused += u32::from(decided == Some(false));
            // A restart leaves what is held; the event of its clock comes after it.
            let before = if inputs.restart_i {
                model.restart();
                snapshot(&model)
            } else {
                most[0]
            };
            decided = None;
            if arriving && let Some((line, priority, octets)) = coming.take() {
                let room = model.arrive(clock, line, priority, octets);
                decided = Some(room.is_some());
                refusals += u64::from(room.is_none());
                held.extend(room);
            } else if !arriving && let Some(held) = leaving.take() {
                model.depart(clock, held);
            }
            watermark = watermark.max(model.headroom()[1]);
            let groups = 0..GROUPS as u32;
            let stopped = groups.fold(0, |bits, g| bits | u32::from(model.is_full(g / 8, g as u8 % 8)) << g);
            stops += u64::from((stopped & !full[0]).count_ones());
            (full, most) = ([stopped, full[0]], [snapshot(&model), before]);
            arriving = !arriving;
        }
        now += EPISODE;
    }
    println!("{stops} stops, {refusals} frames refused, {watermark} octets of headroom at most");
    assert!(stops > clocks / 2_000 && refusals > clocks / 1_000 && watermark > 20_000);
}

/// With the largest factor a group holds up to 128 times what is free, and not an octet more.
#[test]
fn a_frame_fits_up_to_the_threshold() {
    for (shared, first, fits) in [(8_192, 8_128, true), (8_193, 8_129, false)] {
        let settings = PoolSettings { shared, alpha: [Some(7); 8], xoff: [1 << 20; 8], ..PoolSettings::default() };
        let mut inputs = given(&settings);
        let mut core = pfc_pool::Core::new(93);
        core.clock(&pfc_pool::In { rst_i: true, ..inputs });
        let mut coming = VecDeque::from([first, 64]);
        let mut rooms = Vec::new();
        for _ in 0..8 {
            inputs.arrive_valid_i = !coming.is_empty();
            inputs.arrive_octets_i = coming.front().copied().unwrap_or(0);
            let out = core.clock(&inputs);
            if out.arrive_ready_o {
                coming.pop_front();
            }
            if out.decided_o {
                rooms.push(out.room_o);
            }
        }
        assert_eq!(rooms, [true, fits], "{shared} octets");
    }
}
