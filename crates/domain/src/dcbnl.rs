//! Linux's messages for the reaction points of a network interface: `ieee_qcn` and `ieee_qcn_stats` in the DCB family of
//! rtnetlink (`include/uapi/linux/dcbnl.h`). Only octets: the caller has the socket.
//!
//! ```text
//!   nlmsghdr   length(4) type(2) flags(2) sequence(4) port(4)      RTM_GETDCB 78, RTM_SETDCB 79, NLMSG_ERROR 2
//!   dcbmsg     family(1) command(1) padding(2)                     DCB_CMD_IEEE_SET 20, DCB_CMD_IEEE_GET 21
//!   attribute  DCB_ATTR_IFNAME 1: the device's name and a zero
//!   attribute  DCB_ATTR_IEEE 13:
//!     attribute  DCB_ATTR_IEEE_QCN 8: struct ieee_qcn, 360 octets
//!     attribute  DCB_ATTR_IEEE_QCN_STATS 9: struct ieee_qcn_stats, 96 octets
//! ```
//!
//! Both structures hold an array of eight for each of their members, one entry a priority. One unit differs from the MIB's:
//! `rpg_time_reset` counts microseconds. The comment on `rpg_min_rate` in that header says bit/s, but the driver that uses it
//! (mlx4) passes it to the hardware as Mb/s, the MIB's unit; it is Mb/s here.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::PRIORITIES;
use crate::defense::State;
use crate::objects::{NotAValue, Syntax, Unit, in_unit, object};

/// Types of messages and attributes, commands and flags.
mod number {
    pub(super) const NLMSG_ERROR: u16 = 2;
    pub(super) const RTM_GETDCB: u16 = 78;
    pub(super) const RTM_SETDCB: u16 = 79;
    pub(super) const NLM_F_REQUEST: u16 = 1;
    pub(super) const DCB_CMD_IEEE_SET: u8 = 20;
    pub(super) const DCB_CMD_IEEE_GET: u8 = 21;
    pub(super) const DCB_ATTR_IFNAME: u16 = 1;
    pub(super) const DCB_ATTR_IEEE: u16 = 13;
    pub(super) const DCB_ATTR_IEEE_QCN: u16 = 8;
    pub(super) const DCB_ATTR_IEEE_QCN_STATS: u16 = 9;
    pub(super) const NLA_F_NESTED: u16 = 1 << 15;
    pub(super) const NLA_TYPE_MASK: u16 = 0x3fff;
}

/// Octets of the head of a message, of the family's head behind it, and of an attribute's head.
const MESSAGE: usize = 16;
const FAMILY: usize = 4;
const ATTRIBUTE: usize = 4;

/// The longest name of a device (`IFNAMSIZ` less the zero).
pub const MOST_NAME: usize = 15;

/// The order of octets in numbers. Linux speaks the machine's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The least first.
    Little,
    /// The greatest first.
    Big,
}

impl Order {
    /// This machine's.
    pub const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };

    fn write<const N: usize>(self, little: [u8; N]) -> [u8; N] {
        let mut octets = little;
        if self == Self::Big {
            octets.reverse();
        }
        octets
    }

    fn read(self, octets: &[u8]) -> u64 {
        let fold = |sum: u64, octet: &u8| sum << 8 | u64::from(*octet);
        match self {
            Self::Little => octets.iter().rev().fold(0, fold),
            Self::Big => octets.iter().fold(0, fold),
        }
    }
}

/// A member of a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Its name in Linux; that of the managed object too, where there is one.
    pub name: &'static str,
    /// Octets of one entry.
    pub octets: usize,
    /// The unit in which Linux has it.
    pub unit: Unit,
}

