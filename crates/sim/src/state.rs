//! The state of a run, piece by piece: frames, ports and their queues, congestion points, counts, histograms, and the events to come.
//! The types and their own methods; the files above let frames move.

pub(crate) mod congestion_point;
pub(crate) mod event;
pub(crate) mod event_queue;
pub(crate) mod frame;
pub(crate) mod histograms;
pub(crate) mod hop_info;
pub(crate) mod port;
pub(crate) mod records;
