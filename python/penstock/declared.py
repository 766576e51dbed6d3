"""The types of what the engine says of schemes and scenarios, and the names of schemes and metrics.

:func:`penstock.schemes` and :func:`penstock.keys` return the catalogue, :meth:`Scenario.describe` a description.

Written by ``python tools/generate_types.py`` from the declaration in Rust: change that, not this file.
"""

from typing import Literal, TypedDict

SchemeName = Literal[
    "none",
    "bcn",
    "fecn",
    "efecn",
    "e2cm",
    "qcn",
    "qcn-multicast",
    "qcn-bs",
    "qcn-adaptive",
    "qcn-bs-adaptive",
    "af-qcn",
    "fqcn",
    "smcc",
    "dcqcn",
    "dcqcn-window",
    "fast-cnp",
    "timely",
    "dctcp",
    "swift",
    "hpcc",
    "powertcp",
    "theta-powertcp",
    "rocc",
    "annulus",
    "nscc",
    "ndp",
    "expresspass",
    "homa",
    "ci",
    "ici",
    "sfc",
]
TopologyName = Literal[
    "dragonfly",
    "dumbbell",
    "fat-tree",
    "graph",
    "leaf-spine",
    "parking-lot",
    "star",
]
MetricName = Literal[
    "frames_lost",
    "loss_rate",
    "queue_mean_octets",
    "queue_std_octets",
    "queue_p50_octets",
    "queue_p90_octets",
    "queue_p95_octets",
    "queue_p99_octets",
    "queue_p999_octets",
    "queue_max_octets",
    "queue_delay_p50_s",
    "queue_delay_p90_s",
    "queue_delay_p95_s",
    "queue_delay_p99_s",
    "queue_delay_p999_s",
    "queue_pause_p50_s",
    "queue_pause_p90_s",
    "queue_pause_p95_s",
    "queue_pause_p99_s",
    "queue_pause_p999_s",
    "queue_amplitude_octets",
    "empty_fraction",
    "utilization",
    "throughput_bps",
    "jain_index",
    "rate_amplitude_bps",
    "feedback_frames",
    "feedback_rate",
    "settling_time_s",
    "completion_time_s",
    "slowdown_mean",
    "slowdown_p50",
    "slowdown_p95",
    "slowdown_p99",
    "slowdown_p999",
    "flows_left",
    "retransmissions",
    "timeouts",
    "job_time_s",
    "iteration_mean_s",
    "collective_mean_s",
    "bus_bandwidth_bps",
    "efficiency",
    "exposed_communication_s",
    "straggling_s",
    "path_queue_s",
    "path_pause_s",
    "path_limited_s",
    "paused_s",
    "pause_frames",
    "frames_dropped",
    "frames_dropped_measured",
    "goodput_bps",
    "throughput_jain_index",
    "share_ratio",
    "settling_s",
    "frames_offered",
    "frames_discarded_at_source",
    "frames_waiting_at_source",
    "frames_sent",
    "copies_made",
    "frames_delivered",
    "frames_lost_on_link",
    "frames_impaired",
    "control_frames_impaired",
    "frames_in_flight",
    "notifications",
    "probes_returned",
    "tied_losses",
    "frames_trimmed",
    "headers_delivered",
    "headers_lost",
    "feedback_discarded",
    "paths_skipped",
    "paths_assumed_bad",
    "paths_restored",
    "path_probes",
    "credit_wait_s",
    "replays",
    "frames_replayed",
    "watchdog_fired",
    "watchdog_dropped",
    "packet_hops",
    "events",
    "min_octets",
    "sent_bps",
    "control_frames_dropped",
    "frames_flushed",
    "octets_sent",
    "frames_marked",
    "octets_marked",
    "stops",
    "resume_frames",
    "ingress_shared_max_octets",
    "ingress_headroom_max_octets",
    "drop_rate",
    "set_point_octets",
    "fair_rate_bps",
    "active_s",
    "mean_rate_bps",
    "std_rate_bps",
    "feedback_received",
    "segments_discarded",
    "transmit_queue_mean_octets",
    "notifications_received",
    "start_s",
    "end_s",
    "least_octets",
    "most_octets",
    "flows",
    "completed",
    "rate_limiters_mean",
    "rate_limiters_max",
    "receive_drops",
    "size_octets",
    "headroom_octets",
    "headroom_needed_octets",
    "xoff_alone_octets",
    "xoff_together_octets",
    "mean_octets",
    "max_octets",
    "headroom_max_octets",
    "frames_refused",
    "group_ranks",
    "ideal_s",
    "ranks",
    "iterations",
    "iterations_ended",
    "iteration_max_s",
    "algorithm_bandwidth_bps",
    "path_computing_s",
    "path_local_s",
    "path_ideal_s",
    "path_lost_s",
    "path_host_s",
    "path_port_s",
]
MetricLevel = Literal["run", "queue", "flow", "class", "host", "pool", "job"]
MetricKind = Literal["count", "share", "octets", "time", "rate", "index", "ratio"]
Better = Literal["less", "more"]


