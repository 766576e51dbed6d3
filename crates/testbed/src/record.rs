//! The log of a process of the testbed: one JSON object a line, so that a run that is killed is read as far as it went.

use std::io::{BufRead, BufReader, Read, Write};

use penstock_schemes::Duration;
use serde::{Deserialize, Serialize};

use crate::lateness::Lateness;
use crate::statistics::{Moments, QueueCounts};
use crate::{bridge, interface, progress};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Record {
    /// A queue of a switch, sampled.
    Queue(QueueSample),
    /// A flow at its source, sampled.
    Flow(FlowSample),
    /// A flow at its destination, sampled.
    Sink(SinkSample),
    /// A signal that a reaction point has acted on.
    Signal(SignalSeen),
    /// The end of the run.
    End(Box<End>),
}

/// A queue of a switch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueueSample {
    /// When, ps on the network's clock.
    pub at: u64,
    /// Its index in the scenario's network.
    pub queue: u32,
    /// Octets in it.
    pub len: u64,
    /// Frames in it.
    pub frames: u32,
    /// Bits that the port has put on the line.
    pub line_bits: u64,
    /// Bits that it could have.
    pub scheduled_bits: u64,
    /// Its counts so far.
    pub counts: QueueCounts,
    /// How long priority flow control has stopped it so far, ps.
    pub paused: u64,
    /// The congestion point's variables.
    pub vars: Option<Vec<i64>>,
}

/// A flow at its source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowSample {
    /// When, ps on the network's clock.
    pub at: u64,
    /// The flow's index.
    pub flow: u32,
    /// The rate that it may send at, bit/s; 0 while it is not active.
    pub allowed: u64,
    /// Octets sent, with overhead.
    pub sent: u64,
    /// Signals received.
    pub signals: u64,
    /// The reaction point's variables.
    pub vars: Option<Vec<i64>>,
}

/// A flow at its destination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SinkSample {
    /// When, ps on the network's clock.
    pub at: u64,
    /// The flow's index.
    pub flow: u32,
    /// Octets delivered, with overhead.
    pub delivered: u64,
}

/// A signal that a reaction point has acted on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignalSeen {
    /// When, ps on the network's clock.
    pub at: u64,
    /// The flow's index.
    pub flow: u32,
    /// The rate allowed after it, bit/s.
    pub rate: u64,
    /// The congestion point's identity, where the signal names one.
    pub cp: Option<u64>,
    /// Its variables.
    pub vars: Vec<i64>,
}

/// A queue at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueueEnd {
    /// Its index in the scenario's network.
    pub queue: u32,
    /// Its counts.
    pub counts: QueueCounts,
    /// Mean of its length after the warm-up, octets.
    pub mean: f64,
    /// Standard deviation.
    pub std: f64,
    /// Least length.
    pub min: u64,
    /// Largest length.
    pub max: u64,
    /// Share of the time without an octet.
    pub empty: f64,
    /// Share of the port's rate that was used after the warm-up.
    pub utilization: f64,
    /// How long priority flow control stopped it, ps.
    pub paused: u64,
    /// Pause frames that stopped it, or went on stopping it.
    pub pause_frames: u64,
    /// Times that it was stopped.
    pub stops: u64,
    /// Pause frames that let it go on.
    pub resume_frames: u64,
}

impl QueueEnd {
    /// A queue with these counts, measures, share of the line, and pauses: time, frames, stops, resumes.
    #[must_use]
    pub fn new(
        queue: u32,
        counts: QueueCounts,
        lengths: Moments,
        utilization: f64,
        (paused, pause_frames, stops, resume_frames): (Duration, u64, u64, u64),
    ) -> Self {
        let Moments { mean, std, min, max, empty } = lengths;
        let paused = paused.0;
        Self { queue, counts, mean, std, min, max, empty, utilization, paused, pause_frames, stops, resume_frames }
    }
}

/// A flow at the end of the run, at its source or at its destination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowEnd {
    /// The flow's index.
    pub flow: u32,
    /// All of the run.
    pub counts: progress::FlowCounts,
    /// The same at the end of the warm-up.
    pub before: progress::FlowCounts,
}

/// The end of a process's run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// The node.
    pub node: String,
    /// When it ended, ps on the network's clock.
    pub at: u64,
    /// Whether that was before the scenario's end, because of an interruption.
    pub interrupted: bool,
    /// Its queues (of a switch).
    pub queues: Vec<QueueEnd>,
    /// Flows whose source is here.
    pub sources: Vec<FlowEnd>,
    /// Flows whose destination is here.
    pub sinks: Vec<FlowEnd>,
    /// Drops of each flow's data (of a switch).
    pub dropped: Vec<u64>,
    /// Mean and largest number of installed rate limiters (of a host), over the samples after the warm-up.
    pub limiters_mean: f64,
    /// The largest.
    pub limiters_max: u32,
    /// The switch's own counts.
    pub bridge: bridge::Counts,
    /// The interface's own counts.
    pub interface: interface::Counts,
    /// How late frames left, ns of the machine's clock.
    pub sending: Lateness,
    /// How late frames were read after the kernel had received them, ns of the machine's clock.
    pub reading: Lateness,
    /// Frames that a socket did not take.
    pub unsent: u64,
    /// Frames that left by the wire.
    pub frames: u64,
    /// Whether the process ran with the priority of real time (SCHED_FIFO).
    pub real_time: bool,
}

/// Writes lines.
pub fn write(file: &mut dyn Write, record: &Record) -> std::io::Result<()> {
    serde_json::to_writer(&mut *file, record)?;
    file.write_all(b"\n")
}

/// Reads lines; an unfinished last line ends the file.
///
/// # Errors
/// If the file cannot be read, or a whole line is none of these objects.
pub fn read(file: impl Read) -> std::io::Result<Vec<Record>> {
    let mut records = Vec::new();
    let mut lines = BufReader::new(file);
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        if !line.ends_with('\n') {
            break;
        }
        records.push(serde_json::from_str(&line)?);
        line.clear();
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_and_an_unfinished_one_is_left_out() {
        let sample = Record::Sink(SinkSample { at: 5, flow: 1, delivered: 1518 });
        let end = Record::End(Box::new(End { node: "sw0".to_owned(), at: 7, ..End::default() }));
        let mut file = Vec::new();
        for record in [&sample, &end] {
            write(&mut file, record).unwrap();
        }
        assert_eq!(read(&file[..]).unwrap(), [sample.clone(), end]);
        assert_eq!(read(&file[..file.len() - 1]).unwrap(), [sample]);
        assert!(read(&b"{\"queue\": 1}\n"[..]).is_err());
    }
}
