//! The benchmarks: six workloads, the programs that run each, and the most that each may cost.

use std::path::Path;

use crate::minimal::EventQueue;

/// A scenario of `scenarios/bench/` and the most that its runs may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Workload {
    /// Its short name.
    pub name: &'static str,
    /// Its description, a short text.
    pub title: &'static str,
    /// Its file, from the root of the repository.
    pub file: &'static str,
    /// The event queue of the minimal program; `None` where the scheme decides which frames are sent, so that no program
    /// without it forwards the same ones.
    pub minimal: Option<EventQueue>,
    /// Length of a run that is timed, in scenario notation: some millions of packet hops, a fraction of a second. Many
    /// short turns tell more than a few long ones, since the machine's other work changes from second to second.
    pub timed: &'static str,
    /// Two lengths of a run under callgrind, in scenario notation; the difference of their counts leaves out the start.
    pub counted: [&'static str; 2],
    /// Ceilings of the engine without scheme and probe, where they apply.
    pub none: Option<Ceiling>,
    /// Ceilings of the engine with QCN and the sampling probe.
    pub qcn: Ceiling,
    /// Other schemes, with the sampling probe; `None` where they are not counted.
    pub others: Option<Others>,
}

/// Schemes that are compared with QCN.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Others {
    /// Their names; `None` for every scheme.
    pub schemes: Option<&'static [&'static str]>,
    /// The most instructions of each, as a multiple of QCN's.
    pub most: f64,
    /// Those that may take more, each with its own multiple: Swift sends an acknowledgement of each frame, RoCC a rate to each flow in
    /// each interval, Homa a grant for each frame. Fast CNP looks up when it has notified a frame's flow, and isolation of congestion, alone and
    /// beside DCQCN, whether the flow is isolated.
    pub more: &'static [(&'static str, f64)],
}

/// The most that a run may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ceiling {
    /// Instructions a packet hop.
    pub instructions: f64,
    /// Time over that of the minimal program, where there is one.
    pub time_ratio: Option<f64>,
}

