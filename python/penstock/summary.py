"""The types of a run's summary, as ``summary.json`` and ``penstock run --json`` hold it.

Counts cover the whole run; means, deviations, extremes, throughput and utilisation cover the time after the warm-up and
are time-weighted, not sampled.

Written by ``python tools/generate_types.py`` from the declaration in Rust: change that, not this file.
"""

from typing import NotRequired, TypedDict


class Assigned(TypedDict):
    """The scheme of a priority."""

    priority: int
    """The priority, 0 to 7."""
    scheme: str
    """Name of its scheme."""
    profile: str | None
    """The profile that the scheme's parameters started from."""


class Actions(TypedDict):
    """How often the scheme took each action that it declares; no key for one that it does not.

    Several schemes are counted together.
    """

    marks: NotRequired[int]
    """Frames that reached a destination with a mark of congestion."""
    trims: NotRequired[int]
    """Frames that were cut down to their headers."""
    moves: NotRequired[int]
    """Frames that were moved to another queue."""
    neighbour_messages: NotRequired[int]
    """Signals that reached the congestion point of the previous hop, or the source."""
    notifications: NotRequired[int]
    """Congestion signals that reached a source."""
    replies: NotRequired[int]
    """Probes that came back to their source."""
    cuts: NotRequired[int]
    """Changes of a reaction point's rate or window that lowered it."""
    raises: NotRequired[int]
    """Changes of a reaction point's rate or window that raised it."""


class WindowTotals(TypedDict):
    """Counts over the network in a window. Those of windows that lie end to end add up to those of the run."""

    frames_offered: int
    """Data frames that generators made: by their schedules, whether or not they could go.

    A schedule that stands still (``excess = "stall"``) makes fewer.
    """
    frames_sent: int
    """Data frames that reaction points released into the network."""
    copies_made: int
    """Copies made at the branches of multicast trees, beyond the first of each frame."""
    frames_delivered: int
    """Data frames and copies that reached a destination."""
    frames_dropped: int
    """Data frames and copies dropped at full queues, or at full receive buffers of hosts."""
    frames_lost_on_link: int
    """Data frames and copies lost on broken links, and in the queues before them."""
    frames_impaired: NotRequired[int]
    """Data frames and copies that links corrupted at random (``[[impairment]]``).

    They count neither as dropped nor as lost on a broken link. Present only where links lose frames at random.
    """
    control_frames_impaired: NotRequired[int]
    """Acknowledgements, signals, headers of trimmed frames and pause frames that links corrupted at random.

    Present only where links lose frames at random.
    """
    feedback_frames: int
    """Signals that reached the sources of controlled flows."""
    notifications: NotRequired[int]
    """Of them, notifications: a switch or a destination saw congestion. Present only where sources send probes."""
    probes_returned: NotRequired[int]
    """Of them, probes that came back. Present only where sources send probes."""
    tied_losses: int
    """Of the frames dropped, those that came at an instant at which another frame had joined the same queue: the order
    of the two decided (``network.ties``).
    """
    frames_trimmed: NotRequired[int]
    """Of the frames dropped, those that switches cut down to their headers. Present only where switches trim."""
    headers_delivered: NotRequired[int]
    """Headers of trimmed frames that reached destinations. Present only where switches trim."""
    headers_lost: NotRequired[int]
    """Headers of trimmed frames dropped at full control queues or lost on broken links.

    Present only where switches trim.
    """
    retransmissions: NotRequired[int]
    """Segments that transports sent again. Present only where some flow has a transport."""
    timeouts: NotRequired[int]
    """Retransmission timeouts of transports. Present only where some flow has a transport."""
    paths_skipped: NotRequired[int]
    """Entropy values whose turn passed once, after a mark or a trim before the last hop.

    Present only where sources keep states of entropy values (``network.load_balancing``).
    """
    paths_assumed_bad: NotRequired[int]
    """Entropy values that sources took for those of broken paths: a frame was lost without a trace.

    Present only where sources keep states of entropy values (``network.load_balancing``).
    """
    paths_restored: NotRequired[int]
    """Of them, restored by the answer to a probe, or a late one.

    Present only where sources keep states of entropy values (``network.load_balancing``).
    """
    path_probes: NotRequired[int]
    """Probes of such paths. Present only where sources keep states of entropy values (``network.load_balancing``)."""
    pause_frames: NotRequired[int]
    """Frames of priority flow control, pause and resume. Present only where the network has priority flow control."""
    paused_s: NotRequired[float]
    """How long priority flow control stopped queues, the sum over all queues of the network, recorded or not, s.

    Present only where the network has priority flow control.
    """
    credit_wait_s: NotRequired[float]
    """How long queues waited for credits with a free line, the sum over all queues of the network, recorded or not, s.

    A host's port without a queue waits while its longest frame would not fit. Present only where links have credits
    (``[[credits]]``).
    """
    replays: NotRequired[int]
    """Replays of link-level retry: how often a line went back to a frame that was lost.

    Present only where links have link-level retry (``[[retry]]``).
    """
    frames_replayed: NotRequired[int]
    """Frames that link-level retry sent again, each time that it did.

    Present only where links have link-level retry (``[[retry]]``).
    """
    watchdog_fired: NotRequired[int]
    """How often the watchdog of flow control found a queue that had been stopped for too long.

    Present only where flow control has a watchdog.
    """
    watchdog_dropped: NotRequired[int]
    """Frames, data and control, that queues dropped that the watchdog had let go.

    They count as dropped at their queues, too. Present only where flow control has a watchdog.
    """
    packet_hops: int
    """Frames, data or control, that crossed a link; each link counts."""


