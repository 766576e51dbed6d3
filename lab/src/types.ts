/**
 * The engine's JSON: catalogue, descriptions, summaries; names of schemes, metrics and columns.
 *
 * Written by `python tools/generate_types.py` from the declaration in Rust: change that, not this file.
 */

export type SchemeName =
  "none" | "bcn" | "fecn" | "efecn" | "e2cm" | "qcn" | "qcn-multicast" | "qcn-bs" | "qcn-adaptive" | "qcn-bs-adaptive"
  | "af-qcn" | "fqcn" | "smcc" | "dcqcn" | "dcqcn-window" | "fast-cnp" | "timely" | "dctcp" | "swift" | "hpcc" | "powertcp"
  | "theta-powertcp" | "rocc" | "annulus" | "nscc" | "ndp" | "expresspass" | "homa" | "ci" | "ici" | "sfc";

export type QueuesColumn =
  "time_s" | "queue" | "priority" | "queue_octets" | "queue_frames" | "utilization" | "frames_dropped" | "frames_sent"
  | "octets_sent" | "frames_marked" | "octets_marked" | "paused_s";

export type RatesColumn =
  "time_s" | "flow" | "rate_bps" | "throughput_bps" | "fair_rate_bps";

/** The values of a parameter as a scenario file would have them, such as `33 KB`, exact. */
export interface Written {
  /** The default. */
  default: string;
  /** The least value. Null for a choice or a switch. */
  minimum: string | null;
  /** The greatest value. Null for a choice or a switch. */
  maximum: string | null;
}

/** That another parameter of the scheme, a choice or a switch, has one of some values. */
export interface Condition {
  /** The other parameter. */
  parameter: string;
  /** The values. */
  values: (number | string | boolean)[];
}

/** A vendor's name of a parameter. */
export interface Alias {
  /** As the vendor writes it. */
  name: string;
  /** The unit of a bare number under this name. */
  unit: string;
}

/** One parameter of a scheme. */
export interface Parameter {
  /** Its name. */
  name: string;
  /** Its unit. A choice lists its values here. */
  unit: string;
  /** Its default, in its unit. */
  default: number | string | boolean;
  /** The least value, in its unit. Null for a choice or a switch, which have no range. */
  minimum: number | null;
  /** The greatest value, in its unit. Null for a choice or a switch. */
  maximum: number | null;
  /** The source of the default. */
  source: string;
  /** Its meaning. */
  description: string;
  /** Whether it is a length of the queue, which the buffer bounds. */
  queue_length: boolean;
  /** Where it has an effect. Null for everywhere. */
  when: Condition | null;
  /** The name that vendors of network interfaces have for it, which scenarios take too. Null without one. */
  alias: Alias | null;
  /** Its values as a scenario file would have them. */
  written: Written;
}

/** A named set of parameter values. */
export interface Profile {
  /** Its name. */
  name: string;
  /** Its meaning. */
  description: string;
  /** Values by the names of their parameters, in their units. */
  settings: Record<string, number | string | boolean>;
  /** The same as a scenario file would have them. */
  written: Record<string, string>;
}

/** How a source receives the state of its queue. */
export interface Signals {
  /** Whether the signal comes from the congestion point, or by the destination. */
  path: "backward" | "by destination";
  /** Length of its frame, with FCS, without preamble and gap, octets. */
  octets: number;
}

/** An action of a scheme, which results count. */
export interface Action {
  /** Its name. */
  name: string;
  /** What is counted. */
  description: string;
  /** Whether it answers congestion by changing traffic. */
  effect: boolean;
}

/** A congestion-management scheme. */
export interface Scheme {
  /** Its name. */
  name: SchemeName;
  /** Its full name. */
  title: string;
  /** Where it is defined. */
  source: string;
  /** Its parameters. */
  parameters: Parameter[];
  /** The working of the scheme, in a sentence or two. */
  description: string;
  /** Its profiles. */
  profiles: Profile[];
  /** The parameter that says at which length the queue is to be held. Null without one. */
  set_point: string | null;
  /** How sources receive the state of their queues. Null in a scheme without signals. */
  signals: Signals | null;
  /** Its actions, which results count. */
  actions: Action[];
  /** The parameters that an operator sets: each entry is a parameter, followed by those that take its value too. */
  tuned: string[][];
  /** Whether the rate returns to line rate by itself, without signals. */
  recovers_alone: boolean;
  /** Whether a signal can raise the rate. */
  raises_on_signal: boolean;
  /** Whether its state is integer only, so that hardware can be held to it bit for bit. */
  integer_state: boolean;
  /** Whether it takes a late frame for a lost one, or assumes that all frames of a flow take one path. */
  needs_order: boolean;
  /** Whether a capture of a run shows all that its frames carry. */
  capture: boolean;
  /** Whether the testbed runs it. */
  testbed: boolean;
  /** The module of its fluid models in `penstock.theory.models`. Null without one. */
  fluid: string | null;
  /** Its cores in SystemVerilog: folders of `rtl`. */
  cores: string[];
}

