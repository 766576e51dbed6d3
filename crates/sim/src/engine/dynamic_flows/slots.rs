//! Which slot a flow that begins takes.

/// The slots that are free, and how many there have been. Flows that begin in one part of the network, and are known elsewhere later, have slots
/// that no other part gives away: each group has every n-th one.
#[derive(Debug)]
pub(super) struct Slots {
    groups: Vec<Group>,
}

/// The slots of flows that all parts know of before they begin, or of those that begin in one part.
#[derive(Debug, Clone, Default)]
struct Group {
    free: Vec<usize>,
    /// How many slots it has, free or taken.
    all: usize,
}

impl Slots {
    pub(super) fn new(groups: usize) -> Self {
        Self { groups: vec![Group::default(); groups] }
    }

    /// A slot of a group: a free one, or the next that nothing has been in.
    pub(super) fn take(&mut self, group: usize) -> usize {
        let groups = self.groups.len();
        let own = &mut self.groups[group];
        own.free.pop().unwrap_or_else(|| {
            own.all += 1;
            group + (own.all - 1) * groups
        })
    }

    /// A slot is free.
    pub(super) fn give_back(&mut self, slot: usize) {
        let group = slot % self.groups.len();
        self.groups[group].free.push(slot);
    }

    /// Whether a group has none that is free.
    pub(super) fn are_scarce(&self) -> bool {
        self.groups.iter().any(|group| group.all > 0 && group.free.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_share_no_slot() {
        let mut slots = Slots::new(3);
        assert!(!slots.are_scarce());
        assert_eq!([0, 1, 1, 2, 0].map(|group| slots.take(group)), [0, 1, 4, 2, 3]);
        assert!(slots.are_scarce());
        for slot in [0, 1, 2] {
            slots.give_back(slot);
        }
        assert!(!slots.are_scarce());
        assert_eq!([1, 1, 0, 2].map(|group| slots.take(group)), [1, 7, 0, 2]);
    }

    #[test]
    fn one_group_has_all() {
        let mut slots = Slots::new(1);
        assert_eq!([0, 0].map(|group| slots.take(group)), [0, 1]);
        slots.give_back(0);
        assert_eq!([0, 0].map(|group| slots.take(group)), [0, 2]);
    }
}
