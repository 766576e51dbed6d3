//! The content of control frames and tags in the terms of the wire's formats, for captures and the testbed. A scheme's wire
//! form, in its folder, translates between its types and these; the formats themselves are in the crate `penstock-wire`.

use crate::parts::quantiser::QntzFb;
use crate::units::{BitRate, CpId, Duration, Instant};

/// The content of a control frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message {
    /// A congestion notification message. (802.1Qau)
    Cnm {
        /// The congestion point.
        cp: CpId,
        /// Quantised |Fb|.
        fb: QntzFb,
        /// Queue length less the set point, octets.
        q_off: i64,
        /// Growth of the queue since the sample before, octets.
        q_delta: i64,
    },
    /// SMCC's message.
    Smcc {
        /// The congestion point.
        cp: CpId,
        /// Queue length less the target, octets.
        q_off: i32,
        /// Growth of the queue since the sample before, octets.
        q_delta: i32,
    },
    /// BCN's message; offset and growth both 0 is BCN(0,0).
    Bcn {
        /// The congestion point.
        cp: CpId,
        /// Queue length less the set point, in units of 64 octets.
        q_off: i32,
        /// Growth of the queue since the sample before, in units of 64 octets.
        q_delta: i32,
    },
    /// A rate probe of FECN or E-FECN.
    RateProbe {
        /// Its number among the flow's probes, from 1.
        round: u32,
        /// The least rate that switches on its path have allowed; `None` before the first.
        rate: Option<BitRate>,
        /// The congestion point that did.
        cp: CpId,
        /// The destination has sent it back.
        returned: bool,
    },
    /// A path probe of E2CM.
    PathProbe {
        /// When it left its source.
        sent_at: Instant,
        /// The largest queue length less set point on its path, octets; `None` before the first queue.
        q_off: Option<i64>,
        /// The destination has sent it back.
        returned: bool,
    },
    /// A congestion isolation message. (802.1Qcz)
    Cim {
        /// How many messages on this flow have gone before it.
        count: u16,
        /// Octets of a frame of the flow that it carries.
        carried: u16,
    },
    /// RoCC's message.
    FairRate {
        /// The congestion point.
        cp: CpId,
        /// The fair rate.
        rate: BitRate,
    },
    /// The message of source flow control.
    SourcePause {
        /// The congestion point.
        cp: CpId,
        /// How long the source is to send nothing.
        time: Duration,
    },
    /// Homa's grant, its request for missing octets, or the answer that they wait at their source.
    Grant {
        /// Octets that have been granted since the start of the flow.
        offset: u64,
        /// Octets that go by this message, for the first time or again.
        octets: u64,
        /// By how much the priority of their frames is above that of the flow.
        level: u8,
        /// They are missing.
        resend: bool,
        /// They have not been sent yet.
        busy: bool,
    },
    /// NDP's pull.
    Pull {
        /// Frames that the destination has pulled since the start of the flow, modulo 2^32.
        number: u32,
        /// How many of them by this pull.
        frames: u32,
    },
    /// ExpressPass' credit.
    Credit {
        /// Its number among the flow's credits, from 0, modulo 2^32.
        number: u32,
    },
    /// An ExpressPass source asks for credits.
    CreditRequest,
    /// A congestion notification packet of RoCEv2.
    Cnp,
    /// The same from a switch, over IPv6, with the destination of the flow's frames. (Fast CNP)
    FastCnp,
}

/// The part of a scheme's tag that a data frame carries in a format of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Label {
    /// None.
    Bare,
    /// A CN-TAG with the flow's number. (802.1Qau)
    CnTag,
    /// BCN's rate-limited tag: the flow's number, and the congestion point with which its limiter is associated.
    Rlt(CpId),
    /// The mark of explicit congestion notification in a header of the Internet (RFC 3168): whether it says Congestion
    /// Experienced.
    Ecn(bool),
    /// The same in a RoCEv2 packet over IPv4.
    Roce(bool),
    /// The same in a RoCEv2 packet over IPv6.
    Roce6(bool),
}

impl Label {
    /// Whether it says that a queue was congested.
    #[must_use]
    #[inline(always)]
    pub const fn marked(self) -> bool {
        matches!(self, Self::Ecn(true) | Self::Roce(true) | Self::Roce6(true))
    }
}
