//! Each value of each field is written and read again, and leaves all others as they were.

use crate::common::Random;
use penstock_wire::encode::{encode, kinds};
use penstock_wire::layers::{Types, layers};
use penstock_wire::{FORMATS, Field, Format, Show, for_each_format};
use proptest::prelude::*;

/// `parse` and `emit` of a format, on octets: the octets that come back.
type Through = fn(&[u8]) -> Option<Vec<u8>>;

macro_rules! through {
    ($($($module:ident)::+ $(=> $extra:ident)*,)*) => {
        &[$((&penstock_wire::$($module)::+::FORMAT, |octets| {
            use penstock_wire::$($module)::+::{Packet, Repr};
            let packet = Packet::new_checked(octets).ok()?;
            let values = Repr::parse(&packet).ok()?;
            let mut out = vec![0xff; Repr::OCTETS];
            assert_eq!(values.emit(&mut out), Ok(Repr::OCTETS));
            assert_eq!(Repr::parse(&Packet::new_checked({
                // Behind the fields, as many octets as a length may promise.
                let mut long = vec![0; 2048];
                long[..Repr::OCTETS].copy_from_slice(&out);
                long
            }).unwrap()), Ok(values));
            Some(out)
        })),*]
    };
}

const ALL: &[(&Format, Through)] = for_each_format!(through);

/// Octets of the format with legal values, from the golden frames or from the encoder, and others behind them.
fn legal(format: &Format) -> Vec<u8> {
    let frames = crate::common::golden();
    let found = frames.iter().find_map(|frame| {
        let layer = layers(&frame.octets, Types::default()).find(|layer| layer.name() == format.name)?;
        Some(layer.octets[..format.octets].to_vec())
    });
    // A layout of this crate's own may have none.
    let encoded = || {
        let frame = encode(format.name, &[]).expect("a message is a kind of frame");
        let layer = layers(&frame, Types::default()).find(|layer| layer.name() == format.name);
        layer.expect("it has the message").octets[..format.octets].to_vec()
    };
    let mut octets = found.unwrap_or_else(encoded);
    octets.resize(2048, 0);
    octets
}

/// Writes a value, and checks that it alone is there; then that `parse` and `emit` agree on it, unless it is not legal.
fn check(format: &Format, through: Through, field: &Field, octets: &[u8], value: u128) -> bool {
    let mut changed = octets.to_vec();
    field.write(&mut changed, value);
    assert_eq!(field.read(&changed), value);
    for other in format.fields.iter().filter(|other| other.name != field.name) {
        assert_eq!(other.read(&changed), other.read(octets), "{}.{} = {value}", format.name, field.name);
    }
    let is_legal =
        (format.measure)(&changed).is_ok_and(|needs| needs <= changed.len()) && (format.legal)(&changed).is_ok();
    match through(&changed) {
        Some(out) => {
            assert!(is_legal);
            for other in format.fields {
                let wanted = if other.reserved { 0 } else { other.read(&changed) };
                assert_eq!(other.read(&out), wanted, "{}.{}: {} = {value}", format.name, other.name, field.name);
            }
        }
        None => assert!(!is_legal, "{}.{} = {value}", format.name, field.name),
    }
    is_legal
}

#[test]
fn all_values_of_fields_of_up_to_16_bits() {
    assert_eq!(ALL.len(), FORMATS.len());
    for (&(format, through), listed) in ALL.iter().zip(FORMATS) {
        assert_eq!(format.name, listed.name);
        let octets = legal(format);
        for field in format.fields.iter().filter(|field| field.bits <= 16) {
            let taken = (0..=field.largest()).filter(|&value| check(format, through, field, &octets, value)).count();
            assert!(taken > 0, "{}.{}: no value is legal", format.name, field.name);
        }
    }
}

