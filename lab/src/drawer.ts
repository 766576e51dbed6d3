/** The drawer of scenarios: each with its network, the queue of its run, its name and its question. */

import "./drawer.css";

import { address } from "./files";
import type { Entry } from "./page";

const SVG = "http://www.w3.org/2000/svg";
/** The drawing of a card: the network at the left, its queue at the right, in a frame. */
const DRAWN = { width: 240, height: 84 };
const NETWORK = { x: 0, y: 4, width: 104, height: 76 };
const CURVE = { x: 120, y: 10, width: 116, height: 62 };

/** A scenario as build.mjs draws it: parts of the width and the height of the network, and of the buffer. */
interface Thumbnail {
  links: [number, number, number, number][];
  nodes: { x: number; y: number; kind: "host" | "switch" }[];
  /** The queue that the page shows first, over the run. */
  queue: number[];
}

/** What the button says where the scenario is none of the gallery. */
const OWN = "a scenario of your own";

export class Drawer {
  private chosen = "";
  private entries: Entry[] = [];
  private readonly list: HTMLElement;

  /** `choose` is called with the name of a scenario. */
  constructor(
    private readonly button: HTMLButtonElement,
    private readonly dialog: HTMLDialogElement,
    private readonly choose: (scenario: string) => void,
  ) {
    this.list = dialog.querySelector("ul") as HTMLElement;
    button.addEventListener("click", () => this.open());
    dialog.querySelector(".close")?.addEventListener("click", () => dialog.close());
    // A click beside the drawer is one on the dialog itself.
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  }

  fill(entries: Entry[]): void {
    this.entries = entries;
  }

  /** Names the scenario that runs; none is one of the reader's. */
  show(entry: Entry | undefined): void {
    this.chosen = entry?.scenario ?? "";
    this.button.value = this.chosen;
    this.button.textContent = entry?.title ?? OWN;
  }

  private open(): void {
    if (this.list.childElementCount === 0) {
      this.list.append(...this.entries.map((entry) => this.card(entry)));
      void this.draw();
    }
    this.dialog.showModal();
    for (const card of this.list.querySelectorAll<HTMLElement>("[data-scenario]")) {
      const isChosen = card.dataset["scenario"] === this.chosen;
      card.setAttribute("aria-current", String(isChosen));
      if (isChosen) card.focus();
    }
  }

  private card({ scenario, scheme, title, question }: Entry): HTMLElement {
    const item = document.createElement("li");
    const card = document.createElement("button");
    Object.assign(card, { type: "button", className: "card" });
    card.dataset["scenario"] = scenario;
    card.append(...["strong", "span", "small"].map((name, i) => Object.assign(document.createElement(name), { textContent: [title, question, scheme][i] })));
    card.addEventListener("click", () => {
      this.dialog.close();
      this.choose(scenario);
    });
    item.append(card);
    return item;
  }

  /** Draws the cards, when the page has their drawings. */
  private async draw(): Promise<void> {
    const response = await fetch(address("thumbnails.json"));
    if (!response.ok) return;
    const all = (await response.json()) as Record<string, Thumbnail>;
    for (const card of this.list.querySelectorAll<HTMLElement>("[data-scenario]")) {
      const own = all[card.dataset["scenario"] ?? ""];
      if (own) card.prepend(drawing(own));
    }
  }
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function drawing({ links, nodes, queue }: Thumbnail): SVGElement {
  const svg = element("svg", { viewBox: `0 0 ${DRAWN.width} ${DRAWN.height}`, "aria-hidden": "true" });
  const x = (part: number) => (NETWORK.x + NETWORK.width * part).toFixed(1);
  const y = (part: number) => (NETWORK.y + NETWORK.height * part).toFixed(1);
  svg.append(...links.map(([ax, ay, bx, by]) => element("line", { x1: x(ax), y1: y(ay), x2: x(bx), y2: y(by), class: "link" })));
  for (const node of nodes) {
    const [cx, cy] = [Number(x(node.x)), Number(y(node.y))];
    svg.append(node.kind === "host" ? element("circle", { cx, cy, r: nodes.length > 24 ? 1.8 : 3, class: "node" }) : element("rect", { x: cx - 5, y: cy - 4, width: 10, height: 8, rx: 2, class: "node switch" }));
  }
  const along = (i: number) => (CURVE.x + (CURVE.width * i) / Math.max(1, queue.length - 1)).toFixed(1);
  const up = (part: number) => (CURVE.y + CURVE.height * (1 - part)).toFixed(1);
  const points = queue.map((part, i) => `${along(i)},${up(part)}`).join("L");
  const foot = CURVE.y + CURVE.height;
  svg.append(
    element("path", { d: `M${CURVE.x},${foot}L${points}L${CURVE.x + CURVE.width},${foot}Z`, class: "under" }),
    element("path", { d: `M${points}`, class: "curve" }),
    element("path", { d: `M${CURVE.x},${CURVE.y}V${foot}H${CURVE.x + CURVE.width}`, class: "axes" }),
  );
  return svg;
}
