/** Runs to their end beside the page: in a separate Worker, so that what the reader sees is not touched. */

import { EngineClient } from "./engine";
import type { Description, Plan, RunRequest } from "./protocol";
import type { Summary } from "./types";

/** What came of runs, in their order: each run's summary, plan, and resolved scenario. */
export interface Ended {
  summary: Summary;
  plan: Plan;
  resolved: string;
}

/** The number at the end of a path: keys, and names in lists, such as ["queues", "sw0->h4", "mean_octets"]. */
export function metric(from: Summary | Plan, way: string[]): number {
  let place: unknown = from;
  for (const part of way) {
    place = Array.isArray(place) ? place.find((item) => item.name === part) : (place as Record<string, unknown> | null | undefined)?.[part];
  }
  if (typeof place !== "number") throw new Error(`the summary has no number at ${way.join(" ")}`);
  return place;
}

export class Trial {
  private engine: EngineClient | null = null;

  /** Ends what still runs. */
  stop(): void {
    this.engine?.close();
    this.engine = null;
  }

  /** Simulates runs to their ends; `own` is the text of the reader's scheme, or "". Rejects with a Refusal. */
  run(runs: RunRequest[], own: string): Promise<Ended[]> {
    return new Promise((resolve, reject) => {
      const summaries: (Summary | null)[] = runs.map(() => null);
      let described: Description[] = [];
      this.stop();
      const engine = new EngineClient({
        ready: () => undefined,
        opened: (descriptions) => (described = descriptions.map((text) => JSON.parse(text) as Description)),
        refused: reject,
        rows: ({ runs: rows }) => {
          for (const { run, summary } of rows) if (summary !== null) summaries[run] = JSON.parse(summary) as Summary;
          const all = summaries.filter((summary) => summary !== null);
          if (all.length < summaries.length) return;
          engine.close();
          resolve(all.map((summary, i) => ({ summary, plan: (described[i] as Description).plan, resolved: (described[i] as Description).resolved })));
        },
      });
      this.engine = engine;
      if (own !== "") engine.define(own).catch(reject);
      engine.open(runs, Number.MAX_VALUE, null);
    });
  }
}
