//! MAC control, behind EtherType 8808: an opcode, then its parameters. Frames are for 01-80-C2-00-00-01, which no
//! bridge forwards, and have 60 octets without their check sequence.

use crate::Error;
use crate::field::MacAddress;

/// The address of PAUSE and PFC frames.
pub const DESTINATION: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x01]);

/// Opcode of PAUSE.
pub const PAUSE: u16 = 0x0001;

/// Opcode of priority-based flow control.
pub const PFC: u16 = 0x0101;

/// Bit times in a pause quantum.
pub const QUANTUM_BITS: u32 = 512;

/// PAUSE: the whole line stops.
pub mod pause {
    use crate::Error;

    crate::field::format! {
        "pause", "PAUSE", "IEEE 802.3, annex 31B", 4 octets;
        /// 0001.
        opcode, set_opcode: u16 = "MAC control opcode", 0..16 as Hex, usually super::PAUSE;
        /// How long the line is to stop, in quanta of 512 bit times; 0: it may go on.
        pause_time, set_pause_time: u16 = "pause_time", 16..32;
    }

    fn measure(_octets: &[u8]) -> Result<usize, Error> {
        Ok(Repr::OCTETS)
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        super::opcode(&FORMAT, octets, super::PAUSE, "1")
    }
}

/// Priority-based flow control: each priority stops for its own time.
pub mod pfc {
    use crate::Error;

    crate::field::format! {
        "pfc", "Priority-based flow control", "IEEE 802.3, annex 31D (802.1Qbb)", 20 octets;
        /// 0101.
        opcode, set_opcode: u16 = "MAC control opcode", 0..16 as Hex, usually super::PFC;
        /// Bit n is set where the time of priority n counts.
        priority_enable, set_priority_enable: u8 = "priority_enable_vector", 24..32 as Hex;
        /// Time of priority 0, in quanta of 512 bit times; 0: it may go on.
        time_0, set_time_0: u16 = "time(0)", 32..48;
        /// Time of priority 1.
        time_1, set_time_1: u16 = "time(1)", 48..64;
        /// Time of priority 2.
        time_2, set_time_2: u16 = "time(2)", 64..80;
        /// Time of priority 3.
        time_3, set_time_3: u16 = "time(3)", 80..96;
        /// Time of priority 4.
        time_4, set_time_4: u16 = "time(4)", 96..112;
        /// Time of priority 5.
        time_5, set_time_5: u16 = "time(5)", 112..128;
        /// Time of priority 6.
        time_6, set_time_6: u16 = "time(6)", 128..144;
        /// Time of priority 7.
        time_7, set_time_7: u16 = "time(7)", 144..160;
        reserved {
            /// The upper octet of the enable vector, sent as 0.
            reserved, set_reserved: u8 = "priority_enable_vector, upper octet", 16..24;
        }
    }

    fn measure(_octets: &[u8]) -> Result<usize, Error> {
        Ok(Repr::OCTETS)
    }

    fn legal(octets: &[u8]) -> Result<(), Error> {
        super::opcode(&FORMAT, octets, super::PFC, "257 (0101 hexadecimal)")
    }

    impl Repr {
        /// A frame that tells priority n the time `times[n]` where there is one.
        #[must_use]
        pub fn new(times: [Option<u16>; 8]) -> Self {
            let enable = times.iter().enumerate().fold(0, |sum, (n, time)| sum | u8::from(time.is_some()) << n);
            let [a, b, c, d, e, f, g, h] = times.map(Option::unwrap_or_default);
            Self {
                opcode: super::PFC,
                priority_enable: enable,
                time_0: a,
                time_1: b,
                time_2: c,
                time_3: d,
                time_4: e,
                time_5: f,
                time_6: g,
                time_7: h,
            }
        }

        /// The time of each priority that the frame tells one.
        #[must_use]
        pub fn times(&self) -> [Option<u16>; 8] {
            let times = [
                self.time_0,
                self.time_1,
                self.time_2,
                self.time_3,
                self.time_4,
                self.time_5,
                self.time_6,
                self.time_7,
            ];
            core::array::from_fn(|n| (self.priority_enable >> n & 1 == 1).then_some(times[n]))
        }
    }
}

fn opcode(format: &crate::Format, octets: &[u8], right: u16, wanted: &'static str) -> Result<(), Error> {
    if crate::field::read(octets, 0, 16) == u128::from(right) {
        return Ok(());
    }
    Err(format.illegal("opcode", octets, wanted))
}
