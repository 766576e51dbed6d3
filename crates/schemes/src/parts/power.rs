//! Window and power of a source: what the two forms of PowerTCP share.
//!
//! ```text
//!   power, of which 1 is a full line and an empty queue:   P = P + (p - P) dt / T       p is the newest, over the time dt
//!   window:                                                W = W + gamma (Wold target / P + beta - W)
//!   rate:                                                  R = line W / (line T)
//! ```
//!
//! `beta` is what the line sends in T, over the number of flows that are expected at the source. With W of N flows at
//! rest, P = 1 + q / (line T), so that the queue rests at the sum of their beta. `Wold` is the window under which the
//! acknowledged frame was sent.
//!
//! Times are real numbers of picoseconds, windows real numbers of octets; the allowance is rounded down.
//!
//! Sources: Addanki et al., NSDI 2022 ("PowerTCP"), algorithms 1 and 2; powertcp-linux and ns3-datacenter, programs of the
//! same group.

use crate::info::parameters;
use crate::info::values::{choice, count, octets, real};
use crate::units::{BitRate, Duration, Octets, PS_PER_S};
use crate::{Allowance, Gap, Gate};

parameters! {
    /// The parameters of window and power.
    pub struct PowerParameters {
        /// Weight of the newest window, gamma.
        gamma: f64 {
            default: real(0.9),
            range: real(0.01)..=real(1.0),
            source: "Addanki et al. 2022, recommended; powertcp-linux",
        }
        /// Flows that are expected at a source, N: a step, beta, is what the line sends in T, over N.
        flows: u32 {
            default: count(10),
            range: count(1)..=count(10_000),
            source: "powertcp-linux, expected_flows; Addanki et al. 2022 have the rule and no number",
        }
        /// Power that is aimed at, in that of a full line with an empty queue.
        target: f64 {
            default: real(1.0),
            range: real(0.5)..=real(2.0),
            source: "Addanki et al. 2022; other values in ns3-datacenter",
        }
        /// Least window.
        segment: Octets {
            default: octets(1_500),
            range: octets(64)..=octets(16_384),
            source: "Ethernet's longest frame; powertcp-linux has a segment",
        }
        /// Which frame the window lets go: one that fits as a whole, or any while less than the window is in flight.
        gate: Gate {
            default: choice("open"),
            source: "ns3-datacenter, IsWinBound; RFC 5681 section 3.1 has whole",
        }
        /// What a new window does to the time until the next frame, which is paced.
        gap: Gap {
            default: choice("whole"),
            source: "ns3-datacenter, ChangeRate; open in Addanki et al. 2022",
        }
    }
}

/// Window and power of a source.
#[derive(Debug, Clone)]
pub struct Power {
    /// T, picoseconds.
    t: f64,
    gamma: f64,
    beta: f64,
    target: f64,
    line: BitRate,
    /// The least window, and what the line sends in T.
    least: f64,
    most: f64,
    /// W.
    window: f64,
    /// P.
    power: f64,
    allowance: Allowance,
}

impl Power {
    /// The state of a source that starts, at the end of a line of rate `line` with a round trip of `t`: at the line's rate.
    #[must_use]
    pub fn new(parameters: &PowerParameters, line: BitRate, t: Duration) -> Self {
        let t = t.0 as f64;
        let most = line.0 as f64 * t / (8.0 * PS_PER_S as f64);
        let mut power = Self {
            t,
            gamma: parameters.gamma,
            beta: most / f64::from(parameters.flows),
            target: parameters.target,
            line,
            least: (parameters.segment.0 as f64).min(most),
            most,
            window: most,
            power: 1.0,
            allowance: Allowance { rate: line, window: None },
        };
        power.allow();
        power
    }

    /// Goes on with the window and the power of `before`, within the bounds of these parameters.
    pub fn go_on_from(&mut self, before: &Self) {
        (self.window, self.power) = (before.window.clamp(self.least, self.most), before.power);
        self.allow();
    }

    /// T, picoseconds.
    #[must_use]
    pub fn round_trip_ps(&self) -> f64 {
        self.t
    }

