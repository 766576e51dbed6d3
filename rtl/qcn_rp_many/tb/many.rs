//! The whole core with 64 flows: messages find their flows by CN-TAG and by address, other frames pass, and frames that are asked for go.

use std::collections::VecDeque;

use penstock_cosim::messages::{self, CNM, flow_at, mac_at, message_at, message_of, put};
use penstock_cosim::reaction_point::{QcnSettings, Readings, Words};
use penstock_cosim::stream::{Beat, Frame, Sink, Source, length};
use penstock_cosim::{Random, at_least};
use penstock_schemes::Instant;
use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::parts::rate_calculator::RateCalculator;

const FLOWS: usize = 64;
const MAX_RATE: u64 = 10_000_000_000;

/// Feedback takes little, and cycles are long: signals alone change a rate.
const SETTINGS: QcnSettings = QcnSettings {
    gd_shift: 9,
    threshold: 5,
    byte_reset: (1 << 24) - 1,
    time_reset: 0,
    ai_rate: 0,
    hai_rate: 0,
    min_rate: 1_000_000,
    max_rate: MAX_RATE,
    jitter: 0,
    timer_on: false,
};

/// What the test expects of a core from a reset on.
struct Expected {
    /// Addresses of flows, in the table.
    macs: Vec<Option<u64>>,
    flows: Vec<RateCalculator>,
    /// Frames that pass, and signals: flow and feedback.
    passing: VecDeque<Frame>,
    signals: VecDeque<(usize, u8)>,
    taken: u32,
    unknown: u32,
    /// Frames that were asked for, a flow each.
    waits: Vec<Option<u16>>,
    /// How the flows were found: by identifier, by address, by an address of several flows.
    found: [u64; 3],
}

impl Expected {
    fn new(random: &mut Random) -> Self {
        let mut macs: Vec<_> = (0..FLOWS).map(|_| (!random.one_in(4)).then(|| random.next() >> 16)).collect();
        // Some flows share an address.
        for _ in 0..8 {
            macs[random.below(FLOWS as u64) as usize] = macs[random.below(FLOWS as u64) as usize];
        }
        Self {
            macs,
            flows: vec![RateCalculator::new(SETTINGS.rules(&Readings::FULL)); FLOWS],
            passing: VecDeque::new(),
            signals: VecDeque::new(),
            taken: 0,
            unknown: 0,
            waits: vec![None; FLOWS],
            found: [0; 3],
        }
    }

    /// A frame that arrives.
    fn frame(&mut self, random: &mut Random) -> Frame {
        let known: Vec<u64> = self.macs.iter().flatten().copied().collect();
        let octets = length(random);
        let mut frame = messages::any(random, CNM, &known, octets);
        // An identifier of a flow, or a little more.
        for at in [14, 18] {
            if messages::u16_at(&frame.octets, at - 2) == Some(messages::CN_TAG) && !random.one_in(8) {
                put(&mut frame.octets, at, &(random.below(FLOWS as u64 + 8) as u16).to_be_bytes());
            }
        }
        if message_at(&frame.octets, CNM).is_none() {
            self.passing.push_back(frame.clone());
        } else if (60..=120).contains(&frame.octets.len()) && !frame.bad {
            self.taken += 1;
            let mac = mac_at(&frame.octets, 0);
            let same = self.macs.iter().filter(|of| of.is_some() && **of == mac).count();
            let by_address = || self.macs.iter().position(|of| of.is_some() && *of == mac);
            let identifier = flow_at(&frame.octets).map(usize::from).filter(|flow| *flow < FLOWS);
            match (message_of(&frame.octets, CNM).fb, identifier.or_else(by_address)) {
                (0, _) => {}
                (fb, Some(flow)) => {
                    self.signals.push_back((flow, fb));
                    self.found[if identifier.is_some() { 0 } else { 1 + usize::from(same > 1) }] += 1;
                }
                (_, None) => self.unknown += 1,
            }
        }
        frame
    }
}