macro_rules! structure {
    (
        $(#[doc = $meaning:literal])+
        $name:ident, $octets:literal octets;
        $($(#[doc = $about:literal])+ $member:ident: $type:ident $(of $unit:ident)?;)+
    ) => {
        $(#[doc = $meaning])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name {
            $($(#[doc = $about])+ pub $member: [$type; PRIORITIES],)+
        }

        impl $name {
            /// Its octets.
            pub const OCTETS: usize = $octets;
            /// Its members in order.
            pub const MEMBERS: &[Member] = &[
                $(Member {
                    name: stringify!($member),
                    octets: core::mem::size_of::<$type>(),
                    unit: structure!(@unit $($unit)?),
                },)+
            ];

            /// Reads the structure.
            ///
            /// # Errors
            /// There are fewer octets, or more.
            pub fn parse(octets: &[u8], order: Order) -> Result<Self, Malformed> {
                if octets.len() != Self::OCTETS {
                    return Err(Malformed::Structure { name: stringify!($name), needs: Self::OCTETS, has: octets.len() });
                }
                let mut read = Self::default();
                let mut rest = octets;
                $(for entry in &mut read.$member {
                    let (here, behind) = rest.split_at(core::mem::size_of::<$type>());
                    *entry = order.read(here) as $type;
                    rest = behind;
                })+
                debug_assert!(rest.is_empty());
                Ok(read)
            }

            /// Writes the structure behind `out`.
            pub fn emit(&self, order: Order, out: &mut Vec<u8>) {
                $(for entry in self.$member {
                    out.extend(order.write(entry.to_le_bytes()));
                })+
            }

            /// Each member with its eight values.
            pub fn values(&self) -> impl Iterator<Item = (&'static Member, [u64; PRIORITIES])> {
                Self::MEMBERS.iter().zip([$(self.$member.map(u64::from)),+])
            }

            /// Sets a member of a priority; whether there is such a member and it can hold the number.
            #[must_use]
            pub fn set(&mut self, member: &str, priority: usize, number: u64) -> bool {
                $(if member == stringify!($member) {
                    if let (Some(entry), Ok(value)) = (self.$member.get_mut(priority), number.try_into()) {
                        *entry = value;
                        return true;
                    }
                })+
                false
            }
        }
    };
    (@unit) => { Unit::One };
    (@unit $unit:ident) => { Unit::$unit };
}

structure! {
    /// `struct ieee_qcn`: the managed objects of reaction points, and the state of the defense, of each priority.
    Qcn, 360 octets;
    /// Reaction points heed notifications: 1, or 0.
    rpg_enable: u8;
    /// The most reaction points.
    rppp_max_rps: u32;
    /// A cycle of the timer, in microseconds.
    rpg_time_reset: u32 of Microseconds;
    /// A cycle of the byte counter.
    rpg_byte_reset: u32 of Octets;
    /// Cycles of Fast Recovery.
    rpg_threshold: u32;
    /// The largest rate.
    rpg_max_rate: u32 of MegabitsPerSecond;
    /// The step of Active Increase.
    rpg_ai_rate: u32 of MegabitsPerSecond;
    /// The step of Hyper-Active Increase.
    rpg_hai_rate: u32 of MegabitsPerSecond;
    /// The binary logarithm of 1/Gd.
    rpg_gd: u32;
    /// The least share of the rate that a cut leaves.
    rpg_min_dec_fac: u32 of Percent;
    /// The least rate.
    rpg_min_rate: u32 of MegabitsPerSecond;
    /// The state of the defense: 0 reset, 1 edge, 2 interior, 3 interior ready.
    cndd_state_machine: u32;
}

structure! {
    /// `struct ieee_qcn_stats`: the counters of reaction points of each priority.
    QcnStats, 96 octets;
    /// The time for which reaction points limited rates, their sum.
    rppp_rp_centiseconds: u64 of Centiseconds;
    /// How often a notification made a reaction point limit a rate.
    rppp_created_rps: u32;
}

/// The state's number in `enum dcbnl_cndd_states`, which has none for the manager's choice: the nearest one is used.
#[must_use]
pub const fn cndd_state(state: State) -> u32 {
    use crate::objects::DefenseMode::{Disabled, Edge, Interior, InteriorReady};
    match state {
        State::Reset | State::Admin(Disabled) => 0,
        State::Edge | State::Admin(Edge) => 1,
        State::Interior | State::Admin(Interior) => 2,
        State::InteriorReady | State::Admin(InteriorReady) => 3,
    }
}

/// The names of the states' numbers.
pub const CNDD_STATES: [&str; 4] = ["reset", "edge", "interior", "interior-ready"];

/// A device's name that no request can have: empty, or longer than [`MOST_NAME`] octets, or with a zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongName;

impl fmt::Display for WrongName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a device's name has 1 to {MOST_NAME} octets")
    }
}

impl core::error::Error for WrongName {}

/// The request for a device's structures.
///
/// # Errors
/// No device can have the name.
pub fn get(device: &str, sequence: u32, order: Order) -> Result<Vec<u8>, WrongName> {
    request(device, sequence, order, number::RTM_GETDCB, number::DCB_CMD_IEEE_GET, None)
}

/// The request that gives a device other values.
///
/// # Errors
/// No device can have the name.
pub fn set(device: &str, sequence: u32, qcn: &Qcn, order: Order) -> Result<Vec<u8>, WrongName> {
    request(device, sequence, order, number::RTM_SETDCB, number::DCB_CMD_IEEE_SET, Some(qcn))
}

fn request(
    device: &str,
    sequence: u32,
    order: Order,
    kind: u16,
    command: u8,
    qcn: Option<&Qcn>,
) -> Result<Vec<u8>, WrongName> {
    if device.is_empty() || device.len() > MOST_NAME || device.contains('\0') {
        return Err(WrongName);
    }
    let mut name = Vec::from(device);
    name.push(0);
    let mut message = Vec::new();
    message.extend([0; 4]);
    message.extend(order.write(kind.to_le_bytes()));
    message.extend(order.write(number::NLM_F_REQUEST.to_le_bytes()));
    message.extend(order.write(sequence.to_le_bytes()));
    message.extend([0; 4]);
    message.extend([0, command, 0, 0]);
    attribute(&mut message, order, number::DCB_ATTR_IFNAME, &name);
    if let Some(qcn) = qcn {
        let (mut structure, mut nested) = (Vec::new(), Vec::new());
        qcn.emit(order, &mut structure);
        attribute(&mut nested, order, number::DCB_ATTR_IEEE_QCN, &structure);
        attribute(&mut message, order, number::DCB_ATTR_IEEE | number::NLA_F_NESTED, &nested);
    }
    let length = order.write((message.len() as u32).to_le_bytes());
    message[..4].copy_from_slice(&length);
    Ok(message)
}

fn attribute(out: &mut Vec<u8>, order: Order, kind: u16, value: &[u8]) {
    out.extend(order.write(((ATTRIBUTE + value.len()) as u16).to_le_bytes()));
    out.extend(order.write(kind.to_le_bytes()));
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
}

/// The kernel's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one answer is read at a time")]
pub enum Reply {
    /// A device's structures, as far as its driver has them.
    Values {
        /// Values of reaction points.
        qcn: Option<Qcn>,
        /// Counters of reaction points.
        stats: Option<QcnStats>,
    },
    /// The values are taken.
    Done,
    /// The kernel refuses, with this error number.
    Refused(u32),
}

/// Why octets are no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// They end before the part at this octet does.
    Truncated {
        /// The part.
        part: &'static str,
        /// Where it begins.
        offset: usize,
    },
    /// A structure has another length in this kernel.
    Structure {
        /// Its name here.
        name: &'static str,
        /// The octets that it should have.
        needs: usize,
        /// The octets that it has.
        has: usize,
    },
    /// The message is of another type.
    Kind(u16),
    /// The message answers another request.
    Sequence(u32),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { part, offset } => write!(f, "dcbnl: the {part} at octet {offset} is cut off"),
            Self::Structure { name, needs, has } => {
                write!(f, "dcbnl: {name} has {has} octets, and should have {needs}")
            }
            Self::Kind(kind) => write!(f, "dcbnl: a message of type {kind} is no answer to a request of DCB"),
            Self::Sequence(sequence) => write!(f, "dcbnl: the message answers request {sequence}, not this one"),
        }
    }
}

