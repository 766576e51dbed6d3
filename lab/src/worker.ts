/**
 * The Worker: holds the runs, and simulates in slices short enough that a message is heard within some milliseconds. The page
 * ends it where even that is not enough.
 */

import init, {
  Engine,
  changeBackground,
  changeLink,
  changeParameter,
  changeSources,
  countBackground,
  countSources,
  defineScheme,
  readQuantity,
  schemes,
  set,
  showQuantity,
  writeQuantity,
} from "engine";

import type { Description, FromWorker, Rows, ToWorker } from "./protocol";
import { SLOW } from "./words";

/** Events of a call of the engine. */
const SLICE = 20_000;
/** Time for simulating out of each turn, ms; the rest is for messages. */
const TURN_MS = 12;
/** From one turn to the next where the runs keep up, ms. */
const REST_MS = 8;

interface Run {
  engine: Engine;
  /** Rows that the page has. */
  sent: { samples: number };
  width: number;
  reported: boolean;
}

const NOTHING = new Float64Array();

let runs: Run[] = [];
let id = 0;
/** The number of the last order. */
let order = 0;
/** Simulated seconds a second; null while the runs stand still. */
let speed: number | null = null;
/** The speed after the replay of a run that has been changed. */
let resume: number | null = null;
/** Simulated time that is to be reached. */
let target = 0;
let before = 0;
let scheduled = false;
let measured = { at: 0, hops: 0, now: 0 };
let shown = { hops_per_s: 0, speed: 0 };

const CALLS = { set, changeParameter, changeLink, changeSources, countSources, changeBackground, countBackground, readQuantity, writeQuantity, showQuantity, defineScheme };

function post(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}

function open(request: Extract<ToWorker, { type: "open" }>): void {
  const fresh: Run[] = [];
  try {
    for (const { text, scheme, set: keys = {} } of request.runs) {
      const whole = Object.entries(keys).reduce((own, [key, value]) => set(own, key, value), text);
      const engine = new Engine(whole, scheme);
      fresh.push({ engine, sent: { samples: 0 }, width: 0, reported: false });
    }
  } catch (refusal) {
    // The runs before stay.
    for (const run of fresh) run.engine.free();
    refuse(request.id, refusal);
    return;
  }
  for (const run of runs) run.engine.free();
  runs = fresh;
  id = request.id;
  const descriptions = runs.map(({ engine }) => engine.describe());
  for (const [i, run] of runs.entries()) run.width = widthOf(descriptions[i] ?? "");
  target = request.until_s;
  speed = null;
  resume = request.speed;
  before = performance.now();
  measured = { at: before, hops: 0, now: 0 };
  let sources: string | null = null;
  try {
    sources = countSources(request.runs[0]?.text ?? "", target);
  } catch {
    // Its flows are of a kind that is not counted.
  }
  post({ type: "opened", id, descriptions, sources });
  schedule();
}

function widthOf(description: string): number {
  const { plan, queue_columns, flow_columns } = JSON.parse(description) as Description;
  return 1 + plan.queues.length * queue_columns.length + plan.flows.length * flow_columns.length;
}

function refuse(whose: number, refusal: unknown): void {
  const text = typeof refusal === "string" ? refusal : JSON.stringify({ line: null, column: null, own: false, key: null, message: String(refusal), hint: null });
  post({ type: "refused", id: whose, refusal: text });
}

/** One turn: simulates towards the target, tells the page of it, and comes again if there is more to do. */
function turn(): void {
  scheduled = false;
  const started = performance.now();
  if (speed !== null) target += (speed * (started - before)) / 1000;
  before = started;
  const looks = speed !== null && speed <= SLOW;
  for (const { engine } of runs) engine.look(looks);
  let behind = runs;
  try {
    while (behind.length > 0 && performance.now() - started < TURN_MS) {
      behind = behind.filter((run) => !run.engine.advance(target, SLICE));
    }
  } catch (refusal) {
    speed = null;
    refuse(id, refusal);
    return;
  }
  if (behind.length === 0 && resume !== null) {
    speed = resume;
    resume = null;
  }
  // Where they cannot keep up, time goes as fast as they do.
  if (behind.length > 0 && speed !== null) target = Math.max(...runs.map(timeOf));
  tell(looks);
  const ended = runs.every((run) => run.engine.ended());
  if (ended) speed = null;
  if (behind.length > 0 || (speed !== null && !ended)) schedule(behind.length > 0 ? 0 : REST_MS);
}

/** Timers that follow one another wait for some milliseconds, whatever they are asked for; a message to oneself does not. */
const again = new MessageChannel();
again.port1.onmessage = turn;

function schedule(wait = 0): void {
  if (scheduled) return;
  scheduled = true;
  if (wait > 0) setTimeout(turn, wait);
  else again.port2.postMessage(null);
}

/** The simulated time of a run: what happens at it has happened, for which the engine goes a picosecond beyond. */
function timeOf({ engine }: Run): number {
  return engine.ended() ? engine.now() : Math.min(engine.now(), target);
}

function tell(looks: boolean): void {
  const rows: Rows[] = runs.map((run, i) => {
    const samples = run.engine.samples(run.sent.samples);
    const signals = run.engine.signals();
    const frames = run.engine.frames();
    const messages = run.engine.messages();
    const state = looks ? run.engine.state() : NOTHING;
    run.sent.samples += samples.length / run.width;
    const ended = run.engine.ended();
    const summary = ended && !run.reported ? (run.engine.summary() ?? null) : null;
    const jobs = summary === null ? null : run.engine.jobs();
    run.reported = ended;
    return { run: i, samples, signals, state, frames, messages, now_s: timeOf(run), ended, summary, jobs };
  });
  const now = performance.now();
  const hops = runs.reduce((sum, run) => sum + run.engine.hops(), 0);
  const reached = Math.max(0, ...rows.map((row) => row.now_s));
  if (now - measured.at > 500) {
    const seconds = (now - measured.at) / 1000;
    shown = { hops_per_s: (hops - measured.hops) / seconds, speed: (reached - measured.now) / seconds };
    measured = { at: now, hops, now: reached };
  }
  const playing = speed !== null && !rows.every((row) => row.ended);
  const transfer = rows.flatMap((row) => [row.samples.buffer, row.signals.buffer, row.frames.buffer, row.messages.buffer]);
  post({ type: "rows", id, order, runs: rows, ...shown, playing }, transfer);
}

function hear(message: ToWorker): void {
  if ("order" in message) order = message.order;
  switch (message.type) {
    case "open":
      open(message);
      break;
    case "play":
      resume = null;
      speed = message.speed;
      before = performance.now();
      target = Math.max(0, ...runs.map(timeOf));
      measured = { at: before, hops: runs.reduce((sum, run) => sum + run.engine.hops(), 0), now: target };
      schedule();
      break;
    case "pause":
      speed = null;
      resume = null;
      target = Math.max(0, ...runs.map(timeOf));
      schedule();
      break;
    case "step":
      speed = null;
      resume = null;
      target = message.until_s;
      schedule();
      break;
    case "call":
      try {
        const call = CALLS[message.name] as (...values: (string | number)[]) => string | number;
        post({ type: "answer", call: message.call, value: call(...message.values) });
      } catch (refusal) {
        post({ type: "wrong", call: message.call, refusal: String(refusal) });
      }
  }
}

const loaded = init({ module_or_path: new URL(self.name, self.location.href) });
self.onmessage = (event: MessageEvent<ToWorker>) => void loaded.then(() => hear(event.data));
void loaded.then(() => post({ type: "ready", schemes: schemes() }));
