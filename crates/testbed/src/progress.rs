//! How far TCP connections have come, seen from the frames that reach their receiver.

use crate::frame::Segment;
use crate::interface::FlowCounts;

/// The most connections of a host that are followed.
const MOST: usize = 1024;

/// A connection.
#[derive(Debug, Clone, Copy)]
struct Connection {
    flow: usize,
    /// The sender's port.
    port: u16,
    /// The sequence number behind the highest octet that has arrived.
    end: u32,
}

/// The connections that end at a host.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connections(Vec<Connection>);

impl Connections {
    /// A segment of a flow has come: its connection goes on by the new octets.
    pub(crate) fn follow(&mut self, flow: usize, segment: Segment, counts: &mut FlowCounts) {
        let end = segment.sequence.wrapping_add(segment.octets);
        let room = self.0.len() < MOST;
        let known = self.0.iter_mut().find(|known| (known.flow, known.port) == (flow, segment.port));
        match known {
            // A new connection of the same ports begins with SYN, which counts as an octet.
            Some(known) if segment.first => known.end = end.wrapping_add(1),
            Some(known) => {
                let ahead = end.wrapping_sub(known.end);
                // More than half of all numbers ahead is behind.
                if ahead > 0 && ahead <= u32::MAX / 2 {
                    known.end = end;
                    counts.data_octets += u64::from(ahead);
                } else if segment.octets > 0 {
                    counts.late_segments += 1;
                }
            }
            None if room => {
                let end = if segment.first { end.wrapping_add(1) } else { end };
                self.0.push(Connection { flow, port: segment.port, end });
            }
            None => {}
        }
    }
}