class Written(TypedDict):
    """The values of a parameter as a scenario file would have them, such as ``33 KB``, exact."""

    default: str
    """The default."""
    minimum: str | None
    """The least value. Null for a choice or a switch."""
    maximum: str | None
    """The greatest value. Null for a choice or a switch."""


class Condition(TypedDict):
    """That another parameter of the scheme, a choice or a switch, has one of some values."""

    parameter: str
    """The other parameter."""
    values: list[float | str | bool]
    """The values."""


class Alias(TypedDict):
    """A vendor's name of a parameter."""

    name: str
    """As the vendor writes it."""
    unit: str
    """The unit of a bare number under this name."""


class Parameter(TypedDict):
    """One parameter of a scheme."""

    name: str
    """Its name."""
    unit: str
    """Its unit. A choice lists its values here."""
    default: float | str | bool
    """Its default, in its unit."""
    minimum: float | None
    """The least value, in its unit. Null for a choice or a switch, which have no range."""
    maximum: float | None
    """The greatest value, in its unit. Null for a choice or a switch."""
    source: str
    """The source of the default."""
    description: str
    """Its meaning."""
    queue_length: bool
    """Whether it is a length of the queue, which the buffer bounds."""
    when: Condition | None
    """Where it has an effect. Null for everywhere."""
    alias: Alias | None
    """The name that vendors of network interfaces have for it, which scenarios take too. Null without one."""
    written: Written
    """Its values as a scenario file would have them."""


class Profile(TypedDict):
    """A named set of parameter values."""

    name: str
    """Its name."""
    description: str
    """Its meaning."""
    settings: dict[str, float | str | bool]
    """Values by the names of their parameters, in their units."""
    written: dict[str, str]
    """The same as a scenario file would have them."""


class Signals(TypedDict):
    """How a source receives the state of its queue."""

    path: Literal["backward", "by destination"]
    """Whether the signal comes from the congestion point, or by the destination."""
    octets: int
    """Length of its frame, with FCS, without preamble and gap, octets."""


class Action(TypedDict):
    """An action of a scheme, which results count."""

    name: str
    """Its name."""
    description: str
    """What is counted."""
    effect: bool
    """Whether it answers congestion by changing traffic."""


class Scheme(TypedDict):
    """A congestion-management scheme."""

    name: SchemeName
    """Its name."""
    title: str
    """Its full name."""
    source: str
    """Where it is defined."""
    parameters: list[Parameter]
    """Its parameters."""
    description: str
    """The working of the scheme, in a sentence or two."""
    profiles: list[Profile]
    """Its profiles."""
    set_point: str | None
    """The parameter that says at which length the queue is to be held. Null without one."""
    signals: Signals | None
    """How sources receive the state of their queues. Null in a scheme without signals."""
    actions: list[Action]
    """Its actions, which results count."""
    tuned: list[list[str]]
    """The parameters that an operator sets: each entry is a parameter, followed by those that take its value too."""
    recovers_alone: bool
    """Whether the rate returns to line rate by itself, without signals."""
    raises_on_signal: bool
    """Whether a signal can raise the rate."""
    integer_state: bool
    """Whether its state is integer only, so that hardware can be held to it bit for bit."""
    needs_order: bool
    """Whether it takes a late frame for a lost one, or assumes that all frames of a flow take one path."""
    capture: bool
    """Whether a capture of a run shows all that its frames carry."""
    testbed: bool
    """Whether the testbed runs it."""
    fluid: str | None
    """The module of its fluid models in ``penstock.theory.models``. Null without one."""
    cores: list[str]
    """Its cores in SystemVerilog: folders of ``rtl``."""


class Key(TypedDict):
    """One key of a scenario file."""

    section: str
    """The table that has it, as a dotted path; empty for the file itself."""
    section_description: str
    """The meaning of that table."""
    key: str
    """Its name."""
    unit: str
    """The kind of its value."""
    default: str | None
    """The default as a file would have it, or a text for the value where the key is absent.

    Null for a key that must be there.
    """
    required: bool
    """Whether it must be there."""
    minimum: float | str | bool | None
    """The least value. Null where there is none."""
    maximum: float | str | bool | None
    """The greatest value. Null where there is none."""
    description: str
    """Its meaning."""


