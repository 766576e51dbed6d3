//! The whole core with two reaction points: arriving frames, messages, and frames that go.

#[path = "../../rp_common/tb/pins.rs"]
mod pins;
#[path = "../../rp_common/tb/reference.rs"]
mod reference;
#[path = "../../rp_common/tb/streams.rs"]
mod streams;

use penstock_cosim::Random;
use penstock_cosim::bits::Bits;
use penstock_cosim::messages::SMCC;
use penstock_cosim::reaction_point::{self as point, Point, SmccPoint, SmccSettings, smcc_defaults};
use penstock_schemes::smcc::{DeltaZero, IncreaseFrom};
use pins::{Nic, Pins, Shown};

/// Clocks from the one in which a notice is seen to the one in which the rate shows it.
const LATENCY: u64 = 76;

/// A build with beats of such data.
macro_rules! nic {
    ($core:ident, $data:ty) => {
        mod $core {
            use super::*;
            use penstock_cosim::$core::{In, Out};
            pub use penstock_cosim::$core::Core;

            fn says(out: &Out, i: usize) -> point::Shown {
                point::Shown {
                    point: Point { current_rate: out.rate_o.get(34 * i, 34), ..Point::default() },
                    ..point::Shown::default()
                }
            }

            impl Nic for Core {
                type Data = $data;
                const KIND: u16 = SMCC;
                type Settings = SmccSettings;
                type Machine = SmccPoint;

                fn new(seed: u64) -> Self {
                    Self::new(seed)
                }

                fn unchecked(seed: u64) -> Self {
                    Self::unchecked(seed)
                }

                fn any(random: &mut Random) -> SmccSettings {
                    SmccSettings::any(random, 34)
                }

                /// One stage, 4000 bit/s per octet.
                fn usual(max_rate: u64) -> SmccSettings {
                    SmccSettings::of(&smcc_defaults(), max_rate)
                }

                fn bounds(settings: &SmccSettings) -> (u64, u64) {
                    (settings.min_rate, settings.max_rate)
                }

                fn machine(settings: &SmccSettings) -> SmccPoint {
                    SmccPoint::new(&settings.config(DeltaZero::StateA, IncreaseFrom::Bound), settings.max_rate, LATENCY)
                }

                fn overflows(_: &SmccPoint) -> bool {
                    false
                }

                type In = In;
                const NAMES: (&'static str, &'static str) = ("smcc_rp", stringify!($core));

                fn inputs(settings: &SmccSettings, pins: &Pins<$data>) -> In {
                    pins::inputs!(In, pins, {
                        alpha_i: settings.alpha as u32,
                        alpha_small_i: settings.alpha_small as u32,
                        beta_i: settings.beta as u32,
                        t1_i: settings.t1 as u32,
                        two_stage_i: settings.two_stage,
                        min_rate_i: settings.min_rate,
                        max_rate_i: settings.max_rate,
                    })
                }

                fn settings(inputs: &In) -> SmccSettings {
                    SmccSettings {
                        alpha: inputs.alpha_i.into(),
                        alpha_small: inputs.alpha_small_i.into(),
                        beta: inputs.beta_i.into(),
                        t1: inputs.t1_i.into(),
                        two_stage: inputs.two_stage_i,
                        min_rate: inputs.min_rate_i,
                        max_rate: inputs.max_rate_i,
                    }
                }

                fn pins(inputs: &In) -> Pins<$data> {
                    pins::pins!(inputs, false, Default::default())
                }

                fn clock(&mut self, inputs: &In) -> Shown<$data> {
                    pins::shown!(&self.clock(inputs), says)
                }
            }
        }
    };
}

nic!(smcc_rp, u64);
nic!(smcc_rp_512, [u32; 16]);
#[cfg(feature = "widths")]
nic!(smcc_rp_128, [u32; 4]);
#[cfg(feature = "widths")]
nic!(smcc_rp_256, [u32; 8]);

#[test]
fn lock_step() {
    streams::kept::<smcc_rp::Core>();
    streams::lock_step::<smcc_rp::Core>(1);
}

#[test]
fn another_lock_step() {
    streams::lock_step::<smcc_rp::Core>(5);
}

#[test]
fn back_to_back_messages_at_line_rate() {
    streams::back_to_back_messages_at_line_rate::<smcc_rp::Core>(2);
}

#[test]
fn frames_go_at_the_rate() {
    streams::frames_go_at_the_rate::<smcc_rp::Core>(3);
}

#[test]
fn garbage_leaves_nothing_stuck() {
    streams::garbage_leaves_nothing_stuck::<smcc_rp::Core>(4);
}

#[test]
fn floods_of_messages_cost_no_data() {
    streams::floods_of_messages_cost_no_data::<smcc_rp::Core>(6);
}

#[test]
fn beats_of_512_bits() {
    streams::other_widths::<smcc_rp_512::Core>(11);
}

#[cfg(feature = "widths")]
#[test]
fn beats_of_128_bits() {
    streams::other_widths::<smcc_rp_128::Core>(14);
}

#[cfg(feature = "widths")]
#[test]
fn beats_of_256_bits() {
    streams::other_widths::<smcc_rp_256::Core>(17);
}
