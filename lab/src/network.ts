/** The network as a drawing: hosts and switches, queues that fill, frames that move, notifications that fly back, pauses and drops in red. */

import { Frames, type Point } from "./frames";
import { layout } from "./layout";
import { flowColour, short } from "./plots";
import type { Plan } from "./protocol";
import type { Series } from "./series";

const SVG = "http://www.w3.org/2000/svg";
/** Larger networks are not drawn. */
const MOST_NODES = 80;
const WIDTH = 640;
/** How long a notification flies, ms of the wall clock, and how many at a time. */
const FLIGHT_MS = 350;
const MOST_FLIGHTS = 24;

function element<K extends keyof SVGElementTagNameMap>(name: K, attributes: Record<string, string | number>): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

interface Gauge {
  queue: number;
  link: string;
  bar: SVGRectElement;
  box: SVGRectElement;
  full: number;
  title: SVGTitleElement;
  line: SVGLineElement | undefined;
}

export class NetworkView {
  readonly svg: SVGSVGElement;
  private readonly places: Map<string, Point>;
  private readonly gauges: Gauge[] = [];
  private readonly flights: { dot: SVGCircleElement; from: Point; to: Point; started: number }[] = [];
  private told = 0;
  private readonly sky: SVGGElement;
  private readonly lines = new Map<string, SVGLineElement>();
  private frames: Frames | null = null;
  private shown_s = -1;

  constructor(
    place: HTMLElement,
    private readonly series: Series,
    choose: (port: string) => void,
  ) {
    const { plan } = series;
    const large = plan.nodes.length > MOST_NODES;
    const { height, places } = large ? { height: 150, places: new Map<string, Point>() } : layout(plan, WIDTH);
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
    plan.queues.forEach((link, queue) => this.drawGauge(plan, link, queue, choose));
    this.svg.append(this.sky);
    this.frames = new Frames(this.sky, plan, series.description.frame_kinds, (name) => this.places.get(name));
  }

  private at(name: string): Point {
    return this.places.get(name) ?? { x: 0, y: 0 };
  }

  private drawLinks(plan: Plan): void {
    const drawn = new Set<string>();
    for (const { name } of plan.links) {
      const [from, to] = name.split("->") as [string, string];
      const pair = [from, to].sort().join(" ");
      if (drawn.has(pair)) continue;
      drawn.add(pair);
      const [a, b] = [this.at(from), this.at(to)];
      const line = element("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: "link" });
      this.lines.set(pair, line);
      this.svg.append(line);
    }
  }

  private drawNodes(plan: Plan): void {
    for (const { name, kind } of plan.nodes) {
      const { x, y } = this.at(name);
      const flow = plan.flows.findIndex((own) => own.source === name);
      const shape =
        kind === "switch"
          ? element("rect", { x: x - 16, y: y - 11, width: 32, height: 22, rx: 4, class: "node" })
          : element("circle", { cx: x, cy: y, r: 9, class: "node" });
      if (flow >= 0) shape.style.stroke = flowColour(flow);
      const text = element("text", { x, y: y + 3.5, "text-anchor": "middle", class: "name" });
      text.textContent = name;
      this.svg.append(shape, text);
    }
  }

  /** A queue stands at its port, a third of the way along the link at the most. */
  private drawGauge(plan: Plan, link: string, queue: number, choose: (port: string) => void): void {
    const [from, to] = link.split("->") as [string, string];
    const fromSwitch = plan.nodes.find(({ name }) => name === from)?.kind === "switch";
    const known = plan.links.find(({ name }) => name === link);
    const full = known?.buffer_octets ?? (known?.buffer_frames ?? 0) * 1500;
    if (!fromSwitch || full === 0 || this.gauges.some((gauge) => gauge.link === link)) return;
    const [a, b] = [this.at(from), this.at(to)];
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const along = Math.min(46, length / 3);
    const [x, y] = [a.x + ((b.x - a.x) * along) / length, a.y + ((b.y - a.y) * along) / length];
    const box = element("rect", { x: x - 7, y: y - 17, width: 14, height: 34, class: "queue" });
    const bar = element("rect", { x: x - 7, y: y + 17, width: 14, height: 0, class: "fill" });
    const title = element("title", {});
    const group = element("g", { tabindex: 0, role: "button", "aria-label": `Show the queue of ${link}` });
    group.append(title, box, bar);
    group.addEventListener("click", () => choose(link));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(link);
    });
    this.svg.append(group);
    this.gauges.push({ queue, link, bar, box, full, title, line: this.lines.get([from, to].sort().join(" ")) });
  }

  /** Takes frames that have left lines, as the engine tells of them. */
  add(frames: Float64Array): void {
    this.frames?.add(frames, this.series.description.frame_columns.length);
  }

  /** Draws the state of the last sample, and the frames on their lines of a run at `speed` simulated seconds a second. */
  draw(wall_ms: number, speed: number): void {
    const last = this.series.time.length - 1;
    const stoppedLines = new Set<SVGLineElement>();
    for (const { queue, link, bar, box, full, title, line } of this.gauges) {
      const value = (column: string) => this.series.queue(queue, column)[last] ?? 0;
      const octets = value("queue_octets");
      const part = Math.min(1, octets / full);
      const bottom = Number(box.getAttribute("y")) + 34;
      bar.setAttribute("height", (34 * part).toFixed(1));
      bar.setAttribute("y", (bottom - 34 * part).toFixed(1));
      const [paused, drops] = [value("paused_s") > 0, value("frames_dropped") > 0];
      box.classList.toggle("stopped", paused || drops);
      if (paused && line) stoppedLines.add(line);
      title.textContent = `${link}: ${short(octets)} of ${short(full)} octets${paused ? ", stopped by a pause" : ""}${drops ? ", frames dropped" : ""}`;
    }
    for (const line of this.lines.values()) line.classList.toggle("stopped", stoppedLines.has(line));
    this.frames?.draw(this.series.now_s, speed);
    this.shown_s = this.series.now_s;
    this.launch(wall_ms);
    this.fly(wall_ms);
  }

  private launch(wall_ms: number): void {
    const { plan, signals } = this.series;
    // After a jump only the last ones fly.
    this.told = Math.max(this.told, signals.length - MOST_FLIGHTS);
    for (; this.told < signals.length; this.told += 1) {
      const signal = signals[this.told];
      const flow = signal && plan.flows[signal.flow];
      // Feedback in frames is drawn as these, where frames are drawn.
      if (plan.feedback_s === null && this.frames && this.frames.count > 0) continue;
      if (!signal || !flow || this.places.size === 0 || this.flights.length >= MOST_FLIGHTS) continue;
      const port = plan.links[signal.port]?.name.split("->")[0];
      const from = this.at(port ?? flow.destinations[0] ?? "");
      const dot = element("circle", { r: 3.5, class: "signal", fill: flowColour(signal.flow) });
      this.sky.append(dot);
      this.flights.push({ dot, from, to: this.at(flow.source), started: wall_ms });
    }
  }

  private fly(wall_ms: number): void {
    for (let i = this.flights.length - 1; i >= 0; i -= 1) {
      const flight = this.flights[i];
      if (!flight) continue;
      const part = (wall_ms - flight.started) / FLIGHT_MS;
      if (part >= 1) {
        flight.dot.remove();
        this.flights.splice(i, 1);
        continue;
      }
      flight.dot.setAttribute("cx", String(flight.from.x + (flight.to.x - flight.from.x) * part));
      flight.dot.setAttribute("cy", String(flight.from.y + (flight.to.y - flight.from.y) * part));
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
