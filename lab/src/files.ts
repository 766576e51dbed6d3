/** Where the files of the page are: beside it, or, in a notebook, in its memory. */

import { isEmbedded } from "./lecture";

const held = document.getElementById("files");
const addresses = held ? (JSON.parse(held.textContent ?? "{}") as Record<string, string>) : null;

/** Whether a notebook shows the page: then there are no other files than those that it has been given. */
export const inNotebook = addresses !== null;

export function has(name: string): boolean {
  return addresses === null || name in addresses;
}

export function address(name: string): string {
  return addresses?.[name] ?? name;
}

/** The text of a scenario of the gallery. */
export async function scenarioText(name: string): Promise<string> {
  return (await fetch(address(`scenarios/${name}.toml`))).text();
}

/** Keeps the page for times without a network. All of its files are loaded for that: after the first run is seen. Inside another page nothing is kept. */
export function keep(): void {
  if (!inNotebook && !isEmbedded && "serviceWorker" in navigator) void navigator.serviceWorker.register("offline.js");
}