macro_rules! core {
    ($core:ident, $data:ty, $seed:expr) => {
        #[test]
        fn $core() {
            use penstock_cosim::$core::{Core, In};
            let mut random = Random::new($seed);
            let (mut clocks, mut found, mut gone) = (0, [0; 3], 0u64);
            while clocks < at_least(150_000) {
                let mut core = Core::new(random.next());
                let mut expected = Expected::new(&mut random);
                let (mut source, mut sink) = (Source::<$data>::default(), Sink::<$data>::default());
                let mut input = In { rst_i: true, ..In::default() };
                SETTINGS.put(&mut input);
                core.clock(&input);
                input.rst_i = false;
                let gets_ready = clocks + 1_000;
                while !core.clock(&input).ready_o {
                    clocks += 1;
                    assert!(clocks < gets_ready, "it gets ready");
                }
                // An address that is taken back is none.
                input.mac_write_i = true;
                for (flow, mac) in expected.macs.iter().enumerate() {
                    for (used, mac) in [(true, 0), (mac.is_some(), mac.unwrap_or(random.next() >> 16))] {
                        (input.mac_flow_i, input.mac_used_i, input.mac_i) = (flow as u8, used, mac);
                        core.clock(&input);
                    }
                }
                let (gaps, asks) = (1 + random.below(4), 1 + random.below(40));
                // The last clocks are for what is under way.
                for n in 0..50_000 {
                    let ends = n > 35_000;
                    // An entry that is written again is found, in the clock in which it is looked at, too.
                    let flow = random.below(FLOWS as u64) as usize;
                    let mac = expected.macs[flow];
                    (input.mac_flow_i, input.mac_used_i, input.mac_i) = (flow as u8, mac.is_some(), mac.unwrap_or(0));
                    if source.left() < 4 && !ends {
                        source.push(&expected.frame(&mut random));
                    }
                    let beat = source.show(random.one_in(gaps));
                    let shown = beat.unwrap_or_default();
                    (input.s_axis_rx_tvalid, input.s_axis_rx_tdata) = (beat.is_some(), shown.data);
                    (input.s_axis_rx_tkeep, input.s_axis_rx_tlast) = (shown.keep, shown.last);
                    input.s_axis_rx_tuser = shown.user;
                    input.m_axis_rx_tready = ends || !random.one_in(4);
                    input.release_ready_i = !random.one_in(3);
                    if !input.request_valid_i && !ends && random.one_in(asks) {
                        let flow = random.below(FLOWS as u64) as usize;
                        if expected.waits[flow].is_none() {
                            input.request_valid_i = true;
                            input.request_flow_i = flow as u8;
                            input.request_octets_i = 64 + random.below(1_455) as u16;
                        }
                    }
                    let out = core.clock(&input);
                    if beat.is_some() && out.s_axis_rx_tready {
                        source.take();
                    }
                    let passes = Beat {
                        data: out.m_axis_rx_tdata,
                        keep: out.m_axis_rx_tkeep,
                        last: out.m_axis_rx_tlast,
                        user: out.m_axis_rx_tuser,
                    };
                    if let Some(frame) = sink.see(out.m_axis_rx_tvalid, passes, input.m_axis_rx_tready) {
                        assert_eq!(Some(frame), expected.passing.pop_front());
                    }
                    if out.release_valid_o && input.release_ready_i {
                        let waited = expected.waits[usize::from(out.release_flow_o)].take();
                        assert_eq!(waited, Some(out.release_octets_o), "flow {}", out.release_flow_o);
                        gone += 1;
                    }
                    if input.request_valid_i && out.request_ready_o {
                        expected.waits[usize::from(input.request_flow_i)] = Some(input.request_octets_i);
                        input.request_valid_i = false;
                    }
                    if out.event_valid_o {
                        let (flow, fb) = expected.signals.pop_front().expect("a message came");
                        let calculator = &mut expected.flows[flow];
                        calculator.decrease(Instant(0), QntzFb::from_steps(fb), &mut Words::default());
                        assert_eq!(
                            (1, flow, calculator.current_rate(), calculator.target_rate()),
                            (out.event_kind_o, out.event_flow_o.into(), out.current_rate_o, out.target_rate_o)
                        );
                    }
                    clocks += 1;
                    if n == 49_999 {
                        assert!(expected.passing.is_empty() && expected.signals.is_empty() && source.left() == 0);
                        assert_eq!((out.taken_o, out.unknown_o), (expected.taken, expected.unknown));
                        assert_eq!((out.dropped_o, out.refused_o), (0, 0));
                    }
                }
                (0..3).for_each(|how| found[how] += expected.found[how]);
            }
            println!("{}: {clocks} clocks, found {found:?}, {gone} frames", stringify!($core));
            assert!(found[0] > 30 && found[1] > 30 && found[2] > 3 && gone > 1_000, "{found:?}, {gone}");
        }
    };
}

core!(qcn_rp_many_64, u64, 1);
core!(qcn_rp_many_64_512, [u32; 16], 2);
#[cfg(feature = "widths")]
core!(qcn_rp_many_64_128, [u32; 4], 3);
#[cfg(feature = "widths")]
core!(qcn_rp_many_64_256, [u32; 8], 4);