/** The scheme of a priority. */
export interface AssignedScheme {
  /** The priority, 0 to 7. */
  priority: number;
  /** Name of the scheme. */
  name: SchemeName;
  /** The profile that its parameters start from. */
  profile: string | null;
  /** Its parameters, in the units of the catalogue (`penstock.schemes`). */
  parameters: Record<string, number | string | boolean>;
}

/** A node. */
export interface Node {
  /** Its name. */
  name: string;
  /** Whether it is a host or a switch. */
  kind: "host" | "switch";
  /** Of a switch with hosts the rate of its links to them over that of its links to switches. Null where it has no hosts, or no other links. */
  oversubscription: number | null;
}

/** The memory of a pool. Reserves, shared part and headroom of all pools of a switch are its memory. */
export interface PoolMemory {
  /** The switch. */
  switch: string;
  /** The packet memory of the switch, octets. Null without a `[[switch]]`. */
  memory_octets: number | null;
  /** The pool. */
  pool: string;
  /** Its priorities that flows have. */
  priorities: number[];
  /** Size of a memory cell, octets. */
  cell_octets: number;
  /** Memory reserved for queues and lines, octets. */
  reserved_octets: number;
  /** Memory that queues and lines share, octets. */
  shared_octets: number;
  /** Memory for frames that arrive after a line was paused, octets. */
  headroom_octets: number;
  /** Headroom that all lines need at once, in whole cells, octets. */
  headroom_needed_octets: number;
}

/** The limits of a line in a pool that its switch has for lossless priorities. A pool stops a line at a dynamic threshold. */
export interface PoolOfLine {
  /** The pool. */
  name: string;
  /** Size of a memory cell, octets. */
  cell_octets: number;
  /** The memory of a line and priority at which it is stopped if no other holds any; `xoff_octets` where that is less, octets. */
  xoff_alone_octets: number;
  /** The same if all lossless lines and priorities hold as much, octets. */
  xoff_together_octets: number;
  /** The most that the line and a priority take of the headroom, in whole cells, octets. */
  headroom_octets: number;
  /** Headroom that frames, delays and response need, in whole cells, octets. */
  headroom_needed_octets: number;
}

/** The ingress buffer after a port that priority flow control can stop. Where there are `pools`, the line is stopped by the first that is at its threshold. */
export interface FlowControlDescription {
  /** Its size, octets. */
  buffer_octets: number;
  /** The length at which it stops the port, octets. */
  xoff_octets: number;
  /** The length at which the port goes on, octets. */
  xon_octets: number;
  /** Room in the buffer above xoff, octets. */
  headroom_octets: number;
  /** Headroom that frames, delays and response need (802.1Qbb; the page on priority flow control has the formula), octets. */
  headroom_needed_octets: number;
  /** From the arrival of a pause frame until the port starts no more frames, s. */
  response_s: number;
  /** The pools of the switch at the far end that lossless priorities share. */
  pools: PoolOfLine[];
}

/** The watchdog of priority flow control at a port. */
export interface WatchdogDescription {
  /** How long a queue is paused before it acts, s. */
  detection_s: number;
  /** How long no pause frame arrives until the queue obeys again, s. */
  restoration_s: number;
  /** Distance of its looks at the queues; 0: it sees everything at once, s. */
  poll_s: number;
  /** What happens to the queue meanwhile. */
  action: "drop" | "forward" | "alert";
}

/** An output port and the line after it, as it is at the start. */
export interface LinkDescription {
  /** Its name, `node->peer`; of parallel links with a number, `node->peer.2`. */
  name: string;
  /** The node that has it. */
  node: string;
  /** The node at the far end. */
  peer: string;
  /** The port of the opposite direction. */
  reverse: string;
  /** The line rate, bit/s. */
  rate_bps: number;
  /** From the end of a frame's transmission until the peer acts on it, s. */
  latency_s: number;
  /** The length of its cable, m. Null where its delay is given instead. */
  cable_m: number | null;
  /** Size of its buffer, octets. Null where that is a number of frames, and at a host's port where reaction points take turns. */
  buffer_octets: number | null;
  /** Size of its buffer. Null where that is a number of octets, and at a host's port where reaction points take turns. */
  buffer_frames: number | null;
  /** Whether its queues have congestion points. */
  congestion_points: boolean;
  /** The ingress buffer at the far end. Null where priority flow control cannot stop the port. */
  flow_control: FlowControlDescription | null;
  /** The watchdog of priority flow control at the port. Null without. */
  watchdog: WatchdogDescription | null;
  /** Memory at the far end for each priority with credits (`[[credits]]`), octets. Null without. */
  credit_octets: number | null;
  /** Frames that may wait for their acknowledgement (`[[retry]]`), octets. Null without. */
  replay_octets: number | null;
}

/** A change of a link. */
export interface ChangeDescription {
  /** Its time, s. */
  at_s: number;
  /** The link. */
  link: string;
  /** What changes: it has another rate, breaks, or is whole again. */
  event: "rate" | "down" | "up";
  /** The new rate, bit/s. Null where that does not change. */
  rate_bps: number | null;
}

