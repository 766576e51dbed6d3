/** The rows of a run as they have come, with names instead of places. */

import type { Description, Parameters, Plan, Rows } from "./protocol";

export interface Signal {
  time_s: number;
  flow: number;
  /** Index of the port that it comes from; -1 for a destination. */
  port: number;
  rate_bps: number;
}

export class Series {
  readonly plan: Plan;
  readonly time: number[] = [];
  /** For each queue and column, the values. */
  private readonly queues: number[][][];
  private readonly flows: number[][][];
  readonly signals: Signal[] = [];
  now_s = 0;
  ended = false;
  summary: string | null = null;

  constructor(readonly description: Description) {
    this.plan = description.plan;
    this.queues = this.plan.queues.map(() => description.queue_columns.map(() => []));
    this.flows = this.plan.flows.map(() => description.flow_columns.map(() => []));
  }

  queue(index: number, column: string): number[] {
    return this.queues[index]?.[this.description.queue_columns.indexOf(column)] ?? [];
  }

  flow(index: number, column: string): number[] {
    return this.flows[index]?.[this.description.flow_columns.indexOf(column)] ?? [];
  }

  add(rows: Rows): void {
    const { samples, signals } = rows;
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
    this.now_s = rows.now_s;
    this.ended = rows.ended;
    this.summary ??= rows.summary;
  }

  /** The index of the queue at a port. */
  queueAt(port: string): number {
    return Math.max(0, this.plan.queues.indexOf(port));
  }

  /** The rate of a link at a time, with the changes that the scenario has. */
  rate(link: string, at_s: number): number {
    let rate = this.plan.links.find(({ name }) => name === link)?.rate_bps ?? 0;
    for (const change of this.plan.changes) {
      if (change.link === link && change.at_s <= at_s && change.rate_bps !== null) rate = change.rate_bps;
    }
    return rate;
  }

  /** The parameters of the first scheme at a time, with the changes that the scenario has. */
  parameters(at_s: number): Parameters {
    const [used] = this.plan.schemes;
    const changed = this.plan.parameter_changes.filter((change) => change.priority === used?.priority && change.at_s <= at_s);
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
