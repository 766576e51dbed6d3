//! Control frames of schemes, and PFC frames.

use penstock_schemes::{CpId, Message};
use penstock_wire::ethernet::ether_type;
use penstock_wire::experimental::{
    UNLIMITED, bcn, cim, credit, fair_rate, grant, path_probe, pull, rate_probe, source_pause,
};
use penstock_wire::{Error, MacAddress, cnm, mac_control, smcc};

use super::headers::{Address, Route, Tag, ethernet, put};
use super::transports;

/// EtherType of a message that no format has: a value that is reserved.
const NO_TYPE: u16 = 0xffff;

/// All that a control frame says besides its message.
#[derive(Debug, Clone, Copy)]
pub(super) struct About {
    pub(super) route: Route,
    /// The flow's number, if its source has a limiter to which it could belong.
    pub(super) flow: Option<u16>,
    /// The number of the flow.
    pub(super) pair: u16,
    /// The port of the flow's source.
    pub(super) port: u16,
    /// The address of the flow's source.
    pub(super) encapsulated_source: MacAddress,
    /// The flow's own priority and destination.
    pub(super) encapsulated_priority: u8,
    pub(super) encapsulated_destination: Address,
}

/// The frame of a message, not padded. `sampled` gives the first octets of a frame of the flow, from its EtherType on.
pub(super) fn message(message: Option<Message>, about: &About, sampled: impl FnOnce(usize) -> Vec<u8>) -> Vec<u8> {
    match message {
        Some(Message::Cnp) => transports::cnp(about.route, about.port, about.pair),
        Some(Message::FastCnp) => {
            transports::fast_cnp(about.route, about.encapsulated_destination, about.port, about.pair)
        }
        Some(Message::Cnm { cp, fb, q_off, q_delta }) => {
            let message = cnm::Repr {
                quantized_feedback: fb.steps(),
                cp_id: cp.0,
                q_offset: cnm::Repr::units(-q_off),
                q_delta: cnm::Repr::units(q_delta),
                encapsulated_priority: about.encapsulated_priority,
                encapsulated_destination: about.encapsulated_destination.mac,
                encapsulated_msdu_length: 0,
            };
            let mut frame = about.tagged(ether_type::CNM);
            put(&mut frame, cnm::Repr::OCTETS, |octets| message.emit(octets));
            frame
        }
        Some(Message::Smcc { cp, q_off, q_delta }) => {
            let message = smcc::Repr {
                cp_id: cp.0,
                encapsulated_priority: about.encapsulated_priority,
                encapsulated_destination: about.encapsulated_destination.mac,
                q_off,
                q_delta,
            };
            let mut frame = about.tagged(ether_type::SMCC);
            put(&mut frame, smcc::Repr::OCTETS, |octets| message.emit(octets));
            frame
        }
        Some(Message::Bcn { cp, q_off, q_delta }) => about.bcn(cp, q_off, q_delta),
        Some(Message::RateProbe { round, rate, cp, returned }) => {
            let message = rate_probe::Repr {
                returned,
                rlq_id: about.flow.unwrap_or(0),
                round,
                rate: rate.map_or(UNLIMITED, |rate| rate.0),
                cp_id: cp.0,
            };
            about.experimental(rate_probe::Repr::OCTETS, |octets| message.emit(octets))
        }
        Some(Message::PathProbe { sent_at, q_off, returned }) => {
            let message = path_probe::Repr {
                returned,
                measured: q_off.is_some(),
                rlq_id: about.flow.unwrap_or(0),
                sent_at: sent_at.0,
                q_off: q_off.unwrap_or(0),
            };
            about.experimental(path_probe::Repr::OCTETS, |octets| message.emit(octets))
        }
        Some(Message::Cim { count, carried }) => {
            let msdu = sampled(carried.min(cim::MSDU_MOST).into());
            let message = cim::Repr {
                add: true,
                destination: about.encapsulated_destination.mac,
                source: about.encapsulated_source,
                priority: about.encapsulated_priority,
                vlan_identifier: 0,
                msdu_length: msdu.len() as u16,
                count,
            };
            let mut frame = about.experimental(cim::Repr::OCTETS, |octets| message.emit(octets));
            frame.extend(msdu);
            frame
        }
        Some(Message::FairRate { cp, rate }) => {
            let message = fair_rate::Repr { rlq_id: about.flow.unwrap_or(0), rate: rate.0, cp_id: cp.0 };
            about.experimental(fair_rate::Repr::OCTETS, |octets| message.emit(octets))
        }
        Some(Message::SourcePause { cp, time }) => {
            let message = source_pause::Repr { rlq_id: about.flow.unwrap_or(0), pause_time: time.0, cp_id: cp.0 };
            about.experimental(source_pause::Repr::OCTETS, |octets| message.emit(octets))
        }
        Some(Message::Grant { offset, octets, level, resend, busy }) => {
            let (rlq_id, granted) = (about.flow.unwrap_or(0), octets.min(u32::MAX.into()) as u32);
            let message = grant::Repr { resend, busy, level: level.min(7), rlq_id, grant_offset: offset, granted };
            about.experimental(grant::Repr::OCTETS, |octets| message.emit(octets))
        }
        Some(Message::Pull { number, frames }) => {
            let message = pull::Repr { rlq_id: about.flow.unwrap_or(0), pull_number: number, frames };
            about.experimental(pull::Repr::OCTETS, |octets| message.emit(octets))
        }
        Some(Message::Credit { number }) => about.credit(false, number),
        Some(Message::CreditRequest) => about.credit(true, 0),
        // A scheme outside of this repository may have another message.
        _ => about.untagged(NO_TYPE),
    }
}

