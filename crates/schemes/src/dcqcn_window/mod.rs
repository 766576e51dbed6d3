//! DCQCN with a window: what its rate sends in a round trip bounds what is in flight.
//!
//! ```text
//!   destination                        source
//!   DCQCN's; acknowledges each frame   DCQCN's rate R;  a frame goes while less than R window_time is in flight
//! ```
//!
//! A rate alone goes on sending into a queue that grows. A window stops the source when that much is under way, so that a
//! queue holds one bandwidth-delay product of each source at the most, whatever feedback does. The window follows the rate.
//!
//! It is a scheme and no switch of DCQCN, since DCQCN needs no acknowledgements, and pays for none.
//!
//! Sources: Li et al., SIGCOMM 2019 ("HPCC"), section 5.1, "DCQCN+win"; HPCC's simulator, `HAS_WIN 1` and `VAR_WIN 1`
//! (`RdmaQueuePair::GetWin`, `IsWinBound`).

use crate::dcqcn::{self, Cnp, Dcqcn};
use crate::info::values::us;
use crate::info::{Forms, Info, parameters};
use crate::parts::marking::{Ce, MarkingParameters, Ramp};
use crate::parts::marking_cp::{MarkingConfig, MarkingCp};
use crate::units::{BitRate, Duration, FlowKey, Instant, Octets, PS_PER_S};
use crate::{
    Allowance, Class, Draw, Frame, Gate, Label, NotificationPoint, Out, ReactionPoint, Release, Report, Scheme, To, Var,
};

/// DCQCN with a window.
#[derive(Debug, Clone, Copy)]
pub struct DcqcnWindow;

parameters! {
    /// The parameters of DCQCN and of its window.
    pub struct Config {
        ..dcqcn: dcqcn::Config;
        /// The window: less than what the rate sends in this time may be in flight when a frame goes.
        window_time: Duration {
            default: us(13),
            range: us(1)..=us(1_000_000),
            about: some_round_trip,
            source: "HPCC's simulator, GetWin: the longest round trip of all pairs of hosts",
        }
    }
}

impl MarkingConfig for Config {
    fn ramp(&self) -> Ramp {
        self.dcqcn.ramp()
    }

    fn marking(&self) -> &MarkingParameters {
        self.dcqcn.marking()
    }
}

impl Scheme for DcqcnWindow {
    const INFO: Info = Info {
        name: "dcqcn-window",
        title: "Data Center QCN with a window",
        source: "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, \"DCQCN+win\"; HPCC's simulator",
        description: "DCQCN whose sources have no more in flight than their rate sends in a round trip.",
        parameters: Config::PARAMETERS,
        profiles: dcqcn::PROFILES,
        forms: Forms { capture: true, testbed: false, fluid: Some("dcqcn_window"), cores: &[] },
        ..Dcqcn::INFO
    };
    type Config = Config;
    type Tag = Ce;
    type Echo = ();
    type Signal = Cnp;
    type Cp = MarkingCp;
    type Np = Np;
    type Rp = Rp;

    fn label(tag: &Ce) -> Label {
        Dcqcn::label(tag)
    }

    fn from_label(label: Label) -> Ce {
        Dcqcn::from_label(label)
    }

    fn from_report(_: &Report) -> Option<()> {
        Some(())
    }
}

/// Takes DCQCN's signals to the caller's buffer.
struct Passing<'a, O>(&'a mut O);

impl<O: Out<DcqcnWindow>> Out<Dcqcn> for Passing<'_, O> {
    fn send(&mut self, to: To, class: Class, signal: Cnp) {
        self.0.send(to, class, signal);
    }
}

/// DCQCN's notification point, which acknowledges each frame besides.
#[derive(Debug, Clone)]
pub struct Np(dcqcn::Np);

impl NotificationPoint<DcqcnWindow> for Np {
    fn new(config: &Config, flow: FlowKey) -> Self {
        Self(dcqcn::Np::new(&config.dcqcn, flow))
    }

    fn configure(&mut self, config: &Config) {
        self.0.configure(&config.dcqcn);
    }

    #[inline]
    fn on_frame(&mut self, now: Instant, frame: Frame<'_, Ce>, draw: &mut impl Draw, out: &mut impl Out<DcqcnWindow>) {
        self.0.on_frame(now, frame, draw, &mut Passing(out));
    }

