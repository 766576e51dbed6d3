//! The addresses that a switch has learned: bounded, and forgotten with age.

use std::collections::BTreeMap;

use penstock_schemes::{Duration, Instant};
use penstock_wire::MacAddress;

/// Which port leads to a station. (802.1Q, clause 8.7: the filtering database)
#[derive(Debug, Clone)]
pub struct Learned {
    entries: BTreeMap<MacAddress, Entry>,
    most: usize,
    age: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    port: usize,
    seen: Instant,
}

impl Learned {
    /// A table of at most `most` stations, each forgotten when no frame of it has come for `age`.
    #[must_use]
    pub fn new(most: usize, age: Duration) -> Self {
        Self { entries: BTreeMap::new(), most, age }
    }

    /// A frame of `station` has come by `port`. Groups are no stations. In a full table, stations that are too old make room;
    /// if there is none, the new one is not learned.
    pub fn learn(&mut self, now: Instant, station: MacAddress, port: usize) {
        if station.is_group() {
            return;
        }
        if !self.entries.contains_key(&station) && self.entries.len() >= self.most {
            let age = self.age;
            self.entries.retain(|_, entry| now.passed_since(entry.seen) <= age);
            if self.entries.len() >= self.most {
                return;
            }
        }
        self.entries.insert(station, Entry { port, seen: now });
    }

    /// The port that leads to `station`; `None` where it is a group, unknown, or forgotten.
    #[must_use]
    pub fn port(&self, now: Instant, station: MacAddress) -> Option<usize> {
        let entry = self.entries.get(&station)?;
        (now.passed_since(entry.seen) <= self.age).then_some(entry.port)
    }

    /// How many stations are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn station(n: u8) -> MacAddress {
        MacAddress([2, 0, 0, 0, 0, n])
    }

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_ms(1000 * s)
    }

    #[test]
    fn a_station_is_where_its_last_frame_came_from() {
        let mut learned = Learned::new(4, Duration::from_ms(300_000));
        assert_eq!(learned.port(at(0), station(1)), None);
        learned.learn(at(0), station(1), 3);
        learned.learn(at(1), station(1), 2);
        assert_eq!(learned.port(at(1), station(1)), Some(2));
        learned.learn(at(1), MacAddress([1, 0, 0x5e, 0, 0, 1]), 2);
        assert_eq!(learned.len(), 1);
    }

    #[test]
    fn old_stations_are_forgotten() {
        let mut learned = Learned::new(4, Duration::from_ms(300_000));
        learned.learn(at(0), station(1), 3);
        assert_eq!(learned.port(at(300), station(1)), Some(3));
        assert_eq!(learned.port(at(301), station(1)), None);
    }

    #[test]
    fn a_flood_of_addresses_neither_grows_the_table_nor_displaces_stations() {
        let mut learned = Learned::new(4, Duration::from_ms(300_000));
        learned.learn(at(0), station(1), 1);
        for n in 2..=255 {
            learned.learn(at(1), station(n), 9);
        }
        assert_eq!((learned.len(), learned.port(at(2), station(1))), (4, Some(1)));
        // 301 s later the first is too old, and makes room; so do the others 1 s after it.
        learned.learn(at(301), station(200), 7);
        assert_eq!((learned.port(at(301), station(200)), learned.len()), (Some(7), 4));
    }
}
