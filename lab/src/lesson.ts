/** Lessons: guided tours that are data. Each ends with a question whose answer is simulated, not written down. */

import { EngineClient } from "./engine";
import { quantity } from "./plots";
import type { Place } from "./share";
import type { Summary } from "./types";

/** A scenario of the gallery, with keys set. */
interface Setting {
  scenario: string;
  set?: Record<string, string>;
}

interface Step extends Partial<Setting> {
  text: string;
  compare?: string;
  view?: string;
  /** The run is taken up to here. */
  to_ms?: number;
  /** Simulated seconds a second, for a step that plays. */
  speed?: number;
  /** A question on what the step shows. */
  question?: Question;
}

interface Question {
  text: string;
  runs: (Setting & { scheme?: string; label?: string })[];
  /** The path to a number in a summary: keys, and names in lists, such as ["queues", "sw0->h4", "mean_octets"]. */
  metric: string[];
  /** The name of the number, such as "frames lost", and its unit: % of a part of one, none of an index or a count. */
  name: string;
  unit: "" | "%" | "bit/s" | "octets" | "s";
  /** The number of the one run; that of the second over that of the first; or the index of the run with the largest. */
  measure: "value" | "ratio" | "largest";
  /** The answer is the choice whose range holds the number; with "largest", the choice of the run. */
  choices: { text: string; from?: number; to?: number }[];
  why: string;
}

export interface Lesson {
  title: string;
  steps: Step[];
  question: Question;
}

/** A step as the page takes it. */
export interface Stage {
  text: string;
  compare: string | null;
  view: string | null;
  now_s: number;
  speed: number;
  play: boolean;
}

/** The number at the end of a path through a summary. */
export function metric(summary: Summary, way: string[]): number {
  let place: unknown = summary;
  for (const part of way) {
    place = Array.isArray(place) ? place.find((item) => item.name === part) : (place as Record<string, unknown> | undefined)?.[part];
  }
  if (typeof place !== "number") throw new Error(`the summary has no number at ${way.join(" ")}`);
  return place;
}

/** The index of the right choice, and the number behind it. */
export function answer(question: Question, summaries: Summary[]): { right: number; found: number[] } {
  const found = summaries.map((summary) => metric(summary, question.metric));
  if (question.measure === "largest") return { right: found.indexOf(Math.max(...found)), found };
  const [first, second] = found as [number, number];
  const number = question.measure === "ratio" ? second / first : first;
  return { right: question.choices.findIndex(({ from, to }) => number >= (from ?? -Infinity) && number < (to ?? Infinity)), found };
}

export class LessonPanel {
  private lesson: Lesson | null = null;
  private at = 0;
  private engine: EngineClient | null = null;

  constructor(
    private readonly place: HTMLElement,
    private readonly show: (stage: Stage) => void,
    private readonly scenario: (setting: Setting) => Promise<string>,
    private readonly moved: () => void,
  ) {}

  /** Opens a lesson, or none, at a step; the step's run is taken up unless one of it is there already. */
  open(lesson: Lesson | null, at = 0, taken = true): void {
    this.lesson = lesson;
    this.at = Math.min(at, lesson?.steps.length ?? 0);
    this.engine?.close();
    this.place.hidden = lesson === null;
    if (lesson) void this.render(taken);
  }

  /** Where the reader is. */
  get reached(): Place {
    return { lesson: this.lesson?.title ?? null, step: this.at };
  }

  private async render(taken: boolean): Promise<void> {
    const { lesson } = this;
    if (!lesson) return;
    const step = lesson.steps[this.at];
    // The step and its run are there at once: what the reader changes from then on is not taken back.
    const file = taken && step?.scenario !== undefined ? await this.scenario({ scenario: step.scenario, set: step.set ?? {} }) : null;
    if (this.lesson !== lesson || lesson.steps[this.at] !== step) return;
    const heading = document.createElement("h2");
    heading.textContent = `${lesson.title} (${this.at + 1} of ${lesson.steps.length + 1})`;
    const moves = document.createElement("p");
    moves.append(this.move("Back", -1, this.at > 0), this.move("Next", 1, step !== undefined));
    if (!step) {
      this.place.replaceChildren(heading, ...this.ask(lesson.question), moves);
      return;
    }
    const text = document.createElement("p");
    text.textContent = step.text;
    this.place.replaceChildren(heading, text, ...(step.question ? this.ask(step.question) : []), moves);
    if (file === null) return;
    const { compare = null, view = null, to_ms = 0, speed } = step;
    this.show({ text: file, compare, view, now_s: to_ms / 1000, speed: speed ?? 0, play: speed !== undefined });
  }