impl core::error::Error for Malformed {}

/// Reads the answer to the request of this sequence number.
///
/// # Errors
/// The octets are no such answer.
pub fn reply(octets: &[u8], sequence: u32, order: Order) -> Result<Reply, Malformed> {
    let cut = |part, offset| Malformed::Truncated { part, offset };
    let at = |from: usize, length: usize| octets.get(from..from + length).map(|field| order.read(field));
    let length = at(0, 4).ok_or(cut("head", 0))? as usize;
    let (Some(kind), Some(answered), true) = (at(4, 2), at(8, 4), (MESSAGE..=octets.len()).contains(&length)) else {
        return Err(cut("message", 0));
    };
    let (kind, answered) = (kind as u16, answered as u32);
    if answered != sequence {
        return Err(Malformed::Sequence(answered));
    }
    let body = &octets[..length];
    match kind {
        number::NLMSG_ERROR => {
            let error = body.get(MESSAGE..MESSAGE + 4).ok_or(cut("error", MESSAGE))?;
            let error = order.read(error) as u32 as i32;
            Ok(if error == 0 { Reply::Done } else { Reply::Refused(error.unsigned_abs()) })
        }
        number::RTM_GETDCB => values(body, order),
        number::RTM_SETDCB => status(body, order),
        _ => Err(Malformed::Kind(kind)),
    }
}

