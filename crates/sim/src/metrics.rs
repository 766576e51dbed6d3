//! The metrics of a result, declared once: those of the network, of a queue, of a flow, of a host.
//!
//! [`Outcome`](crate::Outcome) has its fields from this list. So has everything that shows a result: the summary of a run and
//! of a window, the table of flows, their reference and their types in other languages. To add a metric, add its entry here
//! and the code that computes it; as long as that code is missing, nothing compiles.

/// Hands the metrics of one kind of thing to a macro: `metrics_of!(flow, run => list!(header))` becomes
/// `list! { (header) {entry} {entry} … }`. The things are `totals`, `queue`,
/// `flow`, `host` and `pool`.
///
/// An entry reads `{ source scope name: type, "unit", "description" }`, with `, where condition` at the end for a metric that
/// not every run has.
///
/// | Source | Computation |
/// |---|---|
/// | `count` | The engine counts from the start of the run; a window has the difference from its start to its end. |
/// | `measure` | The engine computes it from its sums over the time measured, or at the end of the run. |
/// | `runner` | The runner of the plan computes it, which knows more than the engine: names, fair shares, ratios. |
///
/// | Scope | Places that have it |
/// |---|---|
/// | `inside` | The engine's outcome alone. |
/// | `run` | The summary of the whole run, not that of a window. |
/// | `always` | Both summaries. |
/// | `table` | The table of flows alone. |
///
/// | Wanted | Entries that are handed on |
/// |---|---|
/// | `all` | Every entry. |
/// | `engine`, `counts`, `measures` | The engine's metrics; the counts among them; the measures among them. |
/// | `run`, `window` | The summary of the run; of a window. |
/// | `table` | The table of flows: the metrics of a flow that every run has. |
///
/// ```
/// macro_rules! names {
///     ((of a host) $({ $source:ident $scope:ident $name:ident: $($rest:tt)* })*) => { [$(stringify!($name)),*] };
/// }
/// let names = penstock_sim::metrics_of!(host, engine => names!(of a host));
/// assert_eq!(names, ["rate_limiters_mean", "rate_limiters_max", "receive_drops"]);
/// ```
#[macro_export]
macro_rules! metrics_of {
    (totals, $wanted:ident => $then:ident!$to:tt) => { $crate::select_metrics! { $wanted $then $to []
        { count always frames_offered: u64, "frames",
            "Data frames that generators made: by their schedules, whether or not they could go. A schedule that stands still \
             (`excess = \"stall\"`) makes fewer." }
        { measure run frames_discarded_at_source: u64, "frames",
            "Of them, discarded at their source before they reached the network." }
        { measure run frames_waiting_at_source: u64, "frames", "Of them, still waiting there at the end." }
        { count always frames_sent: u64, "frames", "Data frames that reaction points released into the network." }
        { count always copies_made: u64, "frames",
            "Copies made at the branches of multicast trees, beyond the first of each frame." }
        { count always frames_delivered: u64, "frames", "Data frames and copies that reached a destination." }
        { count always frames_dropped: u64, "frames", "Data frames and copies dropped at full queues, or at full receive buffers of hosts." }
        { count always frames_lost_on_link: u64, "frames",
            "Data frames and copies lost on broken links, and in the queues before them." }
        { count always frames_impaired: u64, "frames",
            "Data frames and copies that links corrupted at random (`[[impairment]]`). They count neither as dropped nor as lost on a broken link.",
            where impaired }
        { count always control_frames_impaired: u64, "frames",
            "Acknowledgements, signals, headers of trimmed frames and pause frames that links corrupted at random.", where impaired }
        { measure run frames_in_flight: u64, "frames", "Data frames and copies in queues and on links at the end." }
        { count always feedback_frames: u64, "frames", "Signals that reached the sources of controlled flows." }
        { runner always notifications: u64, "frames",
            "Of them, notifications: a switch or a destination saw congestion.", where probing }
        { count always probes_returned: u64, "frames", "Of them, probes that came back.", where probing }
        { count inside ecn_marks: u64, "", "Frames that queues marked, each time that one did (`ecn_threshold`)." }
        { count inside probes_sent: u64, "frames", "Probes that sources sent." }
        { count inside signals_sent: u64, "frames",
            "Signals sent by congestion points, notification points and sources." }
        { count inside probes_delivered: u64, "frames", "Signals (probes) that reached destinations." }
        { count inside signals_lost: u64, "frames", "Signals dropped at full control queues or lost on broken links." }
        { measure inside signals_in_flight: u64, "frames", "Signals under way at the end." }
        { count inside signals_discarded: u64, "frames",
            "Signals that reached a source without reaction point and were discarded there." }
        { count always tied_losses: u64, "frames",
            "Of the frames dropped, those that came at an instant at which another frame had joined the same queue: the order of the \
             two decided (`network.ties`)." }
        { count inside frames_marked: u64, "frames", "Data frames that reached a destination with a mark of congestion." }
        { count inside frames_moved: u64, "frames", "Data frames that congestion points moved to another queue." }
        { count always frames_trimmed: u64, "frames",
            "Of the frames dropped, those that switches cut down to their headers.", where trimming }
        { count inside cuts: u64, "", "Changes of a reaction point's rate or window that lowered it." }
        { count inside raises: u64, "", "Changes of a reaction point's rate or window that raised it." }
        { count inside signals_to_previous_hops: u64, "frames",
            "Signals of congestion points that reached the congestion point of the previous hop, or the source." }
        { count inside headers_sent: u64, "frames",
            "Headers of trimmed frames, at the queues that cut them (where each counts as a data frame dropped) and at \
             branches." }
        { count always headers_delivered: u64, "frames", "Headers of trimmed frames that reached destinations.", where trimming }
        { count always headers_lost: u64, "frames",
            "Headers of trimmed frames dropped at full control queues or lost on broken links.", where trimming }
        { measure inside headers_in_flight: u64, "frames", "Headers under way at the end." }
        { count inside acks_sent: u64, "frames", "Acknowledgements that destinations sent." }
        { count inside acks_delivered: u64, "frames", "Acknowledgements that reached sources." }
        { count inside acks_lost: u64, "frames",
            "Acknowledgements dropped at full control queues or lost on broken links." }
        { measure inside acks_in_flight: u64, "frames", "Acknowledgements under way at the end." }
        { runner run feedback_discarded: u64, "frames",
            "Signals that reached the sources of flows without congestion management and were discarded there.",
            where uncontrolled }
        { count always retransmissions: u64, "frames", "Segments that transports sent again.", where transported }
        { count always timeouts: u64, "", "Retransmission timeouts of transports.", where transported }
        { count always paths_skipped: u64, "",
            "Entropy values whose turn passed once, after a mark or a trim before the last hop.", where path_states }
        { count always paths_assumed_bad: u64, "",
            "Entropy values that sources took for those of broken paths: a frame was lost without a trace.", where path_states }
        { count always paths_restored: u64, "", "Of them, restored by the answer to a probe, or a late one.", where path_states }
        { count always path_probes: u64, "frames", "Probes of such paths.", where path_states }
        { count always pause_frames: u64, "frames", "Frames of priority flow control, pause and resume.",
            where flow_control }
        { runner always paused_s: f64, "s",
            "How long priority flow control stopped queues, the sum over all queues of the network, recorded or not.",
            where flow_control }
        { runner always credit_wait_s: f64, "s",
            "How long queues waited for credits with a free line, the sum over all queues of the network, recorded or not. A host's port without a \
             queue waits while its longest frame would not fit.",
            where credited }
        { count inside credit_wait_ps: u64, "ps", "The same." }
        { count always replays: u64, "", "Replays of link-level retry: how often a line went back to a frame that was lost.", where retried }
        { count always frames_replayed: u64, "frames", "Frames that link-level retry sent again, each time that it did.", where retried }
        { count always watchdog_fired: u64, "",
            "How often the watchdog of flow control found a queue that had been stopped for too long.", where watched }
        { count always watchdog_dropped: u64, "frames",
            "Frames, data and control, that queues dropped that the watchdog had let go. They count as dropped at their queues, too.", where watched }
        { count always packet_hops: u64, "frames", "Frames, data or control, that crossed a link; each link counts." }
        { measure run events: u64, "", "Events that the engine handled." }
    } };
    (queue, $wanted:ident => $then:ident!$to:tt) => { $crate::select_metrics! { $wanted $then $to []
        { runner always name: String, "", "The queue's port, `node->peer`." }
        { runner always priority: u8, "", "The queue's priority, 0 to 7." }
        { measure always mean_octets: f64, "octets", "Time-weighted mean of the length." }
        { measure always std_octets: f64, "octets", "Time-weighted standard deviation of the length." }
        { measure always min_octets: u64, "octets", "Smallest length." }
        { measure always max_octets: u64, "octets", "Largest length." }
        { measure always empty_fraction: f64, "", "Share of the time without an octet in the queue." }
        { measure always utilization: f64, "",
            "Share of the port's scheduled rate that was used, by all its queues, wire overhead included." }
        { measure always sent_bps: f64, "bit/s", "Rate at which frames left the queue for the link, without wire overhead.", where classes }
        { count inside frames_arrived: u64, "frames", "Frames that came to the queue, data and control." }
        { count always frames_dropped: u64, "frames",
            "Data frames and copies dropped at the queue, those aside that it lost with its link: of all queues together, those of the totals." }
        { count always control_frames_dropped: u64, "frames",
            "Acknowledgements and signals dropped at the queue, where they share it with data." }
        { count always frames_flushed: u64, "frames",
            "Data frames and copies that the queue lost because its link was broken: those that waited, and those that came before it was whole again." }
        { count always frames_impaired: u64, "frames",
            "Data frames and copies of the queue that its link corrupted at random (`[[impairment]]`).", where impaired }
        { count always frames_sent: u64, "frames", "Frames that left the queue for the link." }
        { count always octets_sent: u64, "octets", "Octets of them, without wire overhead." }
        { count always frames_marked: u64, "frames",
            "Frames that the queue marked, whoever decides on marks: `network.ecn_threshold`, or the scheme. One that two queues mark counts at \
             both." }
        { count always octets_marked: u64, "octets", "Octets of them, without wire overhead." }
        { count always feedback_frames: u64, "frames", "Signals that the queue's congestion point sent." }
        { count inside paused: penstock_schemes::Duration, "", "How long priority flow control stopped the queue." }
        { runner always paused_s: f64, "s", "How long priority flow control stopped the queue, or it waited for credits." }
        { count always stops: u64, "", "How often pause frames stopped the queue, or its first frame lacked credits; a stop that is refreshed is one." }
        { count always pause_frames: u64, "frames", "Pause frames that stopped the queue, or went on stopping it." }
        { count always resume_frames: u64, "frames", "Pause frames that let the queue go on.", where flow_control }
        { measure always ingress_shared_max_octets: u64, "octets",
            "The most shared memory, beyond its reserve, that frames held which came in over the line to the port in this priority, in whole \
             cells: the shared watermark of a priority group.", where ingress_pools }
        { measure always ingress_headroom_max_octets: u64, "octets",
            "The most headroom that they held, likewise.", where ingress_pools }
        { runner always drop_rate: f64, "", "Frames dropped at the queue, data and control, over frames that came to it." }
        { runner always set_point_octets: Option<u64>, "octets",
            "Length at which the queue's congestion point is to hold it. The one at the end of the run, where it \
             changes. Null if the scheme has no such length, or the queue no congestion point." }
        { runner always p50_octets: f64, "octets", "Median of the length, weighted with time, within 1 %.", where percentiles }
        { runner always p90_octets: f64, "octets", "90th percentile of the length, weighted with time, within 1 %.", where percentiles }
        { runner always p95_octets: f64, "octets", "95th percentile of the length, weighted with time, within 1 %.", where percentiles }
        { runner always p99_octets: f64, "octets", "99th percentile of the length, weighted with time, within 1 %.", where percentiles }
        { runner always p999_octets: f64, "octets", "99.9th percentile of the length, weighted with time, within 1 %.", where percentiles }
        { runner always delay_p50_s: f64, "s", "Median of the time that a frame stayed in the queue, within 1 %; 0 without frames.", where percentiles }
        { runner always delay_p90_s: f64, "s", "90th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames.", where percentiles }
        { runner always delay_p95_s: f64, "s", "95th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames.", where percentiles }
        { runner always delay_p99_s: f64, "s", "99th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames.", where percentiles }
        { runner always delay_p999_s: f64, "s", "99.9th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames.", where percentiles }
        { runner always pause_p50_s: f64, "s", "Median of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops.", where pause_percentiles }
        { runner always pause_p90_s: f64, "s", "90th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops.", where pause_percentiles }
        { runner always pause_p95_s: f64, "s", "95th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops.", where pause_percentiles }
        { runner always pause_p99_s: f64, "s", "99th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops.", where pause_percentiles }
        { runner always pause_p999_s: f64, "s", "99.9th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops.", where pause_percentiles }
    } };
    (flow, $wanted:ident => $then:ident!$to:tt) => { $crate::select_metrics! { $wanted $then $to []
        { runner always name: String, "", "The flow." }
        { runner run source: String, "", "The host that sends." }
        { runner run destinations: Vec<String>, "", "The hosts that receive." }
        { measure always throughput_bps: f64, "bit/s",
            "Rate of delivery over the measured time, or, for a flow with a size, over the part of it from the flow's start to its \
             completion; wire overhead included; the mean over the destinations." }
        { runner always fair_rate_bps: f64, "bit/s",
            "Time-weighted max-min fair share over the same time; it counts as zero while the flow is not active, and ends with a flow \
             that has a size." }
        { measure always active_s: f64, "s",
            "The measured time from the start of a flow with a size to its completion; all of it for other flows.", where finite }
        { measure always mean_rate_bps: f64, "bit/s",
            "Time-weighted mean of the allowed rate while the flow was active." }
        { measure always std_rate_bps: f64, "bit/s",
            "Time-weighted standard deviation of the allowed rate while the flow was active." }
        { measure always goodput_bps: f64, "bit/s",
            "Octets of data that the transport delivered in order, over the same time: neither headers nor what came twice.",
            where transported }
        { count inside frames_offered: u64, "frames", "Frames that the flow's generator made, by its schedule." }
        { count always frames_sent: u64, "frames", "Frames released into the network." }
        { count always frames_delivered: u64, "frames", "Frames and copies that reached a destination." }
        { count always frames_dropped: u64, "frames", "Frames and copies dropped at full queues." }
        { count inside frames_lost: u64, "frames", "Frames and copies lost on broken links, and in the queues before them." }
        { count always frames_impaired: u64, "frames", "Frames and copies that links corrupted at random.", where impaired }
        { count inside copies_made: u64, "frames", "Copies made at branches of the flow's tree." }
        { count always feedback_received: u64, "frames", "Signals that the source received." }
        { count always retransmissions: u64, "frames", "Segments that the transport sent again.", where transported }
        { count always timeouts: u64, "", "Retransmission timeouts of the transport.", where transported }
        { count always segments_discarded: u64, "frames",
            "Segments that found no room in the host's transmit queue.", where queued }
        { measure always transmit_queue_mean_octets: f64, "octets",
            "Octets of frames in the host's transmit queue that wait for the rate limiter, mean over time.", where queued }
        { runner run notifications_received: u64, "frames",
            "Of them, notifications: a switch or a destination saw congestion.", where probing }
        { count run probes_returned: u64, "frames", "Of them, probes that came back.", where probing }
        { runner run settling_time_s: Option<f64>, "s",
            "Settling time, from the last change of the flow's max-min fair share: its start, or a later change of traffic \
             or links that moves the share by more than 0.1 %. It ends at the beginning of the first window from which on \
             every window's mean of the sampled allowed rate lies within 5 % of the share, until the share ends. A window \
             is 50 sample intervals. Null if the flow has not settled." }
        { measure inside started: Option<penstock_schemes::Instant>, "", "When the flow began, if it did." }
        { measure inside completed: Option<penstock_schemes::Instant>, "",
            "When the last frame of a finite flow was delivered, if all of them were." }
        { measure inside acked: Option<penstock_schemes::Instant>, "",
            "When the transport of a finite flow got the acknowledgement of its last octet, if it did." }
        { measure inside ended: Option<penstock_schemes::Instant>, "", "When the flow was completed or stopped, if it was." }
        { runner run start_s: Option<f64>, "s", "When the flow started. Null if it had not at the end of the run." }
        { runner run end_s: Option<f64>, "s",
            "When the last frame of a flow with a size was delivered, or another flow was stopped. Null if neither was at the end of \
             the run." }
        { runner run completion_time_s: Option<f64>, "s",
            "Flow completion time: from the start of a finite flow to the delivery of its last frame. Null if frames are \
             missing." }
        { runner table proportional_rate_bps: f64, "bit/s",
            "Time-weighted proportionally fair share over the same time." }
        { runner run group: String, "",
            "Name of the `[[flow]]` table that the flow comes from: `f0..f7` for eight flows." }
        { runner run controlled: bool, "", "Whether the scheme limits the flow." }
    } };
    (host, $wanted:ident => $then:ident!$to:tt) => { $crate::select_metrics! { $wanted $then $to []
        { runner always name: String, "", "The host." }
        { measure always rate_limiters_mean: f64, "", "Time-weighted mean number of installed rate limiters." }
        { measure always rate_limiters_max: u32, "", "Largest number of installed rate limiters." }
        { measure always receive_drops: u64, "frames",
            "Frames that found no room in the receive buffer of the host's network interface, over the whole run; in a window, in it. Of all hosts together, \
             they are part of the frames dropped.", where slow_receivers }
        { runner always paused_s: f64, "s",
            "How long priority flow control stopped the host's queues, the sum over them, over the whole run; in a window, in it.",
            where flow_control }
        { runner always pause_frames: u64, "frames",
            "Pause frames that stopped the host's queues, refreshes included, likewise.", where flow_control }
    } };
    (pool, $wanted:ident => $then:ident!$to:tt) => { $crate::select_metrics! { $wanted $then $to []
        { runner always switch: String, "", "The switch." }
        { runner always name: String, "", "The pool's table, `[[buffer]]`." }
        { runner always size_octets: u64, "octets", "Memory of the pool, its headroom aside." }
        { runner always headroom_octets: u64, "octets", "Memory for frames that come after their neighbour was signalled to stop." }
        { runner always headroom_needed_octets: u64, "octets",
            "Headroom that all its lossless lines need at once, in whole cells; with less, frames may be lost." }
        { runner always xoff_alone_octets: Option<u64>, "octets",
            "Memory of a lossless line and priority at which the line is stopped if no other holds any. Null without flow control." }
        { runner always xoff_together_octets: Option<u64>, "octets",
            "The same if all lossless lines and priorities hold as much: dynamic thresholds fall as memory is taken." }
        { measure always mean_octets: f64, "octets", "Time-weighted mean of the memory taken, in whole cells, headroom included." }
        { measure always max_octets: u64, "octets", "The most memory taken, likewise." }
        { measure always headroom_max_octets: u64, "octets", "The most memory taken of the headroom." }
        { count always frames_refused: u64, "frames",
            "Frames that found no memory: their queue or their line was at its threshold, or the pool was full. They count as dropped \
             at their queues, too." }
    } };
}