class Totals(WindowTotals):
    """Counts over the network and the whole run."""

    frames_discarded_at_source: int
    """Of them, discarded at their source before they reached the network."""
    frames_waiting_at_source: int
    """Of them, still waiting there at the end."""
    frames_in_flight: int
    """Data frames and copies in queues and on links at the end."""
    feedback_discarded: NotRequired[int]
    """Signals that reached the sources of flows without congestion management and were discarded there.

    Present only where some flow has no congestion management.
    """
    events: int
    """Events that the engine handled."""


class QueueSummary(TypedDict):
    """A queue: a port and a priority.

    Lengths and utilisation cover the time after the warm-up and are weighted by time, counts the whole run; in a
    window, everything covers the window.
    """

    name: str
    """The queue's port, ``node->peer``."""
    priority: int
    """The queue's priority, 0 to 7."""
    mean_octets: float
    """Time-weighted mean of the length, octets."""
    std_octets: float
    """Time-weighted standard deviation of the length, octets."""
    min_octets: int
    """Smallest length, octets."""
    max_octets: int
    """Largest length, octets."""
    empty_fraction: float
    """Share of the time without an octet in the queue."""
    utilization: float
    """Share of the port's scheduled rate that was used, by all its queues, wire overhead included."""
    sent_bps: NotRequired[float]
    """Rate at which frames left the queue for the link, without wire overhead, bit/s.

    Present only where some priority has a weight or a shaper.
    """
    frames_dropped: int
    """Data frames and copies dropped at the queue, those aside that it lost with its link: of all queues together,
    those of the totals.
    """
    control_frames_dropped: int
    """Acknowledgements and signals dropped at the queue, where they share it with data."""
    frames_flushed: int
    """Data frames and copies that the queue lost because its link was broken: those that waited, and those that came
    before it was whole again.
    """
    frames_impaired: NotRequired[int]
    """Data frames and copies of the queue that its link corrupted at random (``[[impairment]]``).

    Present only where links lose frames at random.
    """
    frames_sent: int
    """Frames that left the queue for the link."""
    octets_sent: int
    """Octets of them, without wire overhead, octets."""
    frames_marked: int
    """Frames that the queue marked, whoever decides on marks: ``network.ecn_threshold``, or the scheme.

    One that two queues mark counts at both.
    """
    octets_marked: int
    """Octets of them, without wire overhead, octets."""
    feedback_frames: int
    """Signals that the queue's congestion point sent."""
    paused_s: float
    """How long priority flow control stopped the queue, or it waited for credits, s."""
    stops: int
    """How often pause frames stopped the queue, or its first frame lacked credits; a stop that is refreshed is one."""
    pause_frames: int
    """Pause frames that stopped the queue, or went on stopping it."""
    resume_frames: NotRequired[int]
    """Pause frames that let the queue go on. Present only where the network has priority flow control."""
    ingress_shared_max_octets: NotRequired[int]
    """The most shared memory, beyond its reserve, that frames held which came in over the line to the port in this
    priority, in whole cells: the shared watermark of a priority group, octets.

    Present only where the network has priority flow control and pools (``[[buffer]]``).
    """
    ingress_headroom_max_octets: NotRequired[int]
    """The most headroom that they held, likewise, octets.

    Present only where the network has priority flow control and pools (``[[buffer]]``).
    """
    drop_rate: float
    """Frames dropped at the queue, data and control, over frames that came to it."""
    set_point_octets: int | None
    """Length at which the queue's congestion point is to hold it, octets.

    The one at the end of the run, where it changes. Null if the scheme has no such length, or the queue no congestion
    point.
    """
    p50_octets: NotRequired[float]
    """Median of the length, weighted with time, within 1 %, octets.

    Present only where the run keeps histograms (``record.percentiles``).
    """
    p90_octets: NotRequired[float]
    """90th percentile of the length, weighted with time, within 1 %, octets.

    Present only where the run keeps histograms (``record.percentiles``).
    """
    p95_octets: NotRequired[float]
    """95th percentile of the length, weighted with time, within 1 %, octets.

    Present only where the run keeps histograms (``record.percentiles``).
    """
    p99_octets: NotRequired[float]
    """99th percentile of the length, weighted with time, within 1 %, octets.

    Present only where the run keeps histograms (``record.percentiles``).
    """
    p999_octets: NotRequired[float]
    """99.9th percentile of the length, weighted with time, within 1 %, octets.

    Present only where the run keeps histograms (``record.percentiles``).
    """
    delay_p50_s: NotRequired[float]
    """Median of the time that a frame stayed in the queue, within 1 %; 0 without frames, s.

    Present only where the run keeps histograms (``record.percentiles``).
    """
    delay_p90_s: NotRequired[float]
    """90th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames, s.

    Present only where the run keeps histograms (``record.percentiles``).
    """
    delay_p95_s: NotRequired[float]
    """95th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames, s.

    Present only where the run keeps histograms (``record.percentiles``).
    """
    delay_p99_s: NotRequired[float]
    """99th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames, s.

    Present only where the run keeps histograms (``record.percentiles``).
    """
    delay_p999_s: NotRequired[float]
    """99.9th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames, s.

    Present only where the run keeps histograms (``record.percentiles``).
    """
    pause_p50_s: NotRequired[float]
    """Median of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops, s.

    Present only where the run keeps histograms (``record.percentiles``), and the network has priority flow control.
    """
    pause_p90_s: NotRequired[float]
    """90th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops, s.

    Present only where the run keeps histograms (``record.percentiles``), and the network has priority flow control.
    """
    pause_p95_s: NotRequired[float]
    """95th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops, s.

    Present only where the run keeps histograms (``record.percentiles``), and the network has priority flow control.
    """
    pause_p99_s: NotRequired[float]
    """99th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops, s.

    Present only where the run keeps histograms (``record.percentiles``), and the network has priority flow control.
    """
    pause_p999_s: NotRequired[float]
    """99.9th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops, s.

    Present only where the run keeps histograms (``record.percentiles``), and the network has priority flow control.
    """


