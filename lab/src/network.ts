/** The network as a drawing: hosts and switches, queues that fill, frames that move, notifications that return, pauses, drops, broken links. */

import { beside, Frames, type Point, SHAPES } from "./frames";
import { type Placed, placeBars, SIGN, UPRIGHT } from "./gauges";
import { layout, type Place } from "./layout";
import { flowColour, short } from "./plots";
import type { Plan } from "./protocol";
import type { Series } from "./series";

const SVG = "http://www.w3.org/2000/svg";
/** Larger networks are not drawn. */
const MOST_NODES = 80;
const WIDTH = 640;
/** How long a notification is shown on a link, ms of the wall clock, and how many at a time. */
const FLIGHT_MS = 250;
const MOST_FLIGHTS = 24;
/** Where a name stands: beside its circle, below it, or in the middle of its node. */
const BESIDE = 4;
const BELOW = 19;
const MIDDLE = 3.5;

/** The signs of the drawing, for its legend. */
const LEGEND: [string, string][] = [
  ["frame data", "data, in its flow's colour"],
  ["frame ack", "acknowledgement"],
  ["frame signal", "notification to a source"],
  ["frame pause", "pause"],
  ["frame resume", "end of a pause"],
];

function element<K extends keyof SVGElementTagNameMap>(name: K, attributes: Record<string, string | number>): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

interface Gauge {
  queue: number;
  link: string;
  placed: Placed;
  bar: SVGRectElement;
  box: SVGRectElement;
  /** The signs of a stop and of a loss. */
  signs: { stopped: SVGPathElement; dropped: SVGPathElement };
  full: number;
  title: SVGTitleElement;
}

/** A link that is used less than this, or from here on, is drawn as idle, or as full. */
const IDLE = 0.02;
const FULL = 0.97;
/** The width of a full link, and how far beside its line the load of a direction is drawn. */
const THICK = 5;
const ASIDE = 3.5;
/** How fast the dashes of a full link flow, units of the drawing in a millisecond of the wall clock, and the longest step. */
const PACE = 0.06;
const STEP_MS = 100;

/** The load of one direction of a link; `along` is how far its dashes have flowed. */
interface Load {
  queue: number;
  line: SVGLineElement;
  along: number;
}

/** A link of the drawing: both directions, and the queues of hosts on it. */
interface Cable {
  line: SVGLineElement;
  cross: SVGPathElement;
  links: string[];
}

/** Half the width and the height of a switch, with its name. */
const halfOf = (name: string): Point => ({ x: Math.max(16, 3 * name.length + 2), y: 11 });

export class NetworkView {
  readonly svg: SVGSVGElement;
  private readonly places: Map<string, Place>;
  private readonly gauges: Gauge[] = [];
  private readonly flights: { dot: SVGPathElement; way: Point[]; started: number }[] = [];
  private readonly sky: SVGGElement;
  private readonly cables = new Map<string, Cable>();
  private readonly loads: Load[] = [];
  private frames: Frames | null = null;
  private shown_s = -1;
  private drawn_ms = 0;

