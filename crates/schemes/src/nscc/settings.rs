//! NSCC's parameters and profiles, with their sources.

use crate::info::values::{choice, count, octets, real, switch, us};
use crate::info::{Profile, Threshold, Value, parameters};
use crate::parts::marking::MarkingParameters;
use crate::swift::Feedback;
use crate::units::{Duration, Octets};

parameters! {
    /// NSCC's parameters.
    pub struct Config {
        ..marking: MarkingParameters;
        /// Queue length up to which no frame is marked.
        k_min: Threshold {
            default: octets(30_000),
            range: octets(0)..=octets(2_147_483_647),
            source: "option, 0.2 of what 100 Gb/s holds in 12 us",
            when: marking = "threshold",
        }
        /// Queue length above which every frame is marked; in between the probability rises linearly.
        k_max: Threshold {
            default: octets(120_000),
            range: octets(100)..=octets(2_147_483_647),
            at_least: k_min,
            source: "option, 0.8 of what 100 Gb/s holds in 12 us",
            when: marking = "threshold",
        }
        /// Switches cut a frame that finds no room down to its header, and the target is that of such a network.
        trimming: bool {
            default: switch(false),
            source: "htsim, network_trimming_enabled",
        }
        /// Round-trip time of the empty network on its longest path, for which target and steps are scaled. A source's own base is that of
        /// its path where it is known (a simulator knows it), this one elsewhere, and in any case the shortest that it has seen.
        network_rtt: Duration {
            default: us(12),
            range: us(1)..=us(1_000_000),
            about: round_trip,
            source: "htsim, network_rtt of the reference",
        }
        /// Target of the delay; 0 for 3/4 of the round-trip time with trimming, all of it without.
        target_qdelay: Duration {
            default: us(0),
            range: us(0)..=us(1_000_000),
            source: "htsim",
        }
        /// The delay that a source goes by.
        feedback: Feedback {
            default: choice("latest"),
            source: "htsim; Gerstein et al. 2026, MNSCC",
        }
        /// Delays of which the median is taken at the most; fewer where half of the window has fewer frames.
        history: u32 {
            default: count(4),
            range: count(1)..=count(65_536),
            source: "Gerstein et al. 2026 equation (9)",
            when: feedback = "median",
        }
        /// Factor of a decrease.
        gamma: f64 {
            default: real(0.8),
            range: real(0.0)..=real(1.0),
            source: "htsim",
        }
        /// Weight of the newest delay in its mean.
        delay_alpha: f64 {
            default: real(0.0125),
            range: real(0.0)..=real(1.0),
            source: "htsim",
        }
        /// Proportional increase in frames, for a delay of zero.
        alpha_frames: f64 {
            default: real(4.0),
            range: real(0.0)..=real(1_000.0),
            source: "htsim, alpha",
        }
        /// Fair increase in frames.
        fi_frames: f64 {
            default: real(5.0),
            range: real(0.0)..=real(1_000.0),
            source: "htsim, fi",
        }
        /// Increase in frames that every period brings.
        eta_frames: f64 {
            default: real(0.15),
            range: real(0.0)..=real(1_000.0),
            source: "htsim, eta",
        }
        /// Quick adapt needs fewer octets in a round trip than the largest window over this power of 2.
        qa_gate: u32 {
            default: count(3),
            range: count(0)..=count(32),
            source: "htsim",
        }
        /// Targets of delay beyond which the window is adapted quickly.
        qa_targets: f64 {
            default: real(4.0),
            range: real(0.0)..=real(1_000.0),
            source: "htsim, qa_threshold",
        }
        /// Penalty that a destination asks for, for each header among its last 16 frames; 127 at the most. Each octet that arrives takes a 128th part of it off the
        /// window.
        receiver_penalty: u32 {
            default: count(0),
            range: count(0)..=count(127),
            source: "Ultra Ethernet Specification 1.0, rcv_cwnd_pen; the rule for it is a reading",
        }
        /// Octets of a frame.
        packet: Octets {
            default: octets(1500),
            range: octets(64)..=octets(16_384),
            source: "Ethernet's longest frame; 4096 and headers in htsim",
        }
    }
}

impl Config {
    /// The room for delays of which the median is taken; none where the latest counts.
    pub(super) fn delays(&self) -> usize {
        if self.feedback == Feedback::Median { self.history as usize } else { 0 }
    }
}

/// Marks from 0.2 to 0.8 of what a line of `gbps` sends in 12 us, the reference of htsim's `uec.cpp`.
const fn htsim(gbps: u64) -> [(&'static str, Value); 2] {
    [("k_min", octets(300 * gbps)), ("k_max", octets(1_200 * gbps))]
}

pub(super) const PROFILES: &[Profile] = &[
    Profile {
        name: "trimming",
        description: "Switches that trim frames to their headers instead of dropping them.",
        settings: &[("trimming", switch(true))],
    },
    Profile {
        name: "mrc",
        description: "MRC (OCP, Multipath Reliable Connection 1.0), a reconstruction, at 100 Gb/s: switches trim, and destinations of which much is \
                      trimmed ask for smaller windows. It goes with load_balancing = \"mrc\", and with congestion_points = \"between-switches\".",
        settings: &[("trimming", switch(true)), ("receiver_penalty", count(64))],
    },
    Profile {
        name: "mnscc",
        description: "MNSCC of Gerstein et al., arXiv 2509.07907v2: the median of the last delays, four at the most.",
        settings: &[("feedback", choice("median"))],
    },
    Profile {
        name: "htsim-25g",
        description: "Scaled from htsim, uec.cpp's reference of 100 Gb/s and 12 us, by the line rate, at 25 Gb/s: marks from 0.2 to 0.8 of that \
                      bandwidth-delay product. Steps follow the line by themselves.",
        settings: &htsim(25),
    },
    Profile {
        name: "htsim-100g",
        description: "htsim, uec.cpp's reference of 100 Gb/s and 12 us, at 100 Gb/s: marks from 0.2 to 0.8 of that bandwidth-delay product, the \
                      defaults.",
        settings: &htsim(100),
    },
    Profile {
        name: "htsim-200g",
        description: "Scaled from htsim, uec.cpp's reference of 100 Gb/s and 12 us, by the line rate, at 200 Gb/s: marks from 0.2 to 0.8 of that \
                      bandwidth-delay product. Steps follow the line by themselves.",
        settings: &htsim(200),
    },
    Profile {
        name: "htsim-400g",
        description: "Scaled from htsim, uec.cpp's reference of 100 Gb/s and 12 us, by the line rate, at 400 Gb/s: marks from 0.2 to 0.8 of that \
                      bandwidth-delay product. Steps follow the line by themselves.",
        settings: &htsim(400),
    },
    Profile {
        name: "htsim-800g",
        description: "Scaled from htsim, uec.cpp's reference of 100 Gb/s and 12 us, by the line rate, at 800 Gb/s: marks from 0.2 to 0.8 of that \
                      bandwidth-delay product. Steps follow the line by themselves.",
        settings: &htsim(800),
    },
];
