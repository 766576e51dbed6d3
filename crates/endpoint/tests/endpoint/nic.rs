//! A network interface that is polled, against times computed by hand.

use crate::common::{Frames, Window, Windowed, Words, us};
use penstock_endpoint::{
    Acknowledgement, DestinationId, FlowId, FlowSpec, Nic, Outgoing, Pacer, TrafficClass, Transmit,
};
use penstock_schemes::fecn::ForwardExplicitRate;
use penstock_schemes::none::{self, NoControl};
use penstock_schemes::parts::explicit_rate::{Probe, ProbeClass};
use penstock_schemes::parts::notification::Cnm;
use penstock_schemes::parts::quantiser::QntzFb;
use penstock_schemes::qcn::Qcn;
use penstock_schemes::*;

const CLASS: TrafficClass = TrafficClass(0);
const GREEDY: Duration = Duration::ZERO;

fn spec(frame: u16) -> FlowSpec {
    FlowSpec { class: CLASS, frame, destinations: 1 }
}

/// Polls as a driver does that sleeps until the next timeout; gives all frames up to `end`.
fn poll_until<S: Scheme>(nic: &mut Nic<S, Frames, Words>, end: Instant) -> Vec<Transmit<S>> {
    let mut sent = Vec::new();
    while let Some(now) = nic.next_timeout().filter(|&at| at <= end) {
        sent.extend(std::iter::from_fn(|| nic.poll_transmit(now)));
    }
    sent
}

fn times<S: Scheme>(sent: &[Transmit<S>]) -> Vec<u64> {
    sent.iter().map(|frame| frame.at.0).collect()
}

fn qcn() -> qcn::Config {
    let Some(SchemeConfig::Qcn(config)) = SchemeConfig::with_defaults("qcn") else { unreachable!() };
    config
}

/// Frames of 1 us at 10 Gb/s. Half a microsecond before the fifth a message cuts the rate to 65/128, 5.078 125 Gb/s. The rest
/// of the gap is stretched to 984 616 ps (rounded up), and from then on a frame takes 1 969 230.77 ps.
#[test]
fn a_signal_stretches_the_gap_and_those_after_it() {
    let mut nic = Nic::<Qcn, Frames, Words>::new(BitRate::from_gbps(10), 0);
    let limiter = nic.add_limiter(&qcn(), Pacer::Ideal, Words(1));
    let flow = nic.add_flow(limiter, spec(1250), Frames::new(1250, 100, GREEDY));
    nic.start(us(0), flow);
    let first = poll_until(&mut nic, Instant(3_500_000));
    assert_eq!(times(&first), [0, 1_000_000, 2_000_000, 3_000_000]);
    let cnm = Cnm { fb: QntzFb::from_steps(63), cp: CpId::new(1, 1, 0), q_off: 1000, q_delta: 0 };
    nic.on_signal(Instant(3_500_000), flow, cnm);
    assert_eq!(nic.sources().limiter(limiter).rate(), BitRate(5_078_125_000));
    let rest = poll_until(&mut nic, Instant(9_000_000));
    assert_eq!(times(&rest), [4_484_616, 6_453_846, 8_423_077]);
    assert_eq!(rest[0].end.0 - rest[0].at.0, 1_000_000, "on the line a frame takes its usual time");
}

/// A source of FECN without data, whose probes have the priority of data, and a destination, whose replies have that of control
/// frames.
fn prober() -> (Nic<ForwardExplicitRate, Frames, Words>, FlowId, DestinationId) {
    let Some(SchemeConfig::Fecn(mut config)) = SchemeConfig::with_defaults("fecn") else { unreachable!() };
    config.rates.probe_class = ProbeClass::Data;
    let mut nic = Nic::new(BitRate::from_gbps(10), 0);
    let limiter = nic.add_limiter(&config, Pacer::Ideal, Words(1));
    let flow = nic.add_flow(limiter, spec(1250), Frames::new(1250, 0, GREEDY));
    let destination = nic.add_destination(&config, FlowKey(1), CLASS, Words(1));
    (nic, flow, destination)
}

fn is_control(sent: &Transmit<ForwardExplicitRate>) -> bool {
    matches!(sent.frame, Outgoing::Signal { class: Class::Control, .. })
}

