//! NCCL's choice of algorithm and protocol, by its cost model: `src/graph/tuning.cc` of NCCL 2.30.7 (commit 5067397c).
//!
//! A collective takes a latency and octets / bandwidth. Rings and double trees are modelled, as NCCL has them without
//! switches that reduce (NVLS, CollNet) and without PAT. Units are those of the source: microseconds, and GB/s of 10^9
//! octets.

use crate::collective::{Algorithm, Kind};

/// How NCCL moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// Low latency: a flag with every 4 octets.
    Ll,
    /// Low latency with 120 octets of data in 128.
    Ll128,
    /// Whole chunks.
    Simple,
}

impl Protocol {
    /// All, in NCCL's order.
    pub const ALL: [Self; 3] = [Self::Ll, Self::Ll128, Self::Simple];
}

/// Generations of GPUs, which have different greatest bandwidths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// Compute capability below 8.0.
    Volta,
    /// 8.0 and later.
    Ampere,
    /// 9.0 and later.
    Hopper,
    /// 10.0 and later.
    Blackwell,
}

/// Latencies of the protocols, in their order, in microseconds.
pub type Latencies = [f64; 3];

/// The parameters of the model; [`Model::new`] has NCCL's.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The part that does not depend on the number of ranks, of trees.
    pub tree_base_us: Latencies,
    /// The same of rings.
    pub ring_base_us: Latencies,
    /// A step inside of a host, of trees.
    pub tree_inside_us: Latencies,
    /// The same of rings.
    pub ring_inside_us: Latencies,
    /// A step between hosts, of trees.
    pub tree_network_us: Latencies,
    /// The same of rings.
    pub ring_network_us: Latencies,
    /// What the network interface adds to a step between hosts, and with `Simple` once more for a flush.
    pub interface_us: f64,
    /// The least time of a step of a ring over several hosts; `Simple` takes it three times.
    pub network_overhead_us: f64,
    /// Channels.
    pub channels: u32,
    /// Bandwidth of a channel inside of a host, in GB/s. It decides with up to two hosts.
    pub inside_gb_per_s: f64,
    /// Bandwidth of a channel between hosts, in GB/s. It decides with three hosts and more.
    pub network_gb_per_s: f64,
    /// The GPUs.
    pub generation: Generation,
    /// Whether hosts have AMD's processors.
    pub amd: bool,
    /// Whether LL128 is enabled: GPUs and interfaces have to keep 128 octets together.
    pub ll128: bool,
    /// Whether a tree's messages of both directions use the same interface (NCCL's pattern `TREE`).
    pub shared_interface: bool,
}

/// The greatest bandwidths by generation, and by hosts: one, two, more. GB/s, those but the first of a channel.
const LL_MOST: [[f64; 3]; 4] = [[39.0, 39.0, 20.4], [87.7, 22.5, 19.0], [141.0, 45.0, 35.0], [282.0, 90.0, 70.0]];
const RING_LL128_MOST: [f64; 4] = [20.0, 20.0, 36.7, 40.0];
const TREE_LL128_MOST: [[f64; 3]; 4] = [[20.0; 3], [20.0; 3], [36.7, 36.7, 29.0], [55.6, 31.67, 20.0]];
const TREE_MOST: [[f64; 3]; 4] = [[26.5, 18.5, 10.0], [24.0, 23.6, 17.8], [38.7, 41.4, 36.0], [70.0, 42.8, 24.0]];

/// The share of the bandwidth that trees have with sizes from 64 octets, a column a power of two, a row a protocol.
const TREE_SHARE: [[f64; 23]; 3] = [
    [1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0],
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0],
    [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9],
];

/// What NCCL takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// [`Algorithm::Ring`] or [`Algorithm::DoubleTree`].
    pub algorithm: Algorithm,
    /// The protocol.
    pub protocol: Protocol,
    /// The model's time, in microseconds.
    pub time_us: f64,
}

impl Model {
    /// NCCL's latencies, for GPUs that NVLink connects inside of a host, in hosts with Intel's processors.
    #[must_use]
    pub fn new(generation: Generation, channels: u32, inside_gb_per_s: f64, network_gb_per_s: f64) -> Self {
        Self {
            tree_base_us: [6.8, 14.0, 8.4],
            ring_base_us: [6.6, 14.0, 8.4],
            tree_inside_us: [0.6, 1.25, 4.0],
            ring_inside_us: [0.6, 1.9, 3.4],
            tree_network_us: [5.0, 8.5, 14.0],
            ring_network_us: [2.7, 4.0, 14.0],
            interface_us: 0.0,
            network_overhead_us: 1.0,
            channels,
            inside_gb_per_s,
            network_gb_per_s,
            generation,
            amd: false,
            ll128: true,
            shared_interface: false,
        }
    }

    /// The time of a collective in microseconds, or `None` if NCCL does not do it so. `octets` is as in [`Kind`].
    ///
    /// Rings use the same channels inside of all hosts. `ranks` is a multiple of `ranks_per_host`, which is at least 1.
    #[must_use]
    pub fn time_us(
        &self,
        kind: &Kind,
        octets: u64,
        (algorithm, protocol): (Algorithm, Protocol),
        ranks: u32,
        ranks_per_host: u32,
    ) -> Option<f64> {
        let steps = match kind {
            Kind::AllReduce => 2 * (ranks - 1),
            Kind::ReduceScatter | Kind::AllGather => ranks - 1,
            Kind::Broadcast { .. } | Kind::Reduce { .. } => ranks,
            Kind::AllToAll | Kind::AllToAllV(_) | Kind::Barrier => return None,
        };
        if protocol == Protocol::Ll128 && !self.ll128 {
            return None;
        }
        let hosts = ranks / ranks_per_host;
        let latency_us = match algorithm {
            Algorithm::Ring => self.ring_latency_us(kind, octets, protocol, steps, ranks, hosts),
            Algorithm::DoubleTree if *kind == Kind::AllReduce => {
                let at = protocol as usize;
                let network_us = self.network_us(self.tree_network_us, protocol, ranks_per_host);
                let inside_us = f64::from(ranks_per_host - 1) * self.tree_inside_us[at];
                self.tree_base_us[at] + 2.0 * (inside_us + f64::from(hosts.ilog2()) * network_us)
            }
            _ => return None,
        };
        let bus = if algorithm == Algorithm::Ring {
            self.ring_gb_per_s(protocol, hosts) * f64::from(ranks) / f64::from(steps)
        } else {
            self.tree_gb_per_s(protocol, hosts) * 0.5 * tree_share(octets, protocol)
        };
        Some(latency_us + octets as f64 / (1000.0 * bus))
    }

