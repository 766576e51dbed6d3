//! Swift's parameters and profiles, with their sources.

use crate::info::values::{choice, count, mbps, octets, real, us};
use crate::info::{Profile, Value, choice, parameters};
use crate::units::{BitRate, Duration, Octets};

choice! {
    /// The delay that a source goes by.
    pub enum Feedback {
        /// That of the newest acknowledgement. (Falcon 10.3.1)
        Latest = "latest",
        /// The median of the last ones. (Gerstein et al. 2026, MSwift)
        Median = "median",
    }
}

choice! {
    /// The moment from which a round trip must have passed before the window of the fabric falls.
    pub enum FallsAfter {
        /// That of the last decrease, which each acknowledgement in time moves up to a round trip ago. (Falcon 10.3.4, `UpdateTimeMarker`)
        Marker = "marker",
        /// That of the last decrease. (Kumar et al. 2020; htsim, `can_decrease`)
        LastDecrease = "last-decrease",
    }
}

parameters! {
    /// Swift's parameters.
    pub struct Config {
        /// Target of the delay before anything is added.
        base_delay_target: Duration {
            default: us(20),
            range: us(1)..=us(1_000_000),
            about: some_round_trip,
            source: "htsim; open in Falcon",
        }
        /// Addition to the target for each switch on the path.
        topology_scaling_per_hop: Duration {
            default: us(3),
            range: us(0)..=us(1_000_000),
            source: "htsim has 20/6.55 us; open in Falcon",
        }
        /// Largest addition to the target for a small window.
        max_flow_scaling: Duration {
            default: us(100),
            range: us(0)..=us(1_000_000),
            source: "htsim, 5 times the base; open in Falcon",
        }
        /// Window in frames at and below which that addition is the largest.
        min_flow_scaling_window: f64 {
            default: real(0.1),
            range: real(0.0001)..=real(1_000_000.0),
            source: "htsim; open in Falcon",
        }
        /// Window in frames at and above which that addition is zero.
        max_flow_scaling_window: f64 {
            default: real(100.0),
            range: real(0.0001)..=real(1_000_000.0),
            at_least: min_flow_scaling_window,
            source: "htsim; open in Falcon",
        }
        /// Share of the old value in the smoothed delay.
        delay_smoothing_alpha: f64 {
            default: real(0.0),
            range: real(0.0)..=real(1.0),
            source: "option; open in Falcon, none in htsim",
        }
        /// The delay that a source goes by.
        feedback: Feedback {
            default: choice("latest"),
            source: "Falcon 10.3.1; Gerstein et al. 2026, MSwift",
        }
        /// Delays of which the median is taken at the most; fewer where half of the window has fewer frames.
        history: u32 {
            default: count(128),
            range: count(1)..=count(65_536),
            source: "option; half of the window in Gerstein et al. 2026 equation (8)",
            when: feedback = "median",
        }
        /// The moment from which a round trip must have passed before the window of the fabric falls.
        falls_after: FallsAfter {
            default: choice("marker"),
            source: "Falcon 10.3.4; Kumar et al. 2020 and htsim",
        }
        /// Acknowledgements in a row above the target from which on the window falls.
        late_in_a_row: u32 {
            default: count(1),
            range: count(1)..=count(1_000_000),
            source: "Falcon 10.3.1; 5 in Gerstein et al. 2026, LSwift",
        }
        /// Frames by which the window of the fabric grows in a round trip.
        fabric_additive_increment: f64 {
            default: real(1.0),
            range: real(0.0)..=real(1_000.0),
            source: "htsim; Falcon 10.3.1",
        }
        /// Factor of a decrease.
        fabric_multiplicative_decrease_factor: f64 {
            default: real(0.8),
            range: real(0.0)..=real(1.0),
            source: "htsim; open in Falcon",
        }
        /// Largest share of the window of the fabric that a decrease takes away; a loss takes this share.
        max_fabric_multiplicative_decrease_factor: f64 {
            default: real(0.5),
            range: real(0.0)..=real(1.0),
            source: "htsim; open in Falcon",
        }
        /// Least window of the fabric, in frames.
        min_fcwnd: f64 {
            default: real(0.01),
            range: real(0.0001)..=real(1.0),
            source: "option; open in Falcon",
        }
        /// Largest window of the fabric, in frames.
        max_fcwnd: f64 {
            default: real(1_000.0),
            range: real(1.0)..=real(1_000_000.0),
            source: "htsim; open in Falcon",
        }
        /// Window of the fabric at the start, in frames.
        initial_fcwnd: f64 {
            default: real(12.0),
            range: real(0.0001)..=real(1_000_000.0),
            window: packet,
            source: "htsim; open in Falcon",
        }
        /// Silences in a row, each after a time-out, at which the window of the fabric becomes the least.
        retransmit_limit: u32 {
            default: count(5),
            range: count(1)..=count(1_000_000),
            source: "htsim; open in Falcon",
        }
        /// Rate at which the destination's host takes up the octets of a flow; 0 for as fast as they come.
        receive_rate: BitRate {
            default: mbps(0),
            range: mbps(0)..=mbps(1_000_000),
            source: "option, a model of the host",
        }
        /// Octets of the destination's buffer, of which the level is a share.
        receive_buffer: Octets {
            default: octets(256_000),
            range: octets(64)..=octets(1_000_000_000),
            source: "option, a model of the host",
        }
        /// Level of the destination's buffer to which its window is steered, in 1/31 of the buffer.
        target_rx_buffer_level: u32 {
            default: count(15),
            range: count(1)..=count(31),
            source: "option, half of the buffer; open in Falcon",
        }
        /// Frames by which the window of the network interface grows.
        nic_additive_increment: u32 {
            default: count(1),
            range: count(0)..=count(1_000),
            source: "option; open in Falcon",
        }
        /// Largest share of the window of the network interface that a decrease takes away.
        max_nic_multiplicative_decrease_factor: f64 {
            default: real(0.5),
            range: real(0.0)..=real(1.0),
            source: "option; open in Falcon",
        }
        /// Least window of the network interface, in frames.
        min_ncwnd: u32 {
            default: count(1),
            range: count(1)..=count(1_000_000),
            source: "option; open in Falcon",
        }
        /// Largest window of the network interface, in frames; it starts there.
        max_ncwnd: u32 {
            default: count(1_000),
            range: count(1)..=count(1_000_000),
            at_least: min_ncwnd,
            source: "option; open in Falcon",
        }
        /// Octets of a frame: the unit of windows.
        packet: Octets {
            default: octets(1500),
            range: octets(64)..=octets(16_384),
            source: "Ethernet's longest frame",
        }
        /// Least rate of pacing.
        min_rate: BitRate {
            default: mbps(1),
            range: mbps(1)..=mbps(1_000_000),
            at_most: line,
            source: "option",
        }
    }
}

