/** The page's side of the Worker: it is ended and started again where it does not answer. */

import { address } from "./files";
import type { Call, FromWorker, Refusal, RunRequest, Scheme, Sources, ToWorker } from "./protocol";
import type { Edit } from "./task";

/** A scenario that is not laid out after so long will not be. */
const PATIENCE_MS = 15_000;

export interface Listener {
  ready(schemes: Scheme[]): void;
  opened(descriptions: string[], sources: Sources | null): void;
  refused(refusal: Refusal): void;
  rows(message: Extract<FromWorker, { type: "rows" }>): void;
}

interface Waiting {
  resolve(value: string | number): void;
  reject(refusal: Refusal): void;
}

export class EngineClient {
  private worker!: Worker;
  /** The runs that were asked for last, and those that there are. */
  private asked = 0;
  private id = 0;
  private call = 0;
  private order = 0;
  private waiting = new Map<number, Waiting>();
  private patience = 0;
  /** The text of the reader's scheme. */
  private own = "";
  /** Whether the Worker has runs: one that has been started again has none. */
  holds = false;

  constructor(private readonly listener: Listener) {
    this.start();
  }

  private start(): void {
    // Its name is the address of the engine.
    this.worker = new Worker(address("worker.js"), { type: "module", name: address("engine.wasm") });
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.hear(event.data);
    this.worker.onerror = (event) => this.listener.refused(refusal(`the engine has failed: ${event.message}`, "change the scenario"));
    if (this.own !== "") this.define(this.own).catch(() => undefined);
  }

  /** Lays out the runs, simulates up to a time, and goes on at a speed. The runs before stay where these are refused. */
  open(runs: RunRequest[], until_s: number, speed: number | null): void {
    this.asked += 1;
    clearTimeout(this.patience);
    this.patience = window.setTimeout(() => {
      this.stop();
      this.listener.refused(refusal("the scenario is not laid out after 15 s", "make its network or its traffic smaller"));
    }, PATIENCE_MS);
    this.send({ type: "open", order: this.next(), id: this.asked, runs, until_s, speed });
  }

  play(speed: number): void {
    this.send({ type: "play", order: this.next(), speed });
  }

  pause(): void {
    this.send({ type: "pause", order: this.next() });
  }

  step(until_s: number): void {
    this.send({ type: "step", order: this.next(), until_s });
  }

  /** Ends the Worker, whatever it does, and starts another one without a run. */
  stop(): void {
    clearTimeout(this.patience);
    this.worker.terminate();
    this.holds = false;
    this.asked += 1;
    this.id = this.asked;
    for (const { reject } of this.waiting.values()) reject(STOPPED);
    this.waiting.clear();
    this.start();
  }

  /** Ends the Worker for good. */
  close(): void {
    clearTimeout(this.patience);
    this.worker.terminate();
  }

  /** Calls a function of the engine; rejects with a Refusal. */
  ask(name: Call, ...values: (string | number)[]): Promise<string | number> {
    this.call += 1;
    const call = this.call;
    return new Promise((resolve, reject) => {
      this.waiting.set(call, { resolve, reject });
      this.send({ type: "call", call, name, values });
    });
  }

  /** A scenario with keys set. */
  async setAll(text: string, set: Record<string, string>): Promise<string> {
    let changed = text;
    for (const [key, value] of Object.entries(set)) changed = String(await this.ask("set", changed, key, value));
    return changed;
  }

  /** A text with edits by functions of the engine. */
  async edited(text: string, edits: Edit[]): Promise<string> {
    let changed = text;
    for (const [name, ...values] of edits) changed = String(await this.ask(name, changed, ...values));
    return changed;
  }

  /** Takes the text of a scheme of the reader's, also after the Worker has been started again: the JSON of an Own. */
  define(text: string): Promise<string | number> {
    this.own = text;
    return this.ask("defineScheme", text);
  }

  private next(): number {
    this.order += 1;
    return this.order;
  }

  /** Whether rows were sent after the last order had been heard. */
  isCurrent(order: number): boolean {
    return order === this.order;
  }

  private send(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private hear(message: FromWorker): void {
    switch (message.type) {
      case "ready":
        this.listener.ready(JSON.parse(message.schemes) as Scheme[]);
        break;
      case "opened":
        if (message.id !== this.asked) return;
        this.id = message.id;
        this.holds = true;
        clearTimeout(this.patience);
        this.listener.opened(message.descriptions, message.sources === null ? null : (JSON.parse(message.sources) as Sources));
        break;
      case "refused":
        if (message.id !== this.asked) return;
        clearTimeout(this.patience);
        this.listener.refused(JSON.parse(message.refusal) as Refusal);
        break;
      case "rows":
        if (message.id === this.id) this.listener.rows(message);
        break;
      case "answer":
        this.waiting.get(message.call)?.resolve(message.value);
        this.waiting.delete(message.call);
        break;
      case "wrong":
        this.waiting.get(message.call)?.reject(JSON.parse(message.refusal) as Refusal);
        this.waiting.delete(message.call);
    }
  }
}

export function refusal(message: string, hint: string): Refusal {
  return { line: null, column: null, own: false, key: null, message, hint };
}

const STOPPED = refusal("stopped", "try again");

// An answer that was only to be shown, and that a stop has taken, is no fault.
addEventListener("unhandledrejection", (event) => {
  if (event.reason === STOPPED) event.preventDefault();
});