/** The scheme of a priority with all its parameters from a time on. */
export interface ParameterChange {
  /** The time, s. */
  at_s: number;
  /** The priority, 0 to 7. */
  priority: number;
  /** Name of the scheme. */
  name: SchemeName;
  /** All its parameters from then on, in the units of the catalogue. */
  parameters: Record<string, number | string | boolean>;
}

/** A link of a route. */
export interface Hop {
  /** The link. */
  link: string;
  /** The link of the opposite direction. */
  back: string;
  /** Index of the hop before. Null for the first. */
  after: number | null;
}

/** A flow: the nodes at its ends, its route, its traffic. */
export interface FlowDescription {
  /** Its name. */
  name: string;
  /** The host that sends. */
  source: string;
  /** The hosts that receive. */
  destinations: string[];
  /** Whether a reaction point controls it. */
  controlled: boolean;
  /** Its priority, 0 to 7. */
  priority: number;
  /** Its weight among the flows of its host. */
  weight: number;
  /** Length of its frames, without preamble and gap, octets. */
  frame_octets: number;
  /** Its start, s. Null where it follows from the end of other flows. */
  start_s: number | null;
  /** The time at which it stops, s. Null where it has none. */
  stop_s: number | null;
  /** Its size, octets. Null where it has none. */
  size_octets: number | null;
  /** The kind of its traffic. */
  traffic: "greedy" | "constant" | "poisson" | "on-off";
  /** Mean rate of its traffic, without wire overhead, bit/s. Null for a greedy flow. */
  rate_bps: number | null;
  /** The links of its route; that of a multicast flow is a tree. */
  hops: Hop[];
}

/** The reference allocation while nothing changes. */
export interface FairPeriod {
  /** Its start, s. */
  start_s: number;
  /** Its end, s. */
  stop_s: number;
  /** The max-min fair rate of each flow, with wire overhead, bit/s. */
  max_min_bps: number[];
  /** The proportionally fair rate of each flow, with wire overhead, bit/s. */
  proportional_bps: number[];
}

/** A scenario laid out, as it would run, without its flows. */
export interface Outline {
  /** Name of the scenario. */
  name: string;
  /** The question that the scenario answers. */
  question: string;
  /** Name of the scheme; `mixed` where priorities have different ones. */
  scheme: string;
  /** The profile that the scheme's parameters start from, the same for all priorities. */
  profile: string | null;
  /** Seed of all random streams. */
  seed: number;
  /** Simulated time, s. */
  duration_s: number;
  /** The time at the start that means and other statistics leave out, s. */
  warmup_s: number;
  /** From one sample to the next, s. */
  interval_s: number;
  /** What each frame takes on the line beyond its octets: preamble and gap, octets. */
  wire_overhead_octets: number;
  /** Whether the frame that is sent counts as a part of its queue. */
  in_service_counts: boolean;
  /** The fixed delay of signals, s. Null where they travel as frames. */
  feedback_s: number | null;
  /** The scheme of each priority. */
  schemes: AssignedScheme[];
  /** Hosts and switches. */
  nodes: Node[];
  /** The output ports. */
  links: LinkDescription[];
  /** The memory of the pools of switches. */
  memory: PoolMemory[];
  /** Changes of links, in order of time. */
  changes: ChangeDescription[];
  /** Changes of schemes' parameters, in order of time. */
  parameter_changes: ParameterChange[];
  /** The port of each recorded queue. */
  queues: string[];
  /** Sentences on what the layout takes for granted. */
  notes: string[];
}

/** A scenario laid out, as it would run. */
export interface Description extends Outline {
  /** The flows, those of `[[flow]]` tables first. */
  flows: FlowDescription[];
  /** The reference allocation of each time in which nothing changes; empty where loads, incasts or traces make flows. */
  fair: FairPeriod[];
}

/** The scheme of a priority. */
export interface Assigned {
  /** The priority, 0 to 7. */
  priority: number;
  /** Name of its scheme. */
  scheme: string;
  /** The profile that the scheme's parameters started from. */
  profile: string | null;
}

/** How often the scheme took each action that it declares; no key for one that it does not. Several schemes are counted together. */
export interface Actions {
  /** Frames that reached a destination with a mark of congestion. */
  marks?: number;
  /** Frames that were cut down to their headers. */
  trims?: number;
  /** Frames that were moved to another queue. */
  moves?: number;
  /** Signals that reached the congestion point of the previous hop, or the source. */
  neighbour_messages?: number;
  /** Congestion signals that reached a source. */
  notifications?: number;
  /** Probes that came back to their source. */
  replies?: number;
  /** Changes of a reaction point's rate or window that lowered it. */
  cuts?: number;
  /** Changes of a reaction point's rate or window that raised it. */
  raises?: number;
}

