//! What the schemes' reaction points are set to, by registers and in their state machines.

use penstock_cosim::Random;
use penstock_schemes::BitRate;
use penstock_schemes::smcc::Config;

use crate::machine::{self, Machine, Qcn, QcnSettings, SmccPoint};

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
        vec![
            ("qcn.tick_clocks", 20),
            ("qcn.gd_shift", self.gd_shift.into()),
            ("qcn.rpg_threshold", self.threshold.into()),
            ("qcn.rpg_byte_reset", self.byte_reset.into()),
            ("qcn.rpg_time_reset", self.time_reset.into()),
            ("qcn.rpg_ai_rate", self.ai_rate),
            ("qcn.rpg_hai_rate", self.hai_rate),
            ("qcn.rpg_min_rate", self.min_rate),
            ("qcn.rpg_max_rate", self.max_rate),
            ("qcn.rp_jitter", self.jitter.into()),
            ("qcn.timer_on", self.timer_on.into()),
        ]
    }

    fn start(&self) -> Qcn {
        Qcn::new(self)
    }

    fn least_rate(&self) -> u64 {
        self.min_rate
    }
}

pub struct SmccSettings {
    pub config: Config,
    pub max_rate: u64,
}

impl Scheme for SmccSettings {
    type Machine = SmccPoint;

    fn any(random: &mut Random) -> Self {
        let config = Config {
            ra: BitRate(100_000_000 + random.below(300_000_000)),
            two_stage: random.one_in(2),
            min_rate: BitRate(50_000_000 + random.below(50_000_000)),
            ..machine::smcc_defaults()
        };
        Self { config, max_rate: 1_000_000_000 - random.below(2) * random.below(300_000_000) }
    }

    fn registers(&self) -> Vec<(&'static str, u64)> {
        let config = &self.config;
        vec![
            ("smcc.alpha", machine::gain(config.ra, config.ra_at.0)),
            ("smcc.alpha_small", machine::gain(config.ra_small, config.ra_at.0)),
            ("smcc.beta", machine::gain(config.rb, config.rb_at.0)),
            ("smcc.t1", config.t1.0),
            ("smcc.two_stage", config.two_stage.into()),
            ("smcc.min_rate", config.min_rate.0),
            ("smcc.max_rate", self.max_rate),
        ]
    }

    fn start(&self) -> SmccPoint {
        SmccPoint::new(&self.config, self.max_rate)
    }

    fn least_rate(&self) -> u64 {
        self.config.min_rate.0
    }
}

/// As paper 002 has it, but for shorter cycles.
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

pub fn plain_smcc() -> SmccSettings {
    let config = Config { min_rate: BitRate(50_000_000), ..machine::smcc_defaults() };
    SmccSettings { config, max_rate: 1_000_000_000 }
}
