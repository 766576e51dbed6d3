//! The state of switches, piece by piece: frames, ports and their queues, congestion points, the flows of hops, histograms, schedulers,
//! early detection, links that lose frames.

mod broken_line;
pub mod congestion_point;
pub mod frame;
pub mod histograms;
pub mod holds;
pub mod hop_info;
pub mod impairment;
pub mod length_statistics;
pub mod port;
pub mod scheduler;
pub mod wred;
