//! The parts of a frame that a port's defense reads and changes: its priority, its CN-TAG, the notification in it.

use core::fmt;

use penstock_wire::ethernet::{self, ether_type};
use penstock_wire::{Error, cn_tag, cnm, vlan};

/// The EtherType of a service tag (802.1Q, clause 9.5), laid out as a customer's.
const SERVICE_TAG: u16 = 0x88a8;

/// Octets of an EtherType.
const TYPE: usize = 2;

/// Where the parts of a frame lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The octet with the priority of the outermost tag; `None` of a frame without one.
    priority: Option<usize>,
    /// The first CN-TAG, its EtherType included.
    cn_tag: Option<usize>,
    /// The notification.
    cnm: Option<usize>,
}

impl Parts {
    /// Looks through all tags, in whatever order they come: a notification behind two of them is one.
    pub(crate) fn of(frame: &[u8]) -> Self {
        let mut parts = Self { priority: None, cn_tag: None, cnm: None };
        let mut at = ethernet::Repr::OCTETS - TYPE;
        while let Some(&[high, low]) = frame.get(at..at + TYPE) {
            match u16::from_be_bytes([high, low]) {
                ether_type::VLAN | SERVICE_TAG => {
                    parts.priority = parts.priority.or_else(|| (at + TYPE < frame.len()).then_some(at + TYPE));
                    at += vlan::Repr::OCTETS;
                }
                ether_type::CN_TAG => {
                    parts.cn_tag = parts.cn_tag.or(Some(at));
                    at += cn_tag::Repr::OCTETS;
                }
                ether_type::CNM => {
                    parts.cnm = Some(at + TYPE);
                    break;
                }
                _ => break,
            }
        }
        parts
    }

    pub(crate) fn priority(&self, frame: &[u8], untagged: u8) -> u8 {
        self.priority.and_then(|at| frame.get(at)).map_or(untagged, |octet| octet >> 5)
    }

    /// Gives the frame another priority; that of a frame without a tag is the port's alone.
    pub(crate) fn set_priority(&self, frame: &mut [u8], priority: u8) {
        if let Some(octet) = self.priority.and_then(|at| frame.get_mut(at)) {
            *octet = *octet & 0x1f | priority << 5;
        }
    }

    /// The priority of which a notification speaks; `None` if the frame is no notification.
    pub(crate) fn notified(&self, frame: &[u8]) -> Option<Result<u8, Error>> {
        let at = self.cnm?;
        let packet = cnm::Packet::new_checked(frame.get(at..).unwrap_or_default());
        Some(packet.and_then(|packet| cnm::Repr::parse(&packet)).map(|message| message.encapsulated_priority))
    }
}

/// Removes every CN-TAG, and gives the octets that are left. The sender of a second one hoped that the first alone goes.
pub(crate) fn strip(frame: &mut [u8]) -> (usize, u64) {
    let (mut length, mut removed) = (frame.len(), 0);
    while let Some(at) = Parts::of(frame.get(..length).unwrap_or_default()).cn_tag {
        let end = (at + cn_tag::Repr::OCTETS).min(length);
        frame.copy_within(end..length, at);
        length -= end - at;
        removed += 1;
    }
    (length, removed)
}

/// Why a frame is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A notification from outside the domain: the port is at the edge for the priority of which it speaks.
    Outside {
        /// That priority.
        priority: u8,
    },
    /// A notification of a priority that has no congestion notification, so that no reaction point can have caused it.
    NotCnpv {
        /// That priority.
        priority: u8,
    },
    /// A notification that is not whole or not legal.
    Malformed(Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside { priority } => {
                write!(f, "a notification from outside the domain: the port is at the edge for priority {priority}")
            }
            Self::NotCnpv { priority } => {
                write!(f, "a notification for priority {priority}, which has no congestion notification")
            }
            Self::Malformed(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Refusal {}
