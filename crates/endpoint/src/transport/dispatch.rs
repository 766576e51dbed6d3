//! A transport that is chosen at run time.

use penstock_schemes::info::{Configuration, Parameter, Value};
use penstock_schemes::{Instant, Octets};

use super::go_back_n::{self, GoBackNReceiver, GoBackNSender};
use super::selective::{self, SelectiveReceiver, SelectiveSender};
use super::tcp::{self, TcpReceiver, TcpSender};
use super::{Ack, Acks, ROCE_HEADER_OCTETS, Receiver, Segment, Sender, Statistics};

/// A transport and its parameters, from which both halves of a flow are made.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// RoCE as it is.
    GoBackN(go_back_n::Config),
    /// RoCE as it could be.
    Selective(selective::Config),
    /// TCP.
    Tcp(tcp::Config),
}

/// The description of a transport before its parameters are chosen.
#[derive(Debug, Clone, Copy)]
pub struct TransportInfo {
    /// Its name in a scenario.
    pub name: &'static str,
    /// A description in one line.
    pub title: &'static str,
    /// Its parameters, in the order in which [`make`](Self::make) takes their values.
    pub parameters: &'static [Parameter],
    make: fn(&[Value]) -> Option<Transport>,
}

/// Every transport.
pub const TRANSPORTS: &[TransportInfo] = &[
    TransportInfo {
        name: "tcp",
        title: "TCP: NewReno, CUBIC, DCTCP or BBR (RFC 9293, 6582, 9438, 8257; Cardwell et al. 2016)",
        parameters: tcp::Config::PARAMETERS,
        make: |values| tcp::Config::from_values(values).map(Transport::Tcp),
    },
    TransportInfo {
        name: "go-back-n",
        title: "RoCE's reliable connection: after a loss everything is sent again",
        parameters: go_back_n::Config::PARAMETERS,
        make: |values| go_back_n::Config::from_values(values).map(Transport::GoBackN),
    },
    TransportInfo {
        name: "selective",
        title: "RoCE with selective retransmission (Mittal et al. 2018)",
        parameters: selective::Config::PARAMETERS,
        make: |values| selective::Config::from_values(values).map(Transport::Selective),
    },
];

impl TransportInfo {
    /// The transport with these values of its parameters; `None` if they are not of the parameters' number and kinds.
    #[must_use]
    pub fn make(&self, values: &[Value]) -> Option<Transport> {
        (self.make)(values)
    }

    /// The parameter that says how many octets of data a full segment has.
    #[must_use]
    pub fn segment_parameter(&self) -> &'static str {
        self.parameters.first().map_or("", |parameter| parameter.name)
    }
}

impl Transport {
    /// Which of [`TRANSPORTS`] it is.
    #[must_use]
    pub fn info(&self) -> &'static TransportInfo {
        let name = match self {
            Self::Tcp(_) => "tcp",
            Self::GoBackN(_) => "go-back-n",
            Self::Selective(_) => "selective",
        };
        TRANSPORTS.iter().find(|info| info.name == name).expect("every transport is in the list")
    }

    /// Octets of data in a full segment.
    #[must_use]
    pub fn segment(&self) -> Octets {
        match self {
            Self::GoBackN(config) => config.mtu,
            Self::Selective(config) => config.mtu,
            Self::Tcp(config) => config.mss,
        }
    }

    /// Octets of the headers of a segment, from the network layer's on.
    #[must_use]
    pub fn header_octets(&self) -> u32 {
        match self {
            Self::GoBackN(_) | Self::Selective(_) => ROCE_HEADER_OCTETS,
            Self::Tcp(_) => tcp::HEADER_OCTETS,
        }
    }

    /// The sending half of a flow whose first segment has sequence number `first`.
    #[must_use]
    pub fn sender(&self, first: u32) -> AnySender {
        match self {
            Self::GoBackN(config) => AnySender::GoBackN(GoBackNSender::new(config, first)),
            Self::Selective(config) => AnySender::Selective(SelectiveSender::new(config, first)),
            Self::Tcp(config) => AnySender::Tcp(TcpSender::new(config, first)),
        }
    }

    /// The receiving half of the same flow.
    #[must_use]
    pub fn receiver(&self, first: u32) -> AnyReceiver {
        match self {
            Self::GoBackN(config) => AnyReceiver::GoBackN(GoBackNReceiver::new(config, first)),
            Self::Selective(config) => AnyReceiver::Selective(SelectiveReceiver::new(config, first)),
            Self::Tcp(config) => AnyReceiver::Tcp(TcpReceiver::new(config, first)),
        }
    }
}