class WindowFlow(TypedDict):
    """A flow in a window."""

    name: str
    """The flow."""
    throughput_bps: float
    """Rate of delivery over the measured time, or, for a flow with a size, over the part of it from the flow's start to
    its completion; wire overhead included; the mean over the destinations, bit/s.
    """
    fair_rate_bps: float
    """Time-weighted max-min fair share over the same time; it counts as zero while the flow is not active, and ends
    with a flow that has a size, bit/s.
    """
    active_s: NotRequired[float]
    """The measured time from the start of a flow with a size to its completion; all of it for other flows, s.

    Present only where some flow of a ``[[flow]]`` table has a size.
    """
    mean_rate_bps: float
    """Time-weighted mean of the allowed rate while the flow was active, bit/s."""
    std_rate_bps: float
    """Time-weighted standard deviation of the allowed rate while the flow was active, bit/s."""
    goodput_bps: NotRequired[float]
    """Octets of data that the transport delivered in order, over the same time: neither headers nor what came twice,
    bit/s.

    Present only where some flow has a transport.
    """
    frames_sent: int
    """Frames released into the network."""
    frames_delivered: int
    """Frames and copies that reached a destination."""
    frames_dropped: int
    """Frames and copies dropped at full queues."""
    frames_impaired: NotRequired[int]
    """Frames and copies that links corrupted at random. Present only where links lose frames at random."""
    feedback_received: int
    """Signals that the source received."""
    retransmissions: NotRequired[int]
    """Segments that the transport sent again. Present only where some flow has a transport."""
    timeouts: NotRequired[int]
    """Retransmission timeouts of the transport. Present only where some flow has a transport."""
    segments_discarded: NotRequired[int]
    """Segments that found no room in the host's transmit queue. Present only where hosts have transmit queues."""
    transmit_queue_mean_octets: NotRequired[float]
    """Octets of frames in the host's transmit queue that wait for the rate limiter, mean over time, octets.

    Present only where hosts have transmit queues.
    """