    /// Takes in the power `newest` of the last `time_ps` picoseconds.
    pub fn hear(&mut self, newest: f64, time_ps: f64) {
        self.power += (newest - self.power) * (time_ps / self.t).min(1.0);
    }

    /// Moves the window towards that of power 1, for a frame that was sent under the window `old`.
    pub fn steer(&mut self, old: f64) {
        let aim = old * self.target / self.power + self.beta;
        self.window += self.gamma * (aim - self.window);
        // Power may be 0 where nothing came: then the aim is infinite.
        self.window = if self.window.is_nan() { self.most } else { self.window.clamp(self.least, self.most) };
        self.allow();
    }

    /// A time-out: all that was in flight is lost, and the least window is left, as in powertcp-linux (RFC 5681, section 3.1).
    pub fn fall(&mut self) {
        self.window = self.least;
        self.allow();
    }

    fn allow(&mut self) {
        let rate = self.line.0 as f64 * self.window / self.most;
        let rate = BitRate((rate as u64).clamp(1, self.line.0));
        self.allowance = Allowance { rate, window: Some(Octets(self.window as u64)) };
    }

    /// The window, octets.
    #[must_use]
    pub fn window(&self) -> f64 {
        self.window
    }

    /// The power in millionths.
    #[must_use]
    pub fn ppm(&self) -> i64 {
        (self.power * 1e6) as i64
    }

    /// What the source may send.
    #[inline]
    #[must_use]
    pub fn allowance(&self) -> Allowance {
        self.allowance
    }

    /// Whether the window is less than what the line sends in T.
    #[must_use]
    pub fn limits(&self) -> bool {
        self.window < self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::{Configuration, Value};
    use crate::testing::close;
    use alloc::vec::Vec;

    /// 10 us at 10 Gb/s: 12 500 octets, and a beta of 1250.
    fn power() -> Power {
        let values: Vec<Value> = PowerParameters::PARAMETERS.iter().map(|p| p.default).collect();
        let parameters = PowerParameters::from_values(&values).expect("defaults");
        Power::new(&parameters, BitRate::from_gbps(10), Duration::from_us(10))
    }

    /// Half of T at a power of 3: the mean of 1 and 3. W = 12 500 + 0.9 (6250 + 1250 - 12 500).
    #[test]
    fn the_window_goes_towards_the_one_of_power_one() {
        let mut power = power();
        power.hear(3.0, 5e6);
        close(power.power, 2.0);
        power.steer(12_500.0);
        close(power.window, 8_000.0);
        assert_eq!(power.allowance(), Allowance { rate: BitRate(6_400_000_000), window: Some(Octets(8_000)) });
        assert!(power.limits());
        // The next frame was sent under the same window: 8000 + 0.9 (7500 - 8000).
        power.steer(12_500.0);
        close(power.window, 7_550.0);
    }

    /// With one flow the window of rest is what the line sends in T and beta: P = 1 + 1250 / 12 500, and nothing moves.
    /// The largest window is less; so a window of 10 000 among others, at their share of beta, stays where it is.
    #[test]
    fn at_rest_nothing_moves() {
        let mut power = power();
        // Two flows: 12 500 + 2 x 1250 octets, 7500 each.
        (power.window, power.power) = (7_500.0, 1.2);
        power.steer(7_500.0);
        close(power.window, 7_500.0);
    }

    /// Ten times T away from 1: all of the newest. Windows keep their bounds, and a power of 0 opens the window.
    #[test]
    fn windows_have_bounds() {
        let mut power = power();
        power.hear(1_000.0, 1e8);
        close(power.power, 1_000.0);
        for _ in 0..20 {
            power.steer(0.0);
        }
        assert_eq!(power.window, 1_500.0, "not below a segment, as beta alone would be 1250");
        power.hear(0.0, 1e8);
        power.steer(power.window);
        assert_eq!(power.window, 12_500.0);
        (power.window, power.power) = (0.0, 0.0);
        power.steer(0.0);
        assert_eq!(power.window, 12_500.0);
    }
}
