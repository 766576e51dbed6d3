/** Something to do: the page runs what the reader has made of a scenario, and says with numbers whether it is what was asked for. */

import { written, type Unit } from "./quiz";
import { type Ended, metric, type Trial } from "./trial";

/** A function of the engine that changes a text, and its values: ["set", "schemes.dctcp.k", "20 KB"]. */
export type Edit = [name: "set" | "changeParameter" | "changeLink" | "changeSources" | "changeBackground", ...values: (string | number)[]];

/** A number of the summary, and where it is to be: from this up to below that. */
export interface Goal {
  metric: string[];
  name: string;
  unit: Unit;
  from?: number;
  to?: number;
}

export interface Task {
  text: string;
  goals: Goal[];
  /** The keys that may differ from the step's scenario, by their last names; any where there is no list. */
  only?: string[];
  /** Edits of the step's scenario that reach the goals. */
  solution: Edit[];
  /** Why that is so. */
  why: string;
}

/** A number that the reader works out, and the planner too; the run shows what the reader's number does. */
export interface Estimate {
  text: string;
  name: string;
  /** The path to the planner's number in the plan. */
  planned: string[];
  /** The part of it by which the reader's may differ. */
  within: number;
  /** The key that gets the reader's number. */
  key: string;
  /** What the run shows of it. */
  shown: Goal;
  why: string;
}

/** The page as a task needs it. */
export interface Maker {
  /** The step's own scenario, and what the reader has made of it; the text of the reader's scheme. */
  texts(): Promise<{ given: string; made: string; own: string }>;
  /** A text with edits. */
  edited(text: string, edits: Edit[]): Promise<string>;
  /** The octets that a text stands for. */
  octets(text: string): Promise<number>;
  /** Shows a run of a text from its start. */
  show(text: string): void;
}

/** Whether a number is where a goal wants it. */
export function reached({ from, to }: Goal, number: number): boolean {
  return number >= (from ?? -Infinity) && number < (to ?? Infinity);
}

function asked({ from, to, unit }: Goal): string {
  const parts = [from === undefined ? null : `at least ${written(from, unit)}`, to === undefined ? null : `below ${written(to, unit)}`];
  return parts.filter((part) => part !== null).join(" and ");
}

/** The keys of a resolved scenario, by section and name; the tables of a list are numbered. */
function keys(resolved: string): Map<string, string> {
  const found = new Map<string, string>();
  const seen = new Map<string, number>();
  let section = "";
  for (const line of resolved.split("\n")) {
    const head = /^\[+([^\]]+)\]+$/.exec(line);
    if (head) {
      const name = head[1] ?? "";
      seen.set(name, (seen.get(name) ?? 0) + 1);
      section = `${name} ${seen.get(name)}`;
      continue;
    }
    const pair = /^([\w"-]+) = (.*)$/.exec(line);
    if (pair) found.set(`${section}.${pair[1]}`, pair[2] ?? "");
  }
  return found;
}

/** The names of keys that differ between two resolved scenarios, but for the time of a change. */
function differing(one: string, other: string): string[] {
  const [a, b] = [keys(one), keys(other)];
  const names = [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key));
  return [...new Set(names.map((key) => key.split(".").at(-1) ?? ""))].filter((name) => name !== "at");
}

/** The sentences of a verdict, and whether all of it is reached. */
export function judge({ goals, only }: Task, given: Ended, made: Ended): { done: boolean; lines: { text: string; good: boolean }[] } {
  const lines = goals.map((goal) => {
    const [before, now] = [given, made].map(({ summary }) => metric(summary, goal.metric)) as [number, number];
    const was = before === now ? "" : `, before it was ${written(before, goal.unit, Math.max(before, now))}`;
    return { text: `${goal.name}: ${written(now, goal.unit, Math.max(before, now))}${was}; asked for is ${asked(goal)}`, good: reached(goal, now) };
  });
  const more = only === undefined ? [] : differing(given.resolved, made.resolved).filter((name) => !only.includes(name));
  if (more.length > 0) lines.push({ text: `only ${only?.join(" and ")} may change, and ${more.join(", ")} did too: Start again takes it back`, good: false });
  return { done: lines.every(({ good }) => good), lines };
}

