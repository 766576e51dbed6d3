//! Frames and times do not depend on when a network interface is polled.

use crate::common::{Frames, Words};
use penstock_endpoint::{FlowId, FlowSpec, Nic, Pacer, TrafficClass};
use penstock_schemes::parts::notification::Cnm;
use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::qcn::Qcn;
use penstock_schemes::*;
use proptest::prelude::*;

/// An input of a network interface.
#[derive(Debug, Clone, Copy)]
enum Input {
    Start(u32),
    Stop(u32),
    Signal(u32, u8),
    Pause(u8),
    Resume(u8),
}

const FLOWS: u32 = 5;

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        2 => (0..FLOWS).prop_map(Input::Start),
        1 => (0..FLOWS).prop_map(Input::Stop),
        4 => (0..FLOWS, 0u8..64).prop_map(|(flow, fb)| Input::Signal(flow, fb)),
        1 => (0u8..2).prop_map(Input::Pause),
        2 => (0u8..2).prop_map(Input::Resume),
    ]
}

/// Five flows of two classes behind three limiters, one of them with a token bucket.
fn nic() -> Nic<Qcn, Frames, Words> {
    let Some(SchemeConfig::Qcn(config)) = SchemeConfig::with_defaults("qcn") else { unreachable!() };
    let bucket =
        Pacer::TokenBucket { depth: Octets(4000), interval: Duration::from_us(1), granularity: BitRate::from_mbps(1) };
    let mut nic = Nic::new(BitRate::from_gbps(10), 24);
    let limiters = [Pacer::Ideal, bucket, Pacer::Ideal].map(|pacer| nic.add_limiter(&config, pacer, Words(7)));
    for flow in 0..FLOWS {
        let behind = flow as usize % limiters.len();
        let spec = FlowSpec { class: TrafficClass((behind % 2) as u8), frame: 1500, destinations: 1 };
        let gap = Duration(u64::from(flow) * 700_000);
        nic.add_flow(limiters[behind], spec, Frames::new(1500 - 100 * flow as u16, 200, gap));
    }
    nic
}

/// A frame, as text; with it its times.
type Seen = (Instant, Instant, String);

/// Drives a network interface through `inputs`, which come in order of time, and polls it at `polls` as well, in order too.
fn drive(inputs: &[(u64, Input)], polls: &[u64], end: u64) -> Vec<Seen> {
    let mut nic = nic();
    let mut sent = Vec::new();
    let mut polls = polls.iter().copied().peekable();
    for &(at, input) in inputs {
        // At an instant inputs come before polls.
        while let Some(poll) = polls.next_if(|&poll| poll < at) {
            sent.extend(std::iter::from_fn(|| nic.poll_transmit(Instant(poll))));
        }
        let now = Instant(at);
        match input {
            Input::Start(flow) => nic.start(now, FlowId(flow)),
            Input::Stop(flow) => nic.stop(now, FlowId(flow)),
            Input::Signal(flow, fb) => {
                let cnm = Cnm { fb: QntzFb::from_steps(fb), cp: CpId::new(1, 1, 0), q_off: 1, q_delta: 0 };
                nic.on_signal(now, FlowId(flow), cnm);
            }
            Input::Pause(class) => nic.pause(now, TrafficClass(class)),
            Input::Resume(class) => nic.resume(now, TrafficClass(class)),
        }
    }
    for poll in polls.chain([end]) {
        sent.extend(std::iter::from_fn(|| nic.poll_transmit(Instant(poll))));
    }
    sent.into_iter().map(|frame| (frame.at, frame.end, format!("{:?}", frame.frame))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn slices_change_nothing(
        steps in prop::collection::vec((0u64..3_000_000, input()), 1..60),
        mut polls in prop::collection::vec(0u64..200_000_000, 0..300),
    ) {
        let mut now = 0;
        let mut inputs: Vec<_> = (0..FLOWS).map(|flow| (0, Input::Start(flow))).collect();
        for (ahead, input) in steps {
            now += ahead;
            inputs.push((now, input));
        }
        polls.sort_unstable();
        polls.retain(|&poll| poll <= now + 50_000_000);
        let end = now + 50_000_000;
        let whole = drive(&inputs, &[], end);
        prop_assert_eq!(&whole, &drive(&inputs, &polls, end));
        // A line carries one frame at a time, in order.
        prop_assert!(whole.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    }
}
