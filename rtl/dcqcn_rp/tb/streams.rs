//! The DCQCN side of a NIC as a whole: CNPs reach the reaction points of their queue pairs, whose rates are those of
//! the state machine of the schemes in every clock; all frames go whole, in their order.

use std::collections::VecDeque;

use penstock_cosim::bits::Bits;
use penstock_cosim::reaction_point::{DcqcnPoint, DcqcnSettings, Event, Machine, Message};
use penstock_cosim::stream::{Beat, Data, Frame, Sink, Source, length};
use penstock_cosim::{Random, at_least};
use penstock_wire::encode::encode;

const POINTS: usize = 2;
/// Clocks from a CNP's last beat to the one in which its reaction point sees it, if nothing waits.
const LATENCY: u64 = 5;
/// Clocks after which none waits any more: eight that waited, and what they take.
const QUIET: u64 = 500;
/// CNPs come for so long, with a pause of two of these at the end.
const PART: u64 = 4_000;

/// Inputs in a clock.
struct Given<'a, D: Data> {
    reset: bool,
    settings: DcqcnSettings,
    qps: [u32; POINTS],
    start: u8,
    tick: bool,
    arriving: Option<Beat<D>>,
    taken: bool,
    sending: &'a [Option<Beat<D>>; POINTS],
    octets: [u16; POINTS],
    ready: [bool; POINTS],
}

/// Outputs of all builds, in one shape; of each reaction point current and target rate, alpha, and the stages.
struct Shown<D: Data> {
    sending_ready: u8,
    leaving: [Option<Beat<D>>; POINTS],
    states: [[u64; 5]; POINTS],
    signals: u8,
    sent: [Option<u16>; POINTS],
    /// CNPs that came, were refused, and were for none.
    counts: [u32; 3],
}

fn cnp(qp: u32) -> Frame {
    let qp = qp.to_string();
    let pairs = [("eth.destination", "02:00:00:00:00:01"), ("eth.source", "02:00:00:00:00:02"), ("dest_qp", &qp)];
    Frame::new(encode("cnp", &pairs).expect("the fields are its"))
}

/// Settings with rates at which frames go within some clocks.
fn settings(random: &mut Random) -> DcqcnSettings {
    let max_rate = 1_000_000_000;
    DcqcnSettings {
        max_rate,
        min_rate: 50_000_000 + random.below(200_000_000),
        ai_rate: random.below(50_000_000),
        hai_rate: random.below(200_000_000),
        byte_reset: random.below(20_000) as u32,
        time_reset: 1 + random.below(2_000) as u32,
        ..DcqcnSettings::any(random, 30)
    }
}