    /// The algorithm and the protocol with the least time; `None` for a kind that NCCL does not choose for, and for one
    /// rank.
    #[must_use]
    pub fn choose(&self, kind: &Kind, octets: u64, ranks: u32, ranks_per_host: u32) -> Option<Choice> {
        if ranks < 2 {
            return None;
        }
        let mut best: Option<Choice> = None;
        for algorithm in [Algorithm::DoubleTree, Algorithm::Ring] {
            for protocol in Protocol::ALL {
                let time_us = self.time_us(kind, octets, (algorithm, protocol), ranks, ranks_per_host);
                if let Some(time_us) = time_us.filter(|&time_us| best.is_none_or(|best| time_us < best.time_us)) {
                    best = Some(Choice { algorithm, protocol, time_us });
                }
            }
        }
        best
    }

    /// A step between hosts. With one rank a host, latencies are fully exposed: those of trees count for rings too.
    fn network_us(&self, latencies: Latencies, protocol: Protocol, ranks_per_host: u32) -> f64 {
        let latencies = if ranks_per_host == 1 { self.tree_network_us } else { latencies };
        let flush = if protocol == Protocol::Simple { 2.0 } else { 1.0 };
        latencies[protocol as usize] + flush * self.interface_us
    }

    fn ring_latency_us(&self, kind: &Kind, octets: u64, protocol: Protocol, steps: u32, ranks: u32, hosts: u32) -> f64 {
        let at = protocol as usize;
        if let Kind::Broadcast { .. } | Kind::Reduce { .. } = kind {
            let step_us = if hosts > 1 { self.ring_network_us[at] } else { self.ring_inside_us[at] };
            return self.ring_base_us[at] + step_us;
        }
        let overhead = if protocol == Protocol::Simple { 3.0 } else { 1.0 };
        let overhead_us = if hosts > 1 { overhead * self.network_overhead_us } else { 0.0 };
        let inside_us = self.ring_inside_us[at].max(overhead_us);
        let network_us = self.network_us(self.ring_network_us, protocol, ranks / hosts);
        let network_steps = (hosts - 1) * if *kind == Kind::AllReduce { 2 } else { 1 };
        let latency_us = self.ring_base_us[at]
            + f64::from(steps - network_steps) * inside_us
            + f64::from(network_steps) * network_us;
        let plateau = protocol == Protocol::Simple
            && hosts > 1
            && *kind == Kind::AllReduce
            && octets / (u64::from(self.channels) * u64::from(ranks)) >= 64;
        let factor = if self.generation < Generation::Ampere { 1.9 } else { 1.4 };
        if plateau { latency_us * factor } else { latency_us }
    }

    /// All channels of the graph, in GB/s.
    fn graph_gb_per_s(&self, hosts: u32) -> f64 {
        f64::from(self.channels) * if hosts <= 2 { self.inside_gb_per_s } else { self.network_gb_per_s }
    }

    /// The greatest bandwidth of LL: by the GPU in one host, by the processor in more.
    fn ll_most(&self, hosts: u32) -> f64 {
        let row = if hosts == 1 { self.generation as usize } else { usize::from(self.amd) };
        LL_MOST[row][column(hosts)]
    }

    fn ring_gb_per_s(&self, protocol: Protocol, hosts: u32) -> f64 {
        let bus = self.graph_gb_per_s(hosts);
        match protocol {
            Protocol::Ll => self.ll_most(hosts).min(bus * 0.5),
            Protocol::Ll128 => (bus * 0.92).min(f64::from(self.channels) * RING_LL128_MOST[self.generation as usize]),
            Protocol::Simple => bus,
        }
    }

    fn tree_gb_per_s(&self, protocol: Protocol, hosts: u32) -> f64 {
        let (row, column, channels) = (self.generation as usize, column(hosts), f64::from(self.channels));
        let bus = (self.graph_gb_per_s(hosts) * 0.92).min(channels * TREE_MOST[row][column]);
        let bus = match protocol {
            Protocol::Ll => (bus / 3.8).min(self.ll_most(hosts)),
            Protocol::Ll128 => {
                let data = if hosts == 1 { 7.0 / 9.0 } else { 120.0 / 128.0 };
                (bus * data).min(channels * TREE_LL128_MOST[row][column])
            }
            Protocol::Simple => bus,
        };
        if self.shared_interface { bus * 0.85 } else { bus }
    }
}

/// The column of a number of hosts.
fn column(hosts: u32) -> usize {
    hosts.clamp(1, 3) as usize - 1
}

/// The share of a size.
fn tree_share(octets: u64, protocol: Protocol) -> f64 {
    let power = (octets >> 6).checked_ilog2().map(|power| power as usize);
    power.and_then(|power| TREE_SHARE[protocol as usize].get(power)).copied().unwrap_or(1.0)
}