class AssignedScheme(TypedDict):
    """The scheme of a priority."""

    priority: int
    """The priority, 0 to 7."""
    name: SchemeName
    """Name of the scheme."""
    profile: str | None
    """The profile that its parameters start from."""
    parameters: dict[str, float | str | bool]
    """Its parameters, in the units of the catalogue (``penstock.schemes``)."""


class Node(TypedDict):
    """A node."""

    name: str
    """Its name."""
    kind: Literal["host", "switch"]
    """Whether it is a host or a switch."""
    oversubscription: float | None
    """Of a switch with hosts the rate of its links to them over that of its links to switches.

    Null where it has no hosts, or no other links.
    """


class PoolMemory(TypedDict):
    """The memory of a pool. Reserves, shared part and headroom of all pools of a switch are its memory."""

    switch: str
    """The switch."""
    memory_octets: int | None
    """The packet memory of the switch, octets. Null without a ``[[switch]]``."""
    pool: str
    """The pool."""
    priorities: list[int]
    """Its priorities that flows have."""
    cell_octets: int
    """Size of a memory cell, octets."""
    reserved_octets: int
    """Memory reserved for queues and lines, octets."""
    shared_octets: int
    """Memory that queues and lines share, octets."""
    headroom_octets: int
    """Memory for frames that arrive after a line was paused, octets."""
    headroom_needed_octets: int
    """Headroom that all lines need at once, in whole cells, octets."""


class PoolOfLine(TypedDict):
    """The limits of a line in a pool that its switch has for lossless priorities.

    A pool stops a line at a dynamic threshold.
    """

    name: str
    """The pool."""
    cell_octets: int
    """Size of a memory cell, octets."""
    xoff_alone_octets: int
    """The memory of a line and priority at which it is stopped if no other holds any; ``xoff_octets`` where that is
    less, octets.
    """
    xoff_together_octets: int
    """The same if all lossless lines and priorities hold as much, octets."""
    headroom_octets: int
    """The most that the line and a priority take of the headroom, in whole cells, octets."""
    headroom_needed_octets: int
    """Headroom that frames, delays and response need, in whole cells, octets."""


class FlowControlDescription(TypedDict):
    """The ingress buffer after a port that priority flow control can stop.

    Where there are ``pools``, the line is stopped by the first that is at its threshold.
    """

    buffer_octets: int
    """Its size, octets."""
    xoff_octets: int
    """The length at which it stops the port, octets."""
    xon_octets: int
    """The length at which the port goes on, octets."""
    headroom_octets: int
    """Room in the buffer above xoff, octets."""
    headroom_needed_octets: int
    """Headroom that frames, delays and response need (802.1Qbb; the page on priority flow control has the formula),
    octets.
    """
    response_s: float
    """From the arrival of a pause frame until the port starts no more frames, s."""
    pools: list[PoolOfLine]
    """The pools of the switch at the far end that lossless priorities share."""


class WatchdogDescription(TypedDict):
    """The watchdog of priority flow control at a port."""

    detection_s: float
    """How long a queue is paused before it acts, s."""
    restoration_s: float
    """How long no pause frame arrives until the queue obeys again, s."""
    poll_s: float
    """Distance of its looks at the queues; 0: it sees everything at once, s."""
    action: Literal["drop", "forward", "alert"]
    """What happens to the queue meanwhile."""


class LinkDescription(TypedDict):
    """An output port and the line after it, as it is at the start."""

    name: str
    """Its name, ``node->peer``; of parallel links with a number, ``node->peer.2``."""
    node: str
    """The node that has it."""
    peer: str
    """The node at the far end."""
    reverse: str
    """The port of the opposite direction."""
    rate_bps: int
    """The line rate, bit/s."""
    latency_s: float
    """From the end of a frame's transmission until the peer acts on it, s."""
    cable_m: float | None
    """The length of its cable, m. Null where its delay is given instead."""
    buffer_octets: int | None
    """Size of its buffer, octets.

    Null where that is a number of frames, and at a host's port where reaction points take turns.
    """
    buffer_frames: int | None
    """Size of its buffer.

    Null where that is a number of octets, and at a host's port where reaction points take turns.
    """
    congestion_points: bool
    """Whether its queues have congestion points."""
    flow_control: FlowControlDescription | None
    """The ingress buffer at the far end. Null where priority flow control cannot stop the port."""
    watchdog: WatchdogDescription | None
    """The watchdog of priority flow control at the port. Null without."""
    credit_octets: int | None
    """Memory at the far end for each priority with credits (``[[credits]]``), octets. Null without."""
    replay_octets: int | None
    """Frames that may wait for their acknowledgement (``[[retry]]``), octets. Null without."""


