/** Light or dark: as the reader's system has it, until the reader chooses. */

import { byId } from "./page";

/** Where the choice is kept; null where the browser allows none, as in a frame of another page. */
function store(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

function show(shade: string): void {
  document.documentElement.dataset["shade"] = shade;
  byId("theme").textContent = shade === "dark" ? "Light" : "Dark";
}

/** Makes the button work; `changed` is called after each change. */
export function listenToTheme(changed: () => void): void {
  show(store()?.getItem("shade") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  byId("theme").addEventListener("click", () => {
    const shade = document.documentElement.dataset["shade"] === "dark" ? "light" : "dark";
    store()?.setItem("shade", shade);
    show(shade);
    changed();
  });
}
