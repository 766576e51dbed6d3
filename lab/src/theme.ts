/** Light or dark: as the reader's system has it, until the reader chooses. */

import { byId } from "./page";

function show(shade: string): void {
  document.documentElement.dataset["shade"] = shade;
  byId("theme").textContent = shade === "dark" ? "Light" : "Dark";
}

/** Makes the button work; `changed` is called after each change. */
export function listenToTheme(changed: () => void): void {
  show(localStorage.getItem("shade") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  byId("theme").addEventListener("click", () => {
    const shade = document.documentElement.dataset["shade"] === "dark" ? "light" : "dark";
    localStorage.setItem("shade", shade);
    show(shade);
    changed();
  });
}
