//! Frames that arrive and that the host sends: right ones, and all that may be wrong with them.

use penstock_cosim::Random;
use penstock_cosim::messages::{self, put};
use penstock_cosim::stream::Frame;

use crate::bench::{CONTROL_ADDRESS, MACS};
use crate::pins::POINTS;

/// A frame of MAC control; most are right and stop some priorities for a while.
pub fn control(random: &mut Random) -> Frame {
    let mut frame = Frame::new(vec![0; if random.one_in(6) { 14 + random.below(100) as usize } else { 60 }]);
    let address = CONTROL_ADDRESS ^ u64::from(random.one_in(8)) << random.below(48);
    put(&mut frame.octets, 0, &address.to_be_bytes()[2..]);
    put(&mut frame.octets, 12, &0x8808u16.to_be_bytes());
    put(&mut frame.octets, 14, &(0x0101 ^ u16::from(random.one_in(8)) << random.below(16)).to_be_bytes());
    put(&mut frame.octets, 17, &[random.word() as u8]);
    for priority in 0..8 {
        put(&mut frame.octets, 18 + 2 * priority, &(random.below(8) as u16).to_be_bytes());
    }
    frame.bad = random.one_in(10);
    frame
}

/// Anything: messages alone or behind tags, for someone or no one, cut, too long or bad; pause frames; data.
pub fn any_arrival(random: &mut Random, kind: u16, macs: &[u64]) -> Frame {
    if random.one_in(20) {
        return control(random);
    }
    let length = match random.below(20) {
        0 => 1 + random.below(30),
        1 => 50 + random.below(20),
        2 => 110 + random.below(20),
        3 => 1_500 + random.below(40),
        4 if random.one_in(4) => 1_500 + random.below(8_000),
        5..8 => 60 + random.below(1_440),
        _ => 60 + random.below(61),
    };
    messages::any(random, kind, macs, length as usize)
}

/// The frames that a host sends: for a reaction point's path or for none, some of which end within the source address.
pub fn any_departure(random: &mut Random) -> Frame {
    let length = match random.below(12) {
        0 => 1 + random.below(20),
        1 => 1_510 + random.below(1_600),
        2 => 7 + random.below(6),
        3..6 => 60,
        _ => 60 + random.below(1_455),
    };
    let mut frame = Frame::random(random, length as usize);
    frame.bad = random.one_in(16);
    let mac = match random.below(3) {
        0 => random.next() >> 16,
        _ => MACS[random.below(POINTS as u64) as usize],
    };
    put(&mut frame.octets, 6, &mac.to_be_bytes()[2..]);
    frame
}

/// A frame of neither kind, from and for no one.
pub fn data(random: &mut Random, length: usize) -> Frame {
    let mut frame = Frame::random(random, length);
    put(&mut frame.octets, 0, &[2, 3, 3, 3, 3, 3, 2, 4, 4, 4, 4, 4, 0x12, 0x34]);
    frame
}
