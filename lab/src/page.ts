/** The parts of the page by their ids, and the lists that come with it. */

import { address } from "./files";

/** A scenario of the gallery. */
export interface Entry {
  scenario: string;
  /** The scheme that the scenario's question is about. */
  scheme: string;
  title: string;
  question: string;
  view: string;
  /** Schemes of which there are tables of the theory. */
  theory: string[];
}

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found as T;
}

export async function listed<T>(name: string): Promise<T[]> {
  return (await (await fetch(address(name))).json()) as T[];
}

/** Does what a key stands for: in the editor of the scenario Ctrl+Enter alone, in that of a scheme the same as "own". Elsewhere the others, unless the reader types, a button takes the key, or the drawer is open. */
export function press(event: KeyboardEvent, acts: Record<string, () => void>): void {
  const { id, tagName } = event.target as HTMLElement;
  if (document.querySelector("dialog[open]")) return;
  const editor = id === "text" || id === "own-text";
  // A slider takes no text.
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(tagName) && (event.target as HTMLInputElement).type !== "range";
  if (!editor && (typing || event.ctrlKey || event.altKey || event.metaKey)) return;
  // A button that has the focus acts on the space bar itself.
  if (event.key === " " && ["BUTTON", "SUMMARY", "A", "g"].includes(tagName)) return;
  const act = acts[editor ? (event.ctrlKey ? `Ctrl+${event.key}${id === "own-text" ? " own" : ""}` : "") : event.key];
  if (!act) return;
  if (!editor) event.preventDefault();
  act();
}

/** Gives the height of the bar, which stays in sight, to the parts that stand below it. */
export function measureBar(): void {
  const bar = document.querySelector("header") as HTMLElement;
  const measure = () => document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
  new ResizeObserver(measure).observe(bar);
}
