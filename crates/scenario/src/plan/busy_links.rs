//! The times in which messages of a job were under way over each link.

use std::collections::BTreeMap;
use std::sync::Arc;

use penstock_schemes::{Duration, Instant};
use penstock_sim::network::PortId;
use penstock_sim::outcome::LinkSpan;

/// Spans of a link up to which none is joined with the next one.
const SPANS: usize = 512;

/// The links of a job.
#[derive(Debug, Default)]
pub(super) struct BusyLinks {
    /// By port.
    links: Vec<BusyLink>,
    /// The ports of each message that is under way, by its number.
    under_way: BTreeMap<u32, Arc<[PortId]>>,
}

/// A link. Gaps that are shorter than `gap` are closed: it doubles when there are too many spans, so that memory stays bounded.
#[derive(Debug, Clone, Default)]
struct BusyLink {
    messages: u32,
    spans: Vec<(Instant, Instant)>,
    gap: Duration,
}

impl BusyLink {
    fn begin(&mut self, now: Instant) {
        self.messages += 1;
        if self.messages > 1 {
            return;
        }
        match self.spans.last() {
            Some(&(_, end)) if now.since(end) <= self.gap => {}
            _ => self.spans.push((now, now)),
        }
        if self.spans.len() > SPANS {
            self.join();
        }
    }

    fn end(&mut self, now: Instant) {
        self.messages -= 1;
        if let Some((_, end)) = self.spans.last_mut() {
            *end = now;
        }
    }

    /// Closes gaps until half of the spans are left at the most.
    fn join(&mut self) {
        while self.spans.len() > SPANS / 2 {
            self.gap = Duration((2 * self.gap.0).max(1000));
            let gap = self.gap;
            self.spans.dedup_by(|next, before| {
                let joins = next.0.since(before.1) <= gap;
                if joins {
                    before.1 = next.1;
                }
                joins
            });
        }
    }
}

impl BusyLinks {
    /// A message begins, over these ports.
    pub(super) fn begin(&mut self, number: u32, ports: Arc<[PortId]>, now: Instant) {
        for port in &*ports {
            if self.links.len() <= port.index() {
                self.links.resize(port.index() + 1, BusyLink::default());
            }
            self.links[port.index()].begin(now);
        }
        self.under_way.insert(number, ports);
    }

    /// It ends.
    pub(super) fn end(&mut self, number: u32, now: Instant) {
        for port in &*self.under_way.remove(&number).unwrap_or_default() {
            self.links[port.index()].end(now);
        }
    }

    /// The spans that have ended, link by link.
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
    use super::*;

    #[test]
    fn a_link_is_busy_while_any_message_is_under_way() {
        let mut links = BusyLinks::default();
        let ports: Arc<[PortId]> = Arc::from([PortId(1)]);
        links.begin(0, ports.clone(), Instant(10));
        links.begin(1, ports.clone(), Instant(20));
        links.end(0, Instant(30));
        links.end(1, Instant(40));
        links.begin(2, ports.clone(), Instant(40));
        links.end(2, Instant(50));
        links.begin(3, ports, Instant(60));
        links.end(3, Instant(70));
        let span = |begin, end| LinkSpan { port: PortId(1), begin: Instant(begin), end: Instant(end) };
        assert_eq!(links.take(), [span(10, 50), span(60, 70)]);
    }

    /// Of 10 000 messages of 9 us every 10 us few spans are left, which cover all of them.
    #[test]
    fn short_gaps_are_closed_where_there_are_many() {
        let mut links = BusyLinks::default();
        let us = 1_000_000;
        for number in 0..10_000 {
            links.begin(number, Arc::from([PortId(0)]), Instant(u64::from(number) * 10 * us));
            links.end(number, Instant((u64::from(number) * 10 + 9) * us));
        }
        let spans = links.take();
        assert!(spans.len() <= SPANS, "{}", spans.len());
        assert_eq!((spans[0].begin, spans[spans.len() - 1].end), (Instant(0), Instant(99_999 * us)));
    }
}