class FlowSummary(WindowFlow):
    """A flow.

    Rates cover the time after the warm-up, those of a flow with a size the part of it from its start to its end. They
    count wire overhead. Counts cover the whole run.
    """

    source: str
    """The host that sends."""
    destinations: list[str]
    """The hosts that receive."""
    notifications_received: NotRequired[int]
    """Of them, notifications: a switch or a destination saw congestion. Present only where sources send probes."""
    probes_returned: NotRequired[int]
    """Of them, probes that came back. Present only where sources send probes."""
    settling_time_s: float | None
    """Settling time, from the last change of the flow's max-min fair share: its start, or a later change of traffic or
    links that moves the share by more than 0.1 %, s.

    It ends at the beginning of the first window from which on every window's mean of the sampled allowed rate lies
    within 5 % of the share, until the share ends. A window is 50 sample intervals. Null if the flow has not settled.
    """
    start_s: float | None
    """When the flow started, s. Null if it had not at the end of the run."""
    end_s: float | None
    """When the last frame of a flow with a size was delivered, or another flow was stopped, s.

    Null if neither was at the end of the run.
    """
    completion_time_s: float | None
    """Flow completion time: from the start of a finite flow to the delivery of its last frame, s.

    Null if frames are missing.
    """
    group: str
    """Name of the ``[[flow]]`` table that the flow comes from: ``f0..f7`` for eight flows."""
    controlled: bool
    """Whether the scheme limits the flow."""


class HostSummary(TypedDict):
    """A host, over the time after the warm-up."""

    name: str
    """The host."""
    rate_limiters_mean: float
    """Time-weighted mean number of installed rate limiters."""
    rate_limiters_max: int
    """Largest number of installed rate limiters."""
    receive_drops: NotRequired[int]
    """Frames that found no room in the receive buffer of the host's network interface, over the whole run; in a window,
    in it.

    Of all hosts together, they are part of the frames dropped. Present only where hosts process what they receive
    slowly (``[[host]]``).
    """
    paused_s: NotRequired[float]
    """How long priority flow control stopped the host's queues, the sum over them, over the whole run; in a window, in
    it, s.

    Present only where the network has priority flow control.
    """
    pause_frames: NotRequired[int]
    """Pause frames that stopped the host's queues, refreshes included, likewise.

    Present only where the network has priority flow control.
    """


