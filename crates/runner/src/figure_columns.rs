//! The parts of a summary that figures show. That of fifty thousand queues is megabytes as text, and takes longer to read than
//! figures take to draw.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt8Array, UInt64Array};
use penstock_results::Summary;
use penstock_results::summary::QueueSummary;

use crate::sink::Records;

/// A summary without its queues, flows, hosts and windows, which grow with the network; the rest is some lines.
#[must_use]
pub fn in_brief(summary: &Summary) -> Summary {
    let (queues, flows, hosts, windows) = Default::default();
    Summary { queues, flows, hosts, windows, ..summary.clone() }
}

/// The queues of a summary, a row each in its order, and the keys by which they are chosen and shown, a column each.
#[must_use]
pub fn queues(summary: &Summary) -> Records {
    let queues = &summary.queues;
    let whole = |value: fn(&QueueSummary) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(queues.iter().map(value)))
    };
    let real = |value: fn(&QueueSummary) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(queues.iter().map(value)))
    };
    let columns: [(&str, ArrayRef); 9] = [
        ("name", Arc::new(StringArray::from_iter_values(queues.iter().map(|queue| &queue.name)))),
        ("priority", Arc::new(UInt8Array::from_iter_values(queues.iter().map(|queue| queue.priority)))),
        ("mean_octets", real(|queue| queue.mean_octets)),
        ("max_octets", whole(|queue| queue.max_octets)),
        ("utilization", real(|queue| queue.utilization)),
        ("frames_dropped", whole(|queue| queue.frames_dropped)),
        ("feedback_frames", whole(|queue| queue.feedback_frames)),
        ("paused_s", real(|queue| queue.paused_s)),
        ("set_point_octets", Arc::new(queues.iter().map(|queue| queue.set_point_octets).collect::<UInt64Array>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("each queue has a row in every column");
    Records { schema: batch.schema(), batches: vec![batch] }
}
