//! The times in which messages of a job were under way over each link.

use penstock_schemes::{Duration, Instant};
use penstock_sim::network::PortId;
use penstock_sim::outcome::LinkSpan;

/// Gaps are closed that are shorter than this part of the time up to the last end, so that memory stays bounded.
const CELLS: u64 = 1024;

/// The links of a job.
#[derive(Debug, Default)]
pub(super) struct BusyLinks {
    /// By port.
    links: Vec<BusyLink>,
}

/// A link. Time is in cells, and two spans share none. So the spans are those of all messages, in whatever order they are added.
#[derive(Debug, Clone, Default)]
struct BusyLink {
    /// In order.
    spans: Vec<(Instant, Instant)>,
    cell: Duration,
}

impl BusyLink {
    fn add(&mut self, begin: Instant, end: Instant) {
        self.widen(Duration((end.0 / CELLS).next_power_of_two()));
        let cell = |at: Instant| at.0 / self.cell.0;
        let first = self.spans.partition_point(|span| cell(span.1) < cell(begin));
        let behind = self.spans.partition_point(|span| cell(span.0) <= cell(end));
        let span = match self.spans.get(first..behind) {
            Some([one, .., last]) => (begin.min(one.0), end.max(last.1)),
            Some([one]) => (begin.min(one.0), end.max(one.1)),
            _ => (begin, end),
        };
        self.spans.splice(first..behind.max(first), [span]);
    }

    /// Cells are as long as this, at the least.
    fn widen(&mut self, cell: Duration) {
        if cell <= self.cell {
            return;
        }
        self.cell = cell;
        self.spans.dedup_by(|next, before| {
            let joins = next.0.0 / cell.0 <= before.1.0 / cell.0;
            if joins {
                before.1 = next.1;
            }
            joins
        });
    }
}

impl BusyLinks {
    /// A message was under way over these ports.
    pub(super) fn add(&mut self, ports: &[PortId], begin: Instant, end: Instant) {
        for port in ports {
            if self.links.len() <= port.index() {
                self.links.resize(port.index() + 1, BusyLink::default());
            }
            self.links[port.index()].add(begin, end);
        }
    }

    /// Adds the messages of others.
    pub(super) fn absorb(&mut self, other: Self) {
        for (port, link) in (0..).map(PortId).zip(other.links) {
            link.spans.into_iter().for_each(|(begin, end)| self.add(&[port], begin, end));
        }
    }

    /// The spans, link by link.
    pub(super) fn take(&mut self) -> Vec<LinkSpan> {
        let links = (0..).map(PortId).zip(std::mem::take(&mut self.links));
        let spans = links.flat_map(|(port, link)| link.spans.into_iter().map(move |span| (port, span)));
        spans
            .filter(|(_, (begin, end))| begin < end)
            .map(|(port, (begin, end))| LinkSpan { port, begin, end })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_link_is_busy_while_any_message_is_under_way() {
        let mut links = BusyLinks::default();
        for (begin, end) in [(10, 30), (20, 40), (40, 50), (60, 70)] {
            links.add(&[PortId(1)], Instant(begin), Instant(end));
        }
        let span = |begin, end| LinkSpan { port: PortId(1), begin: Instant(begin), end: Instant(end) };
        assert_eq!(links.take(), [span(10, 50), span(60, 70)]);
    }

    /// Of 10 000 messages of 9 us every 10 us few spans are left, which cover all of them.
    #[test]
    fn short_gaps_are_closed_where_there_are_many() {
        let mut links = BusyLinks::default();
        let us = 1_000_000;
        for number in 0..10_000 {
            links.add(&[PortId(0)], Instant(number * 10 * us), Instant((number * 10 + 9) * us));
        }
        let spans = links.take();
        assert!(spans.len() <= CELLS as usize, "{}", spans.len());
        assert_eq!((spans[0].begin, spans[spans.len() - 1].end), (Instant(0), Instant(99_999 * us)));
    }

    proptest! {
        /// Neither the order of messages nor who has them first changes anything.
        #[test]
        fn spans_depend_on_no_order(
            messages in prop::collection::vec((0_u64..4_000_000, 0_u64..40_000, any::<bool>()), 0..200),
        ) {
            let mut in_order = BusyLinks::default();
            let mut parts = [BusyLinks::default(), BusyLinks::default()];
            for &(begin, time, _) in &messages {
                in_order.add(&[PortId(2)], Instant(begin), Instant(begin + time));
            }
            for &(begin, time, there) in messages.iter().rev() {
                parts[usize::from(there)].add(&[PortId(2)], Instant(begin), Instant(begin + time));
            }
            let [mut one, other] = parts;
            one.absorb(other);
            prop_assert_eq!(one.take(), in_order.take());
        }
    }
}