/// The sending half of any transport.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a caller that keeps many of them keeps each in a box")]
pub enum AnySender {
    /// Of go-back-N.
    GoBackN(GoBackNSender),
    /// Of selective retransmission.
    Selective(SelectiveSender),
    /// Of TCP.
    Tcp(TcpSender),
}

/// The receiving half of any transport.
#[derive(Debug, Clone)]
pub enum AnyReceiver {
    /// Of go-back-N.
    GoBackN(GoBackNReceiver),
    /// Of selective retransmission.
    Selective(SelectiveReceiver),
    /// Of TCP.
    Tcp(TcpReceiver),
}

/// Hands a call on to the transport that there is.
macro_rules! of_any {
    ($any:expr, $half:ident => $call:expr) => {
        match $any {
            Self::GoBackN($half) => $call,
            Self::Selective($half) => $call,
            Self::Tcp($half) => $call,
        }
    };
}

impl Sender for AnySender {
    fn supply(&mut self, octets: Octets) {
        of_any!(self, half => half.supply(octets));
    }

    fn finish(&mut self) {
        of_any!(self, half => half.finish());
    }

    #[inline]
    fn next_segment(&self) -> Option<u32> {
        of_any!(self, half => half.next_segment())
    }

    #[inline]
    fn header_octets(&self) -> u32 {
        of_any!(self, half => half.header_octets())
    }

    #[inline]
    fn poll_segment(&mut self, now: Instant) -> Option<Segment> {
        of_any!(self, half => half.poll_segment(now))
    }

    fn may_be_trimmed(&self) -> bool {
        of_any!(self, half => half.may_be_trimmed())
    }

    #[inline]
    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        of_any!(self, half => half.on_ack(now, ack));
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        of_any!(self, half => half.next_timeout())
    }

    fn on_timeout(&mut self, now: Instant) {
        of_any!(self, half => half.on_timeout(now));
    }

    fn has_arrived(&self, seq: u32) -> bool {
        of_any!(self, half => half.has_arrived(seq))
    }

    fn acknowledged(&self) -> Octets {
        of_any!(self, half => half.acknowledged())
    }

    #[inline]
    fn is_finished(&self) -> bool {
        of_any!(self, half => half.is_finished())
    }

    fn statistics(&self) -> Statistics {
        of_any!(self, half => half.statistics())
    }
}

impl Receiver for AnyReceiver {
    #[inline]
    fn on_segment(&mut self, now: Instant, segment: &Segment, ce: bool) -> Acks {
        of_any!(self, half => half.on_segment(now, segment, ce))
    }

    fn on_header(&mut self, now: Instant, segment: &Segment) -> Acks {
        of_any!(self, half => half.on_header(now, segment))
    }

    #[inline]
    fn ack_octets(&self, ack: &Ack) -> u32 {
        of_any!(self, half => half.ack_octets(ack))
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        of_any!(self, half => half.next_timeout())
    }

    fn on_timeout(&mut self, now: Instant) -> Option<Ack> {
        of_any!(self, half => half.on_timeout(now))
    }

    fn delivered(&self) -> Octets {
        of_any!(self, half => half.delivered())
    }
}

#[cfg(test)]
mod tests {
    use penstock_schemes::info::values::octets;

    use super::*;

    /// The list, the names and the first parameter, which is the length of a segment, agree.
    #[test]
    fn every_transport_is_made_from_its_parameters() {
        for info in TRANSPORTS {
            let mut values: Vec<Value> = info.parameters.iter().map(|p| p.default).collect();
            let transport = info.make(&values).expect("defaults are of their parameters' kinds");
            assert_eq!(transport.info().name, info.name);
            assert!(matches!(info.segment_parameter(), "mss" | "mtu"), "{}", info.segment_parameter());
            values[0] = octets(500);
            assert_eq!(info.make(&values).expect("500 octets are in range").segment(), Octets(500));
            assert!(info.make(&values[1..]).is_none(), "a value is missing");
            assert_eq!(transport.sender(0).header_octets(), transport.header_octets());
        }
    }
}
