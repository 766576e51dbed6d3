//! The settings of DCQCN: where its sources disagree, and its parameters.

use crate::info::values::{choice, count, kbps, mbps, octets, real, switch, us};
use crate::info::{Threshold, choice, parameters};
use crate::parts::marking::MarkingParameters;
use crate::units::{BitRate, Duration, Octets};

choice! {
    /// When marks that come within `cnp_interval` of a CNP are answered.
    pub enum CnpRule {
        /// Not at all: the first mark after the interval is. (ns3-rdma, HPCC)
        NextMark = "next-mark",
        /// At the end of the interval, all of them by one CNP. (A reading of the paper: "if any packet within that window was marked")
        EndOfInterval = "end-of-interval",
    }
}

choice! {
    /// Whether a CNP's cut uses alpha from before or after the CNP's own update.
    pub enum AlphaOrder {
        /// Cut, then update. (Paper)
        CutFirst = "cut-first",
        /// Update, then cut. (ns3-rdma)
        UpdateFirst = "update-first",
    }
}

choice! {
    /// When alpha is updated.
    pub enum AlphaUpdate {
        /// Up with each CNP, down after each `alpha_time` without one. (Paper, ns3-rdma)
        PerCnp = "per-cnp",
        /// Once each `alpha_time`, up or down as a CNP has come in it or not. (HPCC)
        PerInterval = "per-interval",
    }
}

choice! {
    /// The target rate after the rate is cut.
    pub enum RtUpdate {
        /// The rate before the cut. (Paper, ns3-rdma)
        EveryCut = "every-cut",
        /// The rate before the cut if it has been raised since the cut before; otherwise it stays. (HPCC)
        AfterIncrease = "after-increase",
    }
}

choice! {
    /// The counter of cycles.
    pub enum Counters {
        /// Byte counter and timer. (Paper, ns3-rdma)
        Both = "both",
        /// The timer, for both. (HPCC)
        Timer = "timer",
    }
}

choice! {
    /// Where Hyper-Active Increase begins.
    pub enum HaiBoundary {
        /// Both stages above `f`. (Paper)
        Above = "above",
        /// Both stages at `f` or above. (ns3-rdma)
        AtOrAbove = "at-or-above",
    }
}

choice! {
    /// The factor i of R_HAI.
    pub enum HaiFactor {
        /// The number of stages of the slower counter in Hyper-Active Increase: 1, 2, 3 … (Paper, ns3-rdma)
        Stages = "stages",
        /// 1. (HPCC)
        One = "one",
    }
}

