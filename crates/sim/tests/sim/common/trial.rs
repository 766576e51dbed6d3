//! A scheme with all that the contract offers: acknowledgements, a window, verdicts, tags, signals to the previous hop. It has no
//! other purpose.

use penstock_schemes::none::NoControl;
use penstock_schemes::*;

/// The settings of the scheme.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Config {
    pub(crate) window: Option<u64>,
    pub(crate) tag: u16,
    pub(crate) echo: u16,
    /// Frames of odd flows go to the queue of this priority.
    pub(crate) odd_flows_to: Option<u8>,
    /// The congestion point drops every frame above this queue length, although it fits.
    pub(crate) limit: u64,
    /// Each frame that arrives sends a signal to the previous hop.
    pub(crate) tells_previous_hop: bool,
}

pub(crate) const PLAIN: Config =
    Config { window: None, tag: 0, echo: 0, odd_flows_to: None, limit: u64::MAX, tells_previous_hop: false };

impl Configuration for Config {
    fn from_values(_: &[Value]) -> Option<Self> {
        None
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Trial;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Hello;

impl Signal for Hello {
    fn octets(&self) -> u16 {
        64
    }
}

impl Scheme for Trial {
    const INFO: Info = Info {
        name: "trial",
        title: "All that the contract offers",
        source: "tests",
        signals: Some(Signals::backward(64)),
        ..<NoControl as Scheme>::INFO
    };
    type Config = Config;
    type Tag = ();
    /// The frame's place in its flow.
    type Echo = u64;
    type Signal = Hello;
    type Cp = Cp;
    type Np = Np;
    type Rp = Rp;

    fn tag_octets(config: &Config) -> u16 {
        config.tag
    }

    fn echo_octets(config: &Config) -> u16 {
        config.echo
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Cp {
    config: Config,
    heard: i64,
    other_len: i64,
}

impl CongestionPoint<Trial> for Cp {
    const VARS: &'static [Var] = &[
        Var { name: "heard", description: "signals of next hops" },
        Var { name: "other_len_octets", description: "the longest that the other queue has been" },
    ];
    const ADMITS: bool = true;

    fn new(config: &Config, _: Place) -> Self {
        Self { config: *config, heard: 0, other_len: 0 }
    }

    fn configure(&mut self, config: &Config, _: Place) {
        self.config = *config;
    }

    fn admit(
        &mut self,
        _: Instant,
        frame: Frame<'_, ()>,
        _: bool,
        queue: &Queue,
        port: &impl PortView,
        _: &mut impl Draw,
    ) -> Verdict {
        assert!(port.queue(7).is_none(), "no flow has priority 7");
        let FlowKey(flow) = frame.flow;
        if let Some(priority) = self.config.odd_flows_to
            && flow % 2 == 1
        {
            let other = port.queue(priority).expect("a flow has it");
            self.other_len = self.other_len.max(other.len.0 as i64);
            return Verdict::Move(priority);
        }
        if queue.len.0 > self.config.limit { Verdict::Drop } else { Verdict::Accept }
    }

    fn on_arrival(
        &mut self,
        _: Instant,
        frame: Frame<'_, ()>,
        _: Fate,
        _: &Queue,
        _: &mut impl Draw,
        out: &mut impl Out<Trial>,
    ) {
        if self.config.tells_previous_hop {
            out.send(To::PreviousHop(frame.flow), Class::Control, Hello);
        }
    }

    fn on_signal(
        &mut self,
        _: Instant,
        flow: FlowKey,
        _: Hello,
        _: &Queue,
        _: &mut impl Draw,
        _: &mut impl Out<Trial>,
    ) {
        assert_eq!(flow, FlowKey(0));
        self.heard += 1;
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.heard, self.other_len]);
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Np;

impl NotificationPoint<Trial> for Np {
    fn new(_: &Config, _: FlowKey) -> Self {
        Self
    }

    fn configure(&mut self, _: &Config) {}

    fn acknowledge(&mut self, _: Instant, frame: Frame<'_, ()>) -> Option<u64> {
        Some(frame.seq.0)
    }
}

/// Keeps the counts that it receives.
#[derive(Debug, Clone)]
pub(crate) struct Rp {
    line: BitRate,
    window: Option<u64>,
    acked: u64,
    lost: u64,
    silent: u64,
    rtt: u64,
    echo: u64,
}

impl ReactionPoint<Trial> for Rp {
    const VARS: &'static [Var] = &[
        Var { name: "acked_octets", description: "" },
        Var { name: "lost_octets", description: "" },
        Var { name: "silent_octets", description: "" },
        Var { name: "rtt_ps", description: "the last" },
        Var { name: "echo", description: "the last" },
    ];

    fn new(config: &Config, line: BitRate) -> Self {
        Self { line, window: config.window, acked: 0, lost: 0, silent: 0, rtt: 0, echo: 0 }
    }

    fn configure(&mut self, config: &Config, _: BitRate) {
        self.window = config.window;
    }

    fn on_signal(&mut self, _: Instant, _: FlowKey, _: Hello, _: &mut impl Draw, _: &mut impl Out<Trial>) {}

    fn on_ack(&mut self, _: Instant, _: FlowKey, ack: &Ack<u64>, _: &mut impl Draw, _: &mut impl Out<Trial>) {
        self.acked += ack.acked.0;
        self.lost += ack.lost.0;
        (self.rtt, self.echo) = (ack.rtt.0, ack.echo);
    }

    fn on_silence(&mut self, _: Instant, _: FlowKey, lost: Octets) {
        self.silent += lost.0;
    }

    fn on_send(&mut self, _: Instant, _: Release, _: &mut impl Draw, _: &mut impl Out<Trial>) {}

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn on_timeout(&mut self, _: Instant, _: &mut impl Draw, _: &mut impl Out<Trial>) {}

    fn allowance(&self) -> Allowance {
        Allowance { rate: self.line, window: self.window.map(Octets) }
    }

    fn limiting(&self) -> bool {
        false
    }

    fn vars(&self, row: &mut [i64]) {
        row.copy_from_slice(&[self.acked, self.lost, self.silent, self.rtt, self.echo].map(|x| x as i64));
    }
}