/// Whether the octet in the answer to a request to set says that all is well: 0, or the low octet of a negative error number.
fn status(body: &[u8], order: Order) -> Result<Reply, Malformed> {
    let mut read = Attributes { octets: body, at: MESSAGE + FAMILY, end: body.len(), order };
    while let Some((kind, range)) = read.next()? {
        if let (number::DCB_ATTR_IEEE, Some(&octet)) = (kind, body.get(range.start)) {
            return Ok(if octet == 0 { Reply::Done } else { Reply::Refused(u32::from(octet.wrapping_neg())) });
        }
    }
    Ok(Reply::Done)
}

fn values(body: &[u8], order: Order) -> Result<Reply, Malformed> {
    let (mut qcn, mut stats) = (None, None);
    let mut read = Attributes { octets: body, at: MESSAGE + FAMILY, end: body.len(), order };
    while let Some((kind, range)) = read.next()? {
        if kind != number::DCB_ATTR_IEEE {
            continue;
        }
        let mut nested = Attributes { octets: body, at: range.start, end: range.end, order };
        while let Some((kind, range)) = nested.next()? {
            match kind {
                number::DCB_ATTR_IEEE_QCN => qcn = Some(Qcn::parse(&body[range], order)?),
                number::DCB_ATTR_IEEE_QCN_STATS => stats = Some(QcnStats::parse(&body[range], order)?),
                _ => {}
            }
        }
    }
    Ok(Reply::Values { qcn, stats })
}

/// The attributes from one octet of a message to another.
struct Attributes<'a> {
    octets: &'a [u8],
    at: usize,
    end: usize,
    order: Order,
}

impl Attributes<'_> {
    /// The type of the next attribute, and the position of its value.
    fn next(&mut self) -> Result<Option<(u16, core::ops::Range<usize>)>, Malformed> {
        if self.at >= self.end {
            return Ok(None);
        }
        let here = self.octets.get(self.at..self.end).unwrap_or_default();
        let cut = Malformed::Truncated { part: "attribute", offset: self.at };
        let (Some(length), Some(kind)) = (here.get(..2), here.get(2..4)) else { return Err(cut) };
        let (length, kind) = (self.order.read(length) as usize, self.order.read(kind) as u16);
        if !(ATTRIBUTE..=here.len()).contains(&length) {
            return Err(cut);
        }
        let value = self.at + ATTRIBUTE..self.at + length;
        self.at += length.next_multiple_of(4);
        Ok(Some((kind & number::NLA_TYPE_MASK, value)))
    }
}

impl Member {
    /// The member of [`Qcn`] or [`QcnStats`] of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Qcn::MEMBERS.iter().chain(QcnStats::MEMBERS).find(|member| member.name == name)
    }

    /// Reads a value as the managed object of the same name reads it, but in Linux's unit; a state by its word or number.
    ///
    /// # Errors
    /// It is no value of the member.
    pub fn read(&self, text: &str) -> Result<u64, NotAValue> {
        let refused = |message, hint| NotAValue { key: self.name, message, hint };
        let Some(object) = object(self.name) else {
            let word = text.trim();
            let numbered = |number: &usize| word.parse() == Ok(*number);
            let found = (0..CNDD_STATES.len()).find(|number| CNDD_STATES[*number] == word || numbered(number));
            return found.map(|state| state as u64).ok_or_else(|| {
                refused(format!("\"{text}\" is no state"), format!("the states are {}", CNDD_STATES.join(", ")))
            });
        };
        let number = object.read_in(self.unit, text)?;
        let most = u64::MAX >> (64 - 8 * self.octets);
        match (object.syntax, u64::try_from(number)) {
            (Syntax::Truth, _) => Ok(u64::from(number == 1)),
            (_, Ok(number)) if number <= most => Ok(number),
            _ => Err(refused(
                format!("\"{text}\" is out of range"),
                format!("Linux holds 0 to {most} {}", self.unit.name()),
            )),
        }
    }

    /// Writes a value for a person.
    #[must_use]
    pub fn show(&self, number: u64) -> String {
        match (object(self.name).map(|object| object.syntax), CNDD_STATES.get(number as usize)) {
            (None, Some(state)) => (*state).to_string(),
            (Some(Syntax::Truth), _) => (number != 0).to_string(),
            _ => in_unit(number.into(), self.unit),
        }
    }
}