class ChangeDescription(TypedDict):
    """A change of a link."""

    at_s: float
    """Its time, s."""
    link: str
    """The link."""
    event: Literal["rate", "down", "up"]
    """What changes: it has another rate, breaks, or is whole again."""
    rate_bps: int | None
    """The new rate, bit/s. Null where that does not change."""


class ParameterChange(TypedDict):
    """The scheme of a priority with all its parameters from a time on."""

    at_s: float
    """The time, s."""
    priority: int
    """The priority, 0 to 7."""
    name: SchemeName
    """Name of the scheme."""
    parameters: dict[str, float | str | bool]
    """All its parameters from then on, in the units of the catalogue."""


class Hop(TypedDict):
    """A link of a route."""

    link: str
    """The link."""
    back: str
    """The link of the opposite direction."""
    after: int | None
    """Index of the hop before. Null for the first."""


class FlowDescription(TypedDict):
    """A flow: the nodes at its ends, its route, its traffic."""

    name: str
    """Its name."""
    source: str
    """The host that sends."""
    destinations: list[str]
    """The hosts that receive."""
    controlled: bool
    """Whether a reaction point controls it."""
    priority: int
    """Its priority, 0 to 7."""
    weight: int
    """Its weight among the flows of its host."""
    frame_octets: int
    """Length of its frames, without preamble and gap, octets."""
    start_s: float | None
    """Its start, s. Null where it follows from the end of other flows."""
    stop_s: float | None
    """The time at which it stops, s. Null where it has none."""
    size_octets: int | None
    """Its size, octets. Null where it has none."""
    traffic: Literal["greedy", "constant", "poisson", "on-off"]
    """The kind of its traffic."""
    rate_bps: float | None
    """Mean rate of its traffic, without wire overhead, bit/s. Null for a greedy flow."""
    hops: list[Hop]
    """The links of its route; that of a multicast flow is a tree."""


class FairPeriod(TypedDict):
    """The reference allocation while nothing changes."""

    start_s: float
    """Its start, s."""
    stop_s: float
    """Its end, s."""
    max_min_bps: list[float]
    """The max-min fair rate of each flow, with wire overhead, bit/s."""
    proportional_bps: list[float]
    """The proportionally fair rate of each flow, with wire overhead, bit/s."""


class Outline(TypedDict):
    """A scenario laid out, as it would run, without its flows."""

    name: str
    """Name of the scenario."""
    question: str
    """The question that the scenario answers."""
    scheme: str
    """Name of the scheme; ``mixed`` where priorities have different ones."""
    profile: str | None
    """The profile that the scheme's parameters start from, the same for all priorities."""
    seed: int
    """Seed of all random streams."""
    duration_s: float
    """Simulated time, s."""
    warmup_s: float
    """The time at the start that means and other statistics leave out, s."""
    interval_s: float
    """From one sample to the next, s."""
    wire_overhead_octets: int
    """What each frame takes on the line beyond its octets: preamble and gap, octets."""
    in_service_counts: bool
    """Whether the frame that is sent counts as a part of its queue."""
    feedback_s: float | None
    """The fixed delay of signals, s. Null where they travel as frames."""
    schemes: list[AssignedScheme]
    """The scheme of each priority."""
    nodes: list[Node]
    """Hosts and switches."""
    links: list[LinkDescription]
    """The output ports."""
    memory: list[PoolMemory]
    """The memory of the pools of switches."""
    changes: list[ChangeDescription]
    """Changes of links, in order of time."""
    parameter_changes: list[ParameterChange]
    """Changes of schemes' parameters, in order of time."""
    queues: list[str]
    """The port of each recorded queue."""
    notes: list[str]
    """Sentences on what the layout takes for granted."""


class Description(Outline):
    """A scenario laid out, as it would run."""

    flows: list[FlowDescription]
    """The flows, those of ``[[flow]]`` tables first."""
    fair: list[FairPeriod]
    """The reference allocation of each time in which nothing changes; empty where loads, incasts or traces make flows.
    """
