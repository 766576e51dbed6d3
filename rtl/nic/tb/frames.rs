//! Frames that arrive and that the host sends: right ones, and all that may be wrong with them.

use penstock_cosim::Random;
use penstock_cosim::stream::Frame;

use crate::bench::{CN_TAG, CNM, CONTROL_ADDRESS, MACS, SMCC, VLAN};
use crate::pins::POINTS;

pub fn put(octets: &mut [u8], at: usize, value: &[u8]) {
    for (place, &octet) in octets.iter_mut().skip(at).zip(value) {
        *place = octet;
    }
}

/// A message for a reaction point, of 60 octets and right.
pub fn message(random: &mut Random, kind: u16, mac: u64) -> Frame {
    let mut frame = Frame::random(random, 60);
    put(&mut frame.octets, 0, &mac.to_be_bytes()[2..]);
    put(&mut frame.octets, 12, &kind.to_be_bytes());
    if kind == SMCC {
        likely_pdu(random, &mut frame.octets, 14);
    } else {
        frame.octets[15] = 1 + random.below(63) as u8;
    }
    frame
}

/// Offset and growth as queues have them, from few congestion points.
pub fn likely_pdu(random: &mut Random, octets: &mut [u8], at: usize) {
    put(octets, at + 2, &random.below(3).to_be_bytes());
    for place in [24, 28] {
        put(octets, at + place, &(random.below(64_000) as i32 - 32_000).to_be_bytes());
    }
}

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
    let mut frame = Frame::random(random, length as usize);
    frame.bad = random.one_in(16);
    let mac = macs[random.below(macs.len() as u64) as usize] ^ u64::from(random.one_in(8)) << random.below(48);
    put(&mut frame.octets, 0, &mac.to_be_bytes()[2..]);
    let plain: [&[u16]; 4] = [&[kind], &[VLAN, kind], &[CN_TAG, kind], &[VLAN, CN_TAG, kind]];
    let mut types = plain[random.below(4) as usize].to_vec();
    if random.one_in(3) {
        for one in &mut types {
            *one = [CNM, SMCC, VLAN, CN_TAG, 0x0800][random.below(5) as usize];
        }
    }
    for (i, one) in types.iter().enumerate() {
        put(&mut frame.octets, 12 + 4 * i, &one.to_be_bytes());
    }
    if kind == SMCC && !random.one_in(4) {
        likely_pdu(random, &mut frame.octets, 10 + 4 * types.len());
    }
    frame
}

/// What a host sends: for a reaction point's way or no one's.
pub fn any_departure(random: &mut Random) -> Frame {
    let length = match random.below(12) {
        0 => 1 + random.below(20),
        1 => 1_510 + random.below(1_600),
        2..6 => 60,
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
