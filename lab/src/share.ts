/** The state of the page as a link: JSON, deflated, in base64url. It is text from strangers, so it is checked when it is read. */

import type { Rates } from "./plots";

/** Two parameters, by their names: the axes of a stability map, across and up. */
export type Axes = [string, string];

/** The runs, and how they are seen. */
export interface RunState {
  /** The scenario, as TOML. */
  text: string;
  /** The text of a scheme of the reader's; "" for none. */
  own: string;
  /** The scheme of the second run; null where there is one run alone. */
  compare: string | null;
  now_s: number;
  /** Simulated seconds a second. */
  speed: number;
  /** The port whose queue is shown. */
  view: string | null;
  /** The link that the controls change, which need not have a recorded queue; null for the one that is shown. */
  link: string | null;
  /** What the plot of rates shows. */
  rates: Rates;
  /** The axes of the stability map of each scheme, where others than the first ones have been chosen. */
  axes: Record<string, Axes>;
}

/** The lesson that is open, by its title, and its step from 0. */
export interface Place {
  lesson: string | null;
  step: number;
}

/** What is written in the editor of the scheme; "" where that is the text that runs. */
export interface Draft {
  draft: string;
}

export type State = RunState & Place & Draft;

/** More than the engine takes. */
export const MOST_TEXT = 300_000;

export async function encode(state: State): Promise<string> {
  const octets = new TextEncoder().encode(JSON.stringify(state));
  const stream = new Blob([octets]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const deflated = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const octet of deflated) binary += String.fromCharCode(octet);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The state of a link; null for anything that is none. */
export async function decode(text: string): Promise<State | null> {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const deflated = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    return checked(JSON.parse(await inflate(deflated)));
  } catch {
    return null;
  }
}

/** A small text can inflate to any length: no more is read than a state can have. */
async function inflate(deflated: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
    if (text.length > 3 * MOST_TEXT) {
      await reader.cancel();
      throw new Error("too long");
    }
  }
}

function checked(state: unknown): State | null {
  if (typeof state !== "object" || state === null) return null;
  // A link may be from a version without some of them, or be made without them.
  const { text, own = "", draft = "", compare, now_s, speed, view, link = null, rates = "throughput", axes = {}, lesson = null, step = 0 } = state as Record<string, unknown>;
  const word = (value: unknown): value is string | null => value === null || (typeof value === "string" && value.length < 200);
  const number = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;
  const short = (value: unknown): value is string => typeof value === "string" && value.length <= MOST_TEXT;
  if (!short(text) || !short(own) || !short(draft)) return null;
  if (!word(compare) || !word(view) || !word(link) || !word(lesson) || !number(now_s) || !number(speed) || !number(step) || !areAxes(axes)) return null;
  return { text, own, draft, compare, now_s, speed, view, link, rates: rates === "allowed" ? "allowed" : "throughput", axes, lesson, step };
}

function areAxes(value: unknown): value is Record<string, Axes> {
  if (typeof value !== "object" || value === null) return false;
  const pair = (own: unknown) => Array.isArray(own) && own.length === 2 && own.every((name) => typeof name === "string");
  return Object.values(value).every(pair);
}