class PoolSummary(TypedDict):
    """Memory that queues of a switch share.

    Lengths cover the time after the warm-up, counts the whole run; in a window, everything covers the window.
    """

    switch: str
    """The switch."""
    name: str
    """The pool's table, ``[[buffer]]``."""
    size_octets: int
    """Memory of the pool, its headroom aside, octets."""
    headroom_octets: int
    """Memory for frames that come after their neighbour was signalled to stop, octets."""
    headroom_needed_octets: int
    """Headroom that all its lossless lines need at once, in whole cells; with less, frames may be lost, octets."""
    xoff_alone_octets: int | None
    """Memory of a lossless line and priority at which the line is stopped if no other holds any, octets.

    Null without flow control.
    """
    xoff_together_octets: int | None
    """The same if all lossless lines and priorities hold as much: dynamic thresholds fall as memory is taken, octets.
    """
    mean_octets: float
    """Time-weighted mean of the memory taken, in whole cells, headroom included, octets."""
    max_octets: int
    """The most memory taken, likewise, octets."""
    headroom_max_octets: int
    """The most memory taken of the headroom, octets."""
    frames_refused: int
    """Frames that found no memory: their queue or their line was at its threshold, or the pool was full.

    They count as dropped at their queues, too.
    """


class DeadlockSummary(TypedDict):
    """A deadlock: a cycle of queues that priority flow control has stopped.

    Frames that came over the line of each one wait in the next, and those of the last in the first, so that none will
    ever go on.
    """

    ports: list[str]
    """The queues' ports, ``node->peer``, in the order of the cycle."""
    priorities: list[int]
    """The queues' priorities, likewise."""
    since_s: float
    """When the last of them was stopped, s."""
    ended_s: float | None
    """When the watchdog broke it, s. Null if it lasted to the end of the run."""


class CompletionSummary(TypedDict):
    """Slowdowns of finite flows that started after the warm-up: flow completion time over that on an empty network.

    Percentiles are those of the flows that completed; ``flows`` less ``completed`` had not at the end of the run.
    """

    group: str | None
    """Name of the table that the flows come from. Null for all flows."""
    least_octets: int
    """The flows have this size or more, octets."""
    most_octets: int | None
    """The flows have this size or less, octets. Null where there is no bound."""
    flows: int
    """How many there are."""
    completed: int
    """How many of them completed."""
    slowdown_mean: float | None
    """Mean slowdown. Null where no flow completed, as all below."""
    slowdown_p50: float | None
    """Median."""
    slowdown_p95: float | None
    """95th percentile: the least slowdown that this share of the flows does not exceed."""
    slowdown_p99: float | None
    """99th percentile."""
    slowdown_p999: float | None
    """99.9th percentile."""


