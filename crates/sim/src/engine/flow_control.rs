//! The events of networks with [`Full`](crate::Full): flow control, credits, retry, shapers, interfaces that pause, lines that lose frames. The switches
//! handle most of them; here are the consequences for hosts and counts.

use penstock_endpoint::{PortId, TrafficClass};
use penstock_schemes::{Duration, Scheme};
use penstock_switch::Model;
use penstock_switch::Timer;
use penstock_switch::datapath::pausing::Landed;
use penstock_switch::events::{FrameId, PauseId};
use penstock_switch::flow_control::pause::bits;
use penstock_switch::flow_control::pause_frames::Message;

use crate::engine::Sim;
use crate::probe::Probe;
use crate::state::event::Event;

impl<S: Scheme, P: Probe<S>, M: Model> Sim<S, P, M> {
    /// Handles an event that only a network with flow control or its like has.
    #[cold]
    pub(crate) fn flow_control(&mut self, event: Event) {
        let fabric = &mut self.state.fabric;
        match event {
            Event::Pause(frame) => self.pause_arrives(frame),
            Event::Stopping(port) => fabric.expire(Timer::Stopping(port)),
            Event::Refresh(counter) => fabric.expire(Timer::Refresh(counter)),
            Event::Watchdog(queue) => fabric.expire(Timer::Watchdog(queue)),
            Event::Shaper(port) => {
                // A port that is settled later than its shaper lets go does without this event.
                self.housekeeping += 1;
                fabric.expire(Timer::Shaper(port));
            }
            Event::Link(port) => fabric.expire(Timer::Link(port)),
            Event::Storm(id) => self.storm(id),
            Event::Drained(frame) => self.leave_receive_buffer(frame),
            Event::Corrupted(frame) => self.drop_corrupted(frame),
            other => unreachable!("{other:?} is no event of flow control"),
        }
        let flushed = std::mem::take(&mut self.state.fabric.flushed);
        self.drop_flushed(flushed);
        while let Some(frame) = self.state.fabric.given_up.pop() {
            self.count_corrupted(frame);
        }
        self.unpark_resumed();
    }

    /// Sources may send again where queues have gone on.
    pub(crate) fn unpark_resumed(&mut self) {
        while let Some((port, class)) = self.state.fabric.resumed.pop() {
            self.state.sources.unpark(self.state.fabric.now, port, class);
            self.arm_turn(port);
        }
    }

    /// A pause frame has reached the far end of its line.
    fn pause_arrives(&mut self, frame: PauseId) {
        match self.state.fabric.land_pause(frame) {
            // It is an event where it arrives.
            Landed::Elsewhere => self.housekeeping += 1,
            Landed::Lost => {}
            Landed::Corrupted(frame) if frame.message != Message::Pause => {}
            Landed::Corrupted(frame) => self.show_corrupted(frame.line, frame.message()),
            Landed::Arrived(frame) if frame.message != Message::Pause => self.state.fabric.receive_message(frame),
            Landed::Arrived(frame) => {
                self.show_pause(frame.line, frame.message());
                let fabric = &mut self.state.fabric;
                let port = fabric.pauses.reverse(frame.line);
                for class in bits(frame.stop) {
                    fabric.obey(port, class, frame.time);
                }
                for class in bits(frame.resume) {
                    fabric.obey(port, class, Duration::ZERO);
                }
            }
        }
    }

    /// Drops the frames that wait in a queue.
    pub(crate) fn flush(&mut self, port: PortId, class: TrafficClass) {
        let flushed = self.state.fabric.drain(port, class);
        self.drop_flushed(flushed);
    }

    /// Counts frames that were taken out of a queue as dropped, and removes them.
    fn drop_flushed(&mut self, flushed: Vec<FrameId>) {
        self.charge(flushed.len() as u64);
        for frame in flushed {
            let slot = self.state.fabric.frames.get(frame);
            let (hop, kind) = (slot.hop, slot.kind());
            self.count_drop(hop, kind);
            self.state.fabric.frames.remove(frame);
        }
    }
}