impl About {
    /// A message of ExpressPass.
    fn credit(&self, request: bool, credit_number: u32) -> Vec<u8> {
        let message = credit::Repr { request, rlq_id: self.flow.unwrap_or(0), credit_number };
        self.experimental(credit::Repr::OCTETS, |octets| message.emit(octets))
    }

    /// A message of BCN; its offset has the sign of a CNM's.
    fn bcn(&self, cp: CpId, q_off: i32, q_delta: i32) -> Vec<u8> {
        let units = |units: i32| units.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
        let message = bcn::Repr {
            cp_id: cp.0,
            q_off: units(q_off.saturating_neg()),
            q_delta: units(q_delta),
            rlq_id: self.flow.unwrap_or(0),
        };
        self.experimental(bcn::Repr::OCTETS, |octets| message.emit(octets))
    }

    /// The head of a message behind the CN-TAG of the flow.
    fn tagged(&self, ether_type: u16) -> Vec<u8> {
        let priority = Tag::Priority(self.route.points.pcp);
        match self.flow {
            Some(flow) => self.head(&[priority, Tag::Cn(flow)], ether_type),
            None => self.head(&[priority], ether_type),
        }
    }

    /// A message behind the local experimental EtherType.
    fn experimental(&self, octets: usize, emit: impl FnOnce(&mut [u8]) -> Result<usize, Error>) -> Vec<u8> {
        let mut frame = self.untagged(ether_type::EXPERIMENTAL);
        put(&mut frame, octets, emit);
        frame
    }

    fn untagged(&self, ether_type: u16) -> Vec<u8> {
        self.head(&[Tag::Priority(self.route.points.pcp)], ether_type)
    }

    fn head(&self, tags: &[Tag], ether_type: u16) -> Vec<u8> {
        ethernet(self.route.source.mac, self.route.destination.mac, tags, ether_type)
    }
}

/// A PFC frame of `source` that stops these priorities for `quanta`, and lets those go on.
pub(super) fn pfc(source: MacAddress, stop: u8, resume: u8, quanta: u16) -> Vec<u8> {
    let time = |priority: usize| match (stop >> priority & 1, resume >> priority & 1) {
        (1, _) => Some(quanta),
        (_, 1) => Some(0),
        _ => None,
    };
    let message = mac_control::pfc::Repr::new(std::array::from_fn(time));
    let mut frame = ethernet(source, mac_control::DESTINATION, &[], ether_type::MAC_CONTROL);
    put(&mut frame, mac_control::pfc::Repr::OCTETS, |octets| message.emit(octets));
    frame
}
