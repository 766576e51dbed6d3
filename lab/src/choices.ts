/** Fills the lists from which a reader chooses. */

import { comparisons } from "./job";
import { byId } from "./page";
import type { Scheme } from "./protocol";
import { SPEEDS } from "./words";

export function fill(schemes: Scheme[]): void {
  const option = (value: string, text: string) => new Option(text, value);
  const names = schemes.map(({ name, title }) => option(name, `${name} — ${title}`));
  byId("scheme").append(...names.map((name) => name.cloneNode(true)));
  byId("compare").append(...names, comparisons());
  byId("speed").append(...SPEEDS.map((speed) => option(String(speed), speed < 1 ? `1/${Math.round(1 / speed)} of real time` : `${speed} × real time`)));
}
