//! Frames of congestion management in data-center Ethernet, read and written.
//!
//! Each format is a module with the same parts. `Packet`: octets of a frame, with an accessor and a setter for each field. `Repr`:
//! the values of its fields, read by `parse` and written by `emit`. `FORMAT`: the list of its fields, from which decoder, encoder
//! and reference page follow. Fields have the names of the standard.
//!
//! | module | EtherType or position | format |
//! |---|---|---|
//! | [`ethernet`], [`vlan`] | | Ethernet II, 802.1Q tags, nested |
//! | [`cn_tag`], [`cnm`] | 22E9, 22E7 | CN-TAG, congestion notification message (802.1Qau) |
//! | [`mac_control`] | 8808 | PAUSE, priority-based flow control |
//! | [`lldp`] | 88CC | TLVs; congestion notification, PFC, ETS; others by their content |
//! | [`smcc`] | 88B5 | SMCC's message |
//! | [`experimental`] | 88B6 | rate probes of FECN and E-FECN, BCN, E2CM, RoCC, source flow control, Homa, NDP, ExpressPass, congestion isolation (802.1Qcz) |
//! | [`ipv4`], [`ipv6`], [`udp`], [`tcp`] | 0800, 86DD | as far as congestion management reads them |
//! | [`roce`] | UDP port 4791 | base transport header, congestion notification packet |
//! | [`mrc`] | behind RoCEv2 | acknowledgements, probes and messages between interfaces of MRC |
//! | [`fast_cnp`] | IPv6 Destination Options | the original destination of a Fast CNP |
//!
//! # No panic
//!
//! Nothing here panics or reads beyond the octets that it is given, whatever they contain. `Packet::new_checked` refuses octets
//! that end too early or contradict themselves, and accessors read missing octets as 0. Errors name the format,
//! the field, its offset, and the values that would be right.
//!
//! # Example
//!
//! ```
//! use penstock_wire::{cnm, Error, MacAddress};
//!
//! let message = cnm::Repr {
//!     quantized_feedback: 25,
//!     cp_id: 0x0200_0000_00aa_0001,
//!     q_offset: cnm::Repr::units(26_000 - 52_000),
//!     q_delta: cnm::Repr::units(52_000 - 39_000),
//!     encapsulated_priority: 3,
//!     encapsulated_destination: MacAddress([2, 0, 0, 0, 0, 2]),
//!     encapsulated_msdu_length: 0,
//! };
//! let mut octets = [0; 24];
//! message.emit(&mut octets)?;
//! assert_eq!(octets[..2], [0x00, 0x19]);
//! assert_eq!(octets[10..14], [0xfe, 0x6a, 0x00, 0xcb]);
//!
//! let packet = cnm::Packet::new_checked(&octets)?;
//! assert_eq!(packet.q_offset(), -406);
//! assert_eq!(cnm::Repr::parse(&packet)?, message);
//!
//! let error = cnm::Packet::new_checked(&octets[..11]).unwrap_err();
//! assert_eq!(error.to_string(), "cnm: cnmQOffset at octet 10 is cut off: 1 of 2 octets are there");
//! # Ok::<(), Error>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod capture;
pub mod checksum;
pub mod cn_tag;
pub mod cnm;
pub mod encode;
mod error;
pub mod ethernet;
pub mod experimental;
pub mod fast_cnp;
mod field;
pub mod ipv4;
pub mod ipv6;
pub mod layers;
pub mod lldp;
pub mod mac_control;
mod message;
pub mod mrc;
pub mod roce;
pub mod smcc;
pub mod stats;
pub mod tcp;
pub mod udp;
pub mod vlan;

pub use error::Error;
pub use field::{Field, Format, MacAddress, Show, Value};
pub use message::{Message, Sampled, StrengthField};

/// Hands every format to a macro, each with the parts that its packet has behind the fields.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_format {
    ($then:ident) => {
        $then! {
            ethernet,
            vlan,
            cn_tag,
            cnm => encapsulated_msdu,
            mac_control::pause,
            mac_control::pfc,
            lldp::tlv => information,
            lldp::ttl,
            lldp::cn,
            lldp::pfc,
            lldp::ets_configuration,
            lldp::ets_recommendation,
            smcc,
            experimental::rate_probe,
            experimental::bcn,
            experimental::rlt,
            experimental::path_probe,
            experimental::fair_rate,
            experimental::source_pause,
            experimental::grant,
            experimental::pull,
            experimental::credit,
            experimental::cim => msdu,
            ipv4 => payload,
            ipv6 => payload,
            fast_cnp,
            udp => payload,
            tcp => options => payload,
            tcp::option,
            tcp::mss,
            tcp::sack_permitted,
            tcp::sack,
            roce,
            mrc,
            mrc::nack,
            mrc::probe,
            mrc::endpoint_request,
            mrc::endpoint_response,
        }
    };
}

macro_rules! formats {
    ($($($module:ident)::+ $(=> $part:ident)*,)*) => { &[$(&$($module)::+::FORMAT),*] };
}

/// Every format, in the order in which a reader meets them.
pub const FORMATS: &[&Format] = for_each_format!(formats);