  constructor(
    place: HTMLElement,
    private readonly series: Series,
    choose: (port: string) => void,
  ) {
    const { plan } = series;
    const large = plan.nodes.length > MOST_NODES;
    const { height, places } = large ? { height: 150, places: new Map<string, Place>() } : layout(plan, WIDTH);
    this.places = places;
    this.svg = element("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "group", "aria-label": `The network: ${plan.nodes.length} nodes` });
    this.svg.classList.add("network");
    this.sky = element("g", {});
    place.append(this.svg);
    if (large) {
      const note = element("text", { x: WIDTH / 2, y: height / 2, "text-anchor": "middle", class: "name" });
      note.textContent = `${plan.nodes.length} nodes are too many to draw`;
      this.svg.append(note);
      return;
    }
    this.drawLinks(plan);
    this.drawNodes(plan);
    this.drawGauges(plan, choose);
    this.svg.append(this.sky);
    this.frames = new Frames(this.sky, plan, series.description.frame_kinds, (name) => this.places.get(name));
  }

  private at(name: string): Point {
    return this.places.get(name) ?? { x: 0, y: 0 };
  }

  private drawLinks(plan: Plan): void {
    for (const { name, node: from, peer: to } of plan.links) {
      const pair = [from, to].sort().join(" ");
      const known = this.cables.get(pair);
      if (known) {
        known.links.push(name);
        continue;
      }
      const [a, b] = [this.at(from), this.at(to)];
      const line = element("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: "link" });
      const cross = element("path", { d: "M-6,-6L6,6M-6,6L6,-6", class: "cross", transform: `translate(${(a.x + b.x) / 2} ${(a.y + b.y) / 2})`, visibility: "hidden" });
      this.cables.set(pair, { line, cross, links: [name] });
      this.svg.append(line, cross);
    }
    for (const { line, links } of this.cables.values()) line.dataset["links"] = links.join(" ");
    for (const { name, node, peer } of plan.links) {
      const queue = this.series.queueAt(name);
      if (queue < 0) continue;
      const { from, to } = beside(this.at(node), this.at(peer), ASIDE);
      const line = element("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, class: "load", visibility: "hidden" });
      this.loads.push({ queue, line, along: 0 });
      this.svg.append(line);
    }
  }

  private drawNodes(plan: Plan): void {
    for (const { name, kind } of plan.nodes) {
      const { x, y, radius, name: side } = this.places.get(name) ?? { x: 0, y: 0, radius: 0, name: null };
      const flow = plan.flows.findIndex((own) => own.source === name);
      const half = halfOf(name);
      const shape =
        kind === "switch"
          ? element("rect", { x: x - half.x, y: y - half.y, width: 2 * half.x, height: 2 * half.y, rx: 4, class: "node" })
          : element("circle", { cx: x, cy: y, r: radius, class: "node" });
      if (flow >= 0) shape.style.stroke = flowColour(flow);
      const aside = side === "left" ? -1 : side === "right" ? 1 : 0;
      const anchor = { left: "end", right: "start" }[side as string] ?? "middle";
      const text = element("text", { x: x + aside * (radius + BESIDE), y: y + (side === "below" ? BELOW : MIDDLE), "text-anchor": anchor, class: "name" });
      text.textContent = side === null ? "" : name;
      const title = element("title", {});
      title.textContent = name;
      shape.append(title);
      shape.dataset["node"] = name;
      this.svg.append(shape, text);
    }
  }

  /** The queues of switches, each once, on the lines of their links. */
  private drawGauges(plan: Plan, choose: (port: string) => void): void {
    const switches = new Set(plan.nodes.flatMap(({ name, kind }) => (kind === "switch" ? [name] : [])));
    const directions = plan.queues.flatMap((name, queue) => {
      const link = plan.links.find((own) => own.name === name);
      const full = link?.buffer_octets ?? (link?.buffer_frames ?? 0) * 1500;
      if (!link || !switches.has(link.node) || full === 0 || plan.queues.indexOf(name) < queue) return [];
      return [{ name, queue, full, from: this.at(link.node), to: this.at(link.peer) }];
    });
    const nodes = [...this.places].map(([name, at]) => ({ at, half: switches.has(name) ? halfOf(name) : { x: at.radius, y: at.radius } }));
    const lines = [...new Set(plan.links.map(({ node, peer }) => [node, peer].sort().join(" ")))].map((pair) => pair.split(" ").map((name) => this.at(name)) as [Point, Point]);
    const placed = placeBars(directions, nodes, lines);
    for (const [i, { name, queue, full }] of directions.entries()) {
      const own = placed[i];
      if (own) this.drawGauge(name, queue, full, own, choose);
    }
  }

  private drawGauge(link: string, queue: number, full: number, placed: Placed, choose: (port: string) => void): void {
    const { at, half } = placed;
    const box = element("rect", { x: at.x - half.x, y: at.y - half.y, width: 2 * half.x, height: 2 * half.y, class: "queue" });
    const bar = element("rect", { x: at.x - half.x, y: at.y - half.y, width: 2 * half.x, height: 2 * half.y, class: "fill" });
    // A sign stands above a bar, and at the right of a flat one.
    const spot = half === UPRIGHT ? { x: at.x, y: at.y - half.y - SIGN / 2 } : { x: at.x + half.x + SIGN / 2, y: at.y };
    const sign = (kind: string, d: string) => element("path", { d, class: `sign ${kind}`, transform: `translate(${spot.x} ${spot.y})`, visibility: "hidden" });
    const signs = { stopped: sign("stopped", SHAPES["pause"] ?? ""), dropped: sign("dropped", "M-4,-4L4,4M-4,4L4,-4") };
    const title = element("title", {});
    const group = element("g", { tabindex: 0, role: "button", "aria-label": `Show the queue of ${link}`, "data-queue": link });
    group.append(title, box, bar, signs.stopped, signs.dropped);
    group.addEventListener("click", () => choose(link));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(link);
    });
    this.svg.append(group);
    this.gauges.push({ queue, link, placed, bar, box, signs, full, title });
  }

  /** Takes frames that have left links, as the engine reports them. */
  add(frames: Float64Array): void {
    this.frames?.add(frames, this.series.description.frame_columns.length);
  }

  /** Draws the queues, and the frames on their lines of a run at `speed` simulated seconds a second. */
  draw(wall_ms: number, speed: number): void {
    // Where frames are drawn, a bar is as late as they are.
    const late_s = this.series.shown_s === null ? this.late_s : 0;
    for (const { queue, link, placed, bar, box, signs, full, title } of this.gauges) {
      const { octets, paused, dropped: drops } = this.series.queueNow(queue, late_s);
      const part = Math.min(1, octets / full);
      const { at, half } = placed;
      if (half === UPRIGHT) {
        bar.setAttribute("height", (2 * half.y * part).toFixed(1));
        bar.setAttribute("y", (at.y + half.y - 2 * half.y * part).toFixed(1));
      } else bar.setAttribute("width", (2 * half.x * part).toFixed(1));
      box.classList.toggle("stopped", paused || drops);
      signs.stopped.setAttribute("visibility", paused ? "visible" : "hidden");
      signs.dropped.setAttribute("visibility", drops && !paused ? "visible" : "hidden");
      title.textContent = `${link}: ${short(octets)} of ${short(full)} octets${paused ? ", stopped by a pause" : ""}${drops ? ", frames dropped" : ""}`;
    }
    // Dashes flow while the run does, where no frames are to be seen.
    const step_ms = this.series.now_s > this.shown_s && !this.frames?.count ? Math.min(STEP_MS, wall_ms - this.drawn_ms) : 0;
    this.drawn_ms = wall_ms;
    for (const load of this.loads) {
      const { queue, line } = load;
      const { use } = this.series.queueNow(queue, late_s);
      load.along += PACE * use * step_ms;
      line.setAttribute("stroke-dashoffset", (-load.along).toFixed(1));
      line.setAttribute("stroke-width", (THICK * use).toFixed(1));
      line.setAttribute("visibility", use < IDLE ? "hidden" : "visible");
      line.classList.toggle("full", use >= FULL);
    }
    for (const { line, cross, links } of this.cables.values()) {
      const stopped = links.some((link) => this.series.queueNow(this.series.queueAt(link), late_s).paused);
      const down = links.some((link) => this.series.isDown(link, this.series.shown_s ?? this.series.now_s));
      line.classList.toggle("stopped", stopped);
      line.classList.toggle("down", down);
      cross.setAttribute("visibility", down ? "visible" : "hidden");
    }
    this.frames?.draw(this.series.now_s, speed);
    this.shown_s = this.series.now_s;
    this.launch(wall_ms);
    this.fly(wall_ms);
  }

  private launch(wall_ms: number): void {
    const { plan, signals } = this.series;
    // Feedback in frames is drawn as these, where frames are drawn.
    const drawn = plan.feedback_s === null && this.frames !== null && this.frames.count > 0;
    // After a jump only the last ones are shown.
    for (const { flow, port } of signals.splice(0).slice(-MOST_FLIGHTS)) {
      const way = this.wayBack(flow, port);
      if (drawn || way.length < 2 || this.flights.length >= MOST_FLIGHTS) continue;
      const dot = element("path", { d: SHAPES["signal"] ?? "", class: "frame signal" });
      this.sky.append(dot);
      this.flights.push({ dot, way, started: wall_ms });
    }
  }

  /** The nodes from a port of a flow, or from its destination, back to its source. */
  private wayBack(flow: number, port: number): Point[] {
    const { flows, links } = this.series.plan;
    const own = flows[flow];
    if (!own || this.places.size === 0) return [];
    const from = links[port]?.name;
    let hop: number | null = from === undefined ? own.hops.length - 1 : own.hops.findIndex(({ link }) => link === from);
    const names = from === undefined ? [own.destinations[0] ?? ""] : [];
    while (hop !== null && own.hops[hop]) {
      names.push(own.hops[hop]?.link.split("->")[0] ?? "");
      hop = own.hops[hop]?.after ?? null;
    }
    return names.map((name) => this.at(name));
  }

  private fly(wall_ms: number): void {
    for (let i = this.flights.length - 1; i >= 0; i -= 1) {
      const flight = this.flights[i];
      if (!flight) continue;
      const part = (wall_ms - flight.started) / FLIGHT_MS;
      const leg = Math.floor(part);
      const [a, b] = [flight.way[leg], flight.way[leg + 1]];
      if (!a || !b) {
        flight.dot.remove();
        this.flights.splice(i, 1);
        continue;
      }
      const along = part - leg;
      flight.dot.setAttribute("transform", `translate(${a.x + (b.x - a.x) * along} ${a.y + (b.y - a.y) * along})`);
    }
  }

  /** Whether something still flies, or has moved since it was drawn. */
  get moving(): boolean {
    return this.flights.length > 0 || (this.frames !== null && this.frames.count > 0 && this.series.now_s !== this.shown_s);
  }

  /** How late frames are drawn, s. */
  get late_s(): number {
    return this.frames?.late_s ?? 0;
  }
}

/** The legend of the drawing. */
export function legend(list: HTMLElement): void {
  const entry = (drawn: SVGElement[], words: string) => {
    const item = document.createElement("li");
    const picture = element("svg", { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true" });
    picture.append(...drawn);
    item.append(picture, words);
    list.append(item);
  };
  for (const [kind, words] of LEGEND) entry([element("path", { d: SHAPES[kind.split(" ")[1] ?? ""] ?? "", class: kind })], words);
  entry([element("rect", { x: -4, y: -7, width: 8, height: 14, class: "queue" }), element("rect", { x: -4, y: 0, width: 8, height: 7, class: "fill" })], "queue and its buffer");
  entry([element("line", { x1: -8, y1: 0, x2: 8, y2: 0, class: "load", "stroke-width": 3 })], "load of a direction: the thicker and the faster, the more");
  entry([element("line", { x1: -8, y1: 0, x2: 8, y2: 0, class: "load full", "stroke-width": 5 })], "full");
  entry([element("line", { x1: -8, y1: 0, x2: 8, y2: 0, class: "link stopped" })], "stopped by a pause");
  entry([element("line", { x1: -8, y1: 0, x2: 8, y2: 0, class: "link down" }), element("path", { d: "M-5,-5L5,5M-5,5L5,-5", class: "cross" })], "broken");
}
