//! LLDP, behind EtherType 88CC: a list of TLVs, of which each begins with 7 bits of type and 9 of length, and the last is
//! empty. (802.1AB) Those of 802.1Q for congestion management have a module each.

mod content;

pub use content::{CEE, Content, IEEE_802_3, content};

use crate::field::MacAddress;

/// The address of LLDP frames: the nearest bridge.
pub const DESTINATION: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);

/// The organisation of 802.1's own TLVs.
pub const IEEE_802_1: [u8; 3] = [0x00, 0x80, 0xc2];

/// Types of TLVs.
pub mod tlv_type {
    /// The last TLV.
    pub const END: u8 = 0;
    /// The station that sends the frame.
    pub const CHASSIS_ID: u8 = 1;
    /// Its port that sends the frame.
    pub const PORT_ID: u8 = 2;
    /// The time for which the frame holds.
    pub const TIME_TO_LIVE: u8 = 3;
    /// An organisation's own.
    pub const ORGANISATION: u8 = 127;
}

/// Subtypes of 802.1's TLVs.
pub mod subtype {
    /// Congestion notification.
    pub const CN: u8 = 8;
    /// ETS configuration.
    pub const ETS_CONFIGURATION: u8 = 9;
    /// ETS recommendation.
    pub const ETS_RECOMMENDATION: u8 = 10;
    /// Priority-based flow control.
    pub const PFC: u8 = 11;
}

/// The head of any TLV.
pub mod tlv {
    use crate::Error;

    crate::field::format! {
        "lldp", "LLDP TLV", "IEEE 802.1AB-2016, clause 8.4", 2 octets;
        /// The kind of TLV.
        tlv_type, set_tlv_type: u8 = "TLV type", 0..7;
        /// Octets behind these two.
        length, set_length: u16 = "TLV information string length", 7..16;
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        let (needs, has) = (crate::field::read(octets, 7, 9) as usize, octets.len() - Repr::OCTETS);
        if has < needs {
            return Err(FORMAT.truncated("TLV information string", Repr::OCTETS, needs, has));
        }
        Ok(Repr::OCTETS + needs)
    }

    fn legal(_octets: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    impl<T: AsRef<[u8]>> Packet<T> {
        /// The octets behind the head.
        #[must_use]
        pub fn information(&self) -> &[u8] {
            let octets = self.octets.as_ref();
            let end = (Repr::OCTETS + usize::from(self.length())).min(octets.len());
            octets.get(Repr::OCTETS..end).unwrap_or_default()
        }
    }
}

/// Time to live, in seconds.
pub mod ttl {
    use crate::Error;

    crate::field::format! {
        "lldp_ttl", "LLDP time to live", "IEEE 802.1AB-2016, clause 8.5.4", 4 octets;
        /// 3.
        tlv_type, set_tlv_type: u8 = "TLV type", 0..7, usually 3;
        /// 2.
        length, set_length: u16 = "TLV information string length", 7..16, usually 2;
        /// Seconds for which the information holds; 0: no longer.
        seconds, set_seconds: u16 = "TTL", 16..32, usually 120;
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        super::exactly(&FORMAT, octets, 2, "2")
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        super::kind(&FORMAT, octets, super::tlv_type::TIME_TO_LIVE, "3")?;
        measure(octets).map(|_| ())
    }
}

/// The congestion notification TLV: which priorities of the port are congestion notification priorities, and for which
/// everything is ready.
pub mod cn {
    use crate::Error;

    crate::field::format! {
        "lldp_cn", "Congestion notification TLV", "IEEE 802.1Q-2022, annex D.2.7 (802.1Qau)", 8 octets;
        /// 127.
        tlv_type, set_tlv_type: u8 = "TLV type", 0..7, usually 127;
        /// 6.
        length, set_length: u16 = "TLV information string length", 7..16, usually 6;
        /// 00-80-C2.
        oui, set_oui: [u8; 3] = "OUI", 16..40, usually 0x80c2;
        /// 8.
        subtype, set_subtype: u8 = "Subtype", 40..48, usually 8;
        /// Bit n is set where priority n is a congestion notification priority.
        cnpv, set_cnpv: u8 = "Per-priority CNPV indicators", 48..56 as Hex;
        /// Bit n is set where, besides, priorities are remapped no longer: a subset of the one before.
        ready, set_ready: u8 = "Per-priority Ready indicators", 56..64 as Hex;
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        super::exactly(&FORMAT, octets, 6, "6")
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        super::organisation(&FORMAT, octets, super::subtype::CN, "8")?;
        measure(octets)?;
        let bits = |first| crate::field::read(octets, first, 8);
        if bits(56) & !bits(48) != 0 {
            return Err(FORMAT.illegal("ready", octets, "a subset of the CNPV indicators"));
        }
        Ok(())
    }

