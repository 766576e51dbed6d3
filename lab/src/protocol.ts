/**
 * Messages between the page and its Worker, and JSON that the engine makes for a page alone; a test in crates/web/src/export.rs holds
 * the keys of that. All other JSON of the engine is declared in types.ts.
 */

import type { AssignedScheme, Description as Plan, QueuesColumn, RatesColumn, Scheme } from "./types";

export type { LinkDescription as Link, Parameter, Scheme } from "./types";
export type { Plan };

/** A scenario that is wrong, or a run that is too large for a page. */
export interface Refusal {
  line: number | null;
  /** The letter in the line, from 1. */
  column: number | null;
  /** The line is one of the reader's scheme, and not of the scenario. */
  own: boolean;
  key: string | null;
  message: string;
  hint: string | null;
}

/** A scheme of the reader's: how scenarios name it, and its entry as those of the catalogue. */
export interface Own {
  location: string;
  scheme: Scheme;
}

/** Values by their names. */
export type Parameters = AssignedScheme["parameters"];

/** The long flows of a scenario: how many send, and how many can. */
export interface Sources {
  active: number;
  most: number;
}

/** The background traffic of a link. */
export interface Background {
  rate_bps: number;
  link_bps: number;
}

/** A job of a scenario. */
export interface Job {
  name: string;
  /** The collective, if it is one. */
  kind: string | null;
  /** Octets of data at a rank of a collective. */
  size_octets: number | null;
  iterations: number;
  /** The host of each rank, and the octets that it receives over the network in an iteration. */
  hosts: string[];
  received_octets: number[];
}

/** A row of the table of jobs: something that a rank has ended. */
export interface JobRow {
  job: string;
  rank: number;
  host: string;
  iteration: number;
  /** "iteration", "compute", "delay", "send", "receive" or "collective". */
  work: string;
  node: string | null;
  begin_s: number;
  end_s: number;
  after: string | null;
}

/** The columns of a state between samples. Counts are those since the start of the run. */
export type QueueNowColumn = "queue_octets" | "frames_dropped" | "paused_s" | "line_bits" | "scheduled_bits";
export type FlowNowColumn = "rate_bps" | "delivered_octets";

/** A run that is laid out. Of `every` samples it has one. */
export interface Description {
  plan: Plan;
  /** The priority of each of the plan's queues. */
  queue_priorities: number[];
  queue_columns: QueuesColumn[];
  flow_columns: RatesColumn[];
  queue_now_columns: QueueNowColumn[];
  flow_now_columns: FlowNowColumn[];
  every: number;
  signal_columns: string[];
  frame_columns: string[];
  frame_kinds: string[];
  message_columns: string[];
  jobs: Job[];
  resolved: string;
}

/** One of the runs side by side: the scenario's scheme, or another one on the same traffic and seed; keys that it sets. */
export interface RunRequest {
  text: string;
  scheme: string | null;
  set?: Record<string, string>;
}

/** Functions of the engine that change or read texts. */
export type Call = "set" | "changeParameter" | "changeLink" | "changeSources" | "countSources" | "changeBackground" | "countBackground" | "readQuantity" | "writeQuantity" | "showQuantity" | "defineScheme";

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
  /** The state at `now_s`, between the samples, while the run is as slow as that: the time, the queues, the flows. */
  state: Float64Array;
  /** Frames that have left links, while the run is slow enough for them to be drawn. */
  frames: Float64Array;
  /** Messages of jobs that have begun or ended, as Description.message_columns has them. */
  messages: Float64Array;
  now_s: number;
  ended: boolean;
  summary: string | null;
  /** The table of jobs, at the end of the run. */
  jobs: string | null;
}

export type FromWorker =
  | { type: "ready"; schemes: string }
  | { type: "opened"; id: number; descriptions: string[]; sources: string | null }
  | { type: "refused"; id: number; refusal: string }
  | { type: "rows"; id: number; order: number; runs: Rows[]; hops_per_s: number; speed: number; playing: boolean }
  | { type: "answer"; call: number; value: string | number }
  | { type: "wrong"; call: number; refusal: string };
