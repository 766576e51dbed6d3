//! Halving: a queue above a threshold tells the source of the arriving frame to halve its rate; a timer raises it again.
//!
//! A scheme for this example alone, as short as one can be that controls something.

use penstock_schemes::info::{Threshold, values::*};
use penstock_schemes::none::Silent;
use penstock_schemes::*;

choice! {
    /// How the rate comes back.
    pub enum Raise {
        /// By a fixed step.
        Step = "step",
        /// To twice what it is.
        Double = "double",
    }
}

parameters! {
    /// Settings of halving.
    pub struct Config {
        /// Queue above which sources are signalled.
        threshold: Threshold {
            default: octets(30_000),
            range: octets(1500)..=octets(10_000_000),
            source: "example",
        }
        /// Least time between two messages of a queue.
        hold: Duration {
            default: us(20),
            range: us(1)..=us(100_000),
            source: "example",
        }
        /// Time between two increases of a rate.
        period: Duration {
            default: us(50),
            range: us(1)..=us(100_000),
            source: "example",
        }
        /// How the rate comes back.
        raise: Raise {
            default: choice("step"),
            source: "example",
        }
        /// The step of an increase.
        step: BitRate {
            default: mbps(20),
            range: mbps(1)..=mbps(1000),
            source: "example",
            when: raise = "step",
        }
        /// Least rate of a source.
        least: BitRate {
            default: mbps(10),
            range: mbps(1)..=mbps(100),
            source: "example",
        }
    }
}

/// The scheme.
#[derive(Debug, Clone, Copy)]
pub struct Halving;

/// "Halve your rate."
#[derive(Debug, Clone, Copy)]
pub struct Halve;

impl Signal for Halve {
    fn octets(&self) -> u16 {
        64
    }
}

impl Scheme for Halving {
    const INFO: Info = Info {
        name: "halving",
        title: "Halving",
        source: "example of penstock-schemes",
        description: "A queue above a threshold halves the rate of the source whose frame arrives.",
        parameters: Config::PARAMETERS,
        profiles: &[Profile {
            name: "doubling",
            description: "rates come back by doubling",
            settings: &[("raise", choice("double"))],
        }],
        set_point: Some("threshold"),
        signals: Some(Signals::backward(64)),
        actions: &[
            penstock_schemes::info::Action::Notifications,
            penstock_schemes::info::Action::Cuts,
            penstock_schemes::info::Action::Raises,
        ],
        tuned: &[&["threshold"], &["step"]],
        recovers_alone: true,
        raises_on_signal: false,
        integer_state: true,
        needs_order: false,
        forms: Forms::NONE,
    }
    .checked();
    type Config = Config;
    type Tag = ();
    type Echo = Never;
    type Signal = Halve;
    type Cp = Cp;
    type Np = Silent;
    type Rp = Rp;
}

/// The congestion point: one queue.
#[derive(Debug, Clone)]
pub struct Cp {
    threshold: Octets,
    hold: Duration,
    /// Before this time it sends no message.
    silent_until: Instant,
}

impl CongestionPoint<Halving> for Cp {
    fn new(config: &Config, _: Place) -> Self {
        Self { threshold: Octets(config.threshold.0), hold: config.hold, silent_until: Instant::ZERO }
    }

    fn configure(&mut self, config: &Config, place: Place) {
        *self = Self { silent_until: self.silent_until, ..Self::new(config, place) };
    }

    fn on_arrival(
        &mut self,
        now: Instant,
        frame: Frame<'_, ()>,
        _: Fate,
        queue: &Queue,
        _: &mut impl Draw,
        out: &mut impl Out<Halving>,
    ) {
        if queue.len > self.threshold && now >= self.silent_until {
            self.silent_until = now + self.hold;
            out.send(To::Source(frame.flow), Class::Control, Halve);
        }
    }
}

/// The reaction point: one source.
#[derive(Debug, Clone)]
pub struct Rp {
    config: Config,
    line: u64,
    rate: u64,
    raise_at: Option<Instant>,
}

impl ReactionPoint<Halving> for Rp {
    fn new(config: &Config, line: BitRate) -> Self {
        Self { config: config.clone(), line: line.0, rate: line.0, raise_at: None }
    }

    fn configure(&mut self, config: &Config, _: BitRate) {
        self.rate = self.rate.max(config.least.0).min(self.line);
        self.config = config.clone();
    }

    fn on_signal(&mut self, now: Instant, _: FlowKey, _: Halve, _: &mut impl Draw, _: &mut impl Out<Halving>) {
        self.rate = (self.rate / 2).max(self.config.least.0).min(self.line);
        self.raise_at = Some(now + self.config.period);
    }

    fn on_send(&mut self, _: Instant, _: Release, _: &mut impl Draw, _: &mut impl Out<Halving>) {}

    fn next_timeout(&self) -> Option<Instant> {
        self.raise_at
    }

    fn on_timeout(&mut self, now: Instant, _: &mut impl Draw, _: &mut impl Out<Halving>) {
        if self.raise_at.is_none_or(|at| at > now) {
            return;
        }
        let raised = match self.config.raise {
            Raise::Step => self.rate + self.config.step.0,
            Raise::Double => self.rate * 2,
        };
        self.rate = raised.min(self.line);
        self.raise_at = (self.rate < self.line).then(|| now + self.config.period);
    }

    fn allowance(&self) -> Allowance {
        Allowance { rate: BitRate(self.rate), window: None }
    }

    fn limiting(&self) -> bool {
        self.rate < self.line
    }
}

#[cfg(test)]
mod tests {
    use penstock_schemes::info::Field;

    use super::*;

    #[test]
    fn it_conforms() {
        penstock_conformance::check::<Halving>();
    }

    #[test]
    fn parameters_are_read_in_their_order() {
        let values: Vec<Value> = Config::PARAMETERS.iter().map(|p| p.default).collect();
        let config = Config::from_values(&values).expect("defaults are of their kinds");
        assert_eq!(
            (config.threshold, config.raise, config.step),
            (Threshold(30_000), Raise::Step, BitRate(20_000_000))
        );
        assert_eq!(Raise::read(Value::Choice("twice")), None);
    }
}