/** Counts over the network in a window. Those of windows that lie end to end add up to those of the run. */
export interface WindowTotals {
  /** Data frames that generators made: by their schedules, whether or not they could go. A schedule that stands still (`excess = "stall"`) makes fewer. */
  frames_offered: number;
  /** Data frames that reaction points released into the network. */
  frames_sent: number;
  /** Copies made at the branches of multicast trees, beyond the first of each frame. */
  copies_made: number;
  /** Data frames and copies that reached a destination. */
  frames_delivered: number;
  /** Data frames and copies dropped at full queues, or at full receive buffers of hosts. */
  frames_dropped: number;
  /** Data frames and copies lost on broken links, and in the queues before them. */
  frames_lost_on_link: number;
  /** Data frames and copies that links corrupted at random (`[[impairment]]`). They count neither as dropped nor as lost on a broken link. Present only where links lose frames at random. */
  frames_impaired?: number;
  /** Acknowledgements, signals, headers of trimmed frames and pause frames that links corrupted at random. Present only where links lose frames at random. */
  control_frames_impaired?: number;
  /** Signals that reached the sources of controlled flows. */
  feedback_frames: number;
  /** Of them, notifications: a switch or a destination saw congestion. Present only where sources send probes. */
  notifications?: number;
  /** Of them, probes that came back. Present only where sources send probes. */
  probes_returned?: number;
  /** Of the frames dropped, those that came at an instant at which another frame had joined the same queue: the order of the two decided (`network.ties`). */
  tied_losses: number;
  /** Of the frames dropped, those that switches cut down to their headers. Present only where switches trim. */
  frames_trimmed?: number;
  /** Headers of trimmed frames that reached destinations. Present only where switches trim. */
  headers_delivered?: number;
  /** Headers of trimmed frames dropped at full control queues or lost on broken links. Present only where switches trim. */
  headers_lost?: number;
  /** Segments that transports sent again. Present only where some flow has a transport. */
  retransmissions?: number;
  /** Retransmission timeouts of transports. Present only where some flow has a transport. */
  timeouts?: number;
  /** Entropy values whose turn passed once, after a mark or a trim before the last hop. Present only where sources keep states of entropy values (`network.load_balancing`). */
  paths_skipped?: number;
  /** Entropy values that sources took for those of broken paths: a frame was lost without a trace. Present only where sources keep states of entropy values (`network.load_balancing`). */
  paths_assumed_bad?: number;
  /** Of them, restored by the answer to a probe, or a late one. Present only where sources keep states of entropy values (`network.load_balancing`). */
  paths_restored?: number;
  /** Probes of such paths. Present only where sources keep states of entropy values (`network.load_balancing`). */
  path_probes?: number;
  /** Frames of priority flow control, pause and resume. Present only where the network has priority flow control. */
  pause_frames?: number;
  /** How long priority flow control stopped queues, the sum over all queues of the network, recorded or not, s. Present only where the network has priority flow control. */
  paused_s?: number;
  /** How long queues waited for credits with a free line, the sum over all queues of the network, recorded or not, s. A host's port without a queue waits while its longest frame would not fit. Present only where links have credits (`[[credits]]`). */
  credit_wait_s?: number;
  /** Replays of link-level retry: how often a line went back to a frame that was lost. Present only where links have link-level retry (`[[retry]]`). */
  replays?: number;
  /** Frames that link-level retry sent again, each time that it did. Present only where links have link-level retry (`[[retry]]`). */
  frames_replayed?: number;
  /** How often the watchdog of flow control found a queue that had been stopped for too long. Present only where flow control has a watchdog. */
  watchdog_fired?: number;
  /** Frames, data and control, that queues dropped that the watchdog had let go. They count as dropped at their queues, too. Present only where flow control has a watchdog. */
  watchdog_dropped?: number;
  /** Frames, data or control, that crossed a link; each link counts. */
  packet_hops: number;
}

/** Counts over the network and the whole run. */
export interface Totals extends WindowTotals {
  /** Of them, discarded at their source before they reached the network. */
  frames_discarded_at_source: number;
  /** Of them, still waiting there at the end. */
  frames_waiting_at_source: number;
  /** Data frames and copies in queues and on links at the end. */
  frames_in_flight: number;
  /** Signals that reached the sources of flows without congestion management and were discarded there. Present only where some flow has no congestion management. */
  feedback_discarded?: number;
  /** Events that the engine handled. */
  events: number;
}