class JobSummary(TypedDict):
    """A job.

    Its times cover all iterations that all ranks have ended, those before the end of the warm-up among them.
    """

    name: str
    """Its name."""
    kind: NotRequired[str]
    """What its ranks do together. Present only for a ``[[collective]]``, as the next four."""
    algorithm: NotRequired[str]
    """The algorithm."""
    size_octets: NotRequired[int]
    """Octets of data at a rank, S, octets."""
    group_ranks: NotRequired[int]
    """Ranks that work together."""
    ideal_s: NotRequired[float]
    """The least time of the collective: the octets of the busiest host, with headers, at the rate of its line, s.

    It has no latency, and the network between hosts has no limit.
    """
    ranks: int
    """All ranks."""
    iterations: int
    """Iterations that were asked for."""
    iterations_ended: int
    """Iterations that all ranks have ended."""
    job_time_s: float | None
    """From its start to the end of its last rank, s. Null if it had not ended at the end of the run."""
    iteration_mean_s: float | None
    """Mean time of an iteration, from the begin of its first rank to the end of its last, s.

    Null if none has ended, as all below.
    """
    iteration_max_s: float | None
    """The longest iteration, s."""
    collective_mean_s: float | None
    """Mean time of the collective in an iteration, from the begin of the last rank to the end of the last: t of NCCL's
    tests, s.
    """
    algorithm_bandwidth_bps: float | None
    """Algorithm bandwidth, S / t, bit/s."""
    bus_bandwidth_bps: float | None
    """Bus bandwidth, as NCCL's tests define it: that of the algorithm, times 2 (n - 1) / n for an all-reduce of n
    ranks, (n - 1) / n for reduce-scatter, all-gather and all-to-all, and 1 for others, bit/s.
    """
    efficiency: float | None
    """The ideal time over t: 1 where nothing but the lines of the hosts takes time."""
    exposed_communication_s: float | None
    """Exposed communication: mean time of an iteration of a rank in which it does not compute, s."""
    straggling_s: float | None
    """Mean time in an iteration from the end of the first rank to that of the last, s."""
    path_computing_s: float | None
    """Computations and delays on the slowest path: the pieces that determined the end of the job, from its start on, s.

    The next seven are the rest of its time. Null if the job had not ended, or has more than 4 million messages or 2
    million nodes, as all below.
    """
    path_local_s: float | None
    """Messages inside of hosts on it, s."""
    path_ideal_s: float | None
    """Its messages on an empty network, s."""
    path_queue_s: float | None
    """The waits of their last frames in queues, s."""
    path_pause_s: float | None
    """The same in pauses of priority flow control, and pauses of their hosts, s."""
    path_limited_s: float | None
    """Time that their rate limiters added, s."""
    path_lost_s: float | None
    """Other time of messages whose connections sent something again, s."""
    path_host_s: float | None
    """Other time of messages: at their hosts, s."""
    path_port: str | None
    """The port at which its messages waited longest. Null also if they waited at none."""
    path_port_s: float | None
    """Their waits there together, pauses included, s."""


class WindowSummary(TypedDict):
    """A window of measurement: statistics and counts from its start to its end."""

    name: str
    """Its name."""
    start_s: float
    """When it opened, s."""
    end_s: float
    """When it closed: where a run that was stopped ended, if that was earlier than planned, s."""
    totals: WindowTotals
    """Counts over the network."""
    loss_rate: float
    """Frames dropped in the network over frames sent."""
    feedback_rate: float
    """Feedback frames that reached sources over data frames sent."""
    jain_index: float
    """Jain's index of the controlled flows, of throughput over fair share."""
    queues: list[QueueSummary]
    """The recorded queues."""
    flows: list[WindowFlow]
    """Every flow of a ``[[flow]]`` table."""
    hosts: list[HostSummary]
    """Every host."""
    pools: NotRequired[list[PoolSummary]]
    """Memory that queues share. Present only where the scenario has some (``[[buffer]]``)."""


class TestbedSummary(TypedDict):
    """A run on the testbed: times here are the machine's, all others in the summary are the network's."""

    valid: bool
    """Whether its figures may be used: the lateness is within the bound, and the system lost no frame.

    If not, ``faults`` says why.
    """
    faults: list[str]
    """Why its figures must not be used, in sentences."""
    time_scale: int
    """How many times slower the network's clock was than the machine's."""
    real_time: bool
    """Whether all processes ran with the priority of real time (SCHED_FIFO)."""
    lateness_bound_s: float
    """The lateness that 99 % of the frames may have, s."""
    lateness_p50_s: float
    """How late frames left, median, s."""
    lateness_p99_s: float
    """How late frames left, 99th percentile, s."""
    lateness_p999_s: float
    """How late frames left, 99.9th percentile, s."""
    lateness_max_s: float
    """How late frames left, at worst, s."""
    reading_p99_s: float
    """How late frames were read after the system had received them, 99th percentile, s."""
    given_up_s: float
    """Time that interfaces gave up since they were woken too late, the most of any, on the network's clock, s."""
    frames_lost: int
    """Frames that the system dropped, or did not take."""


