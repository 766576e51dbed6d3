/** The rows of a run as they have come, with names instead of indices. */

import { Messages } from "./messages";
import type { Description, JobRow, Parameters, Plan, Rows } from "./protocol";
import { type Span, States } from "./states";
import type { QueuesColumn, RatesColumn } from "./types";
import { SLOW } from "./words";

/** Signals that wait to be drawn; older ones of a jump are not drawn. */
const MOST_SIGNALS = 1000;
/** Fairness is that of the last part of the samples. */
const LATE = 0.5;
/** The engine counts picoseconds: a change that is written at a time is at that time. */
const SAME_S = 2e-12;
/** The most distinct fair shares that are drawn. */
const MOST_SHARES = 4;
/** Samples whose mean is drawn as a load. */
const SMOOTHED = 32;
/** Shares that differ in no more than this part of a run are one. */
const SMALL = 0.2;

export interface Signal {
  time_s: number;
  flow: number;
  /** Index of the port that it comes from; -1 for a destination. */
  port: number;
  rate_bps: number;
}

/** What matters at a port. */
export interface Numbers {
  mean_octets: number;
  max_octets: number;
  /** Part of the link's rate. */
  use: number;
  dropped: number;
  paused_s: number;
  jain: number | null;
}

export class Series {
  readonly plan: Plan;
  readonly time: number[] = [];
  /** For each queue and column, the values. */
  private readonly queues: number[][][];
  private readonly flows: number[][][];
  /** Signals that have come and are not drawn yet. */
  readonly signals: Signal[] = [];
  /** What is known between the samples. */
  readonly states: States;
  now_s = 0;
  /** The time that is shown, where it is before `now_s`. */
  shown_s: number | null = null;
  ended = false;
  summary: string | null = null;
  /** The messages of jobs, and at the end of the run the table of jobs. */
  readonly messages: Messages;
  jobs: JobRow[] = [];

  constructor(readonly description: Description) {
    this.plan = description.plan;
    this.queues = this.plan.queues.map(() => description.queue_columns.map(() => []));
    this.flows = this.plan.flows.map(() => description.flow_columns.map(() => []));
    this.messages = new Messages(description);
    this.states = new States(description);
  }

  queue(index: number, column: QueuesColumn): number[] {
    return this.queues[index]?.[this.description.queue_columns.indexOf(column)] ?? [];
  }

  flow(index: number, column: RatesColumn): number[] {
    return this.flows[index]?.[this.description.flow_columns.indexOf(column)] ?? [];
  }

  add(rows: Rows): void {
    const { samples, signals } = rows;
    this.states.add(rows.state, rows.now_s);
    let place = 0;
    while (place < samples.length) {
      this.time.push(samples[place++] as number);
      for (const group of [this.queues, this.flows]) {
        for (const columns of group) for (const column of columns) column.push(samples[place++] as number);
      }
    }
    for (let i = 0; i < signals.length; i += 4) {
      const [time_s, flow, port, rate_bps] = signals.subarray(i, i + 4) as unknown as [number, number, number, number];
      this.signals.push({ time_s, flow, port, rate_bps });
    }
    this.signals.splice(0, Math.max(0, this.signals.length - MOST_SIGNALS));
    this.now_s = rows.now_s;
    this.ended = rows.ended;
    this.summary ??= rows.summary;
    this.messages.add(rows.messages);
    if (rows.jobs !== null) this.jobs = JSON.parse(rows.jobs) as JobRow[];
  }

  /** The index of the sample that is shown: the last up to the time that is shown; -1 where there is none. */
  get last(): number {
    const { time, shown_s } = this;
    if (shown_s === null) return time.length - 1;
    let [from, to] = [0, time.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((time[middle] ?? 0) <= shown_s + SAME_S) from = middle + 1;
      else to = middle;
    }
    return from - 1;
  }

  /** From one sample that the page has to the next, s. */
  get interval_s(): number {
    return this.plan.interval_s * this.description.every;
  }

  /** The states between samples that plots show, of a run at `speed` simulated seconds a second; null where they show samples. */
  span(speed: number): Span | null {
    return this.ended && this.shown_s === null ? null : speed > SLOW ? null : this.states.span(this.shown_s, speed);
  }

  /** A queue as its bar shows it, where the time that is shown is `late_s` before that of the run; and the part of its line that is used. */
  queueNow(index: number, late_s: number): { octets: number; paused: boolean; dropped: boolean; use: number } {
    const { states, last } = this;
    const i = this.ended ? -1 : states.at(this.shown_s ?? this.now_s - late_s);
    const sample = (column: QueuesColumn) => this.queue(index, column)[last] ?? 0;
    const recent = this.queue(index, "utilization").slice(Math.max(0, last + 1 - SMOOTHED), last + 1);
    const mean = Math.min(1, recent.reduce((sum, own) => sum + own, 0) / Math.max(1, recent.length));
    if (i < 0) return { octets: sample("queue_octets"), paused: sample("paused_s") > 0, dropped: sample("frames_dropped") > 0, use: mean };
    const [paused, dropped] = [states.hasGrown(index, "paused_s", i), states.hasGrown(index, "frames_dropped", i)];
    return { octets: states.queue(index, "queue_octets", i), paused, dropped, use: states.use(index, i) ?? mean };
  }