#[test]
fn a_signal_that_waits_on_an_idle_line_is_due_since_it_waits() {
    let (mut nic, _, destination) = prober();
    for at in [us(5), us(9)] {
        nic.on_probe(at, destination, Probe::new(1));
        assert_eq!(nic.next_timeout(), Some(at), "the line has been idle for long");
        assert_eq!(times(&std::iter::from_fn(|| nic.poll_transmit(at)).collect::<Vec<_>>()), [at.0]);
    }
    assert_eq!(nic.next_timeout(), None);
}

/// The probe of 5 us has left when the reply of 9 us comes, whether the driver has asked in between or not.
#[test]
fn a_signal_does_not_overtake_one_that_had_the_line_for_itself() {
    for asks in [true, false] {
        let (mut nic, flow, destination) = prober();
        let mut sent = Vec::new();
        nic.start(us(5), flow);
        if asks {
            sent.extend(std::iter::from_fn(|| nic.poll_transmit(us(7))));
        }
        nic.on_probe(us(9), destination, Probe::new(1));
        sent.extend(std::iter::from_fn(|| nic.poll_transmit(us(20))));
        assert_eq!((times(&sent), is_control(&sent[0])), (vec![us(5).0, us(9).0], false), "{asks}");
    }
    // Those of one instant go by priority.
    let (mut nic, flow, destination) = prober();
    nic.start(us(5), flow);
    nic.on_probe(us(5), destination, Probe::new(1));
    let sent: Vec<_> = std::iter::from_fn(|| nic.poll_transmit(us(20))).collect();
    assert_eq!((sent[0].at, sent[1].at, is_control(&sent[0])), (us(5), sent[0].end, true));
}

/// At 1 Gb/s a frame of 1000 octets takes 8 us, and a window of 2500 octets holds two.
#[test]
fn a_window_opens_by_acknowledgements_and_by_silence() {
    let mut nic = Nic::<Windowed, Frames, Words>::new(BitRate::from_gbps(1), 0);
    let limiter = nic.add_limiter(&Window(2500), Pacer::Ideal, Words(1));
    let flow = nic.add_flow(limiter, spec(1000), Frames::new(1000, 100, GREEDY));
    nic.start(us(0), flow);
    assert_eq!(times(&poll_until(&mut nic, us(29))), [0, us(8).0]);
    let ack = Acknowledgement { sent_at: us(0), arrived: Octets(1000), lost: 0, echo: () };
    nic.on_ack(us(30), flow, 0, ack);
    assert_eq!(nic.sources().octets_in_flight(flow), Octets(1000));
    // A round trip of 30 us makes a time-out below the least one, 1 ms. Then both are lost.
    assert_eq!(times(&poll_until(&mut nic, us(2000))), [us(30).0, us(1030).0, us(1038).0]);
    assert_eq!(nic.sources().octets_in_flight(flow), Octets(2000));
}

/// A frame arrives at 3 us, while data of 8 us is on the line. Its acknowledgement takes 0.512 us, and data waits for it.
#[test]
fn an_acknowledgement_goes_ahead_of_data() {
    let mut nic = Nic::<Windowed, Frames, Words>::new(BitRate::from_gbps(1), 0);
    let limiter = nic.add_limiter(&Window(1_000_000), Pacer::Ideal, Words(1));
    let flow = nic.add_flow(limiter, spec(1000), Frames::new(1000, 3, GREEDY));
    let destination = nic.add_destination(&Window(0), FlowKey(9), CLASS, Words(2));
    nic.start(us(0), flow);
    let first = poll_until(&mut nic, us(2));
    let tag = &mut ();
    let frame = Frame {
        flow: FlowKey(9),
        octets: 500,
        weight: 1,
        seq: Octets(1500),
        last: false,
        trimmed: false,
        sent_at: us(1),
        tag,
    };
    nic.on_frame(us(3), destination, frame, 500);
    let rest = poll_until(&mut nic, us(100));
    assert_eq!((times(&first), times(&rest)), (vec![0], vec![us(8).0, 8_512_000, 16_512_000]));
    let Outgoing::Acknowledgement { from, flow, acknowledgement } = rest[0].frame else { panic!("{:?}", rest[0]) };
    assert_eq!((from, flow, rest[0].octets), (destination, FlowKey(9), 64));
    // Of the 2000 octets sent up to the end of this frame, 500 have come.
    let expected = Acknowledgement { sent_at: us(1), arrived: Octets(500), lost: 1500, echo: () };
    assert_eq!(acknowledgement, expected);
}