    impl Repr {
        /// The TLV with these two vectors.
        #[must_use]
        pub fn new(cnpv: u8, ready: u8) -> Self {
            let (tlv_type, oui, subtype) = super::head(super::subtype::CN);
            Self { tlv_type, length: 6, oui, subtype, cnpv, ready }
        }
    }
}

/// The TLV of priority-based flow control.
pub mod pfc {
    use crate::Error;

    crate::field::format! {
        "lldp_pfc", "PFC configuration TLV", "IEEE 802.1Q-2022, annex D.2.10 (802.1Qaz)", 8 octets;
        /// 127.
        tlv_type, set_tlv_type: u8 = "TLV type", 0..7, usually 127;
        /// 6.
        length, set_length: u16 = "TLV information string length", 7..16, usually 6;
        /// 00-80-C2.
        oui, set_oui: [u8; 3] = "OUI", 16..40, usually 0x80c2;
        /// 11.
        subtype, set_subtype: u8 = "Subtype", 40..48, usually 11;
        /// The port takes its neighbour's configuration.
        willing, set_willing: bool = "Willing", 48..49;
        /// Frames that MACsec held do not wait when their priority is stopped.
        mbc, set_mbc: bool = "MBC", 49..50;
        /// How many priorities may have PFC at once; 0: all eight.
        pfc_cap, set_pfc_cap: u8 = "PFC cap", 52..56;
        /// Bit n is set where priority n has PFC.
        pfc_enable, set_pfc_enable: u8 = "PFC Enable", 56..64 as Hex;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "Reserved", 50..52;
        }
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        super::exactly(&FORMAT, octets, 6, "6")
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        super::organisation(&FORMAT, octets, super::subtype::PFC, "11")?;
        measure(octets)?;
        if crate::field::read(octets, 52, 4) > 8 {
            return Err(FORMAT.illegal("pfc_cap", octets, "0 to 8"));
        }
        Ok(())
    }

    impl Repr {
        /// The TLV of a port.
        #[must_use]
        pub fn new(willing: bool, mbc: bool, pfc_cap: u8, pfc_enable: u8) -> Self {
            let (tlv_type, oui, subtype) = super::head(super::subtype::PFC);
            Self { tlv_type, length: 6, oui, subtype, willing, mbc, pfc_cap, pfc_enable }
        }
    }
}

/// The TLV of the configuration of enhanced transmission selection.
pub mod ets_configuration {
    use crate::Error;

    crate::field::format! {
        "lldp_ets", "ETS configuration TLV", "IEEE 802.1Q-2022, annex D.2.8 (802.1Qaz)", 27 octets;
        /// 127.
        tlv_type, set_tlv_type: u8 = "TLV type", 0..7, usually 127;
        /// 25.
        length, set_length: u16 = "TLV information string length", 7..16, usually 25;
        /// 00-80-C2.
        oui, set_oui: [u8; 3] = "OUI", 16..40, usually 0x80c2;
        /// 9.
        subtype, set_subtype: u8 = "Subtype", 40..48, usually 9;
        /// The port takes its neighbour's configuration.
        willing, set_willing: bool = "Willing", 48..49;
        /// The credit-based shaper is there.
        cbs, set_cbs: bool = "CBS", 49..50;
        /// The most traffic classes; 0: eight.
        max_tcs, set_max_tcs: u8 = "Max TCs", 53..56;
        /// Traffic class of each priority, 4 bits each, priority 0 highest.
        priority_assignment, set_priority_assignment: u32 = "Priority Assignment Table", 56..88 as Hex;
        /// Percent of the line for each traffic class, an octet each, class 0 highest.
        tc_bandwidth, set_tc_bandwidth: u64 = "TC Bandwidth Table", 88..152 as Hex;
        /// Transmission selection of each traffic class, an octet each: 0 strict, 1 credit-based, 2 ETS, 255 own.
        tsa_assignment, set_tsa_assignment: u64 = "TSA Assignment Table", 152..216 as Hex;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "Reserved", 50..53;
        }
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        super::exactly(&FORMAT, octets, 25, "25")
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        super::organisation(&FORMAT, octets, super::subtype::ETS_CONFIGURATION, "9")?;
        measure(octets)?;
        super::shares(&FORMAT, octets)
    }
}

