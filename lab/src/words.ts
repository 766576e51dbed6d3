/** Sentences and choices of the page that follow from numbers. */

import type { Entry } from "./page";
import type { Plan, Refusal } from "./protocol";
import type { Summary } from "./types";
import type { RunView } from "./view";

/** Simulated seconds a second. */
export const SPEEDS = [1e-5, 3e-5, 1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];

/** At this speed, or a lower one, frames are drawn, and the state between samples: simulated seconds a second. */
export const SLOW = 0.001;

/** A simulated time for the eye, to the microsecond. */
export function clock(now_s: number): string {
  return now_s < 1 ? `${(now_s * 1000).toFixed(3)} ms` : `${now_s.toFixed(6)} s`;
}

/** The difference of two runs as text: of the times of their job, or of their queues. */
function compared(first: RunView, second: RunView, port: string): string {
  const [one, other] = [timeOfJob(first), timeOfJob(second)];
  if (one !== null && other !== null) {
    const [slow, fast, times] = one > other ? [first, second, one / other] : [second, first, other / one];
    if (times < 1.05) return "The job takes the same time in both, within 5 per cent.";
    const alike = first.name === second.name;
    const named = ({ name, paths }: RunView) => (alike ? (paths?.split(",")[0] ?? name) : name);
    return `The job takes ${times.toFixed(2)} times as long with ${named(slow)} as with ${named(fast)}.`;
  }
  const [a, b] = [first.series.numbers(port).mean_octets, second.series.numbers(port).mean_octets];
  if (a <= 0 || b <= 0) return "";
  const [short, long, times] = a < b ? [first, second, b / a] : [second, first, a / b];
  if (times < 1.05) return `The mean queue is the same within 5 per cent under ${first.name} and ${second.name}.`;
  const named = (view: RunView) => (first.name === second.name ? (view.values ?? view.name) : view.name);
  return `The mean queue is ${times < 10 ? times.toFixed(1) : times.toFixed(0)} times shorter under ${named(short)} than under ${named(long)}.`;
}

/** Beside the question: the scheme under which it is asked, where that is not the scenario's, and the comparison of two runs. */
export function answered(views: RunView[], gallery: Entry[], port: string, ended: boolean): string {
  const [first, second] = views;
  if (!first) return "";
  const { question, scheme } = first.series.plan;
  const asked = gallery.find((entry) => entry.question === question)?.scheme;
  const parts = [];
  if (asked !== undefined && asked !== scheme) parts.push(`Here under ${scheme}, not ${asked}.`);
  if (second && ended) parts.push(compared(first, second, port));
  if (ended) parts.push("The run has come to its end: a change now holds from its start.");
  return parts.join(" ");
}

/** The time of the first job of a run, s; null where there is none, or where it has not ended. */
function timeOfJob({ series }: RunView): number | null {
  return series.summary === null ? null : ((JSON.parse(series.summary) as Summary).jobs?.[0]?.job_time_s ?? null);
}

/** The first recorded queue of a switch, or of a host where there is none. */
export function firstQueue(plan: Plan): string {
  const switches = new Set(plan.nodes.filter(({ kind }) => kind === "switch").map(({ name }) => name));
  return plan.queues.find((name) => switches.has(name.split("->")[0] ?? "")) ?? plan.queues[0] ?? "";
}

/** The speed of the list that is nearest. */
export function nearest(speed: number): number {
  const far = (own: number) => Math.abs(Math.log(own / Math.max(speed, 1e-9)));
  return SPEEDS.reduce((best, own) => (far(own) < far(best) ? own : best));
}

export function words({ line, column, own, key, message, hint }: Refusal): string {
  const places = own ? ["own.py", `line ${line}`, `column ${column}`] : [line === null ? null : `line ${line}`, key];
  const place = places.filter((part) => part !== null).join(", ");
  return `${place}${place ? ": " : ""}${message}${hint ? ` (${hint})` : ""}`;
}