class RunSummary(TypedDict):
    """Cost of a run."""

    wall_s: float
    """Time on the wall clock, s."""
    events_per_s: int
    """Events handled in a second of it."""
    ns_per_packet_hop: float
    """Nanoseconds of it that a packet hop took, ns."""
    version: str
    """Version of Penstock."""


class Summary(TypedDict):
    """A run in numbers. All but ``run`` follows from scenario and seed alone."""

    scenario: str
    """Name of the scenario."""
    question: str
    """The question that the scenario answers."""
    scheme: str
    """Name of the scheme; ``mixed`` where priorities have different ones."""
    profile: str | None
    """The profile that the scheme's parameters started from, the same for all priorities."""
    schemes: NotRequired[list[Assigned]]
    """The scheme of each priority. Present only where priorities have different schemes or profiles."""
    seed: int
    """Seed of all random streams."""
    duration_s: float
    """Simulated time that the run lasted; everything below covers it, s.

    ``planned_s``, unless it was stopped or over before.
    """
    planned_s: float
    """Simulated time that was asked for, s."""
    warmup_s: float
    """Time before statistics begin, s."""
    interrupted_at_s: NotRequired[float]
    """When the run was stopped, ``duration_s``, s. Present only where it was stopped before its end."""
    ended_at_s: NotRequired[float]
    """When the run was over, ``duration_s``: every flow with a size had ended (``until = "all-flows-complete"``),
    before the time that was asked for, s.

    Present only there.
    """
    finished_at_s: NotRequired[float]
    """When the last flow with a size was complete, those of loads among them, and the last job was done, s.

    Present only where there are such flows or jobs, and all of them completed.
    """
    lossless: NotRequired[bool]
    """Whether no data frame was lost. Present only where the scenario claims it (``lossless = true``)."""
    acted: NotRequired[bool]
    """Whether the scheme has acted: lowered a rate or a window, trimmed or moved a frame.

    Present only where the scenario claims it (``require_action = true``), and not for schemes without actions.
    """
    actions: NotRequired[Actions]
    """The actions of the scheme, each of those that it declares, over the whole run.

    Present only where it declares some, and the run was a simulation.
    """
    totals: Totals
    """Counts over the network and the whole run."""
    loss_rate: float
    """Frames dropped in the network over frames sent; drops of multicast copies count each, each frame sent once."""
    feedback_rate: float
    """Feedback frames that reached sources over data frames sent."""
    jain_index: float
    """Jain's index of the controlled flows of ``[[flow]]`` tables, of throughput over fair share: 1 if each has the
    same part of its share, 1/n if one of n has all.

    Flows without a share do not count; where no fair share is computed, it is that of the throughputs. 1 if there is
    nothing to compare.
    """
    queues: list[QueueSummary]
    """The recorded queues."""
    flows: list[FlowSummary]
    """Every flow of a ``[[flow]]`` table."""
    hosts: list[HostSummary]
    """Every host."""
    pools: NotRequired[list[PoolSummary]]
    """Memory that queues share, for each switch. Present only where the scenario has some (``[[buffer]]``)."""
    deadlocks: NotRequired[list[DeadlockSummary]]
    """Deadlocks of priority flow control, in the order of their ends. Present only where there was one."""
    completions: NotRequired[list[CompletionSummary]]
    """Slowdowns of finite flows: all together, then each group; each first whole, then by size.

    Present only where some flow has a size.
    """
    jobs: NotRequired[list[JobSummary]]
    """Jobs. Present only where the scenario has some (``[[collective]]``)."""
    windows: NotRequired[list[WindowSummary]]
    """The windows of measurement (``[[window]]``).

    Present only where there are some; of a run that was stopped, those it opened.
    """
    testbed: NotRequired[TestbedSummary]
    """How well the testbed kept time. Present only where the run was one of real frames on the testbed."""
    notes: NotRequired[list[str]]
    """Sentences on the scenario as it was laid out, and on what the run met and the scenario may not mean: flows that
    offered less than they say, losses that ties decided.

    Present only where there are some.
    """
    run: RunSummary
    """Cost of the run on this machine: the only part that the same scenario and seed do not repeat."""