#[test]
fn setters_and_accessors_meet() {
    use penstock_wire::{cnm, experimental::cim, mac_control::pfc};
    let mut packet = cnm::Packet::new_checked([0u8; 24]).unwrap();
    for value in i16::MIN..=i16::MAX {
        packet.set_q_offset(value);
        packet.set_q_delta(value.wrapping_neg());
        assert_eq!((packet.q_offset(), packet.q_delta()), (value, value.wrapping_neg()));
    }
    // A length that is set after the check promises octets that are not there.
    packet.set_encapsulated_msdu_length(64);
    assert_eq!(packet.encapsulated_msdu(), &[0u8; 0]);
    let mut packet = cim::Packet::new_checked([0u8; 24]).unwrap();
    packet.set_msdu_length(u16::MAX);
    assert_eq!(packet.msdu(), &[0; 4]);
    // More bits than the field has are left out.
    let mut packet = cnm::Packet::new_checked([0u8; 24]).unwrap();
    packet.set_quantized_feedback(255);
    assert_eq!((packet.quantized_feedback(), packet.reserved_v()), (63, 0));
    let mut packet = pfc::Packet::new_checked([0u8; 20]).unwrap();
    packet.set_time_7(0x1234);
    assert_eq!(packet.into_inner()[18..], [0x12, 0x34]);
}

proptest! {
    #[test]
    fn any_value_of_wider_fields(values in prop::collection::vec(any::<u128>(), 12), seed in 1u64..) {
        let mut random = Random(seed);
        for &(format, through) in ALL {
            let mut octets = legal(format);
            // All wide fields have random values, not the one under test alone.
            let wide: Vec<_> = format.fields.iter().filter(|field| field.bits > 16 && field.name != "oui").collect();
            for field in &wide {
                let bits = u128::from(random.next()) << 64 | u128::from(random.next());
                field.write(&mut octets, bits & field.largest());
            }
            for (field, value) in wide.iter().zip(&values) {
                check(format, through, field, &octets, value & field.largest());
            }
        }
    }

    #[test]
    fn an_encoder_writes_what_a_decoder_reads(
        choice in any::<prop::sample::Index>(), seed in 1u64.., data in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let kinds: Vec<_> = kinds().collect();
        let kind = choice.get(&kinds);
        let mut random = Random(seed);
        let derived = [
            "ether_type", "version", "subtype", "opcode", "tver", "ihl", "total_length", "payload_length", "protocol",
            "next_header", "header_checksum", "checksum", "length", "data_offset", "tlv_type", "oui", "kind",
            "encapsulated_msdu_length", "msdu_length", "fragment_offset", "more_fragments", "ready", "destination_port",
        ];
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (format, _) in &*kind.formats {
            for field in format.fields.iter().filter(|field| field.fixed.is_none() && !derived.contains(&field.name)) {
                // Of some, only part of the values is legal.
                let largest = match field.name {
                    "vid" | "vlan_identifier" => 4094,
                    "pfc_cap" => 8,
                    "tsa_assignment" => 0,
                    _ => field.largest(),
                };
                let bits = u128::from(random.next()) << 64 | u128::from(random.next());
                let value = if largest == u128::MAX { bits } else { bits % (largest + 1) };
                let mut octets = vec![0; format.octets];
                field.write(&mut octets, value);
                let text = match field.show {
                    Show::Signed => field.read_signed(&octets).to_string(),
                    Show::Mac => penstock_wire::MacAddress::from_u64(value as u64).to_string(),
                    Show::Ipv4 => std::net::Ipv4Addr::from_bits(value as u32).to_string(),
                    Show::Ipv6 => std::net::Ipv6Addr::from_bits(value).to_string(),
                    Show::Hex => format!("0x{value:0width$x}", width = field.bits.div_ceil(4)),
                    Show::Number | Show::Flag => value.to_string(),
                };
                pairs.push((format!("{}.{}", format.name, field.name), text));
            }
        }
        let wanted = pairs.clone();
        if let Some(rest) = kind.rest {
            let octets: String = data.iter().map(|octet| format!("{octet:02x}")).collect();
            pairs.push((rest.to_string(), octets));
        }
        let texts: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
        let frame = encode(kind.name, &texts).unwrap();
        let mut found = Vec::new();
        for layer in layers(&frame, Types::default()).filter(|layer| !layer.encapsulated) {
            prop_assert_eq!(layer.fault, None, "{}: {:02x?}", kind.name, frame);
            found.extend(layer.fields().map(|(field, value)| (format!("{}.{}", layer.name(), field.name), value.to_string())));
        }
        for pair in wanted {
            prop_assert!(found.contains(&pair), "{:?} is not in {:?}", pair, found);
        }
    }
}
