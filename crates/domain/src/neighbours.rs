//! The neighbours that a port hears on one instance of LLDP. Their number is bounded: more than one is already too many for
//! a defense, and a station that sends frames of a thousand others takes no more room than the first few.

use penstock_schemes::{Duration, Instant};

use crate::defense::Heard;
use crate::lldpdu::{Announced, Lldpdu, MOST_IDENTIFIER};

/// The most neighbours of a port that are kept apart.
pub const MOST_NEIGHBOURS: usize = 4;

/// A neighbour: the identifiers of chassis and port, and its last announcement.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Neighbour {
    chassis: Identifier,
    port: Identifier,
    until: Instant,
    cn: Announced,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identifier {
    octets: [u8; MOST_IDENTIFIER],
    length: usize,
}

impl Identifier {
    fn of(text: &[u8]) -> Self {
        let length = text.len().min(MOST_IDENTIFIER);
        let mut octets = [0; MOST_IDENTIFIER];
        octets[..length].copy_from_slice(&text[..length]);
        Self { octets, length }
    }

    fn is(&self, text: &[u8]) -> bool {
        self.octets.get(..self.length) == Some(text)
    }
}

/// The neighbours of a port on one instance of LLDP.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Neighbours {
    known: [Option<Neighbour>; MOST_NEIGHBOURS],
}

/// The outcome of an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is kept.
    Kept,
    /// Its neighbour has gone.
    Gone,
    /// There are too many neighbours.
    TooMany,
}

impl Neighbours {
    /// Takes an announcement.
    pub(crate) fn take(&mut self, now: Instant, said: &Lldpdu<'_>) -> Taken {
        let is = |one: &Neighbour| one.chassis.is(said.chassis) && one.port.is(said.port);
        let place = self.known.iter_mut().find(|one| one.as_ref().is_some_and(is));
        if said.seconds == 0 {
            if let Some(place) = place {
                *place = None;
            }
            return Taken::Gone;
        }
        let until = now + Duration::from_ms(1000 * u64::from(said.seconds));
        if let Some(Some(one)) = place {
            (one.until, one.cn) = (until, said.cn);
            return Taken::Kept;
        }
        let Some(free) = self.known.iter_mut().find(|one| one.is_none()) else { return Taken::TooMany };
        let (chassis, port) = (Identifier::of(said.chassis), Identifier::of(said.port));
        *free = Some(Neighbour { chassis, port, until, cn: said.cn });
        Taken::Kept
    }

    /// Removes the neighbours whose time to live has expired, and returns their number.
    pub(crate) fn age(&mut self, now: Instant) -> u64 {
        let mut gone = 0;
        for one in &mut self.known {
            if one.as_ref().is_some_and(|one| one.until <= now) {
                *one = None;
                gone += 1;
            }
        }
        gone
    }

    /// When the next neighbour is forgotten.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.known.iter().flatten().map(|one| one.until).min()
    }

    /// The number of neighbours that are known.
    #[must_use]
    pub fn count(&self) -> usize {
        self.known.iter().flatten().count()
    }

    /// `cnpdRcvdCnpv` and `cnpdRcvdReady` of a priority: the announcement of the one neighbour. Of several neighbours none counts,
    /// since frames of all of them come in at this port.
    #[must_use]
    pub fn heard(&self, priority: u8) -> Heard {
        let mut known = self.known.iter().flatten();
        match (known.next().map(|one| one.cn), known.next()) {
            (Some(Announced::Priorities { cnpv, ready }), None) => {
                Heard { cnpv: cnpv >> priority & 1 == 1, ready: ready >> priority & 1 == 1 }
            }
            _ => Heard::default(),
        }
    }
}