impl Config {
    /// The room for delays of which the median is taken; none where the latest counts.
    pub(super) fn delays(&self) -> usize {
        if self.feedback == Feedback::Median { self.history as usize } else { 0 }
    }
}

/// htsim (Broadcom/csg-htsim), `datacenter/main_swift.cpp` with HOST_NIC 100 Gb/s and packets of 4000 octets: a first window of 15 of them, 40 frames of
/// 1500 octets, and `swift.cpp`, `_max_cwnd`: at most 1000 packets, 2667 frames. For other lines both are in proportion.
const fn htsim(gbps: f64) -> [(&'static str, Value); 2] {
    [("initial_fcwnd", real(0.4 * gbps)), ("max_fcwnd", real(26.67 * gbps))]
}

pub(super) const PROFILES: &[Profile] = &[
    Profile {
        name: "slow-host",
        description: "A destination whose host takes up 2 Gb/s of a flow: the window of its network interface governs.",
        settings: &[("receive_rate", mbps(2_000))],
    },
    Profile {
        name: "kumar-2020",
        description: "Swift of Kumar et al., SIGCOMM 2020, and of htsim: once a round trip a late acknowledgement lowers the window, whatever came in time.",
        settings: &[("falls_after", choice("last-decrease"))],
    },
    Profile {
        name: "lswift",
        description: "LSwift of Gerstein et al., arXiv 2509.07907v2: as kumar-2020, from the fifth late acknowledgement in a row on.",
        settings: &[("falls_after", choice("last-decrease")), ("late_in_a_row", count(5))],
    },
    Profile {
        name: "mswift",
        description: "MSwift of Gerstein et al., arXiv 2509.07907v2: LSwift by the median of the last half of a window of delays.",
        settings: &[
            ("falls_after", choice("last-decrease")),
            ("late_in_a_row", count(5)),
            ("feedback", choice("median")),
        ],
    },
    Profile {
        name: "htsim-25g",
        description: "Scaled from htsim, main_swift.cpp at 100 Gb/s, by the line rate, at 25 Gb/s: 10 frames of 1500 octets at the start, 667 at the most.",
        settings: &htsim(25.0),
    },
    Profile {
        name: "htsim-100g",
        description: "htsim, main_swift.cpp and swift.cpp, at 100 Gb/s: 15 packets of 4000 octets at the start, 1000 at the most, in frames of 1500.",
        settings: &htsim(100.0),
    },
    Profile {
        name: "htsim-200g",
        description: "Scaled from htsim, main_swift.cpp at 100 Gb/s, by the line rate, at 200 Gb/s: 80 frames of 1500 octets at the start, 5334 at the most.",
        settings: &htsim(200.0),
    },
    Profile {
        name: "htsim-400g",
        description: "Scaled from htsim, main_swift.cpp at 100 Gb/s, by the line rate, at 400 Gb/s: 160 frames of 1500 octets at the start, 10668 at the most.",
        settings: &htsim(400.0),
    },
    Profile {
        name: "htsim-800g",
        description: "Scaled from htsim, main_swift.cpp at 100 Gb/s, by the line rate, at 800 Gb/s: 320 frames of 1500 octets at the start, 21336 at the most.",
        settings: &htsim(800.0),
    },
];
