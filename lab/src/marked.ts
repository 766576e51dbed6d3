/**
 * Texts of lessons with marks. `[the queue](#queue)` is a name that shows on the page what it names, while it is pointed at;
 * `[32 sources](!flow.0.from=h0..h31)` sets keys of the scenario, and begins the run again.
 */

/** What a name can show: the parts of the page. Kinds with a name after a space are below. */
const PARTS: Record<string, string> = {
  queue: "[data-plot=queue]",
  rates: "[data-plot=rates]",
  use: "[data-plot=use]",
  network: ".network-box",
  numbers: ".numbers",
  plane: ".plane",
  phase: ".phase",
  bars: ".gantt",
  play: "#play",
  step: "#step",
  sources: ".parameter:has(#sources)",
  background: ".parameter:has(#background)",
  rate: "#link-controls",
  job: "#job",
  scheme: "label:has(#scheme)",
};
/** Parts of which there are several: of the network, and parameters. */
const KINDS: Record<string, (name: string) => string> = {
  node: (name) => `svg.network [data-node="${name}"]`,
  link: (name) => `svg.network [data-links~="${name}"]`,
  port: (name) => `svg.network [data-queue="${name}"]`,
  parameter: (name) => `.parameter:has(#parameter-${name})`,
};
const MARK = /\[([^\]]+)\]\(([#!])([^)]+)\)/g;

/** The parts of the page that a name stands for. */
function named(part: string): Element[] {
  const [kind = "", name] = part.split(" ");
  const where = name === undefined ? PARTS[kind] : KINDS[kind]?.(name);
  return where === undefined ? [] : [...document.querySelectorAll(where)];
}

/** Where a part is on a page that is not shown, its tab is opened. */
function reveal(part: Element): void {
  const panel = part.closest<HTMLElement>("[role=tabpanel][hidden]");
  if (panel) document.querySelector<HTMLElement>(`[aria-controls="${panel.id}"]`)?.click();
  part.closest("details")?.setAttribute("open", "");
  part.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
}

/** A name in a text: its parts stand out while it is pointed at or has the focus; a click goes to them. */
function pointer(words: string, part: string): HTMLButtonElement {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "names", textContent: words, title: "Show it" });
  let lit: Element[] = [];
  const show = () => {
    lit = named(part);
    for (const own of lit) own.classList.add("named");
  };
  const hide = () => {
    for (const own of lit) own.classList.remove("named");
    lit = [];
  };
  button.addEventListener("mouseenter", show);
  button.addEventListener("focus", show);
  button.addEventListener("mouseleave", hide);
  button.addEventListener("blur", hide);
  button.addEventListener("click", () => {
    const [first] = named(part);
    if (first) reveal(first);
    hide();
    show();
  });
  return button;
}

/** Words that set keys. */
function setter(words: string, keys: string, set: (keys: Record<string, string>) => void): HTMLButtonElement {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "sets", textContent: words, title: "Set it, and begin again" });
  button.addEventListener("click", () => set(Object.fromEntries(keys.split("&").map((pair) => pair.split("=") as [string, string]))));
  return button;
}

/** A text as parts of the page. */
export function marked(text: string, set: (keys: Record<string, string>) => void): (string | HTMLElement)[] {
  const parts: (string | HTMLElement)[] = [];
  let from = 0;
  for (const found of text.matchAll(MARK)) {
    const [whole, words = "", sign, what = ""] = found;
    parts.push(text.slice(from, found.index), sign === "#" ? pointer(words, what) : setter(words, what, set));
    from = found.index + whole.length;
  }
  parts.push(text.slice(from));
  return parts;
}

/** A text without its marks. */
export function plain(text: string): string {
  return text.replace(MARK, "$1");
}
