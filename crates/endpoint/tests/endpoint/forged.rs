//! Notifications that nobody's queue caused, at a network interface with several flows under QCN.

use crate::common::{Frames, Words, us};
use penstock_endpoint::{FlowId, FlowSpec, LimiterId, Nic, Outgoing, Pacer, TrafficClass};
use penstock_schemes::parts::notification::Cnm;
use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::qcn::{Config, Qcn};
use penstock_schemes::*;

const LINE: BitRate = BitRate(10_000_000_000);
/// `rpgMinRate`.
const FLOOR: BitRate = BitRate(5_000_000);

/// Two flows that always have frames of 1250 octets, 1 us each on the line, each behind its own limiter.
fn two_flows() -> (Nic<Qcn, Frames, Words>, [(FlowId, LimiterId); 2]) {
    let defaults: Vec<Value> = Qcn::INFO.parameters.iter().map(|parameter| parameter.default).collect();
    let config = Config::from_values(&defaults).expect("defaults are of their parameters' kinds");
    let mut nic = Nic::new(LINE, 0);
    let flows = [1, 2].map(|seed| {
        let limiter = nic.add_limiter(&config, Pacer::Ideal, Words(seed));
        let spec = FlowSpec { class: TrafficClass(0), frame: 1250, destinations: 1 };
        (nic.add_flow(limiter, spec, Frames::new(1250, u32::MAX, Duration::ZERO)), limiter)
    });
    for (flow, _) in flows {
        nic.start(us(0), flow);
    }
    (nic, flows)
}

/// Frames of each flow that leave up to a point in time.
fn frames_until(nic: &mut Nic<Qcn, Frames, Words>, flows: [(FlowId, LimiterId); 2], end: Instant) -> [u32; 2] {
    let mut frames = [0, 0];
    while let Some(sent) = nic.poll_transmit(end) {
        if let Outgoing::Data(data) = sent.frame {
            frames[usize::from(data.flow == flows[1].0)] += 1;
        }
    }
    frames
}

#[test]
fn a_flood_for_one_flow_leaves_it_the_least_rate_and_the_others_all_they_want() {
    let (mut nic, flows) = two_flows();
    assert_eq!(
        frames_until(&mut nic, flows, us(1000)),
        [501, 500],
        "they share the line, and the frame at 1000 us counts"
    );
    // 100 000 a second for 100 ms, all for the first flow.
    let mut frames = [0, 0];
    for number in 1..=10_000 {
        let now = us(1000 + 10 * number);
        let before = frames_until(&mut nic, flows, now);
        frames = [frames[0] + before[0], frames[1] + before[1]];
        let cp = CpId::new(0xbad, 0, 0);
        let forged = Cnm { fb: QntzFb::from_steps(63), cp, q_off: 100_000, q_delta: 0 };
        nic.on_signal(now, flows[0].0, forged);
    }
    let rates = flows.map(|(_, limiter)| nic.sources().limiter(limiter).rate());
    assert_eq!(rates, [FLOOR, LINE]);
    // At the least rate a frame of 1250 octets goes each 2 ms: 50 in 100 ms, after a few while the rate fell.
    assert!((45..=75).contains(&frames[0]), "{frames:?}");
    // The other flow has the rest of the line: 100 000 frames less those.
    assert_eq!(frames[0] + frames[1], 100_000);
}

#[test]
fn the_weakest_notification_that_never_stops_holds_a_flow_down_too() {
    // Feedback of 1 takes 1/128 of the rate. At 100 000 a second the rate falls by half each 0.9 ms, faster than any
    // cycle of 15 ms or 150 KB gives it back once it is low.
    let (mut nic, flows) = two_flows();
    // ln(10 Gb/s / 5 Mb/s) * 128 = 973 cuts of 1/128 lead to the least rate, 9.7 ms; cycles of the byte counter while the
    // rate is still high give some of it back.
    for number in 1..=2000 {
        let now = us(10 * number);
        frames_until(&mut nic, flows, now);
        let forged = Cnm { fb: QntzFb::from_steps(1), cp: CpId::new(0xbad, 0, 0), q_off: 100_000, q_delta: 0 };
        nic.on_signal(now, flows[0].0, forged);
    }
    assert_eq!(nic.sources().limiter(flows[0].1).rate(), FLOOR);
}