/** A queue: a port and a priority. Lengths and utilisation cover the time after the warm-up and are weighted by time, counts the whole run; in a window, everything covers the window. */
export interface QueueSummary {
  /** The queue's port, `node->peer`. */
  name: string;
  /** The queue's priority, 0 to 7. */
  priority: number;
  /** Time-weighted mean of the length, octets. */
  mean_octets: number;
  /** Time-weighted standard deviation of the length, octets. */
  std_octets: number;
  /** Smallest length, octets. */
  min_octets: number;
  /** Largest length, octets. */
  max_octets: number;
  /** Share of the time without an octet in the queue. */
  empty_fraction: number;
  /** Share of the port's scheduled rate that was used, by all its queues, wire overhead included. */
  utilization: number;
  /** Rate at which frames left the queue for the link, without wire overhead, bit/s. Present only where some priority has a weight or a shaper. */
  sent_bps?: number;
  /** Data frames and copies dropped at the queue, those aside that it lost with its link: of all queues together, those of the totals. */
  frames_dropped: number;
  /** Acknowledgements and signals dropped at the queue, where they share it with data. */
  control_frames_dropped: number;
  /** Data frames and copies that the queue lost because its link was broken: those that waited, and those that came before it was whole again. */
  frames_flushed: number;
  /** Data frames and copies of the queue that its link corrupted at random (`[[impairment]]`). Present only where links lose frames at random. */
  frames_impaired?: number;
  /** Frames that left the queue for the link. */
  frames_sent: number;
  /** Octets of them, without wire overhead, octets. */
  octets_sent: number;
  /** Frames that the queue marked, whoever decides on marks: `network.ecn_threshold`, or the scheme. One that two queues mark counts at both. */
  frames_marked: number;
  /** Octets of them, without wire overhead, octets. */
  octets_marked: number;
  /** Signals that the queue's congestion point sent. */
  feedback_frames: number;
  /** How long priority flow control stopped the queue, or it waited for credits, s. */
  paused_s: number;
  /** How often pause frames stopped the queue, or its first frame lacked credits; a stop that is refreshed is one. */
  stops: number;
  /** Pause frames that stopped the queue, or went on stopping it. */
  pause_frames: number;
  /** Pause frames that let the queue go on. Present only where the network has priority flow control. */
  resume_frames?: number;
  /** The most shared memory, beyond its reserve, that frames held which came in over the line to the port in this priority, in whole cells: the shared watermark of a priority group, octets. Present only where the network has priority flow control and pools (`[[buffer]]`). */
  ingress_shared_max_octets?: number;
  /** The most headroom that they held, likewise, octets. Present only where the network has priority flow control and pools (`[[buffer]]`). */
  ingress_headroom_max_octets?: number;
  /** Frames dropped at the queue, data and control, over frames that came to it. */
  drop_rate: number;
  /** Length at which the queue's congestion point is to hold it, octets. The one at the end of the run, where it changes. Null if the scheme has no such length, or the queue no congestion point. */
  set_point_octets: number | null;
  /** Median of the length, weighted with time, within 1 %, octets. Present only where the run keeps histograms (`record.percentiles`). */
  p50_octets?: number;
  /** 90th percentile of the length, weighted with time, within 1 %, octets. Present only where the run keeps histograms (`record.percentiles`). */
  p90_octets?: number;
  /** 95th percentile of the length, weighted with time, within 1 %, octets. Present only where the run keeps histograms (`record.percentiles`). */
  p95_octets?: number;
  /** 99th percentile of the length, weighted with time, within 1 %, octets. Present only where the run keeps histograms (`record.percentiles`). */
  p99_octets?: number;
  /** 99.9th percentile of the length, weighted with time, within 1 %, octets. Present only where the run keeps histograms (`record.percentiles`). */
  p999_octets?: number;
  /** Median of the time that a frame stayed in the queue, within 1 %; 0 without frames, s. Present only where the run keeps histograms (`record.percentiles`). */
  delay_p50_s?: number;
  /** 90th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames, s. Present only where the run keeps histograms (`record.percentiles`). */
  delay_p90_s?: number;
  /** 95th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames, s. Present only where the run keeps histograms (`record.percentiles`). */
  delay_p95_s?: number;
  /** 99th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames, s. Present only where the run keeps histograms (`record.percentiles`). */
  delay_p99_s?: number;
  /** 99.9th percentile of the time that a frame stayed in the queue, within 1 %; 0 without frames, s. Present only where the run keeps histograms (`record.percentiles`). */
  delay_p999_s?: number;
  /** Median of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops, s. Present only where the run keeps histograms (`record.percentiles`), and the network has priority flow control. */
  pause_p50_s?: number;
  /** 90th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops, s. Present only where the run keeps histograms (`record.percentiles`), and the network has priority flow control. */
  pause_p90_s?: number;
  /** 95th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops, s. Present only where the run keeps histograms (`record.percentiles`), and the network has priority flow control. */
  pause_p95_s?: number;
  /** 99th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops, s. Present only where the run keeps histograms (`record.percentiles`), and the network has priority flow control. */
  pause_p99_s?: number;
  /** 99.9th percentile of the length of a stop by flow control, of those that ended, within 1 %; 0 without stops, s. Present only where the run keeps histograms (`record.percentiles`), and the network has priority flow control. */
  pause_p999_s?: number;
}

