//! Records of the segments in flight, by their octets.
//!
//! New data is a record behind the others. A segment that is sent again keeps its record, though a retransmission may have other
//! bounds, and has arrived when all of its octets have.

use alloc::collections::VecDeque;

/// A segment in flight, and `about` it what its keeper wants to know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<T> {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) about: T,
    /// Octets that have not arrived.
    missing: u64,
}

impl<T> Record<T> {
    pub(super) fn has_arrived(&self) -> bool {
        self.missing == 0
    }
}

/// The records, in the order of octets.
#[derive(Debug, Clone)]
pub(super) struct Records<T>(VecDeque<Record<T>>);

impl<T> Default for Records<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T: Copy> Records<T> {
    /// `start..end` is sent for the first time, behind all others.
    pub(super) fn push(&mut self, start: u64, end: u64, about: T) {
        self.0.push_back(Record { start, end, about, missing: end - start });
    }

    /// Calls `change` for each record with octets of `start..end`.
    pub(super) fn change(&mut self, start: u64, end: u64, mut change: impl FnMut(&mut Record<T>)) {
        let first = self.0.partition_point(|r| r.end <= start);
        self.0.range_mut(first..).take_while(|r| r.start < end).for_each(&mut change);
    }

    /// `start..end` has arrived, and had not before. Calls `whole` for each record of which nothing is missing any more.
    pub(super) fn deliver(&mut self, start: u64, end: u64, mut whole: impl FnMut(Record<T>)) {
        self.change(start, end, |record| {
            record.missing -= record.end.min(end) - record.start.max(start);
            if record.has_arrived() {
                whole(*record);
            }
        });
    }

    /// Everything below `una` is acknowledged: its records go.
    pub(super) fn forget(&mut self, una: u64) {
        while self.0.front().is_some_and(|r| r.end <= una) {
            self.0.pop_front();
        }
    }

    /// The record that begins with `start`.
    pub(super) fn beginning(&self, start: u64) -> Option<&Record<T>> {
        self.0.get(self.0.partition_point(|r| r.start < start)).filter(|r| r.start == start)
    }

    /// The first record that ends beyond `octet`.
    pub(super) fn beyond(&self, octet: u64) -> Option<&Record<T>> {
        self.0.get(self.0.partition_point(|r| r.end <= octet))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Record<T>> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 100 octets with the numbers 0, 1 and 2.
    fn three() -> Records<u32> {
        let mut records = Records::default();
        (0..3).for_each(|i| records.push(u64::from(i) * 100, u64::from(i) * 100 + 100, i));
        records
    }

    fn deliver(records: &mut Records<u32>, start: u64, end: u64) -> Vec<u32> {
        let mut whole = Vec::new();
        records.deliver(start, end, |record| whole.push(record.about));
        whole
    }

    #[test]
    fn a_record_is_whole_with_its_last_octet() {
        let mut records = three();
        assert!(deliver(&mut records, 50, 100).is_empty());
        assert_eq!(deliver(&mut records, 100, 250), [1]);
        assert_eq!(deliver(&mut records, 0, 50), [0]);
        assert_eq!(records.iter().filter(|r| r.has_arrived()).count(), 2);
    }

    #[test]
    fn records_are_found_by_octets_and_forgotten() {
        let mut records = three();
        assert_eq!(records.beginning(100).map(|r| r.about), Some(1));
        assert!(records.beginning(150).is_none());
        assert_eq!(records.beyond(100).map(|r| r.about), Some(1));
        let mut seen = Vec::new();
        records.change(199, 201, |record| seen.push(record.about));
        assert_eq!(seen, [1, 2]);
        records.forget(150);
        assert_eq!(records.iter().map(|r| r.about).collect::<Vec<_>>(), [1, 2]);
    }
}