/// All workloads.
pub(crate) const WORKLOADS: [Workload; 8] = [
    Workload {
        name: "W1",
        title: "16 sources share 99 % of a 10 Gb/s bottleneck",
        file: "scenarios/bench/dumbbell-16.toml",
        minimal: Some(EventQueue::Heap),
        timed: "2 s",
        counted: ["50 ms", "150 ms"],
        none: Some(Ceiling { instructions: 307.0, time_ratio: Some(2.5) }),
        qcn: Ceiling { instructions: 345.0, time_ratio: Some(3.5) },
        others: None,
    },
    Workload {
        name: "W2",
        title: "128 hosts of a fat tree, each at 99 % of 100 Gb/s",
        file: "scenarios/bench/fat-tree-k8.toml",
        minimal: Some(EventQueue::Wheel),
        timed: "1 ms",
        counted: ["50 us", "150 us"],
        none: Some(Ceiling { instructions: 256.0, time_ratio: Some(2.5) }),
        qcn: Ceiling { instructions: 320.0, time_ratio: Some(3.5) },
        others: Some(Others { schemes: Some(&["hpcc"]), most: 2.0, more: &[] }),
    },
    Workload {
        name: "W3",
        title: "16 greedy sources into one 10 Gb/s port",
        file: "scenarios/bench/incast-16.toml",
        minimal: None,
        timed: "2 s",
        counted: ["100 ms", "200 ms"],
        none: None,
        qcn: Ceiling { instructions: 500.0, time_ratio: None },
        others: Some(Others {
            schemes: None,
            most: 1.5,
            more: &[("swift", 2.1), ("rocc", 1.75), ("homa", 1.8), ("fast-cnp", 1.6), ("ci", 1.65), ("ici", 1.8)],
        }),
    },
    Workload {
        name: "W4",
        title: "W3 under priority flow control",
        file: "scenarios/bench/incast-16-pfc.toml",
        minimal: None,
        timed: "500 ms",
        counted: ["50 ms", "100 ms"],
        // 600 before ports with only a pool had a separate path, for which other ports of this engine are tested too.
        none: Some(Ceiling { instructions: 610.0, time_ratio: None }),
        qcn: Ceiling { instructions: 850.0, time_ratio: None },
        others: None,
    },
    Workload {
        name: "W5",
        title: "32 hosts on a leaf-spine fabric, 60 % WebSearch over TCP",
        file: "scenarios/bench/websearch-tcp.toml",
        minimal: None,
        timed: "4 ms",
        counted: ["1 ms", "2 ms"],
        // Twice QCN's on W1, whose paths are three hops long; here they are four at most, and flows come and go besides. W7 and W8 hold TCP
        // to twice QCN's hop for hop.
        none: Some(Ceiling { instructions: 690.0, time_ratio: None }),
        qcn: Ceiling { instructions: 690.0, time_ratio: None },
        others: None,
    },
    Workload {
        name: "W6",
        title: "W2 on switches whose ports share their memory",
        file: "scenarios/bench/fat-tree-k8-shared.toml",
        minimal: None,
        timed: "1 ms",
        counted: ["50 us", "150 us"],
        // 1.3 times what W2 costs.
        none: Some(Ceiling { instructions: 332.0, time_ratio: None }),
        qcn: Ceiling { instructions: 398.0, time_ratio: None },
        others: None,
    },
    Workload {
        name: "W7",
        title: "W1 over TCP, acknowledged every second segment",
        file: "scenarios/bench/dumbbell-16-tcp.toml",
        minimal: None,
        timed: "2 s",
        counted: ["50 ms", "150 ms"],
        // Twice QCN's on W1.
        none: Some(Ceiling { instructions: 690.0, time_ratio: None }),
        qcn: Ceiling { instructions: 690.0, time_ratio: None },
        others: None,
    },
    Workload {
        name: "W8",
        title: "W2 over TCP, acknowledged every second segment",
        file: "scenarios/bench/fat-tree-k8-tcp.toml",
        minimal: None,
        timed: "1 ms",
        counted: ["50 us", "150 us"],
        // Twice QCN's on W2.
        none: Some(Ceiling { instructions: 640.0, time_ratio: None }),
        qcn: Ceiling { instructions: 640.0, time_ratio: None },
        others: None,
    },
];

/// A program that runs a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Program {
    /// The smallest program that forwards the same frames.
    Minimal,
    /// Penstock's engine.
    Engine {
        /// Name of the scheme.
        scheme: String,
        /// With the runner's recorder, sampling; otherwise without a probe.
        probe: bool,
    },
}

impl Workload {
    /// The workload called `name`.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        WORKLOADS.iter().find(|w| w.name.eq_ignore_ascii_case(name))
    }

    /// The programs that are compared, the yardstick first, each with its ceiling.
    pub(crate) fn programs(&self) -> Vec<(Program, Option<Ceiling>)> {
        let engine = |scheme: &str, probe| Program::Engine { scheme: scheme.to_owned(), probe };
        let mut programs = Vec::new();
        if self.minimal.is_some() {
            programs.push((Program::Minimal, None));
        }
        if let Some(ceiling) = self.none {
            programs.push((engine("none", false), Some(ceiling)));
        }
        programs.push((engine("qcn", true), Some(self.qcn)));
        programs
    }

    /// Where its file is, if `root` is the root of the repository.
    pub(crate) fn path(&self, root: &Path) -> std::path::PathBuf {
        root.join(self.file)
    }
}

impl Program {
    /// The arguments of `penstock-bench run WORKLOAD` that choose it.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let (scheme, probe) = match self {
            Self::Minimal => ("minimal", false),
            Self::Engine { scheme, probe } => (scheme.as_str(), *probe),
        };
        ["--scheme", scheme, "--probe", if probe { "on" } else { "off" }].map(str::to_owned).to_vec()
    }
}

impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Minimal => f.pad("minimal"),
            Self::Engine { scheme, probe: false } => f.pad(scheme),
            Self::Engine { scheme, probe: true } => f.pad(&format!("{scheme} + probe")),
        }
    }
}
