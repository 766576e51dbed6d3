//! The whole core with two reaction points: arriving frames, messages, and frames that go.

#[path = "../../rp_common/tb/streams.rs"]
mod streams;

use penstock_cosim::smcc_rp::{Core, In};
use penstock_schemes::parts::gain::Gain;
use penstock_schemes::smcc::{Config, Notice, Rp, Smcc};
use penstock_schemes::{BitRate, Class, CpId, Draw, Instant, Out, ReactionPoint, SCHEMES, SchemeConfig, To, Value};
use streams::{Message, Nic, Pins, Reaction, SMCC, Shown};

struct Nics(Core, Config);

impl Nic for Nics {
    fn clock(&mut self, pins: &Pins) -> Shown {
        streams::clock!(self.0, In, pins, rate_o, {
            alpha_i: gain(self.1.ra.0, self.1.ra_at.0),
            alpha_small_i: gain(self.1.ra.0, self.1.ra_at.0),
            beta_i: gain(self.1.rb.0, self.1.rb_at.0),
            min_rate_i: self.1.min_rate.0,
            max_rate_i: pins.max_rate,
        })
    }
}

struct Nothing;

impl Draw for Nothing {
    fn draw(&mut self) -> u32 {
        unreachable!("SMCC's reaction point draws nothing")
    }
}

impl Out<Smcc> for Nothing {
    fn send(&mut self, _: To, _: Class, _: Notice) {
        unreachable!("SMCC's reaction point sends nothing")
    }
}

impl Reaction for Rp {
    fn message(&mut self, message: Message) {
        let notice = Notice { cp: CpId(message.cp), q_off: message.q_off, q_delta: message.q_delta };
        self.on_signal(Instant::ZERO, notice, &mut Nothing, &mut Nothing);
    }

    fn rate(&self) -> u64 {
        self.allowance().rate.0
    }
}

fn gain(rate: u64, octets: u64) -> u32 {
    let gain = Gain::new(rate, octets);
    gain.mantissa() << 7 | u32::from(gain.shift() as u8 & 0x7f)
}

/// SMCC's defaults: one stage, 4000 bit/s per octet.
fn config() -> Config {
    let info = SCHEMES.iter().find(|info| info.name == "smcc").expect("it is there");
    let values: Vec<Value> = info.parameters.iter().map(|p| p.default).collect();
    match SchemeConfig::new("smcc", &values) {
        Some(SchemeConfig::Smcc(config)) => config,
        _ => unreachable!("defaults fit"),
    }
}

fn machine() -> Rp {
    Rp::new(&config(), BitRate::from_gbps(1))
}

#[test]
fn messages_are_taken() {
    streams::messages_are_taken(&mut Nics(Core::new(1), config()), SMCC, 1, 20_000, machine);
}

#[test]
fn back_to_back_messages_at_line_rate() {
    streams::back_to_back_messages_at_line_rate(&mut Nics(Core::new(2), config()), SMCC, 2, machine());
}

#[test]
fn frames_go_at_the_rate() {
    streams::frames_go_at_the_rate(&mut Nics(Core::new(3), config()), 3);
}

#[test]
fn garbage_leaves_nothing_stuck() {
    streams::garbage_leaves_nothing_stuck(&mut Nics(Core::new(4), config()), 4, config().min_rate.0);
}
