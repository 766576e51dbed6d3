//! The whole core with two reaction points: arriving frames, messages, and frames that go.

#[path = "../../rp_common/tb/pins.rs"]
mod pins;
#[path = "../../rp_common/tb/reference.rs"]
mod reference;
#[path = "../../rp_common/tb/streams.rs"]
mod streams;

use penstock_cosim::Random;
use penstock_cosim::bits::Bits;
use penstock_cosim::messages::CNM;
use penstock_cosim::reaction_point::{self as point, Point, Qcn, QcnSettings, Readings};
use pins::{Nic, Pins, Shown};

/// A build with beats of such data.
macro_rules! nic {
    ($core:ident, $data:ty) => {
        mod $core {
            use super::*;
            use penstock_cosim::$core::{In, Out};
            pub use penstock_cosim::$core::Core;

            fn says(out: &Out, i: usize) -> point::Shown {
                let bit = |bits: u8| bits >> i & 1 == 1;
                let left = |bits: u64| (bits >> (26 * i) << 38) as i64 >> 38;
                point::Shown {
                    point: Point {
                        current_rate: out.current_rate_o.get(34 * i, 34),
                        target_rate: out.target_rate_o.get(34 * i, 34),
                        byte_stage: (out.byte_stage_o >> (8 * i)) as u8,
                        time_stage: (out.time_stage_o >> (8 * i)) as u8,
                    },
                    phase: out.phase_o >> (2 * i) & 3,
                    byte_left: left(out.byte_remaining_o),
                    time_left: left(out.time_remaining_o),
                    busy: bit(out.busy_o),
                    ready: false,
                    draws: [bit(out.draw_byte_o), bit(out.draw_timer_o)],
                }
            }

            impl Nic for Core {
                type Data = $data;
                const KIND: u16 = CNM;
                type Settings = QcnSettings;
                type Machine = Qcn;

                fn new(seed: u64) -> Self {
                    Self::new(seed)
                }

                fn unchecked(seed: u64) -> Self {
                    Self::unchecked(seed)
                }

                fn any(random: &mut Random) -> QcnSettings {
                    QcnSettings::any(random, 34)
                }

                fn usual(max_rate: u64) -> QcnSettings {
                    QcnSettings {
                        // Feedback takes 1/65536 a step; little gives back.
                        gd_shift: 16,
                        threshold: 5,
                        byte_reset: (1 << 24) - 1,
                        time_reset: 10_000,
                        ai_rate: 0,
                        hai_rate: 0,
                        min_rate: 500_000,
                        max_rate,
                        jitter: 9_830,
                        timer_on: true,
                    }
                }

                fn bounds(settings: &QcnSettings) -> (u64, u64) {
                    (settings.min_rate, settings.max_rate)
                }

                fn machine(settings: &QcnSettings) -> Qcn {
                    Qcn::new(Readings::FULL, settings)
                }

                fn overflows(machine: &Qcn) -> bool {
                    machine.overflows()
                }

                type In = In;
                const NAMES: (&'static str, &'static str) = ("qcn_rp", stringify!($core));

                fn inputs(settings: &QcnSettings, pins: &Pins<$data>) -> In {
                    let words = |of: usize| u64::from(pins.words[0][of]) | u64::from(pins.words[1][of]) << 32;
                    pins::inputs!(In, pins, {
                        tick_i: pins.tick,
                        random_byte_i: words(0),
                        random_timer_i: words(1),
                        gd_shift_i: settings.gd_shift,
                        rpg_threshold_i: settings.threshold,
                        rpg_byte_reset_i: settings.byte_reset,
                        rpg_time_reset_i: settings.time_reset,
                        rpg_ai_rate_i: settings.ai_rate,
                        rpg_hai_rate_i: settings.hai_rate,
                        rpg_min_rate_i: settings.min_rate,
                        rpg_max_rate_i: settings.max_rate,
                        rp_jitter_i: settings.jitter,
                        timer_on_i: settings.timer_on,
                    })
                }

                fn settings(inputs: &In) -> QcnSettings {
                    QcnSettings {
                        gd_shift: inputs.gd_shift_i,
                        threshold: inputs.rpg_threshold_i,
                        byte_reset: inputs.rpg_byte_reset_i,
                        time_reset: inputs.rpg_time_reset_i,
                        ai_rate: inputs.rpg_ai_rate_i,
                        hai_rate: inputs.rpg_hai_rate_i,
                        min_rate: inputs.rpg_min_rate_i,
                        max_rate: inputs.rpg_max_rate_i,
                        jitter: inputs.rp_jitter_i,
                        timer_on: inputs.timer_on_i,
                    }
                }

                fn pins(inputs: &In) -> Pins<$data> {
                    let word = |i: usize| [inputs.random_byte_i, inputs.random_timer_i].map(|words| (words >> (32 * i)) as u32);
                    pins::pins!(inputs, inputs.tick_i, [word(0), word(1)])
                }

                fn clock(&mut self, inputs: &In) -> Shown<$data> {
                    pins::shown!(&self.clock(inputs), says)
                }
            }
        }
    };
}

