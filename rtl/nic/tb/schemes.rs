//! Settings of the schemes' reaction points, by registers and in their state machines.

use penstock_cosim::Random;
use penstock_cosim::reaction_point::{Machine, Qcn, QcnSettings, Readings, SmccPoint, SmccSettings, smcc_defaults};
use penstock_schemes::BitRate;
use penstock_schemes::smcc::Config;

/// A scheme's settings, its registers, and its state machine.
pub trait Scheme {
    type Machine: Machine;
    fn any(random: &mut Random) -> Self;
    fn registers(&self) -> Vec<(&'static str, u64)>;
    fn start(&self) -> Self::Machine;
    fn least_rate(&self) -> u64;
}

impl Scheme for QcnSettings {
    type Machine = Qcn;

    fn any(random: &mut Random) -> Self {
        Self {
            gd_shift: 6 + random.below(3) as u8,
            threshold: 1 + random.below(6) as u8,
            byte_reset: 2_000 + random.below(30_000) as u32,
            time_reset: 20 + random.below(300) as u32,
            ai_rate: random.below(20_000_000),
            hai_rate: random.below(50_000_000),
            min_rate: 50_000_000 + random.below(50_000_000),
            max_rate: 1_000_000_000 - random.below(2) * random.below(300_000_000),
            jitter: [0, 9_830, 65_535][random.below(3) as usize],
            timer_on: !random.one_in(4),
        }
    }

    fn registers(&self) -> Vec<(&'static str, u64)> {
        self.registers(20)
    }

    fn start(&self) -> Qcn {
        Qcn::new(Readings::FULL, self)
    }

    fn least_rate(&self) -> u64 {
        self.min_rate
    }
}

pub struct SmccRules {
    pub config: Config,
    pub max_rate: u64,
}

impl Scheme for SmccRules {
    type Machine = SmccPoint;

    fn any(random: &mut Random) -> Self {
        let config = Config {
            ra: BitRate(100_000_000 + random.below(300_000_000)),
            two_stage: random.one_in(2),
            min_rate: BitRate(50_000_000 + random.below(50_000_000)),
            ..smcc_defaults()
        };
        Self { config, max_rate: 1_000_000_000 - random.below(2) * random.below(300_000_000) }
    }

    fn registers(&self) -> Vec<(&'static str, u64)> {
        SmccSettings::of(&self.config, self.max_rate).registers()
    }

    fn start(&self) -> SmccPoint {
        // The NIC shows that it takes a notice, not that it sees one.
        SmccPoint::new(&self.config, self.max_rate, 1)
    }

    fn least_rate(&self) -> u64 {
        self.config.min_rate.0
    }
}

/// As Kabbani and Yasuda 2010 have it, but for shorter cycles.
pub fn plain_qcn() -> QcnSettings {
    QcnSettings {
        gd_shift: 7,
        threshold: 5,
        byte_reset: 15_000,
        time_reset: 250,
        ai_rate: 5_000_000,
        hai_rate: 50_000_000,
        min_rate: 50_000_000,
        max_rate: 1_000_000_000,
        jitter: 9_830,
        timer_on: true,
    }
}

pub fn plain_smcc() -> SmccRules {
    let config = Config { min_rate: BitRate(50_000_000), ..smcc_defaults() };
    SmccRules { config, max_rate: 1_000_000_000 }
}