  /** The index of the queue at a port; -1 where none is recorded. */
  queueAt(port: string): number {
    return this.plan.queues.indexOf(port);
  }

  /** Whether a link carries frames at a time, with the changes that the scenario has. */
  isDown(link: string, at_s: number): boolean {
    const events = this.plan.changes.filter((change) => change.link === link && change.at_s <= at_s + SAME_S && change.rate_bps === null);
    return events[events.length - 1]?.event === "down";
  }

  /** The times of the scenario's changes, each once, s. */
  changes(): number[] {
    const all = [...this.plan.changes, ...this.plan.parameter_changes].map(({ at_s }) => at_s);
    return [...new Set(all)].filter((at_s) => at_s > 0);
  }

  /** Those up to now. */
  changesUntilNow(): number[] {
    return this.changes().filter((at_s) => at_s <= this.now_s);
  }

  /** Flows in groups that have the same max-min fair share but for a small part of the run; the largest groups. */
  fairShares(flows: number[]): number[][] {
    const { fair, duration_s } = this.plan;
    const apart = (a: number, b: number) =>
      fair.reduce((sum, { start_s, stop_s, max_min_bps }) => {
        const [one, other] = [max_min_bps[a] ?? 0, max_min_bps[b] ?? 0];
        return Math.abs(one - other) > 0.01 * Math.max(one, other) ? sum + Math.min(stop_s, duration_s) - start_s : sum;
      }, 0);
    const groups: number[][] = [];
    for (const flow of flows) {
      const group = groups.find(([first]) => apart(first ?? 0, flow) < SMALL * duration_s);
      if (group) group.push(flow);
      else groups.push([flow]);
    }
    return groups.sort((a, b) => b.length - a.length).slice(0, MOST_SHARES);
  }

  /** The numbers of a port up to the sample that is shown. Jain's index is that of the flows through it over the later half of the samples. */
  numbers(port: string): Numbers {
    const queue = this.queueAt(port);
    const until = this.last + 1;
    const lengths = this.queue(queue, "queue_octets").slice(0, until);
    const mean = (values: number[], from = 0) => values.slice(from, until).reduce((sum, own) => sum + own, 0) / Math.max(1, Math.min(until, values.length) - from);
    const sum = (column: QueuesColumn) => this.queue(queue, column).slice(0, until).reduce((all, own) => all + own, 0);
    const from = Math.floor(until * LATE);
    const rates = this.through(port).map((flow) => mean(this.flow(flow, "throughput_bps"), from));
    const squares = rates.reduce((all, own) => all + own * own, 0);
    return {
      mean_octets: mean(lengths),
      max_octets: lengths.reduce((most, own) => Math.max(most, own), 0),
      use: mean(this.queue(queue, "utilization")),
      dropped: sum("frames_dropped"),
      paused_s: sum("paused_s"),
      jain: squares > 0 ? rates.reduce((all, own) => all + own, 0) ** 2 / (rates.length * squares) : null,
    };
  }

  /** The rate of a link at a time, with the changes that the scenario has. */
  rate(link: string, at_s: number): number {
    let rate = this.plan.links.find(({ name }) => name === link)?.rate_bps ?? 0;
    for (const change of this.plan.changes) {
      if (change.link === link && change.at_s <= at_s + SAME_S && change.rate_bps !== null) rate = change.rate_bps;
    }
    return rate;
  }

  /** The parameters of the first scheme at a time, with the changes that the scenario has. */
  parameters(at_s: number): Parameters {
    const [used] = this.plan.schemes;
    const changed = this.plan.parameter_changes.filter((change) => change.priority === used?.priority && change.at_s <= at_s + SAME_S);
    return changed[changed.length - 1]?.parameters ?? used?.parameters ?? {};
  }

  /** Flows that pass a port. */
  through(port: string): number[] {
    return this.plan.flows.flatMap((flow, i) => (flow.hops.some((hop) => hop.link === port) ? [i] : []));
  }

  /** The same, those that a scheme controls. */
  controlled(port: string): number[] {
    return this.through(port).filter((flow) => this.plan.flows[flow]?.controlled);
  }

  /** The rate, on the wire, at which flows that no scheme controls come to a port. */
  background(port: string, at_s: number): number {
    const rate = (i: number) => {
      const flow = this.plan.flows[i];
      const runs = flow && !flow.controlled && (flow.start_s ?? Infinity) <= at_s && at_s < (flow.stop_s ?? Infinity);
      const line = this.plan.links.find(({ name }) => name === flow?.hops[0]?.link)?.rate_bps ?? 0;
      return runs ? Math.min(line, ((flow.rate_bps ?? Infinity) * (flow.frame_octets + this.plan.wire_overhead_octets)) / flow.frame_octets) : 0;
    };
    return this.through(port).reduce((sum, flow) => sum + rate(flow), 0);
  }
}