    #[inline]
    fn acknowledge(&mut self, _: Instant, _: Frame<'_, Ce>) -> Option<()> {
        Some(())
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.0.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<DcqcnWindow>) {
        self.0.on_timeout(now, draw, &mut Passing(out));
    }
}

/// DCQCN's reaction point, and the time that its window is long.
#[derive(Debug, Clone)]
pub struct Rp {
    rate: dcqcn::Rp,
    window_time: Duration,
}

impl ReactionPoint<DcqcnWindow> for Rp {
    const VARS: &'static [Var] = <dcqcn::Rp as ReactionPoint<Dcqcn>>::VARS;

    fn new(config: &Config, line: BitRate) -> Self {
        Self { rate: dcqcn::Rp::new(&config.dcqcn, line), window_time: config.window_time }
    }

    fn configure(&mut self, config: &Config, line: BitRate) {
        self.rate.configure(&config.dcqcn, line);
        self.window_time = config.window_time;
    }

    fn on_signal(
        &mut self,
        now: Instant,
        flow: FlowKey,
        cnp: Cnp,
        draw: &mut impl Draw,
        out: &mut impl Out<DcqcnWindow>,
    ) {
        self.rate.on_signal(now, flow, cnp, draw, &mut Passing(out));
    }

    #[inline]
    fn on_send(&mut self, now: Instant, frame: Release, draw: &mut impl Draw, out: &mut impl Out<DcqcnWindow>) -> Ce {
        self.rate.on_send(now, frame, draw, &mut Passing(out))
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.rate.next_timeout()
    }

    fn on_timeout(&mut self, now: Instant, draw: &mut impl Draw, out: &mut impl Out<DcqcnWindow>) {
        self.rate.on_timeout(now, draw, &mut Passing(out));
    }

    fn allowance(&self) -> Allowance {
        let rate = self.rate.allowance().rate;
        let bit_ps = u128::from(rate.0) * u128::from(self.window_time.0);
        Allowance { rate, window: Some(Octets((bit_ps / (8 * u128::from(PS_PER_S))) as u64)) }
    }

    /// That of HPCC's simulator, `IsWinBound`.
    fn gate(&self) -> Gate {
        Gate::Open
    }

    fn limiting(&self) -> bool {
        self.rate.limiting()
    }

    fn vars(&self, row: &mut [i64]) {
        self.rate.vars(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Value;
    use crate::testing::{Middle, Sent, at, config, frame_of};

    const FLOW: FlowKey = FlowKey(7);

    fn rp(changes: &[(&str, Value)]) -> Rp {
        Rp::new(&config::<DcqcnWindow>("", changes), BitRate::from_gbps(10))
    }

    /// 13 us at 10 Gb/s: 16 250 octets. The first CNP cuts the rate by half of alpha, which is 1, and the window with it.
    #[test]
    fn the_window_follows_the_rate() {
        let mut rp = rp(&[]);
        assert_eq!(rp.allowance(), Allowance { rate: BitRate::from_gbps(10), window: Some(Octets(16_250)) });
        rp.on_signal(at(10), FLOW, Cnp, &mut Middle, &mut Sent::default());
        assert_eq!(rp.allowance(), Allowance { rate: BitRate::from_gbps(5), window: Some(Octets(8_125)) });
        rp.configure(&config::<DcqcnWindow>("", &[("window_time", us(8))]), BitRate::from_gbps(10));
        assert_eq!(rp.allowance().window, Some(Octets(5_000)));
    }

    /// A marked frame is answered by a CNP and acknowledged, the next one within 50 us acknowledged alone.
    #[test]
    fn each_frame_is_acknowledged() {
        let mut np = Np::new(&config::<DcqcnWindow>("", &[]), FLOW);
        let mut sent = Sent::<DcqcnWindow>::default();
        for us in [100, 110] {
            let mut tag = Ce(true);
            np.on_frame(at(us), frame_of(FLOW, Instant::ZERO, &mut tag), &mut Middle, &mut sent);
            assert_eq!(np.acknowledge(at(us), frame_of(FLOW, Instant::ZERO, &mut tag)), Some(()));
        }
        assert_eq!(sent.0.len(), 1);
    }
}
