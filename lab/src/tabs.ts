/** Tabs: one of several panels is shown. Arrow keys go from tab to tab, as the pattern of WAI-ARIA has it. */

const TABS = ["change", "parameters", "scenario", "numbers"] as const;
export type Tab = (typeof TABS)[number];

const tab = (name: Tab) => document.getElementById(`tab-${name}`) as HTMLButtonElement;

/** Shows a panel. */
export function showTab(chosen: Tab): void {
  for (const name of TABS) {
    const isChosen = name === chosen;
    tab(name).setAttribute("aria-selected", String(isChosen));
    tab(name).tabIndex = isChosen ? 0 : -1;
    (document.getElementById(`panel-${name}`) as HTMLElement).hidden = !isChosen;
  }
}

/** Makes the tabs of the page work; the first is shown. */
export function listenToTabs(): void {
  for (const [i, name] of TABS.entries()) {
    tab(name).addEventListener("click", () => showTab(name));
    tab(name).addEventListener("keydown", (event) => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: TABS.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = TABS[(to + TABS.length) % TABS.length] ?? "change";
      showTab(next);
      tab(next).focus();
    });
  }
  showTab("change");
}
