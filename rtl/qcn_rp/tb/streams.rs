//! The whole core with two reaction points: arriving frames, messages, and frames that go.

#[path = "../../rp_common/tb/streams.rs"]
mod streams;

use penstock_cosim::qcn_rp::{Core, In};
use penstock_schemes::parts::jitter::Spread;
use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::parts::rate_calculator::{
    AiHaiSequence, ByteCycle, CycleHalving, DecreaseOrder, Efr, FrCycles, HaiMultiplier, JitterRp, RateCalculator,
    Rules, Trr,
};
use penstock_schemes::{Draw, Instant};
use streams::{Beat, CNM, MACS, Message, Nic, Pins, Reaction, Shown};

const MIN_RATE: u64 = 500_000;
/// Longer than all that the tests send.
const BYTE_RESET: u32 = (1 << 24) - 1;

struct Qcn(Core);

impl Nic for Qcn {
    fn clock(&mut self, pins: &Pins) -> Shown {
        let rx = pins.rx.unwrap_or_default();
        let tx = pins.tx.map(Option::unwrap_or_default);
        let words = |each: [u64; 2]| [each[0] as u32, (each[0] >> 32) as u32, each[1] as u32, (each[1] >> 32) as u32];
        let bits = |each: [bool; 2]| u8::from(each[0]) | u8::from(each[1]) << 1;
        let mac = u128::from(MACS[0]) | u128::from(MACS[1]) << 48;
        let out = self.0.clock(&In {
            rst_i: pins.reset,
            s_axis_rx_tdata: rx.data,
            s_axis_rx_tkeep: rx.keep,
            s_axis_rx_tvalid: pins.rx.is_some(),
            s_axis_rx_tlast: rx.last,
            s_axis_rx_tuser: rx.user,
            m_axis_rx_tready: pins.rx_ready,
            mac_i: [mac as u32, (mac >> 32) as u32, (mac >> 64) as u32],
            // Feedback takes 1/65536 a step; nothing gives back.
            gd_shift_i: 16,
            rpg_threshold_i: 5,
            rpg_byte_reset_i: BYTE_RESET,
            rpg_min_rate_i: MIN_RATE,
            rpg_max_rate_i: pins.max_rate,
            s_axis_tx_tdata: words(tx.map(|(beat, _)| beat.data)),
            s_axis_tx_tkeep: u16::from(tx[0].0.keep) | u16::from(tx[1].0.keep) << 8,
            s_axis_tx_tvalid: bits(pins.tx.map(|t| t.is_some())),
            s_axis_tx_tlast: bits(tx.map(|(beat, _)| beat.last)),
            s_axis_tx_tuser: bits(tx.map(|(beat, _)| beat.user)),
            s_axis_tx_octets_i: u32::from(tx[0].1) | u32::from(tx[1].1) << 16,
            m_axis_tx_tready: bits(pins.tx_ready),
            ..In::default()
        });
        let bit = |bits: u8, i: usize| bits >> i & 1 == 1;
        let beat = |i: usize| Beat {
            data: u64::from(out.m_axis_tx_tdata[2 * i]) | u64::from(out.m_axis_tx_tdata[2 * i + 1]) << 32,
            keep: (out.m_axis_tx_tkeep >> (8 * i)) as u8,
            last: bit(out.m_axis_tx_tlast, i),
            user: bit(out.m_axis_tx_tuser, i),
        };
        let rates = out.current_rate_o.iter().rev().fold(0u128, |sum, &word| sum << 32 | u128::from(word));
        let halves = |word: u32| [word as u16, (word >> 16) as u16];
        Shown {
            rx_ready: out.s_axis_rx_tready,
            rx: out.m_axis_rx_tvalid.then_some(Beat {
                data: out.m_axis_rx_tdata,
                keep: out.m_axis_rx_tkeep,
                last: out.m_axis_rx_tlast,
                user: out.m_axis_rx_tuser,
            }),
            tx_ready: [0, 1].map(|i| bit(out.s_axis_tx_tready, i)),
            tx: [0, 1].map(|i| bit(out.m_axis_tx_tvalid, i).then(|| beat(i))),
            rate: [0, 34].map(|at| (rates >> at) as u64 & ((1 << 34) - 1)),
            sent: [0, 1].map(|i| bit(out.sent_valid_o, i).then(|| halves(out.sent_octets_o)[i])),
            dropped: [out.dropped_o as u32, (out.dropped_o >> 32) as u32],
            taken: out.taken_o,
            malformed: out.malformed_o,
            unknown: out.unknown_o,
        }
    }
}

struct Nothing;

impl Draw for Nothing {
    fn draw(&mut self) -> u32 {
        unreachable!("first cycles are not jittered")
    }
}

impl Reaction for RateCalculator {
    fn message(&mut self, message: Message) {
        self.decrease(Instant::ZERO, QntzFb::from_steps(message.fb), &mut Nothing);
    }

    fn rate(&self) -> u64 {
        self.current_rate()
    }
}

fn machine() -> RateCalculator {
    RateCalculator::new(Rules {
        gd_inverse: 1 << 16,
        rpg_min_dec_fac: 50,
        min_rate: MIN_RATE,
        max_rate: 1_000_000_000,
        r_ai: 0,
        r_hai: 0,
        threshold: 5,
        byte_cycle: ByteCycle::Fixed(BYTE_RESET.into()),
        time_reset: None,
        jitter: Spread::NONE,
        jitter_rp: JitterRp::Reload,
        decrease_order: DecreaseOrder::Simultaneous,
        fr_cycles: FrCycles::Threshold,
        cycle_halving: CycleHalving::PerCounter,
        hai_multiplier: HaiMultiplier::MinCount,
        ai_hai_sequence: AiHaiSequence::Counters,
        efr: Efr::ByteStage,
        trr: Trr::FirstCycle,
        tr_clamp: true,
    })
}

#[test]
fn messages_are_taken() {
    streams::messages_are_taken(&mut Qcn(Core::new(1)), CNM, 1, 40_000, machine);
}

#[test]
fn back_to_back_messages_at_line_rate() {
    streams::back_to_back_messages_at_line_rate(&mut Qcn(Core::new(2)), CNM, 2, machine());
}

#[test]
fn frames_go_at_the_rate() {
    streams::frames_go_at_the_rate(&mut Qcn(Core::new(3)), 3);
}

#[test]
fn garbage_leaves_nothing_stuck() {
    streams::garbage_leaves_nothing_stuck(&mut Qcn(Core::new(4)), 4, MIN_RATE);
}
