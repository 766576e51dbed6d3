//! Messages of congestion points in frames, read and written by the layout of the standard (802.1Qau, clause 33; SMCC's by
//! that of `cn_frame_pkg`), apart from the cores.

use crate::Random;
use crate::reaction_point::Message;
use crate::stream::Frame;

/// EtherType of QCN's messages.
pub const CNM: u16 = 0x22e7;
/// EtherType of SMCC's.
pub const SMCC: u16 = 0x88b5;
/// EtherType of a VLAN tag.
pub const VLAN: u16 = 0x8100;
/// EtherType of a CN-TAG.
pub const CN_TAG: u16 = 0x22e9;

/// The octets of a frame at an offset.
#[must_use]
pub fn u16_at(octets: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(octets.get(at..at + 2)?.try_into().ok()?))
}

/// Six octets as an address.
#[must_use]
pub fn mac_at(octets: &[u8], at: usize) -> Option<u64> {
    Some(octets.get(at..at + 6)?.iter().fold(0, |mac, &octet| mac << 8 | u64::from(octet)))
}

/// Writes octets into a frame, as far as it goes.
pub fn put(octets: &mut [u8], at: usize, value: &[u8]) {
    for (place, &octet) in octets.iter_mut().skip(at).zip(value) {
        *place = octet;
    }
}

/// Where a message of this type begins, if this is one.
#[must_use]
pub fn message_at(octets: &[u8], kind: u16) -> Option<usize> {
    let mut at = 12;
    for tag in [VLAN, CN_TAG] {
        if u16_at(octets, at)? == tag {
            at += 4;
        }
    }
    (u16_at(octets, at)? == kind).then_some(at + 2)
}

/// The flow identifier of the CN-TAG in front of a message, if there is one.
#[must_use]
pub fn flow_at(octets: &[u8]) -> Option<u16> {
    let at = if u16_at(octets, 12)? == VLAN { 16 } else { 12 };
    (u16_at(octets, at)? == CN_TAG).then(|| u16_at(octets, at + 2)).flatten()
}

/// The fields of a message, which is one and long enough.
///
/// # Panics
/// If it is not.
#[must_use]
pub fn message_of(octets: &[u8], kind: u16) -> Message {
    let pdu = &octets[message_at(octets, kind).expect("it is a message")..];
    let u32_at = |at: usize| u32::from_be_bytes(pdu[at..at + 4].try_into().expect("long enough"));
    if kind == CNM {
        return Message { fb: pdu[1] & 63, cp: 0, q_off: 0, q_delta: 0 };
    }
    let cp = u64::from(u32_at(2)) << 32 | u64::from(u32_at(6));
    Message { fb: 0, cp, q_off: u32_at(24) as i32, q_delta: u32_at(28) as i32 }
}

/// Offset and growth as queues have them, from few congestion points.
pub fn likely_pdu(random: &mut Random, octets: &mut [u8], at: usize) {
    put(octets, at + 2, &random.below(3).to_be_bytes());
    for place in [24, 28] {
        put(octets, at + place, &(random.below(64_000) as i32 - 32_000).to_be_bytes());
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

/// A frame of `length` random octets: a message, with or without tags, or types that reach every branch of a parser. Its destination
/// is one of `macs`, or none of them; some frames are bad.
pub fn any(random: &mut Random, kind: u16, macs: &[u64], length: usize) -> Frame {
    let mut frame = Frame::random(random, length);
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