/** A flow in a window. */
export interface WindowFlow {
  /** The flow. */
  name: string;
  /** Rate of delivery over the measured time, or, for a flow with a size, over the part of it from the flow's start to its completion; wire overhead included; the mean over the destinations, bit/s. */
  throughput_bps: number;
  /** Time-weighted max-min fair share over the same time; it counts as zero while the flow is not active, and ends with a flow that has a size, bit/s. */
  fair_rate_bps: number;
  /** The measured time from the start of a flow with a size to its completion; all of it for other flows, s. Present only where some flow of a `[[flow]]` table has a size. */
  active_s?: number;
  /** Time-weighted mean of the allowed rate while the flow was active, bit/s. */
  mean_rate_bps: number;
  /** Time-weighted standard deviation of the allowed rate while the flow was active, bit/s. */
  std_rate_bps: number;
  /** Octets of data that the transport delivered in order, over the same time: neither headers nor what came twice, bit/s. Present only where some flow has a transport. */
  goodput_bps?: number;
  /** Frames released into the network. */
  frames_sent: number;
  /** Frames and copies that reached a destination. */
  frames_delivered: number;
  /** Frames and copies dropped at full queues. */
  frames_dropped: number;
  /** Frames and copies that links corrupted at random. Present only where links lose frames at random. */
  frames_impaired?: number;
  /** Signals that the source received. */
  feedback_received: number;
  /** Segments that the transport sent again. Present only where some flow has a transport. */
  retransmissions?: number;
  /** Retransmission timeouts of the transport. Present only where some flow has a transport. */
  timeouts?: number;
  /** Segments that found no room in the host's transmit queue. Present only where hosts have transmit queues. */
  segments_discarded?: number;
  /** Octets of frames in the host's transmit queue that wait for the rate limiter, mean over time, octets. Present only where hosts have transmit queues. */
  transmit_queue_mean_octets?: number;
}

/** A flow. Rates cover the time after the warm-up, those of a flow with a size the part of it from its start to its end. They count wire overhead. Counts cover the whole run. */
export interface FlowSummary extends WindowFlow {
  /** The host that sends. */
  source: string;
  /** The hosts that receive. */
  destinations: string[];
  /** Of them, notifications: a switch or a destination saw congestion. Present only where sources send probes. */
  notifications_received?: number;
  /** Of them, probes that came back. Present only where sources send probes. */
  probes_returned?: number;
  /** Settling time, from the last change of the flow's max-min fair share: its start, or a later change of traffic or links that moves the share by more than 0.1 %, s. It ends at the beginning of the first window from which on every window's mean of the sampled allowed rate lies within 5 % of the share, until the share ends. A window is 50 sample intervals. Null if the flow has not settled. */
  settling_time_s: number | null;
  /** When the flow started, s. Null if it had not at the end of the run. */
  start_s: number | null;
  /** When the last frame of a flow with a size was delivered, or another flow was stopped, s. Null if neither was at the end of the run. */
  end_s: number | null;
  /** Flow completion time: from the start of a finite flow to the delivery of its last frame, s. Null if frames are missing. */
  completion_time_s: number | null;
  /** Name of the `[[flow]]` table that the flow comes from: `f0..f7` for eight flows. */
  group: string;
  /** Whether the scheme limits the flow. */
  controlled: boolean;
}

/** A host, over the time after the warm-up. */
export interface HostSummary {
  /** The host. */
  name: string;
  /** Time-weighted mean number of installed rate limiters. */
  rate_limiters_mean: number;
  /** Largest number of installed rate limiters. */
  rate_limiters_max: number;
  /** Frames that found no room in the receive buffer of the host's network interface, over the whole run; in a window, in it. Of all hosts together, they are part of the frames dropped. Present only where hosts process what they receive slowly (`[[host]]`). */
  receive_drops?: number;
  /** How long priority flow control stopped the host's queues, the sum over them, over the whole run; in a window, in it, s. Present only where the network has priority flow control. */
  paused_s?: number;
  /** Pause frames that stopped the host's queues, refreshes included, likewise. Present only where the network has priority flow control. */
  pause_frames?: number;
}

/** Memory that queues of a switch share. Lengths cover the time after the warm-up, counts the whole run; in a window, everything covers the window. */
export interface PoolSummary {
  /** The switch. */
  switch: string;
  /** The pool's table, `[[buffer]]`. */
  name: string;
  /** Memory of the pool, its headroom aside, octets. */
  size_octets: number;
  /** Memory for frames that come after their neighbour was signalled to stop, octets. */
  headroom_octets: number;
  /** Headroom that all its lossless lines need at once, in whole cells; with less, frames may be lost, octets. */
  headroom_needed_octets: number;
  /** Memory of a lossless line and priority at which the line is stopped if no other holds any, octets. Null without flow control. */
  xoff_alone_octets: number | null;
  /** The same if all lossless lines and priorities hold as much: dynamic thresholds fall as memory is taken, octets. */
  xoff_together_octets: number | null;
  /** Time-weighted mean of the memory taken, in whole cells, headroom included, octets. */
  mean_octets: number;
  /** The most memory taken, likewise, octets. */
  max_octets: number;
  /** The most memory taken of the headroom, octets. */
  headroom_max_octets: number;
  /** Frames that found no memory: their queue or their line was at its threshold, or the pool was full. They count as dropped at their queues, too. */
  frames_refused: number;
}

/** A deadlock: a cycle of queues that priority flow control has stopped. Frames that came over the line of each one wait in the next, and those of the last in the first, so that none will ever go on. */
export interface DeadlockSummary {
  /** The queues' ports, `node->peer`, in the order of the cycle. */
  ports: string[];
  /** The queues' priorities, likewise. */
  priorities: number[];
  /** When the last of them was stopped, s. */
  since_s: number;
  /** When the watchdog broke it, s. Null if it lasted to the end of the run. */
  ended_s: number | null;
}

