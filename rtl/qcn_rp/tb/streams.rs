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
use streams::{CNM, Message, Nic, Pins, Reaction, Shown};

const MIN_RATE: u64 = 500_000;
/// Longer than all that the tests send.
const BYTE_RESET: u32 = (1 << 24) - 1;

struct Qcn(Core);

impl Nic for Qcn {
    fn clock(&mut self, pins: &Pins) -> Shown {
        streams::clock!(self.0, In, pins, current_rate_o, {
            // Feedback takes 1/65536 a step; nothing gives back.
            gd_shift_i: 16,
            rpg_threshold_i: 5,
            rpg_byte_reset_i: BYTE_RESET,
            rpg_min_rate_i: MIN_RATE,
            rpg_max_rate_i: pins.max_rate,
        })
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