/// The TLV that recommends a configuration of enhanced transmission selection to the neighbour.
pub mod ets_recommendation {
    use crate::Error;

    crate::field::format! {
        "lldp_ets_recommendation", "ETS recommendation TLV", "IEEE 802.1Q-2022, annex D.2.9 (802.1Qaz)", 27 octets;
        /// 127.
        tlv_type, set_tlv_type: u8 = "TLV type", 0..7, usually 127;
        /// 25.
        length, set_length: u16 = "TLV information string length", 7..16, usually 25;
        /// 00-80-C2.
        oui, set_oui: [u8; 3] = "OUI", 16..40, usually 0x80c2;
        /// 10.
        subtype, set_subtype: u8 = "Subtype", 40..48, usually 10;
        /// Traffic class of each priority, 4 bits each, priority 0 highest.
        priority_assignment, set_priority_assignment: u32 = "Priority Assignment Table", 56..88 as Hex;
        /// Percent of the line for each traffic class, an octet each, class 0 highest.
        tc_bandwidth, set_tc_bandwidth: u64 = "TC Bandwidth Table", 88..152 as Hex;
        /// Transmission selection of each traffic class, an octet each: 0 strict, 1 credit-based, 2 ETS, 255 own.
        tsa_assignment, set_tsa_assignment: u64 = "TSA Assignment Table", 152..216 as Hex;
        reserved {
            /// Sent as 0.
            reserved, set_reserved: u8 = "Reserved", 48..56;
        }
    }

    fn measure(octets: &[u8]) -> Result<usize, Error> {
        super::exactly(&FORMAT, octets, 25, "25")
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        super::organisation(&FORMAT, octets, super::subtype::ETS_RECOMMENDATION, "10")?;
        measure(octets)?;
        super::shares(&FORMAT, octets)
    }
}

use crate::{Error, Format};

/// The format of the TLV at the start of `octets`: that of its kind, or any TLV's.
#[must_use]
pub(crate) fn format_of(octets: &[u8]) -> &'static Format {
    let kind = crate::field::read(octets, 0, 7) as u8;
    if kind == tlv_type::TIME_TO_LIVE {
        return &ttl::FORMAT;
    }
    if kind == tlv_type::ORGANISATION && octets.get(2..5) == Some(&IEEE_802_1[..]) {
        match octets.get(5) {
            Some(&subtype::CN) => return &cn::FORMAT,
            Some(&subtype::PFC) => return &pfc::FORMAT,
            Some(&subtype::ETS_CONFIGURATION) => return &ets_configuration::FORMAT,
            Some(&subtype::ETS_RECOMMENDATION) => return &ets_recommendation::FORMAT,
            _ => {}
        }
    }
    &tlv::FORMAT
}

fn head(subtype: u8) -> (u8, [u8; 3], u8) {
    (tlv_type::ORGANISATION, IEEE_802_1, subtype)
}

fn exactly(format: &Format, octets: &[u8], length: usize, wanted: &'static str) -> Result<usize, Error> {
    if crate::field::read(octets, 7, 9) as usize == length {
        return Ok(2 + length);
    }
    Err(format.illegal("length", octets, wanted))
}

fn kind(format: &Format, octets: &[u8], right: u8, wanted: &'static str) -> Result<(), Error> {
    if crate::field::read(octets, 0, 7) == u128::from(right) {
        return Ok(());
    }
    Err(format.illegal("tlv_type", octets, wanted))
}

fn organisation(format: &Format, octets: &[u8], subtype: u8, wanted: &'static str) -> Result<(), Error> {
    kind(format, octets, tlv_type::ORGANISATION, "127")?;
    if octets.get(2..5) != Some(&IEEE_802_1[..]) {
        return Err(format.illegal("oui", octets, "0080C2 (hexadecimal)"));
    }
    if octets.get(5) != Some(&subtype) {
        return Err(format.illegal("subtype", octets, wanted));
    }
    Ok(())
}

/// Shares of ETS classes add up to the line; where no class has ETS, there are none.
fn shares(format: &Format, octets: &[u8]) -> Result<(), Error> {
    let (mut percent, mut any) = (0, false);
    for class in 0..8 {
        if crate::field::read(octets, 152 + 8 * class, 8) == 2 {
            any = true;
            percent += crate::field::read(octets, 88 + 8 * class, 8);
        }
    }
    if any && percent != 100 {
        return Err(format.illegal("tc_bandwidth", octets, "shares of the ETS classes that add up to 100"));
    }
    Ok(())
}