nic!(qcn_rp, u64);
nic!(qcn_rp_512, [u32; 16]);
#[cfg(feature = "widths")]
nic!(qcn_rp_128, [u32; 4]);
#[cfg(feature = "widths")]
nic!(qcn_rp_256, [u32; 8]);

#[test]
fn lock_step() {
    streams::kept::<qcn_rp::Core>();
    streams::lock_step::<qcn_rp::Core>(1);
}

#[test]
fn another_lock_step() {
    streams::lock_step::<qcn_rp::Core>(5);
}

#[test]
fn back_to_back_messages_at_line_rate() {
    streams::back_to_back_messages_at_line_rate::<qcn_rp::Core>(2);
}

#[test]
fn frames_go_at_the_rate() {
    streams::frames_go_at_the_rate::<qcn_rp::Core>(3);
}

#[test]
fn garbage_leaves_nothing_stuck() {
    streams::garbage_leaves_nothing_stuck::<qcn_rp::Core>(4);
}

#[test]
fn floods_of_messages_cost_no_data() {
    streams::floods_of_messages_cost_no_data::<qcn_rp::Core>(6);
}

/// A length beside a frame that is not its length ends the simulation. (In a separate process, since the whole program ends.)
#[test]
fn a_wrong_length_ends_the_simulation() {
    const CASE: &str = "PENSTOCK_BROKEN";
    if let Ok(octets) = std::env::var(CASE) {
        use penstock_cosim::qcn_rp::{Core, In};
        let mut core = Core::new(5);
        core.clock(&In { rst_i: true, ..In::default() });
        let mut given = In { s_axis_tx_tvalid: 1, m_axis_tx_tready: 3, ..In::default() };
        given.s_axis_tx_octets_i.put(0, 16, octets.parse().expect("a number"));
        // 60 octets, of which the last beat has four.
        let mut beats = 0;
        for _ in 0..100 {
            given.s_axis_tx_tlast = u8::from(beats == 7);
            given.s_axis_tx_tkeep.put(0, 8, if beats == 7 { 0x0f } else { 0xff });
            beats += u32::from(core.clock(&given).s_axis_tx_tready & 1);
            given.s_axis_tx_tvalid = u8::from(beats < 8);
        }
        assert_eq!(beats, 8);
        return;
    }
    for (octets, ends) in [("64", false), ("60", true), ("65", true)] {
        let run = std::process::Command::new(std::env::current_exe().expect("it runs"))
            .args(["--exact", "a_wrong_length_ends_the_simulation", "--nocapture"])
            .env(CASE, octets)
            .output()
            .expect("it can be started");
        let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
        let refused = said.contains(&format!("the frame has 64 octets with its FCS, and {octets} were said"));
        assert_eq!((!run.status.success(), refused), (ends, ends), "{octets}: {said}");
    }
}

#[test]
fn beats_of_512_bits() {
    streams::other_widths::<qcn_rp_512::Core>(11);
}

#[cfg(feature = "widths")]
#[test]
fn beats_of_128_bits() {
    streams::other_widths::<qcn_rp_128::Core>(14);
}

#[cfg(feature = "widths")]
#[test]
fn beats_of_256_bits() {
    streams::other_widths::<qcn_rp_256::Core>(17);
}