fn holds<D: Data>(seed: u64, clocks: u64, mut clock: impl FnMut(&Given<'_, D>) -> Shown<D>) {
    let mut random = Random::new(seed);
    let mut arrivals = Source::<D>::default();
    let mut sources: [Source<D>; POINTS] = Default::default();
    let mut sinks: [Sink<D>; POINTS] = Default::default();
    let mut sent: [VecDeque<Frame>; POINTS] = Default::default();
    let mut models: Vec<DcqcnPoint> = Vec::new();
    // Of arriving frames the queue pair of a CNP.
    let mut coming: VecDeque<Option<u32>> = VecDeque::new();
    let (mut given_settings, mut qps) = (settings(&mut random), [5, 6]);
    let (mut since, mut rare, mut ticking) = (0u64, 1, 1);
    // CNPs that came in all and for each reaction point, and that these took; the clock of the last one.
    let (mut came, mut due, mut taken, mut last_end) = (0u32, [0u64; POINTS], [0u64; POINTS], 0u64);
    // The clock in which a lone CNP reaches its reaction point.
    let mut lone: Option<(u64, usize)> = None;
    let (mut signals, mut lones, mut refused, mut frames) = (0u64, 0u64, 0u64, 0u64);
    for now in 0..clocks {
        let reset = now == 0 || since > 10_000 && random.one_in(2_000);
        since += 1;
        if reset {
            given_settings = settings(&mut random);
            qps = [random.word() >> 8, random.word() >> 8];
            arrivals.clear();
            sources.iter_mut().for_each(Source::clear);
            sinks.iter_mut().for_each(Sink::clear);
            sent = Default::default();
            coming.clear();
            models = (0..POINTS).map(|_| DcqcnPoint::new(&given_settings)).collect();
            (came, due, taken, since, lone, last_end) = (0, [0; POINTS], [0; POINTS], 0, None, now);
            rare = [1, 20, 300, 3_000][random.below(4) as usize];
            ticking = 1 + random.below(30);
        }
        if arrivals.left() == 0 && since % PART < PART - 2 * QUIET && random.one_in(rare) {
            let known = qps[random.below(2) as usize];
            let (mut frame, mut qp) = (cnp(known), Some(known));
            match random.below(8) {
                0 => {
                    let other = known ^ 1 << random.below(24);
                    (frame, qp) = (cnp(other), Some(other));
                }
                1 => (frame.bad, qp) = (true, None),
                2 => (frame.octets[42], qp) = (0x81 ^ (1 << random.below(8)), None),
                3 => {
                    let length = length(&mut random);
                    (frame, qp) = (Frame::random(&mut random, length), None);
                }
                _ => {}
            }
            arrivals.push(&frame);
            coming.push_back(qp);
        }
        for (source, sent) in sources.iter_mut().zip(&mut sent) {
            if source.left() == 0 && random.one_in(100) {
                let length = 60 + random.below(1455) as usize;
                let frame = Frame::random(&mut random, length);
                source.push(&frame);
                sent.push_back(frame);
            }
        }
        let sending = std::array::from_fn(|i| sources[i].show(true));
        let arriving = arrivals.show(!random.one_in(3));
        let starts = |i: usize, random: &mut Random| models[i].overflows() || random.one_in(20_000);
        let given = Given {
            reset,
            settings: given_settings,
            qps,
            start: u8::from(starts(0, &mut random)) | u8::from(starts(1, &mut random)) << 1,
            tick: random.one_in(ticking),
            arriving,
            taken: arriving.is_some() && !random.one_in(4),
            sending: &sending,
            octets: std::array::from_fn(|i| sent[i].back().map_or(0, |frame| frame.octets.len() as u16 + 4)),
            ready: std::array::from_fn(|_| !random.one_in(4)),
        };
        let out = clock(&given);
        if reset {
            continue;
        }
        for i in 0..POINTS {
            let model = &mut models[i];
            let signal = out.signals >> i & 1 == 1;
            let event = Event {
                start: given.start >> i & 1 == 1,
                signal: signal.then_some(Message { fb: 0, cp: 0, q_off: 0, q_delta: 0 }),
                sent: out.sent[i],
                tick: given.tick,
                words: [0; 2],
            };
            let alpha = model.alpha().into();
            let shown = model.clock(&event);
            let point = shown.point;
            let wanted =
                [point.current_rate, point.target_rate, alpha, point.byte_stage.into(), point.time_stage.into()];
            assert_eq!(out.states[i], wanted, "reaction point {i} in clock {now}, {event:?}, {model:?}");
            assert!(!signal || shown.ready, "a busy one takes nothing");
            taken[i] += u64::from(signal);
            signals += u64::from(signal);
            if let Some((at, _)) = lone.filter(|&(at, point)| point == i && shown.ready && at == now) {
                assert!(signal, "the CNP that was alone is late in clock {at}");
                lones += 1;
            }
            let beat = out.leaving[i];
            if let Some(frame) = sinks[i].see(beat.is_some(), beat.unwrap_or_default(), given.ready[i]) {
                assert_eq!(Some(frame), sent[i].pop_front(), "in clock {now}");
                frames += 1;
            }
            if out.sending_ready >> i & 1 == 1 && sending[i].is_some() {
                sources[i].take();
            }
        }
        // All that came is taken, refused, or was for none.
        if now == last_end + QUIET {
            let [cnps, refusals, unknown] = out.counts;
            assert_eq!(cnps, came, "in clock {now}");
            assert_eq!(taken.iter().sum::<u64>() + u64::from(refusals + unknown), came.into(), "in clock {now}");
            assert!(refusals > 0 || taken == due, "in clock {now}: {taken:?} of {due:?}");
            refused = refused.max(refusals.into());
            due = taken;
        }
        if given.taken
            && arrivals.take().last
            && let Some(qp) = coming.pop_front().expect("a frame is on its way")
        {
            let point = qps.iter().position(|known| *known == qp);
            came += 1;
            if let Some(point) = point {
                due[point] += 1;
            }
            lone = point.filter(|_| now > last_end + QUIET).map(|point| (now + LATENCY, point));
            last_end = now;
        }
    }
    // Beats of 64 bits take so long that no burst of CNPs is too much.
    println!("{signals} CNPs taken, {lones} alone, {refused} refused, {frames} frames");
    assert!(
        signals > clocks / 1_000
            && lones > clocks / 20_000
            && (refused > 0 || D::OCTETS < 64)
            && frames > clocks / 5_000
    );
}

macro_rules! lockstep {
    ($name:ident, $core:ident, $data:ty, $seed:expr, $clocks:expr) => {
        #[test]
        fn $name() {
            use penstock_cosim::$core::{Core, In};
            let mut core = Core::new($seed);
            holds::<$data>($seed, at_least($clocks), |given| {
                let (beat, settings) = (given.arriving.unwrap_or_default(), &given.settings);
                let mut input = In {
                    rst_i: given.reset,
                    rx_axis_tvalid: given.arriving.is_some(),
                    rx_axis_tready: given.taken,
                    rx_axis_tdata: beat.data,
                    rx_axis_tkeep: beat.keep,
                    rx_axis_tlast: beat.last,
                    rx_axis_tuser: beat.user,
                    qp_i: u64::from(given.qps[0]) | u64::from(given.qps[1]) << 24,
                    start_i: given.start,
                    tick_i: given.tick,
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
                    ..In::default()
                };
                const OCTETS: usize = <$data as Data>::OCTETS;
                for i in 0..POINTS {
                    let beat = given.sending[i].unwrap_or_default();
                    for (n, octet) in beat.data.octets().iter().enumerate() {
                        input.s_axis_tx_tdata.put(8 * (i * OCTETS + n), 8, (*octet).into());
                    }
                    input.s_axis_tx_tkeep.put(i * OCTETS, OCTETS, beat.keep.into());
                    input.s_axis_tx_tlast.put(i, 1, beat.last.into());
                    input.s_axis_tx_tuser.put(i, 1, beat.user.into());
                    input.s_axis_tx_tvalid.put(i, 1, given.sending[i].is_some().into());
                    input.s_axis_tx_octets_i.put(16 * i, 16, given.octets[i].into());
                    input.m_axis_tx_tready.put(i, 1, given.ready[i].into());
                }
                let out = core.clock(&input);
                let bit = |port: u8, i: usize| port >> i & 1 == 1;
                Shown {
                    sending_ready: out.s_axis_tx_tready,
                    leaving: std::array::from_fn(|i| {
                        let octets: Vec<u8> =
                            (0..OCTETS).map(|n| out.m_axis_tx_tdata.get(8 * (i * OCTETS + n), 8) as u8).collect();
                        let keep = out.m_axis_tx_tkeep.get(i * OCTETS, OCTETS);
                        let beat = Beat {
                            data: <$data>::of(&octets),
                            keep: keep.try_into().ok().expect("a bit for each octet"),
                            last: bit(out.m_axis_tx_tlast, i),
                            user: bit(out.m_axis_tx_tuser, i),
                        };
                        bit(out.m_axis_tx_tvalid, i).then_some(beat)
                    }),
                    states: std::array::from_fn(|i| {
                        [
                            out.current_rate_o.get(34 * i, 34),
                            out.target_rate_o.get(34 * i, 34),
                            out.alpha_o.get(31 * i, 31),
                            out.byte_stage_o.get(8 * i, 8),
                            out.time_stage_o.get(8 * i, 8),
                        ]
                    }),
                    signals: out.signal_o,
                    sent: std::array::from_fn(|i| {
                        bit(out.sent_valid_o, i).then(|| out.sent_octets_o.get(16 * i, 16) as u16)
                    }),
                    counts: [out.cnps_o, out.refused_o, out.unknown_o],
                }
            });
        }
    };
}

lockstep!(follows_the_scheme, dcqcn_rp, u64, 81, 1_000_000);
lockstep!(follows_the_scheme_with_512_bits, dcqcn_rp_512, [u32; 16], 82, 300_000);
#[cfg(feature = "widths")]
lockstep!(follows_the_scheme_with_128_bits, dcqcn_rp_128, [u32; 4], 83, 1_000_000);
#[cfg(feature = "widths")]
lockstep!(follows_the_scheme_with_256_bits, dcqcn_rp_256, [u32; 8], 84, 500_000);
