/** A question of a lesson: its answer is simulated, not written down, and comes with names, units and bars. */

import { quantity } from "./plots";
import { metric, type Trial } from "./trial";
import type { Summary } from "./types";

/** A scenario of the gallery, with keys set. */
export interface Setting {
  scenario: string;
  set?: Record<string, string>;
}

/** The unit of a number: % of a part of one, none of an index or a count. */
export type Unit = "" | "%" | "bit/s" | "octets" | "s";

export interface Question {
  text: string;
  runs: (Setting & { scheme?: string; label?: string })[];
  /** The path to a number in a summary: keys, and names in lists, such as ["queues", "sw0->h4", "mean_octets"]. */
  metric: string[];
  /** The name of the number, such as "frames lost". */
  name: string;
  unit: Unit;
  /** The number of the one run, or of the second; that of the second over that of the first; or the index of the run with the largest, or the smallest. */
  measure: "value" | "second" | "ratio" | "largest" | "smallest";
  /** The answer is the choice whose range holds the number; with "largest" and "smallest", the choice of the run. */
  choices: { text: string; from?: number; to?: number }[];
  why: string;
}

/** The index of the right choice, and the numbers behind it. */
export function answer(question: Question, summaries: Summary[]): { right: number; found: number[] } {
  const found = summaries.map((summary) => metric(summary, question.metric));
  if (question.measure === "largest") return { right: found.indexOf(Math.max(...found)), found };
  if (question.measure === "smallest") return { right: found.indexOf(Math.min(...found)), found };
  const [first, second] = found as [number, number];
  const number = { value: first, second, ratio: second / first }[question.measure];
  return { right: question.choices.findIndex(({ from, to }) => number >= (from ?? -Infinity) && number < (to ?? Infinity)), found };
}

/** A number with its unit, with the prefix of the largest of those beside it. */
export function written(number: number, unit: Unit, beside = number): string {
  if (unit === "%") return `${(100 * number).toFixed(1)} %`;
  if (unit === "") return Math.abs(number) <= 1 ? number.toFixed(3) : String(Math.round(number));
  return quantity(number, unit, beside);
}

/** The run that a number is of, such as "without QCN"; nothing where there is one alone. */
function label({ runs, measure, choices }: Question, i: number): string {
  if (runs.length === 1) return "";
  const run = runs[i];
  const chosen = measure === "largest" || measure === "smallest" ? choices[i]?.text : undefined;
  return run?.label ?? (chosen === undefined ? `under ${run?.scheme}` : `under ${chosen}`);
}

/** The choices of a question, and a button that simulates the answer; `answered` is called when it is there. */
export function ask(question: Question, trial: Trial, scenario: (setting: Setting) => Promise<string>, answered: () => void): HTMLElement[] {
  const field = document.createElement("fieldset");
  const legend = document.createElement("legend");
  legend.textContent = question.text;
  field.append(legend);
  for (const [i, { text }] of question.choices.entries()) {
    const choice = document.createElement("label");
    const radio = document.createElement("input");
    Object.assign(radio, { type: "radio", name: "choice", value: String(i) });
    choice.append(radio, ` ${text}`);
    field.append(choice);
  }
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: "Simulate it", className: "simulate" });
  const verdict = document.createElement("p");
  verdict.className = "verdict";
  verdict.setAttribute("role", "status");
  const picture = document.createElement("div");
  const run = async (chosen: number) => {
    const texts = await Promise.all(question.runs.map((own) => scenario(own)));
    const ended = await trial.run(
      texts.map((text, i) => ({ text, scheme: question.runs[i]?.scheme ?? null })),
      "",
    );
    const { right, found } = answer(
      question,
      ended.map(({ summary }) => summary),
    );
    verdict.textContent = verdictText(question, right, found, chosen);
    picture.replaceChildren(...(found.length > 1 ? [bars(question, right, found)] : []));
    answered();
  };
  button.addEventListener("click", () => {
    const chosen = field.querySelector<HTMLInputElement>("input:checked");
    if (!chosen) {
      verdict.textContent = "Choose an answer first.";
      return;
    }
    button.disabled = true;
    verdict.textContent = "The simulation runs …";
    run(Number(chosen.value))
      .catch((fault: unknown) => (verdict.textContent = String((fault as { message?: string }).message ?? fault)))
      .finally(() => (button.disabled = false));
  });
  return [field, button, verdict, picture];
}

/** The verdict as text, with the numbers that were found. */
function verdictText(question: Question, right: number, found: number[], chosen: number): string {
  const most = Math.max(...found);
  const numbers = found.map((number, i) => `${written(number, question.unit, most)} ${label(question, i)}`.trim());
  const all = `The simulation gives ${question.name}: ${numbers.join(", ")}.`;
  if (right < 0) return `${all} None of the choices has it.`;
  const verdict = right === chosen ? "Right" : `Not so: ${question.choices[right]?.text}`;
  return `${verdict}. ${all} ${question.why}`;
}

/** The numbers as bars: the text has them already. */
function bars(question: Question, right: number, found: number[]): HTMLElement {
  const most = Math.max(...found);
  const chart = document.createElement("div");
  chart.className = "bars";
  chart.setAttribute("aria-hidden", "true");
  const isChoice = question.measure === "largest" || question.measure === "smallest";
  for (const [i, number] of found.entries()) {
    const name = document.createElement("span");
    name.textContent = label(question, i);
    const bar = document.createElement("span");
    bar.className = isChoice && i === right ? "bar best" : "bar";
    bar.style.width = `${most > 0 ? Math.max(0.5, (100 * number) / most) : 0.5}%`;
    const room = document.createElement("span");
    room.append(bar);
    const value = document.createElement("b");
    value.textContent = written(number, question.unit, most);
    chart.append(name, room, value);
  }
  return chart;
}
