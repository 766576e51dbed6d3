/** The state of a run between its samples, while it is slow enough for frames to be seen: what plots and bars show then. */

import type { Description, FlowNowColumn, QueueNowColumn } from "./protocol";

/** States that are kept, at the least: those of half a minute on the screen. */
const MOST = 4000;
/** A throughput, or a share of a line, is the mean over the time of this number of states: some two seconds on the screen. */
const MEAN = 250;
/** With fewer states there is no mean. */
const FEWEST = 20;
/** A pause or a loss is shown for this number of states after it: long enough to be seen. */
const SEEN = 25;
/** The plots show so much of a slow run: seconds on the screen. */
const WINDOW_S = 20;

/** A part of the states, and the times from which to which an axis goes. */
export interface Span {
  first: number;
  from_s: number;
  to_s: number;
}

export class States {
  readonly time: number[] = [];
  private readonly rows: Float64Array[] = [];
  private readonly flowsAt: number;

  constructor(private readonly description: Description) {
    this.flowsAt = 1 + description.plan.queues.length * description.queue_now_columns.length;
  }

  /** Takes the state of a run that stands at a time; none, if it is quicker: then those before are too old. */
  add(state: Float64Array, now_s: number): void {
    const last_s = this.time.at(-1) ?? -1;
    const [at_s] = state;
    if (at_s === undefined) {
      if (now_s > last_s) this.drop(this.time.length);
    } else if (at_s > last_s) {
      this.time.push(at_s);
      this.rows.push(state);
      if (this.time.length > 2 * MOST) this.drop(MOST);
    }
  }

  private drop(count: number): void {
    this.time.splice(0, count);
    this.rows.splice(0, count);
  }

  /** The index of the last state up to a time; -1 where there is none. */
  at(time_s: number): number {
    let [from, to] = [0, this.time.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.time[middle] ?? 0) <= time_s) from = middle + 1;
      else to = middle;
    }
    return from - 1;
  }

  /** The states that plots show at a time of a run at `speed` simulated seconds a second. Their axis stands still until it is full. */
  span(shown_s: number | null, speed: number): Span | null {
    const [first_s, last_s] = [this.time[0], this.time.at(-1)];
    if (first_s === undefined || last_s === undefined || this.time.length < FEWEST) return null;
    const at_s = shown_s ?? last_s;
    if (at_s < first_s) return null;
    const from_s = Math.max(first_s, at_s - WINDOW_S * speed);
    return { first: Math.max(0, this.at(from_s)), from_s, to_s: from_s + WINDOW_S * speed };
  }

  queue(index: number, column: QueueNowColumn, i: number): number {
    const { queue_now_columns: columns } = this.description;
    return this.rows[i]?.[1 + index * columns.length + columns.indexOf(column)] ?? 0;
  }

  flow(index: number, column: FlowNowColumn, i: number): number {
    const { flow_now_columns: columns } = this.description;
    return this.rows[i]?.[this.flowsAt + index * columns.length + columns.indexOf(column)] ?? 0;
  }

  /** The part of a line's bits that it has carried lately. */
  use(index: number, i: number): number | null {
    const from = Math.max(0, i - MEAN);
    const grown = (column: QueueNowColumn) => this.queue(index, column, i) - this.queue(index, column, from);
    return i < FEWEST ? null : grown("line_bits") / Math.max(1, grown("scheduled_bits"));
  }

  /** What a flow has got lately, bit/s. */
  throughput(index: number, i: number): number | null {
    const from = Math.max(0, i - MEAN);
    const octets = this.flow(index, "delivered_octets", i) - this.flow(index, "delivered_octets", from);
    return i < FEWEST ? null : (8 * octets) / ((this.time[i] ?? 0) - (this.time[from] ?? 0));
  }

  /** Whether a count of a queue has grown a moment ago. */
  hasGrown(index: number, column: QueueNowColumn, i: number): boolean {
    return this.queue(index, column, i) > this.queue(index, column, Math.max(0, i - SEEN));
  }
}