/** Slowdowns of finite flows that started after the warm-up: flow completion time over that on an empty network. Percentiles are those of the flows that completed; `flows` less `completed` had not at the end of the run. */
export interface CompletionSummary {
  /** Name of the table that the flows come from. Null for all flows. */
  group: string | null;
  /** The flows have this size or more, octets. */
  least_octets: number;
  /** The flows have this size or less, octets. Null where there is no bound. */
  most_octets: number | null;
  /** How many there are. */
  flows: number;
  /** How many of them completed. */
  completed: number;
  /** Mean slowdown. Null where no flow completed, as all below. */
  slowdown_mean: number | null;
  /** Median. */
  slowdown_p50: number | null;
  /** 95th percentile: the least slowdown that this share of the flows does not exceed. */
  slowdown_p95: number | null;
  /** 99th percentile. */
  slowdown_p99: number | null;
  /** 99.9th percentile. */
  slowdown_p999: number | null;
}

/** A job. Its times cover all iterations that all ranks have ended, those before the end of the warm-up among them. */
export interface JobSummary {
  /** Its name. */
  name: string;
  /** What its ranks do together. Present only for a `[[collective]]`, as the next four. */
  kind?: string;
  /** The algorithm. */
  algorithm?: string;
  /** Octets of data at a rank, S, octets. */
  size_octets?: number;
  /** Ranks that work together. */
  group_ranks?: number;
  /** The least time of the collective: the octets of the busiest host, with headers, at the rate of its line, s. It has no latency, and the network between hosts has no limit. */
  ideal_s?: number;
  /** All ranks. */
  ranks: number;
  /** Iterations that were asked for. */
  iterations: number;
  /** Iterations that all ranks have ended. */
  iterations_ended: number;
  /** From its start to the end of its last rank, s. Null if it had not ended at the end of the run. */
  job_time_s: number | null;
  /** Mean time of an iteration, from the begin of its first rank to the end of its last, s. Null if none has ended, as all below. */
  iteration_mean_s: number | null;
  /** The longest iteration, s. */
  iteration_max_s: number | null;
  /** Mean time of the collective in an iteration, from the begin of the last rank to the end of the last: t of NCCL's tests, s. */
  collective_mean_s: number | null;
  /** Algorithm bandwidth, S / t, bit/s. */
  algorithm_bandwidth_bps: number | null;
  /** Bus bandwidth, as NCCL's tests define it: that of the algorithm, times 2 (n - 1) / n for an all-reduce of n ranks, (n - 1) / n for reduce-scatter, all-gather and all-to-all, and 1 for others, bit/s. */
  bus_bandwidth_bps: number | null;
  /** The ideal time over t: 1 where nothing but the lines of the hosts takes time. */
  efficiency: number | null;
  /** Exposed communication: mean time of an iteration of a rank in which it does not compute, s. */
  exposed_communication_s: number | null;
  /** Mean time in an iteration from the end of the first rank to that of the last, s. */
  straggling_s: number | null;
  /** Computations and delays on the slowest path: the pieces that determined the end of the job, from its start on, s. The next seven are the rest of its time. Null if the job had not ended, or has more than 4 million messages or 2 million nodes, as all below. */
  path_computing_s: number | null;
  /** Messages inside of hosts on it, s. */
  path_local_s: number | null;
  /** Its messages on an empty network, s. */
  path_ideal_s: number | null;
  /** The waits of their last frames in queues, s. */
  path_queue_s: number | null;
  /** The same in pauses of priority flow control, and pauses of their hosts, s. */
  path_pause_s: number | null;
  /** Time that their rate limiters added, s. */
  path_limited_s: number | null;
  /** Other time of messages whose connections sent something again, s. */
  path_lost_s: number | null;
  /** Other time of messages: at their hosts, s. */
  path_host_s: number | null;
  /** The port at which its messages waited longest. Null also if they waited at none. */
  path_port: string | null;
  /** Their waits there together, pauses included, s. */
  path_port_s: number | null;
}

/** A window of measurement: statistics and counts from its start to its end. */
export interface WindowSummary {
  /** Its name. */
  name: string;
  /** When it opened, s. */
  start_s: number;
  /** When it closed: where a run that was stopped ended, if that was earlier than planned, s. */
  end_s: number;
  /** Counts over the network. */
  totals: WindowTotals;
  /** Frames dropped in the network over frames sent. */
  loss_rate: number;
  /** Feedback frames that reached sources over data frames sent. */
  feedback_rate: number;
  /** Jain's index of the controlled flows, of throughput over fair share. */
  jain_index: number;
  /** The recorded queues. */
  queues: QueueSummary[];
  /** Every flow of a `[[flow]]` table. */
  flows: WindowFlow[];
  /** Every host. */
  hosts: HostSummary[];
  /** Memory that queues share. Present only where the scenario has some (`[[buffer]]`). */
  pools?: PoolSummary[];
}