  private move(name: string, by: number, possible: boolean): HTMLButtonElement {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: name, disabled: !possible });
    button.className = name.toLowerCase();
    button.addEventListener("click", () => {
      this.at += by;
      this.moved();
      void this.render(true).then(() => this.place.querySelector<HTMLButtonElement>(`.${name.toLowerCase()}`)?.focus());
    });
    return button;
  }

  /** The question: its choices, and a button that simulates the answer. */
  private ask(question: Question): HTMLElement[] {
    const field = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = question.text;
    field.append(legend);
    for (const [i, { text }] of question.choices.entries()) {
      const label = document.createElement("label");
      const radio = document.createElement("input");
      Object.assign(radio, { type: "radio", name: "choice", value: String(i) });
      label.append(radio, ` ${text}`);
      field.append(label);
    }
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: "Simulate it", className: "simulate" });
    const verdict = document.createElement("p");
    verdict.className = "verdict";
    verdict.setAttribute("role", "status");
    button.addEventListener("click", () => {
      const chosen = field.querySelector<HTMLInputElement>("input:checked");
      if (!chosen) {
        verdict.textContent = "Choose an answer first.";
        return;
      }
      button.disabled = true;
      verdict.textContent = "The simulation runs …";
      this.simulate(question)
        .then((summaries) => (verdict.textContent = verdictText(question, summaries, Number(chosen.value))))
        .catch((fault: unknown) => (verdict.textContent = String((fault as { message?: string }).message ?? fault)))
        .finally(() => (button.disabled = false));
    });
    return [field, button, verdict];
  }

  /** Runs what the question compares, in a separate Worker. */
  private async simulate(question: Question): Promise<Summary[]> {
    const texts = await Promise.all(question.runs.map((run) => this.scenario(run)));
    const runs = texts.map((text, i) => ({ text, scheme: question.runs[i]?.scheme ?? null }));
    return new Promise((resolve, reject) => {
      const summaries: (Summary | null)[] = runs.map(() => null);
      this.engine?.close();
      this.engine = new EngineClient({
        ready: () => undefined,
        opened: () => undefined,
        refused: reject,
        rows: ({ runs: rows }) => {
          for (const { run, summary } of rows) if (summary !== null) summaries[run] = JSON.parse(summary) as Summary;
          const all = summaries.filter((summary) => summary !== null);
          if (all.length < summaries.length) return;
          this.engine?.close();
          resolve(all);
        },
      });
      this.engine.open(runs, Number.MAX_VALUE, null);
    });
  }
}

function written_as(number: number, unit: Question["unit"]): string {
  if (unit === "%") return `${(100 * number).toFixed(1)} %`;
  if (unit === "") return Math.abs(number) <= 1 ? number.toFixed(3) : String(Math.round(number));
  return quantity(number, unit);
}

/** Which of the runs a number is of; nothing where there is one alone. */
function labels({ runs, measure, choices }: Question, i: number): string {
  if (runs.length === 1) return "";
  const run = runs[i];
  const own = run?.label ?? (measure === "largest" ? choices[i]?.text : undefined) ?? run?.scheme;
  return own === undefined ? "" : ` (${own})`;
}

/** The verdict as text, with the numbers that were found. */
function verdictText(question: Question, summaries: Summary[], chosen: number): string {
  const { right, found } = answer(question, summaries);
  const written = found.map((number, i) => `${written_as(number, question.unit)}${labels(question, i)}`);
  const numbers = `${question.name}: ${written.join(", ")}`;
  if (right < 0) return `The simulation gives ${numbers}. None of the choices has it.`;
  const verdict = right === chosen ? "Right" : `Not so: ${question.choices[right]?.text}`;
  return `${verdict}. The simulation gives ${numbers}. ${question.why}`;
}
