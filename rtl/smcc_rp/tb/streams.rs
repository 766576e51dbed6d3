//! The whole core with two reaction points: arriving frames, messages, and frames that go.

#[path = "../../rp_common/tb/streams.rs"]
mod streams;

use penstock_cosim::smcc_rp::{Core, In};
use penstock_schemes::parts::gain::Gain;
use penstock_schemes::smcc::{Config, Notice, Rp, Smcc};
use penstock_schemes::{BitRate, Class, CpId, Draw, Instant, Out, ReactionPoint, SCHEMES, SchemeConfig, To, Value};
use streams::{Beat, MACS, Message, Nic, Pins, Reaction, SMCC, Shown};

struct Nics(Core, Config);

impl Nic for Nics {
    fn clock(&mut self, pins: &Pins) -> Shown {
        let rx = pins.rx.unwrap_or_default();
        let tx = pins.tx.map(Option::unwrap_or_default);
        let words = |each: [u64; 2]| [each[0] as u32, (each[0] >> 32) as u32, each[1] as u32, (each[1] >> 32) as u32];
        let bits = |each: [bool; 2]| u8::from(each[0]) | u8::from(each[1]) << 1;
        let mac = u128::from(MACS[0]) | u128::from(MACS[1]) << 48;
        let out = self.0.clock(&In {
            rst_i: pins.reset,
            s_axis_rx_tdata: rx.data,
            s_axis_rx_tkeep: rx.keep,
            s_axis_rx_tvalid: pins.rx.is_some(),
            s_axis_rx_tlast: rx.last,
            s_axis_rx_tuser: rx.user,
            m_axis_rx_tready: pins.rx_ready,
            mac_i: [mac as u32, (mac >> 32) as u32, (mac >> 64) as u32],
            alpha_i: gain(self.1.ra.0, self.1.ra_at.0),
            alpha_small_i: gain(self.1.ra.0, self.1.ra_at.0),
            beta_i: gain(self.1.rb.0, self.1.rb_at.0),
            min_rate_i: self.1.min_rate.0,
            max_rate_i: pins.max_rate,
            s_axis_tx_tdata: words(tx.map(|(beat, _)| beat.data)),
            s_axis_tx_tkeep: u16::from(tx[0].0.keep) | u16::from(tx[1].0.keep) << 8,
            s_axis_tx_tvalid: bits(pins.tx.map(|t| t.is_some())),
            s_axis_tx_tlast: bits(tx.map(|(beat, _)| beat.last)),
            s_axis_tx_tuser: bits(tx.map(|(beat, _)| beat.user)),
            s_axis_tx_octets_i: u32::from(tx[0].1) | u32::from(tx[1].1) << 16,
            m_axis_tx_tready: bits(pins.tx_ready),
            ..In::default()
        });
        let bit = |bits: u8, i: usize| bits >> i & 1 == 1;
        let beat = |i: usize| Beat {
            data: u64::from(out.m_axis_tx_tdata[2 * i]) | u64::from(out.m_axis_tx_tdata[2 * i + 1]) << 32,
            keep: (out.m_axis_tx_tkeep >> (8 * i)) as u8,
            last: bit(out.m_axis_tx_tlast, i),
            user: bit(out.m_axis_tx_tuser, i),
        };
        let rates = out.rate_o.iter().rev().fold(0u128, |sum, &word| sum << 32 | u128::from(word));
        let halves = |word: u32| [word as u16, (word >> 16) as u16];
        Shown {
            rx_ready: out.s_axis_rx_tready,
            rx: out.m_axis_rx_tvalid.then_some(Beat {
                data: out.m_axis_rx_tdata,
                keep: out.m_axis_rx_tkeep,
                last: out.m_axis_rx_tlast,
                user: out.m_axis_rx_tuser,
            }),
            tx_ready: [0, 1].map(|i| bit(out.s_axis_tx_tready, i)),
            tx: [0, 1].map(|i| bit(out.m_axis_tx_tvalid, i).then(|| beat(i))),
            rate: [0, 34].map(|at| (rates >> at) as u64 & ((1 << 34) - 1)),
            sent: [0, 1].map(|i| bit(out.sent_valid_o, i).then(|| halves(out.sent_octets_o)[i])),
            dropped: [out.dropped_o as u32, (out.dropped_o >> 32) as u32],
            taken: out.taken_o,
            malformed: out.malformed_o,
            unknown: out.unknown_o,
        }
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
