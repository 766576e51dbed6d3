//! The packet generator: every frame is taken apart again.

use penstock_cosim::{
    Random, at_least,
    stream::{Beat, Sink},
    udp_packet_generator::{Core, In},
};

const CHECK: usize = 4;
/// Clocks from a length at the port to frames that have it.
const SETTLE: u64 = 20;

fn field(octets: &[u8], from: usize, to: usize) -> u64 {
    octets[from..to].iter().fold(0, |sum, &octet| sum << 8 | u64::from(octet))
}

/// The sum of 16-bit words, carries around the end (RFC 1071): all ones over a header with its checksum.
fn folded(header: &[u8]) -> u64 {
    let mut sum: u64 = header.chunks(2).map(|pair| field(pair, 0, 2)).sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

#[test]
fn makes_frames_that_are_right() {
    let mut random = Random::new(31);
    let mut core = Core::new(32);
    let mut sink = Sink::<u64>::default();
    let mut given = In::default();
    let (mut since_reset, mut off, mut sequence, mut frames) = (0u64, 0, 0, 0u64);
    let (mut stalls, mut changed, mut length) = (1, 0, (0, 0));
    let mut first = true;
    let clocks = at_least(2_000_000);
    for clock in 0..clocks {
        given.rst_i = clock == 0 || since_reset > 20_000 && random.one_in(2_000);
        since_reset += 1;
        if given.rst_i {
            sink.clear();
            (since_reset, off, sequence, first) = (0, 0, 0, true);
            stalls = 1 + random.below(3);
        }
        // Addresses change while it is off; the length at any time.
        off = if given.enable_i { 0 } else { off + 1 };
        if given.rst_i || off == 3_000 {
            (given.source_mac_i, given.destination_mac_i) = (random.next() >> 16, random.next() >> 16);
            (given.source_ip_i, given.destination_ip_i) = (random.word(), random.word());
            if random.one_in(4) {
                (given.source_ip_i, given.destination_ip_i) = (!0, !0);
            }
            (given.source_port_i, given.destination_port_i) = (random.word() as u16, random.word() as u16);
        }
        given.enable_i = if off > 0 { off > 3_000 + SETTLE && random.one_in(20) } else { !random.one_in(5_000) };
        if random.one_in(700) {
            given.octets_i = match random.below(4) {
                0 => random.word() as u16,
                1 => 64,
                2 => random.below(70) as u16,
                _ => 64 + random.below(1455) as u16,
            };
            length = (length.1, usize::from(given.octets_i).clamp(64, 1518));
            changed = clock;
        }
        given.m_axis_tready = random.one_in(stalls);
        let out = core.clock(&given);
        if given.rst_i {
            continue;
        }
        // It counts a frame when its last beat is shown.
        let shown = sequence + u64::from(out.m_axis_tvalid && out.m_axis_tlast);
        assert_eq!(u64::from(out.sequence_o), shown, "in clock {clock}");
        if out.m_axis_tvalid && first {
            let octets = usize::from(out.m_axis_octets_o);
            // Of two lengths within the time of settling, either.
            let settled = clock > changed + SETTLE + 1;
            assert!(octets == length.1 || !settled && (64..=1518).contains(&octets), "{octets} in clock {clock}");
        }
        // Without a gap.
        if given.enable_i && since_reset > SETTLE {
            assert!(out.m_axis_tvalid || off > 0, "in clock {clock}");
        }
        if out.m_axis_tvalid {
            first = out.m_axis_tlast && given.m_axis_tready;
        }
        let beat =
            Beat { data: out.m_axis_tdata, keep: out.m_axis_tkeep, last: out.m_axis_tlast, user: out.m_axis_tuser };
        if let Some(frame) = sink.see(out.m_axis_tvalid, beat, given.m_axis_tready) {
            let octets = &frame.octets;
            assert!(!frame.bad);
            assert_eq!(octets.len() + CHECK, usize::from(out.m_axis_octets_o));
            assert_eq!(field(octets, 0, 6), given.destination_mac_i);
            assert_eq!(field(octets, 6, 12), given.source_mac_i);
            assert_eq!(field(octets, 12, 16), 0x0800_4500);
            assert_eq!(field(octets, 16, 18) as usize, octets.len() - 14);
            assert_eq!(field(octets, 18, 24), 0x0000_4000_4011);
            assert_eq!(folded(&octets[14..34]), 0xffff, "header checksum in clock {clock}");
            assert_eq!(field(octets, 26, 30), u64::from(given.source_ip_i));
            assert_eq!(field(octets, 30, 34), u64::from(given.destination_ip_i));
            assert_eq!(field(octets, 34, 36), u64::from(given.source_port_i));
            assert_eq!(field(octets, 36, 38), u64::from(given.destination_port_i));
            assert_eq!(field(octets, 38, 40) as usize, octets.len() - 34);
            assert_eq!(field(octets, 40, 42), 0);
            assert_eq!(field(octets, 42, 46), sequence);
            assert!(octets[46..].iter().all(|&octet| octet == 0));
            sequence += 1;
            frames += 1;
        }
    }
    assert!(frames > clocks / 200, "{frames} frames");
}

/// Frames beyond the 65 536th, without a reset between: the sequence number goes on.
#[test]
fn the_sequence_number_has_more_than_16_bits() {
    let mut core = Core::new(33);
    core.clock(&In { rst_i: true, ..In::default() });
    let mut frames = 0;
    for clock in 0..600_000 {
        let out = core.clock(&In { enable_i: true, octets_i: 64, m_axis_tready: true, ..In::default() });
        if out.m_axis_tvalid && out.m_axis_tlast {
            frames += 1;
            assert_eq!(out.sequence_o, frames, "in clock {clock}");
        }
    }
    assert!(frames > 66_000, "{frames} frames");
}
