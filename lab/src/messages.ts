/** The messages of jobs as they begin and end: what each host has received, and how fast. */

import type { Description, Job } from "./protocol";

export interface Message {
  job: number;
  /** Indices of nodes. */
  from: number;
  to: number;
  octets: number;
  begin_s: number;
  /** -1 while it is under way. */
  end_s: number;
  /** From here on nothing else of its sender is on the way to its destination. */
  alone_s: number;
  /** It is after another one of its sender. */
  waits: boolean;
  /** Its number among those that its destination has been sent, from 1 on. */
  step: number;
  /** The row of its sender among those whose messages reach the destination at one time. */
  lane: number;
}

/** A host of a job: its ranks, and its messages in the order in which they began. */
export interface Receiver {
  name: string;
  ranks: number[];
  messages: Message[];
  /** Octets that have arrived, and those of the whole job. */
  arrived: number;
  expected: number;
  /** For each sender its messages under way. */
  underWay: Map<number, Message[]>;
  /** The most senders at one time. */
  lanes: number;
}

/** The numbers of a row, in the order of Description.message_columns. */
type Row = [job: number, number: number, from: number, to: number, octets: number, begin_s: number, end_s: number];

export class Messages {
  /** For each job its hosts, in the order of their first ranks. */
  readonly jobs: Receiver[][];
  private readonly nodes: string[];
  private readonly columns: number;
  private readonly underWay = new Map<string, Message>();

  constructor(description: Description) {
    this.nodes = description.plan.nodes.map(({ name }) => name);
    this.columns = description.message_columns.length;
    this.jobs = description.jobs.map(receivers);
  }

  /** Takes rows of the engine: a message has one when it begins, and one when it has ended. */
  add(rows: Float64Array): void {
    const all: Row[] = [];
    for (let i = 0; i < rows.length; i += this.columns) all.push([...rows.subarray(i, i + this.columns)] as Row);
    // What ends at an instant has ended before others begin.
    const at = ([, , , , , begin_s, end_s]: Row) => (end_s < 0 ? begin_s : end_s);
    all.sort((a, b) => at(a) - at(b) || b[6] - a[6]);
    for (const [job, number, from, to, octets, begin_s, end_s] of all) {
      const receiver = this.jobs[job]?.find(({ name }) => name === this.nodes[to]);
      if (receiver === undefined) continue;
      const key = `${job} ${number}`;
      const known = this.underWay.get(key);
      if (known) {
        this.underWay.delete(key);
        end(receiver, known, end_s);
      } else {
        const begun = { job, from, to, octets, begin_s, end_s, alone_s: begin_s, waits: false, step: receiver.messages.length + 1, lane: 0 };
        this.underWay.set(key, begun);
        begin(receiver, begun);
      }
    }
  }

  /** The part of a job's octets that has arrived. */
  part(job: number): number {
    const all = this.jobs[job] ?? [];
    const expected = all.reduce((sum, own) => sum + own.expected, 0);
    return expected > 0 ? all.reduce((sum, own) => sum + own.arrived, 0) / expected : 0;
  }
}

function begin(receiver: Receiver, message: Message): void {
  const { underWay, messages } = receiver;
  const before = underWay.get(message.from) ?? [];
  const busy = new Set([...underWay].flatMap(([from, own]) => (from === message.from ? [] : (own[0]?.lane ?? []))));
  message.waits = before.length > 0;
  while (before.length === 0 && busy.has(message.lane)) message.lane += 1;
  message.lane = before[0]?.lane ?? message.lane;
  receiver.lanes = Math.max(receiver.lanes, message.lane + 1);
  messages.push(message);
  underWay.set(message.from, [...before, message]);
}

function end(receiver: Receiver, message: Message, end_s: number): void {
  message.end_s = end_s;
  receiver.arrived += message.octets;
  const left = (receiver.underWay.get(message.from) ?? []).filter((own) => own !== message);
  receiver.underWay.set(message.from, left);
  if (left.length === 0) receiver.underWay.delete(message.from);
  for (const next of left.slice(0, 1)) [next.waits, next.alone_s] = [false, Math.max(next.begin_s, end_s)];
}

function receivers({ hosts, iterations, received_octets }: Job): Receiver[] {
  const found = new Map<string, Receiver>();
  for (const [rank, name] of hosts.entries()) {
    const own = found.get(name) ?? { name, ranks: [], messages: [], arrived: 0, expected: iterations * (received_octets[rank] ?? 0), underWay: new Map<number, Message[]>(), lanes: 1 };
    own.ranks.push(rank);
    found.set(name, own);
  }
  return [...found.values()];
}

/** The ranks of a host as text: "rank 3", "ranks 0 to 7". */
export function ranksOf({ ranks }: Receiver): string {
  const [first = 0, last = 0] = [ranks[0], ranks.at(-1)];
  if (ranks.length === 1) return `rank ${first}`;
  return last - first + 1 === ranks.length ? `ranks ${first} to ${last}` : `ranks ${ranks.join(", ")}`;
}