parameters! {
    /// DCQCN's parameters.
    pub struct Config {
        ..marking: MarkingParameters;
        /// Queue length up to which no frame is marked.
        k_min: Threshold {
            default: octets(10_000),
            range: octets(0)..=octets(2_147_483_647),
            source: "chosen for a buffer of 150 KB at 10 Gb/s; paper section 5 has 5 KB at 40 Gb/s, Kmin",
            when: marking = "threshold",
        }
        /// Queue length above which every frame is marked.
        k_max: Threshold {
            default: octets(100_000),
            range: octets(100)..=octets(2_147_483_647),
            at_least: k_min,
            source: "chosen for a buffer of 150 KB at 10 Gb/s; paper section 5 has 200 KB at 40 Gb/s, Kmax",
            when: marking = "threshold",
        }
        /// Probability of a mark at k_max; below, it falls linearly to 0 at k_min.
        p_max: f64 {
            default: real(0.1),
            range: real(0.0)..=real(1.0),
            source: "chosen for a buffer of 150 KB at 10 Gb/s; paper section 5 has 0.01, Pmax",
            when: marking = "threshold",
        }
        /// Least time between two CNPs for a flow.
        cnp_interval: Duration {
            default: us(50),
            range: us(0)..=us(1_000_000),
            alias: min_time_between_cnps in Us,
            source: "paper section 3.2, N",
        }
        /// The fate of marks within that time.
        cnp_rule: CnpRule {
            default: choice("next-mark"),
            source: "ns3-rdma, HPCC; paper section 3.2",
        }
        /// 1/g: how slowly alpha follows.
        g_inverse: u32 {
            default: count(256),
            range: count(1)..=count(65_536),
            alias: dce_tcp_g in OldOf1024,
            source: "paper section 5, g = 1/256",
        }
        /// Alpha at the start, rounded to 2^-30.
        alpha0: f64 {
            default: real(1.0),
            range: real(0.0)..=real(1.0),
            alias: initial_alpha_value in Of1024,
            source: "paper section 3.2; ns3-rdma has 0.5",
        }
        /// Whether a CNP cuts the rate before it raises alpha, or after.
        alpha_order: AlphaOrder {
            default: choice("cut-first"),
            source: "paper equation (1); ns3-rdma",
        }
        /// Whether CNPs raise alpha one by one or interval by interval.
        alpha_update: AlphaUpdate {
            default: choice("per-cnp"),
            source: "paper equations (1), (2); HPCC",
        }
        /// Time without CNP after which alpha falls; the interval of alpha_update = per-interval.
        alpha_time: Duration {
            default: us(55),
            range: us(1)..=us(1_000_000),
            alias: dce_tcp_rtt in Us,
            source: "paper equation (2), K",
        }
        /// Distance of the moments at which the rate is cut, counted from the first CNP; 0 for at once.
        decrease_time: Duration {
            default: us(0),
            range: us(0)..=us(1_000_000),
            alias: rate_reduce_monitor_period in Us,
            source: "HPCC has 4 us",
        }
        /// The share of the rate that the first CNP leaves, in percent, whatever alpha (and cuts of decrease_time go on from
        /// there); 0 if the first is like the others.
        first_cnp_percent: u32 {
            default: count(0),
            range: count(0)..=count(100),
            source: "option; HPCC has 100",
        }
        /// The target rate after the rate is cut.
        rt_update: RtUpdate {
            default: choice("every-cut"),
            alias: clamp_tgt_rate in Words(["after-increase", "every-cut"]),
            source: "paper equation (1); HPCC",
        }
        /// Stages of Fast Recovery.
        f: u32 {
            default: count(5),
            range: count(1)..=count(1000),
            alias: rpg_threshold in Stages,
            source: "paper section 3.2, F",
        }
        /// Octets of a cycle of the byte counter.
        byte_reset: Octets {
            default: octets(10_000_000),
            range: octets(64)..=octets(1_000_000_000_000),
            alias: rpg_byte_reset in Octets,
            source: "paper section 5, B",
            when: counters = "both",
        }
        /// Length of a cycle of the timer.
        time_reset: Duration {
            default: us(55),
            range: us(1)..=us(1_000_000_000),
            alias: rpg_time_reset in Us,
            source: "paper section 5, T",
        }
        /// The counter of cycles.
        counters: Counters {
            default: choice("both"),
            source: "paper section 3.2; HPCC",
        }
        /// R_AI, the step of Active Increase.
        r_ai: BitRate {
            default: mbps(10),
            range: mbps(0)..=mbps(1_000_000),
            alias: rpg_ai_rate in Mbps,
            source: "a quarter of paper section 5's 40 Mb/s, for 10 Gb/s",
        }
        /// R_HAI, the step of Hyper-Active Increase.
        r_hai: BitRate {
            default: mbps(50),
            range: mbps(0)..=mbps(1_000_000),
            alias: rpg_hai_rate in Mbps,
            source: "a quarter of ns3-rdma's 200 Mb/s, for 10 Gb/s; open in the paper",
        }
        /// Where Hyper-Active Increase begins.
        hai_boundary: HaiBoundary {
            default: choice("above"),
            source: "paper equation (4); ns3-rdma",
        }
        /// The factor of R_HAI.
        hai_factor: HaiFactor {
            default: choice("stages"),
            source: "paper equation (4); HPCC",
        }
        /// Hold the target rate at the line's.
        tr_clamp: bool {
            default: switch(false),
            source: "option; on in HPCC",
        }
        /// Least rate.
        min_rate: BitRate {
            default: mbps(10),
            range: kbps(1)..=mbps(1_000_000),
            at_most: line,
            alias: rpg_min_rate in Mbps,
            source: "option; 100 Mb/s in ns3-rdma and HPCC",
        }
    }
}