/// Hands those entries on that are wanted; [`metrics_of`] says which there are. It looks at one entry at a time: the rules below
/// leave entries out, the last rule keeps what they let pass.
#[doc(hidden)]
#[macro_export]
macro_rules! select_metrics {
    ($wanted:ident $then:ident $to:tt [$($kept:tt)*]) => { $then! { $to $($kept)* } };

    (engine $then:ident $to:tt $kept:tt { runner $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { engine $then $to $kept $($rest)* }
    };
    (counts $then:ident $to:tt $kept:tt { measure $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { counts $then $to $kept $($rest)* }
    };
    (counts $then:ident $to:tt $kept:tt { runner $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { counts $then $to $kept $($rest)* }
    };
    (measures $then:ident $to:tt $kept:tt { count $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { measures $then $to $kept $($rest)* }
    };
    (measures $then:ident $to:tt $kept:tt { runner $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { measures $then $to $kept $($rest)* }
    };

    (run $then:ident $to:tt $kept:tt { $source:ident inside $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { run $then $to $kept $($rest)* }
    };
    (run $then:ident $to:tt $kept:tt { $source:ident table $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { run $then $to $kept $($rest)* }
    };
    (window $then:ident $to:tt $kept:tt { $source:ident inside $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { window $then $to $kept $($rest)* }
    };
    (window $then:ident $to:tt $kept:tt { $source:ident run $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { window $then $to $kept $($rest)* }
    };
    (window $then:ident $to:tt $kept:tt { $source:ident table $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { window $then $to $kept $($rest)* }
    };
    (table $then:ident $to:tt $kept:tt { $source:ident inside $($e:tt)* } $($rest:tt)*) => {
        $crate::select_metrics! { table $then $to $kept $($rest)* }
    };
    (table $then:ident $to:tt $kept:tt
        { $source:ident $scope:ident $name:ident: $type:ty, $unit:literal, $text:literal, where $when:ident } $($rest:tt)*
    ) => {
        $crate::select_metrics! { table $then $to $kept $($rest)* }
    };

    ($wanted:ident $then:ident $to:tt [$($kept:tt)*] $entry:tt $($rest:tt)*) => {
        $crate::select_metrics! { $wanted $then $to [$($kept)* $entry] $($rest)* }
    };
}

/// Refuses words that are no source and no scope: an entry with such a word would be kept everywhere.
macro_rules! known {
    (() $({ $source:ident $scope:ident $($entry:tt)* })*) => { $(known!(source $source); known!(scope $scope);)* };
    (source count) => {};
    (source measure) => {};
    (source runner) => {};
    (scope inside) => {};
    (scope run) => {};
    (scope always) => {};
    (scope table) => {};
}
metrics_of!(totals, all => known!());
metrics_of!(queue, all => known!());
metrics_of!(flow, all => known!());
metrics_of!(host, all => known!());
metrics_of!(pool, all => known!());
