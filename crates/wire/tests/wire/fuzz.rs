//! Octets that nobody meant: no parser panics, reads beyond them, or goes on for ever; each writes again the octets
//! that it takes.
//!
//! The inputs are golden frames and captures of them, changed with their structure in view. A field of one of their layers
//! takes another value, a layer is doubled or left out, two frames are spliced, lengths lie, octets are cut off. They are the
//! same in every run.
//!
//! `WIRE_FUZZ_INPUTS` sets how many there are (200 000 without it), `WIRE_FUZZ_SEED` which (1):
//!
//! ```text
//! WIRE_FUZZ_INPUTS=100000000 cargo test --profile overflow -p penstock-wire --test wire fuzz
//! ```

use std::fmt::Write as _;

use crate::common::{Random, captured, golden};
use penstock_wire::capture::{frames, pcapng};
use penstock_wire::encode::{encode, kinds};
use penstock_wire::layers::{Types, layers, layers_of_captured};
use penstock_wire::stats::Stats;
use penstock_wire::{FORMATS, Format, for_each_format};

/// Counts what is written, and keeps nothing.
struct Counted(usize);

impl std::fmt::Write for Counted {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

/// Calls everything that a packet of this format has.
type Call = fn(&[u8]) -> usize;

macro_rules! calls {
    ($($($module:ident)::+ $(=> $extra:ident)*,)*) => {
        &[$((&penstock_wire::$($module)::+::FORMAT, |octets| {
            use penstock_wire::$($module)::+::{Packet, Repr};
            let Ok(packet) = Packet::new_checked(octets) else { return 0 };
            let read = 0 $( + packet.$extra().len() )*;
            let Ok(values) = Repr::parse(&packet) else { return read };
            let mut out = [0; 64];
            let written = values.emit(&mut out).expect("values that were read can be written");
            assert_eq!(written, Repr::OCTETS);
            // Behind the fields stand as many octets as the lengths among them promise.
            let mut again = [0; 2048];
            again[..written].copy_from_slice(&out[..written]);
            if let Ok(packet) = Packet::new_checked(&again) {
                assert_eq!(Repr::parse(&packet), Ok(values));
            }
            read + written
        })),*]
    };
}

const CALLS: &[(&Format, Call)] = for_each_format!(calls);

/// Everything that takes octets takes these.
fn examine(octets: &[u8], stats: &mut Stats) {
    for types in [Types::default(), Types { cim: Some(0x0800), ..Types::default() }] {
        let (mut end, mut counted) = (0, Counted(0));
        for (number, layer) in layers(octets, types).enumerate() {
            assert!(number <= octets.len() + 2, "more layers than octets");
            assert!(layer.offset >= end, "layers overlap");
            end = layer.offset + layer.octets.len();
            assert!(end <= octets.len(), "a layer ends behind the frame");
            for (field, value) in layer.fields() {
                write!(counted, "{} {value}", field.label).expect("counted");
            }
            for note in layer.notes() {
                write!(counted, "{note}").expect("counted");
            }
            if let Some(fault) = layer.fault {
                write!(counted, "{fault}").expect("counted");
            }
            if let Some(&(_, call)) = CALLS.iter().find(|(format, _)| format.name == layer.name()) {
                assert!(call(octets.get(layer.offset..).unwrap_or_default()) <= 2 * octets.len() + 64);
            }
        }
    }
    stats.add(&captured(0, 0, octets, octets.len()), Some(1), Types::default());
    examine_cut(octets, stats);
    // It grows with each new address.
    if stats.notified.len() > 10_000 {
        *stats = Stats::default();
    }
}

/// The captured part of a truncated frame is read as in the whole frame. It has the same layers at
/// the same offsets, no fault that the whole frame has not, and no octet that was not captured.
fn examine_cut(octets: &[u8], stats: &mut Stats) {
    let types = Types::default();
    let whole: Vec<_> = layers(octets, types).collect();
    let at = octets.len() / 2;
    let part = &octets[..at];
    stats.add(&captured(0, 0, part, octets.len()), None, types);
    let mut end = 0;
    for layer in layers_of_captured(part, octets.len(), types) {
        assert!(layer.offset >= end && layer.offset + layer.octets.len() <= at.max(layer.offset));
        end = layer.offset + layer.octets.len() + layer.missing;
        assert!(end <= octets.len(), "a layer ends behind the line");
        if layer.encapsulated || layer.unchecked.is_some() || layer.format.is_none() {
            continue;
        }
        let same = whole.iter().find(|other| other.offset == layer.offset && other.name() == layer.name());
        let Some(same) = same else {
            // The octets that say which format it is were not captured: fewer than eight are there.
            assert!(
                at < layer.offset + 8,
                "the whole frame has no {} at {}: {octets:02x?}",
                layer.name(),
                layer.offset
            );
            continue;
        };
        assert_eq!(
            layer.fault.is_some(),
            same.fault.is_some(),
            "{}: {:?}, {:?}",
            layer.name(),
            layer.fault,
            same.fault
        );
    }
}

/// A capture: frames lie within the file, in its order.
fn examine_capture(file: &[u8]) {
    let Ok(mut read) = frames(file) else { return };
    let mut last = 0;
    while let Some(frame) = read.next() {
        match frame {
            Ok(frame) => {
                assert!(frame.offset >= last && frame.offset + frame.octets.len() <= file.len());
                last = frame.offset + 1;
                let name = read.interface_name(frame.interface);
                assert!(name.is_none_or(|name| name.len() <= 3 * file.len()));
            }
            Err(damage) => {
                assert!(damage.offset <= file.len());
                let mut counted = Counted(0);
                write!(counted, "{damage}").expect("counted");
                assert!(read.next().is_none(), "it ends at the damage");
            }
        }
    }
}

const EDGES: [u128; 12] = [0, 1, 2, 7, 8, 63, 64, 65, 127, 255, 0xffff, u128::MAX];

/// Changes octets once.
fn change(random: &mut Random, octets: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    let length = octets.len();
    match random.below(10) {
        // A field of one of its layers.
        0..=3 => {
            let all: Vec<_> =
                layers(octets, Types::default()).filter_map(|layer| Some((layer.offset, layer.format?))).collect();
            let Some(&(offset, format)) = all.get(random.below(all.len().max(1))) else { return };
            let field = &format.fields[random.below(format.fields.len())];
            let value = match random.below(3) {
                0 => EDGES[random.below(EDGES.len())],
                1 => field.largest().wrapping_sub(EDGES[random.below(4)]),
                _ => random.next().into(),
            };
            field.write(&mut octets[offset..], value);
        }
        4 if length > 0 => octets[random.below(length)] ^= 1 << random.below(8),
        5 => octets.truncate(random.below(length + 1)),
        // A format's EtherType, subtype or protocol where one may stand.
        6 if length > 24 => {
            let kinds = [0x8100, 0x22e9, 0x22e7, 0x8808, 0x88cc, 0x0800, 0x86dd, 0x88b5, 0x88b6, 0x05dc_u16];
            let at = 12 + 4 * random.below(3);
            octets[at..at + 2].copy_from_slice(&kinds[random.below(kinds.len())].to_be_bytes());
        }
        // A part is doubled.
        7 if length > 0 && length < 4096 => {
            let (from, to) = (random.below(length), random.below(length));
            let part = octets[from.min(to)..from.max(to)].to_vec();
            let at = random.below(length);
            octets.splice(at..at, part);
        }
        // The rest of another frame.
        8 => {
            let other = &corpus[random.below(corpus.len())];
            octets.truncate(random.below(length + 1));
            octets.extend(&other[random.below(other.len() + 1)..]);
            octets.truncate(8192);
        }
        _ => octets.extend((0..random.below(40)).map(|at| (at * 37) as u8)),
    }
}

/// Captures of both formats and byte orders.
fn captures() -> Vec<Vec<u8>> {
    let mut file = Vec::new();
    pcapng::section(&mut file, "fuzz", None);
    pcapng::interface(&mut file, "port 1", None, None);
    for frame in golden().into_iter().take(3) {
        pcapng::packet(&mut file, 0, 1_000_000_007, &frame.octets, Some("queue 52000 octets"));
    }
    let mut big = vec![0xa1, 0xb2, 0xc3, 0xd4, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 1];
    big.extend([0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 60, 1, 2, 3, 4]);
    let mut little = vec![0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];
    little.extend([1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 60, 0, 0, 0, 1, 2, 3, 4]);
    // A simple packet, an old one, and a time in 2^-n seconds.
    let mut others = Vec::new();
    pcapng::section(&mut others, "", None);
    others.extend([1, 0, 0, 0, 28, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 9, 0, 1, 0, 0x94, 0, 0, 0, 28, 0, 0, 0]);
    others.extend([3, 0, 0, 0, 20, 0, 0, 0, 2, 0, 0, 0, 5, 6, 0, 0, 20, 0, 0, 0]);
    others.extend([
        2, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 2, 0, 0, 36, 0, 0, 0,
    ]);
    vec![file, big, little, others]
}

fn setting(name: &str, or: u64) -> u64 {
    std::env::var(name).map_or(or, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no whole number: {text}")))
}

#[test]
fn no_input_is_too_wrong() {
    assert_eq!(CALLS.len(), FORMATS.len());
    let corpus: Vec<Vec<u8>> = golden().into_iter().map(|frame| frame.octets).collect();
    let (captures, known): (_, Vec<_>) = (captures(), kinds().collect());
    for file in &captures {
        assert!(frames(file).expect("a head").all(|frame| frame.is_ok()));
    }
    let mut random = Random(setting("WIRE_FUZZ_SEED", 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut stats = Stats::default();
    let mut buffer = Vec::new();
    for number in 0..setting("WIRE_FUZZ_INPUTS", 200_000) {
        buffer.clear();
        match number % 16 {
            // Captures.
            0 => {
                buffer.extend(&captures[random.below(captures.len())]);
                for _ in 0..random.below(4) {
                    match random.below(3) {
                        0 => buffer.truncate(random.below(buffer.len() + 1)),
                        _ if buffer.is_empty() => {}
                        // Numbers stand at multiples of 4.
                        1 => {
                            let at = random.below(buffer.len()) & !3;
                            buffer[at] = EDGES[random.below(EDGES.len())] as u8;
                        }
                        _ => {
                            let at = random.below(buffer.len());
                            buffer[at] = random.next() as u8;
                        }
                    }
                }
                examine_capture(&buffer);
            }
            // Octets without any structure, for every format.
            1 => {
                buffer.extend((0..random.below(80)).map(|_| random.next() as u8));
                for (_, call) in CALLS {
                    call(&buffer);
                }
                examine(&buffer, &mut stats);
            }
            // Texts for the encoder.
            2 => {
                let kind = &known[random.below(known.len())];
                let format = kind.formats[random.below(kind.formats.len())].0;
                let field = &format.fields[random.below(format.fields.len())];
                let texts =
                    ["", "-1", "0", "65535", "0xffff", "1:2:3:4:5:6", "10.0.0.1", "fd00::1", "+1", "é", "0x", "4095"];
                let (one, two) = (texts[random.below(texts.len())], texts[random.below(texts.len())]);
                let made = encode(kind.name, &[(field.name, one), ("payload", two), ("msdu", two)][..random.below(4)]);
                if let Ok(frame) = made {
                    examine(&frame, &mut stats);
                }
            }
            _ => {
                buffer.extend(&corpus[random.below(corpus.len())]);
                for _ in 0..=random.below(4) {
                    change(&mut random, &mut buffer, &corpus);
                }
                examine(&buffer, &mut stats);
            }
        }
    }
}
