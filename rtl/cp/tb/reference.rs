//! The congestion points of the simulator, as the tests of the cores ask them.

use penstock_schemes::info::Configuration;
use penstock_schemes::parts::jitter::Spread;
use penstock_schemes::parts::sampler::{Even, Sampling, Table};
use penstock_schemes::parts::sampling_cp::{CpParameters, QoldUpdate, Sample, SamplingCp};
use penstock_schemes::smcc::{self, Smcc};
use penstock_schemes::{
    BitRate, Class, CongestionPoint, CpId, Draw, Duration, Fate, FlowKey, Frame, Instant, Octets, Out, Parameter,
    Place, Queue, Scheme, To, Value,
};

/// Clocks from an arrival to the outputs of its sample: QCN's and SMCC's.
pub const QCN_SAMPLE: u64 = 56;
pub const SMCC_SAMPLE: u64 = 2;
/// Clocks from there to the draw of the table's random word, and to the interval.
pub const DRAW: u64 = 31;
pub const RELOAD: u64 = 81;

/// QCN with the table of Kabbani and Yasuda 2010.
pub const TABLE: Variant =
    Variant { smcc: false, sampling: Sampling::Table, harmonic: false, last_sent: false, sample_dropped: true };

/// The parameters of a build.
#[derive(Clone, Copy)]
pub struct Variant {
    pub smcc: bool,
    pub sampling: Sampling,
    pub harmonic: bool,
    pub last_sent: bool,
    pub sample_dropped: bool,
}

/// The settings of an instance.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    pub q_eq: u32,
    pub w: u16,
    pub base: u32,
    pub jitter: u16,
    pub count: u32,
    pub probability: u32,
}

/// The random words of a clock.
struct Word(u32);

impl Draw for Word {
    fn draw(&mut self) -> u32 {
        self.0
    }
}

/// Keeps what SMCC sends.
#[derive(Default)]
struct Sent(Option<smcc::Notice>);

impl Out<Smcc> for Sent {
    fn send(&mut self, _: To, _: Class, signal: smcc::Notice) {
        assert!(self.0.replace(signal).is_none(), "one message a sample");
    }
}

/// The state machine of the simulator.
pub enum Reference {
    Qcn(Box<SamplingCp>),
    Smcc(smcc::Cp),
}

/// The outcome of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    pub congested: bool,
    pub fb: u8,
    pub q_off: i64,
    pub q_delta: i64,
}

fn defaults(parameters: &[Parameter]) -> Vec<Value> {
    parameters.iter().map(|p| p.default).collect()
}

impl Reference {
    pub fn new(variant: Variant, settings: &Settings) -> Self {
        let probability = f64::from(settings.probability) / 4_294_967_296.0;
        if variant.smcc {
            let mut config =
                smcc::Config::from_values(&defaults(smcc::Config::PARAMETERS)).expect("its own parameters");
            config.q0.0 = settings.q_eq.into();
            config.sampling = if variant.sampling == Sampling::Count { Even::Count } else { Even::Probability };
            config.sample_count = settings.count;
            config.sample_probability = probability;
            config.sample_dropped = variant.sample_dropped;
            let place = Place { cp: CpId(1), line: BitRate(0), capacity: Octets(0), phase: Duration(0) };
            return Self::Smcc(smcc::Cp::new(&config, place));
        }
        let mut config = CpParameters::from_values(&defaults(CpParameters::PARAMETERS)).expect("its own parameters");
        config.q_eq.0 = settings.q_eq.into();
        config.w = f64::from(settings.w) / 1024.0;
        config.qold_update = if variant.last_sent { QoldUpdate::LastSent } else { QoldUpdate::EverySample };
        config.sampling = variant.sampling;
        config.sample_base = Octets(settings.base.into());
        config.sample_table = if variant.harmonic { Table::Harmonic } else { Table::Paper };
        config.sample_jitter = f64::from(settings.jitter) / 65_536.0;
        assert_eq!(Spread::new(config.sample_jitter).apply(1 << 16, 0), (1 << 16) - u64::from(settings.jitter));
        config.sample_count = settings.count;
        config.sample_probability = probability;
        config.sample_probability_max = probability;
        config.sample_dropped = variant.sample_dropped;
        Self::Qcn(Box::new(SamplingCp::new(&config, CpId(1))))
    }

    /// An arrival; if it is sampled, its outputs, and the sample for `conclude`.
    pub fn arrive(&mut self, octets: u16, dropped: bool, len: u64, word: u32) -> Option<(Answer, Option<Sample>)> {
        let fate = if dropped { Fate::Dropped } else { Fate::Queued };
        let queue = Queue { len: Octets(len), ..Queue::default() };
        match self {
            Self::Qcn(cp) => cp.sample(octets, fate, &queue, &mut Word(word)).map(|sample| {
                let cnm = cp.message(&sample);
                let answer = Answer {
                    congested: sample.congested,
                    fb: sample.fb.steps(),
                    q_off: cnm.q_off.into(),
                    q_delta: cnm.q_delta.into(),
                };
                (answer, Some(sample))
            }),
            Self::Smcc(cp) => {
                let mut sent = Sent::default();
                let frame = Frame {
                    flow: FlowKey(1),
                    octets,
                    weight: 1,
                    seq: Octets(0),
                    last: false,
                    trimmed: false,
                    sent_at: Instant::ZERO,
                    tag: &mut <Smcc as Scheme>::Tag::default(),
                };
                cp.on_arrival(Instant::ZERO, frame, fate, &queue, &mut Word(word), &mut sent);
                sent.0.map(|notice| {
                    let (q_off, q_delta) = (notice.q_off.into(), notice.q_delta.into());
                    (Answer { congested: true, fb: 0, q_off, q_delta }, None)
                })
            }
        }
    }

    /// Ends a sample with the random word that it draws.
    pub fn conclude(&mut self, sample: &Sample, len: u64, word: u32) {
        if let Self::Qcn(cp) = self {
            cp.conclude(sample, sample.congested, Octets(len), &mut Word(word));
        }
    }

    /// Octets until the next sample, found by trying on copies. (The table alone; the counter itself is its own matter.)
    pub fn left(&self) -> u64 {
        let Self::Qcn(cp) = self else { unreachable!("only QCN has the table") };
        let sampled =
            |cp: &mut SamplingCp, octets| cp.sample(octets, Fate::Queued, &Queue::default(), &mut Word(0)).is_some();
        let mut cp = cp.clone();
        let mut left = 0;
        loop {
            let mut tried = cp.clone();
            if sampled(&mut tried, u16::MAX) {
                break;
            }
            cp = tried;
            left += u64::from(u16::MAX);
        }
        // The least length that samples is one more than the octets left.
        let (mut not, mut does) = (0, u16::MAX);
        while does - not > 1 {
            let middle = not + (does - not) / 2;
            if sampled(&mut cp.clone(), middle) { does = middle } else { not = middle }
        }
        left + u64::from(does) - 1
    }
}