/** A run on the testbed: times here are the machine's, all others in the summary are the network's. */
export interface TestbedSummary {
  /** Whether its figures may be used: the lateness is within the bound, and the system lost no frame. If not, `faults` says why. */
  valid: boolean;
  /** Why its figures must not be used, in sentences. */
  faults: string[];
  /** How many times slower the network's clock was than the machine's. */
  time_scale: number;
  /** Whether all processes ran with the priority of real time (SCHED_FIFO). */
  real_time: boolean;
  /** The lateness that 99 % of the frames may have, s. */
  lateness_bound_s: number;
  /** How late frames left, median, s. */
  lateness_p50_s: number;
  /** How late frames left, 99th percentile, s. */
  lateness_p99_s: number;
  /** How late frames left, 99.9th percentile, s. */
  lateness_p999_s: number;
  /** How late frames left, at worst, s. */
  lateness_max_s: number;
  /** How late frames were read after the system had received them, 99th percentile, s. */
  reading_p99_s: number;
  /** Time that interfaces gave up since they were woken too late, the most of any, on the network's clock, s. */
  given_up_s: number;
  /** Frames that the system dropped, or did not take. */
  frames_lost: number;
}

/** Cost of a run. */
export interface RunSummary {
  /** Time on the wall clock, s. */
  wall_s: number;
  /** Events handled in a second of it. */
  events_per_s: number;
  /** Nanoseconds of it that a packet hop took, ns. */
  ns_per_packet_hop: number;
  /** Version of Penstock. */
  version: string;
}

/** A run in numbers. All but `run` follows from scenario and seed alone. */
export interface Summary {
  /** Name of the scenario. */
  scenario: string;
  /** The question that the scenario answers. */
  question: string;
  /** Name of the scheme; `mixed` where priorities have different ones. */
  scheme: string;
  /** The profile that the scheme's parameters started from, the same for all priorities. */
  profile: string | null;
  /** The scheme of each priority. Present only where priorities have different schemes or profiles. */
  schemes?: Assigned[];
  /** Seed of all random streams. */
  seed: number;
  /** Simulated time that the run lasted; everything below covers it, s. `planned_s`, unless it was stopped or over before. */
  duration_s: number;
  /** Simulated time that was asked for, s. */
  planned_s: number;
  /** Time before statistics begin, s. */
  warmup_s: number;
  /** When the run was stopped, `duration_s`, s. Present only where it was stopped before its end. */
  interrupted_at_s?: number;
  /** When the run was over, `duration_s`: every flow with a size had ended (`until = "all-flows-complete"`), before the time that was asked for, s. Present only there. */
  ended_at_s?: number;
  /** When the last flow with a size was complete, those of loads among them, and the last job was done, s. Present only where there are such flows or jobs, and all of them completed. */
  finished_at_s?: number;
  /** Whether no data frame was lost. Present only where the scenario claims it (`lossless = true`). */
  lossless?: boolean;
  /** Whether the scheme has acted: lowered a rate or a window, trimmed or moved a frame. Present only where the scenario claims it (`require_action = true`), and not for schemes without actions. */
  acted?: boolean;
  /** The actions of the scheme, each of those that it declares, over the whole run. Present only where it declares some, and the run was a simulation. */
  actions?: Actions;
  /** Counts over the network and the whole run. */
  totals: Totals;
  /** Frames dropped in the network over frames sent; drops of multicast copies count each, each frame sent once. */
  loss_rate: number;
  /** Feedback frames that reached sources over data frames sent. */
  feedback_rate: number;
  /** Jain's index of the controlled flows of `[[flow]]` tables, of throughput over fair share: 1 if each has the same part of its share, 1/n if one of n has all. Flows without a share do not count; where no fair share is computed, it is that of the throughputs. 1 if there is nothing to compare. */
  jain_index: number;
  /** The recorded queues. */
  queues: QueueSummary[];
  /** Every flow of a `[[flow]]` table. */
  flows: FlowSummary[];
  /** Every host. */
  hosts: HostSummary[];
  /** Memory that queues share, for each switch. Present only where the scenario has some (`[[buffer]]`). */
  pools?: PoolSummary[];
  /** Deadlocks of priority flow control, in the order of their ends. Present only where there was one. */
  deadlocks?: DeadlockSummary[];
  /** Slowdowns of finite flows: all together, then each group; each first whole, then by size. Present only where some flow has a size. */
  completions?: CompletionSummary[];
  /** Jobs. Present only where the scenario has some (`[[collective]]`). */
  jobs?: JobSummary[];
  /** The windows of measurement (`[[window]]`). Present only where there are some; of a run that was stopped, those it opened. */
  windows?: WindowSummary[];
  /** How well the testbed kept time. Present only where the run was one of real frames on the testbed. */
  testbed?: TestbedSummary;
  /** Sentences on the scenario as it was laid out, and on what the run met and the scenario may not mean: flows that offered less than they say, losses that ties decided. Present only where there are some. */
  notes?: string[];
  /** Cost of the run on this machine: the only part that the same scenario and seed do not repeat. */
  run: RunSummary;
}
