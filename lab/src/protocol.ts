/** Messages between the page and its Worker, and the shapes of the engine's JSON. */

export interface Refusal {
  line: number | null;
  key: string | null;
  message: string;
  hint: string | null;
}

export interface Parameter {
  name: string;
  unit: string;
  default: number | string | boolean;
  minimum: number | null;
  maximum: number | null;
  source: string;
  description: string;
  when: { parameter: string; values: (number | string | boolean)[] } | null;
  written: { default: string; minimum: string | null; maximum: string | null };
}

/** Values by their names. */
export type Parameters = Record<string, number | string | boolean>;

export interface Scheme {
  name: string;
  title: string;
  source: string;
  description: string;
  parameters: Parameter[];
  profiles: { name: string; description: string }[];
  set_point: string | null;
  tuned: string[][];
}

export interface Link {
  name: string;
  rate_bps: number;
  latency_s: number;
  buffer_octets: number | null;
  buffer_frames: number | null;
}

export interface Flow {
  name: string;
  source: string;
  destinations: string[];
  controlled: boolean;
  frame_octets: number;
  start_s: number | null;
  stop_s: number | null;
  /** Mean rate of its traffic, without wire overhead; null for a greedy flow. */
  rate_bps: number | null;
  hops: { link: string; back: string; after: number | null }[];
}

export interface Change {
  at_s: number;
  link: string;
  event: string;
  rate_bps: number | null;
}

export interface Plan {
  name: string;
  question: string;
  scheme: string;
  seed: number;
  duration_s: number;
  interval_s: number;
  wire_overhead_octets: number;
  /** The time that feedback takes without a frame; null where it is frames. */
  feedback_s: number | null;
  schemes: { priority: number; name: string; profile: string | null; parameters: Parameters }[];
  nodes: { name: string; kind: "host" | "switch" }[];
  links: Link[];
  changes: Change[];
  parameter_changes: { at_s: number; priority: number; name: string; parameters: Parameters }[];
  queues: string[];
  flows: Flow[];
  fair: { start_s: number; stop_s: number; max_min_bps: number[] }[];
}

export interface Description {
  plan: Plan;
  /** The priority of each of the plan's queues. */
  queue_priorities: number[];
  queue_columns: string[];
  flow_columns: string[];
  signal_columns: string[];
  frame_columns: string[];
  frame_kinds: string[];
  resolved: string;
}

/** One of the runs side by side: the scenario's scheme, or another one on the same traffic and seed. */
export interface RunRequest {
  text: string;
  scheme: string | null;
}

/** Functions of the engine that change or read texts. */
export type Call = "set" | "changeParameter" | "changeLink" | "changeSources" | "countSources" | "changeBackground" | "countBackground" | "readQuantity" | "writeQuantity" | "showQuantity";

/** Messages to the Worker. Those that start or end a run have a number: rows say which of them they have heard of. */
export type ToWorker =
  /** Lays out runs, simulates up to a time, and goes on from there at a speed, or stands still. */
  | { type: "open"; order: number; id: number; runs: RunRequest[]; until_s: number; speed: number | null }
  | { type: "play"; order: number; speed: number }
  | { type: "pause"; order: number }
  | { type: "step"; order: number; until_s: number }
  | { type: "call"; call: number; name: Call; values: (string | number)[] };

export interface Rows {
  run: number;
  samples: Float64Array;
  signals: Float64Array;
  /** Frames that have left links, while the run is slow enough for them to be drawn. */
  frames: Float64Array;
  now_s: number;
  ended: boolean;
  summary: string | null;
}

export type FromWorker =
  | { type: "ready"; schemes: string }
  | { type: "opened"; id: number; descriptions: string[]; sources: string | null }
  | { type: "refused"; id: number; refusal: string }
  | { type: "rows"; id: number; order: number; runs: Rows[]; hops_per_s: number; speed: number; playing: boolean }
  | { type: "answer"; call: number; value: string | number }
  | { type: "wrong"; call: number; refusal: string };
