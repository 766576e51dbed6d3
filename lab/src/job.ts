/** Load balancing and the size of a job: controls of scenarios that have several paths, or a collective. */

import { quantity } from "./plots";
import type { Plan } from "./protocol";
import type { Series } from "./series";

export const BALANCING_KEY = "network.load_balancing";
const SIZE_KEY = "collective.0.size";
/** The ways of load balancing that need no transport, with their meaning. */
const BALANCING: Record<string, string> = {
  flow: "ECMP, a hash of each flow",
  flowlet: "flowlets, a hash of each",
  spray: "spraying, frame after frame",
  "spray-random": "spraying at random",
  adaptive: "adaptive, to the shortest queue",
  "adaptive-flowlet": "adaptive, each flowlet",
};
const SIZES = [1e6, 2e6, 4e6, 8e6, 16e6];

/** The load balancing of a run. */
export function balancing(series: Series): string {
  return /^load_balancing = "(.*)"$/m.exec(series.description.resolved)?.[1] ?? "flow";
}

/** The load balancing of a run in words, where frames have a choice. */
export function balanced(series: Series): string | null {
  const own = balancing(series);
  return hasPaths(series.plan) ? (BALANCING[own] ?? own) : null;
}

/** Whether there is more than one path between some nodes: a network without a circle has a link less than nodes. */
function hasPaths({ nodes, links }: Plan): boolean {
  return links.length / 2 >= nodes.length;
}

/** What a run is compared with, as keys to set: "network.load_balancing=spray" is one, the name of a scheme none; "&" joins several. */
export function setting(compare: string): Record<string, string> | null {
  const pairs = compare.split("&").map((pair) => pair.split("="));
  return pairs.every(([key, value]) => key !== undefined && value !== undefined) ? (Object.fromEntries(pairs) as Record<string, string>) : null;
}

/** Shows in the list what a run is compared with; what it does not have, such as a lesson's keys, is put there. */
export function showCompared(list: HTMLSelectElement, compare: string | null): void {
  list.querySelector("[data-added]")?.remove();
  list.value = compare ?? "";
  if (compare === null || list.value === compare) return;
  const option = new Option(compare.replace(/[^&]*?(\w+)\.(\w+)=/g, "$1 $2 "), compare);
  option.dataset["added"] = "";
  list.append(option);
  list.value = compare;
}

/** The keys by which runs side by side differ; the load balancing has its own words. */
export function keysOf(compare: string | null): string[] {
  return Object.keys((compare === null ? null : setting(compare)) ?? {}).filter((key) => key !== BALANCING_KEY);
}

/** A key of a run and its value, as a reader knows them: "watchdog after 1 ms" of pfc.watchdog.after. */
export function valueOf(series: Series, key: string): string {
  const parts = key.split(".");
  const [section, name] = [parts.slice(0, -1).join("\\."), parts.at(-1) ?? ""];
  const found = new RegExp(`^\\[${section}\\]$(?:\\n(?!\\[).*)*?\\n${name} = "?([^"\\n]*)"?$`, "m").exec(series.description.resolved);
  return `${parts.slice(-2).join(" ")} ${found?.[1] ?? "by default"}`;
}

/** The choices of load balancing to compare with. */
export function comparisons(): HTMLOptGroupElement {
  const group = document.createElement("optgroup");
  group.label = "The same scheme, with paths by";
  group.append(...Object.entries(BALANCING).map(([name, words]) => new Option(words, `${BALANCING_KEY}=${name}`)));
  return group;
}

export class JobControls {
  private readonly balancing: HTMLSelectElement;
  private readonly size: HTMLSelectElement;

  /** `change` sets a key of the scenario. */
  constructor(
    private readonly place: HTMLElement,
    change: (key: string, value: string) => void,
  ) {
    const part = (id: string) => place.querySelector<HTMLSelectElement>(`#${id}`) as HTMLSelectElement;
    [this.balancing, this.size] = [part("balancing"), part("size")];
    this.balancing.addEventListener("change", () => change(BALANCING_KEY, this.balancing.value));
    this.size.addEventListener("change", () => change(SIZE_KEY, this.size.value));
  }

  show(series: Series): void {
    const { plan, description } = series;
    const own = balancing(series);
    const known = own in BALANCING ? BALANCING : { ...BALANCING, [own]: own };
    this.balancing.replaceChildren(...Object.entries(known).map(([name, words]) => new Option(words, name)));
    this.balancing.value = own;
    this.balancing.disabled = !hasPaths(plan);
    const octets = description.jobs.find(({ kind }) => kind !== null)?.size_octets ?? null;
    const sizes = octets === null ? [] : [...new Set([...SIZES, octets])].sort((a, b) => a - b);
    this.size.replaceChildren(...sizes.map((size) => new Option(quantity(size, "octets"), `${size} octets`)));
    this.size.value = `${octets} octets`;
    this.size.disabled = octets === null;
    this.place.hidden = !hasPaths(plan) && octets === null;
  }
}
