//! Destinations that grant frames share the line of their port: times by hand.

use penstock_endpoint::{Nic, Outgoing, TrafficClass};
use penstock_schemes::ndp::{Config, Ndp};
use penstock_schemes::*;

use crate::common::{Frames, Words, us};

/// Frames of 1250 octets take 1 us. Three come for a and two for b, all at once, and later one for b.
#[test]
fn destinations_take_turns_of_a_frame() {
    let config = Config { initial_window: 30, rto: Duration::from_ms(1) };
    let mut nic = Nic::<Ndp, Frames, Words>::new(BitRate::from_gbps(10), 0);
    let [a, b] = [7, 8].map(|flow| nic.add_destination(&config, FlowKey(flow), TrafficClass(0), Words(flow)));
    let come = |nic: &mut Nic<_, _, _>, now, to, flow| {
        let mut tag = ();
        let sent_at = Instant::ZERO;
        let frame = Frame {
            flow: FlowKey(flow),
            octets: 1250,
            weight: 1,
            seq: Octets(0),
            last: false,
            trimmed: false,
            sent_at,
            tag: &mut tag,
        };
        nic.on_frame(now, to, frame, 1250);
    };
    for (to, flow) in [(a, 7), (a, 7), (a, 7), (b, 8), (b, 8)] {
        come(&mut nic, us(0), to, flow);
    }
    let mut pulls = Vec::new();
    let mut poll = |nic: &mut Nic<_, _, _>, until| {
        while let Some(sent) = nic.poll_transmit(until) {
            let Outgoing::Signal { to: To::Source(flow), class: Class::Control, .. } = sent.frame else {
                panic!("a pull for a source")
            };
            pulls.push((sent.at, flow.0));
        }
    };
    poll(&mut nic, us(20));
    come(&mut nic, us(20), b, 8);
    poll(&mut nic, us(30));
    assert_eq!(pulls, [(us(0), 7), (us(1), 8), (us(2), 7), (us(3), 8), (us(4), 7), (us(20), 8)]);
}