function button(text: string, kind: string): HTMLButtonElement {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", textContent: text, className: kind });
  return made;
}

/** Disables buttons while something runs, and says what went wrong. */
function busy(buttons: HTMLButtonElement[], verdict: HTMLElement, act: () => Promise<void>): void {
  for (const own of buttons) own.disabled = true;
  verdict.replaceChildren("The simulation runs …");
  act()
    .catch((fault: unknown) => verdict.replaceChildren(String((fault as { message?: string }).message ?? fault)))
    .finally(() => {
      for (const own of buttons) own.disabled = false;
    });
}

function box(text: string): [HTMLDivElement, HTMLDivElement] {
  const place = document.createElement("div");
  place.className = "task";
  const words = document.createElement("p");
  const strong = document.createElement("b");
  strong.textContent = "Your turn. ";
  words.append(strong, text);
  const verdict = document.createElement("div");
  verdict.className = "verdict";
  verdict.setAttribute("role", "status");
  place.append(words);
  return [place, verdict];
}

/** A task: its text, and buttons that check it, take the changes back, and show a solution. */
export function taskBox(task: Task, trial: Trial, maker: Maker): HTMLElement {
  const [place, verdict] = box(task.text);
  const check = button("Check it", "check");
  const again = button("Start again", "again");
  const solve = button("Show a solution", "solve");
  const all = [check, again, solve];
  check.addEventListener("click", () =>
    busy(all, verdict, async () => {
      const { given, made, own } = await maker.texts();
      const runs = [given, made].map((text) => ({ text, scheme: null }));
      const [before, now] = (await trial.run(runs, own)) as [Ended, Ended];
      const { done, lines } = judge(task, before, now);
      const list = document.createElement("ul");
      for (const { text, good } of lines) {
        const item = document.createElement("li");
        item.className = good ? "good" : "bad";
        item.textContent = `${good ? "✓" : "✗"} ${text}`;
        list.append(item);
      }
      verdict.replaceChildren(done ? "Done. " : "Not yet. ", list, done ? task.why : "");
    }),
  );
  again.addEventListener("click", () => void maker.texts().then(({ given }) => maker.show(given)));
  solve.addEventListener("click", () =>
    busy(all, verdict, async () => {
      const { given } = await maker.texts();
      maker.show(await maker.edited(given, task.solution));
      verdict.replaceChildren("A solution runs. Check it shows its numbers.");
    }),
  );
  const row = document.createElement("p");
  row.append(...all);
  place.append(row, verdict);
  return place;
}

/** A number to work out: a field, and a button that compares it with the planner's and runs it. */
export function estimateBox(estimate: Estimate, trial: Trial, maker: Maker): HTMLElement {
  const [place, verdict] = box(estimate.text);
  const field = document.createElement("input");
  Object.assign(field, { type: "text", spellcheck: false, autocomplete: "off", placeholder: "such as 40 KB" });
  field.setAttribute("aria-label", estimate.name);
  const check = button("Check it", "check");
  const act = () =>
    busy([check], verdict, async () => {
      const octets = await maker.octets(/^\d+$/.test(field.value.trim()) ? `${field.value} octets` : field.value);
      const { given, own } = await maker.texts();
      const made = await maker.edited(given, [["set", estimate.key, `${octets} octets`]]);
      const [{ summary, plan }] = (await trial.run([{ text: made, scheme: null }], own)) as [Ended];
      const planned = metric(plan, estimate.planned);
      const off = (octets - planned) / planned;
      const isRight = Math.abs(off) <= estimate.within;
      const far = Math.abs(off) < 0.0005 ? "the same" : `${(100 * Math.abs(off)).toFixed(1)} % ${off < 0 ? "less" : "more"}`;
      const found = written(metric(summary, estimate.shown.metric), estimate.shown.unit);
      const parts = [isRight ? "Right." : "Not so.", `The planner has ${planned} octets for ${estimate.name}, and yours is ${far}.`, `With yours, ${estimate.shown.name}: ${found}.`];
      verdict.replaceChildren([...parts, estimate.why].join(" "));
    });
  check.addEventListener("click", act);
  field.addEventListener("keydown", (event) => event.key === "Enter" && act());
  const row = document.createElement("p");
  row.append(field, check);
  place.append(row, verdict);
  return place;
}