/// A bucket of 3000 octets that is filled each 10 us. At 1 Gb/s a refill is 1250 octets, so that the line, which takes 12 us a frame
/// of 1500, decides; at 100 Gb/s each refill fills the bucket, which holds two frames.
#[test]
fn a_token_bucket_lets_go_what_it_holds() {
    let pacer = Pacer::TokenBucket {
        depth: Octets(3000),
        interval: Duration::from_us(10),
        granularity: BitRate::from_mbps(100),
    };
    let mut nic = Nic::<NoControl, Frames, Words>::new(BitRate::from_gbps(1), 0);
    let limiter = nic.add_uncontrolled(pacer, Words(1));
    let flow = nic.add_flow(limiter, spec(1500), Frames::new(1500, 4, GREEDY));
    nic.start(us(0), flow);
    assert_eq!(times(&poll_until(&mut nic, us(100))), [0, us(12).0, us(24).0, us(36).0]);
    let mut nic = Nic::<NoControl, Frames, Words>::new(BitRate::from_gbps(100), 0);
    let slow = nic.add_limiter(&none::Config {}, pacer, Words(1));
    let flow = nic.add_flow(slow, spec(1500), Frames::new(1500, 4, Duration::from_us(1)));
    nic.start(us(0), flow);
    assert_eq!(times(&poll_until(&mut nic, us(100))), [0, us(1).0, us(10).0, us(11).0]);
}

/// The data ends: the last frame says so, and nothing happens any more. A flow that is stopped sends nothing.
#[test]
fn flows_end() {
    let mut nic = Nic::<NoControl, Frames, Words>::new(BitRate::from_gbps(10), 20);
    let limiter = nic.add_limiter(&none::Config {}, Pacer::Ideal, Words(1));
    let [short, stopped] = [2, 100].map(|frames| nic.add_flow(limiter, spec(1230), Frames::new(1230, frames, GREEDY)));
    nic.start(us(0), short);
    nic.start(us(0), stopped);
    let sent = poll_until(&mut nic, us(4));
    let frames: Vec<_> = sent
        .iter()
        .map(|frame| match frame.frame {
            Outgoing::Data(data) => (frame.at.0 / 1_000_000, data.flow, data.release.seq.0, data.release.last),
            _ => panic!("{frame:?}"),
        })
        .collect();
    let (a, b) = (short, stopped);
    assert_eq!(
        frames,
        [(0, a, 0, false), (1, b, 0, false), (2, a, 1230, true), (3, b, 1230, false), (4, b, 2460, false)]
    );
    nic.stop(Instant(4_500_000), stopped);
    assert_eq!(times(&poll_until(&mut nic, us(1000))), [] as [u64; 0]);
    assert_eq!(nic.next_timeout(), None);
    assert!(!nic.sources().flow(short).active() && !nic.sources().flow(stopped).active());
    nic.start(us(2000), stopped);
    assert_eq!(nic.next_timeout(), None, "a finished flow does not start again");
}

/// An application writes at 5 us: its data was not foreseen.
#[test]
fn data_may_come_at_any_time() {
    let mut nic = Nic::<NoControl, Frames, Words>::new(BitRate::from_gbps(10), 0);
    let limiter = nic.add_uncontrolled(Pacer::Ideal, Words(1));
    let flow = nic.add_flow(limiter, spec(1250), Frames::new(1250, 0, GREEDY));
    nic.start(us(0), flow);
    assert_eq!(nic.next_timeout(), None);
    nic.write(us(5), flow, |data| data.left = 2);
    assert_eq!(times(&poll_until(&mut nic, us(100))), [us(5).0, us(6).0]);
}

#[test]
#[should_panic(expected = "its rate must be above zero")]
fn a_line_of_no_rate_is_refused() {
    let _ = Nic::<NoControl, Frames, Words>::new(BitRate::ZERO, 0);
}
