/**
 * The phase plane of a port: the queue's distance from its set point against the excess of the allowed rates, drawn as it goes, with
 * the switching lines and the trajectory that the theory has.
 */

import type { Drawing } from "./picture";
import { colour, quantity, short } from "./plots";
import type { Series } from "./series";
import type { Theory } from "./theory";

/** The last samples that are drawn, the newest strongest. */
const TRAIL = 600;

/** A position in the drawing, or in the plane. */
type Spot = [number, number];

/** Where a line comes into a drawing of a size, a little behind its edge; null where it does not. */
function entry(from: Spot, to: Spot, size: Spot): Spot | null {
  let [begin, end] = [0, 1];
  for (const axis of [0, 1] as const) {
    const [start, way] = [from[axis], to[axis] - from[axis]];
    const inside = start >= 0 && start <= size[axis];
    const edges = way === 0 ? (inside ? [0, 1] : [1, 0]) : [-start / way, (size[axis] - start) / way].sort((a, b) => a - b);
    begin = Math.max(begin, edges[0] ?? 0);
    end = Math.min(end, edges[1] ?? 1);
  }
  const at = begin + 0.1 * (end - begin);
  return begin < end ? [from[0] + at * (to[0] - from[0]), from[1] + at * (to[1] - from[1])] : null;
}

export class Phase {
  private readonly canvas = document.createElement("canvas");
  private readonly queue: number;
  private readonly flows: number[];
  /** The largest distance and excess of the trail: the ends of the axes. */
  private most = { x: 1, y: 1 };
  private seen = 0;
  private readonly points: [number, number][] = [];
  theory: Theory | null = null;
  /** The theory that is drawn, as text. */
  note = "";

  constructor(
    place: HTMLElement,
    private readonly series: Series,
    private readonly port: string,
    private readonly setPoint: (at_s: number) => number,
  ) {
    this.queue = series.queueAt(port);
    this.flows = series.controlled(port);
    this.canvas.setAttribute("role", "img");
    this.canvas.className = "phase";
    this.canvas.setAttribute("aria-label", `Phase plane of ${port}`);
    place.append(this.canvas);
  }

  private read(): void {
    const lengths = this.series.queue(this.queue, "queue_octets");
    const rates = this.flows.map((flow) => this.series.flow(flow, "rate_bps"));
    const until = this.series.last + 1;
    // An earlier time is shown: the trail up to it is read again.
    if (until < this.seen) {
      this.points.length = 0;
      this.seen = Math.max(0, until - TRAIL);
    }
    for (; this.seen < until; this.seen += 1) {
      const at = this.series.time[this.seen] ?? 0;
      const sum = rates.reduce((all, own) => all + (own[this.seen] ?? 0), 0);
      const x = (lengths[this.seen] ?? 0) - this.setPoint(at);
      const y = sum + this.series.background(this.port, at) - this.series.rate(this.port, at);
      this.points.push([x, y]);
    }
    this.points.splice(0, Math.max(0, this.points.length - TRAIL));
    const far = (place: 0 | 1) => this.points.reduce((most, point) => Math.max(most, Math.abs(point[place])), 1);
    this.most = { x: far(0), y: far(1) };
  }

  draw(): void {
    this.read();
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (width === 0) return;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    pen.scale(ratio, ratio);
    const place = ([x, y]: [number, number]): [number, number] => [
      width / 2 + (x / this.most.x) * (width / 2 - 14),
      height / 2 - (y / this.most.y) * (height / 2 - 20),
    ];
    pen.strokeStyle = colour("grid");
    pen.beginPath();
    pen.moveTo(0, height / 2);
    pen.lineTo(width, height / 2);
    pen.moveTo(width / 2, 0);
    pen.lineTo(width / 2, height);
    pen.stroke();
    pen.fillStyle = colour("text");
    pen.font = "11px system-ui, sans-serif";
    // At the edges, where no line of the theory has its name.
    pen.fillText(`↑ rates above the link's, to ${quantity(this.most.y, "bit/s")}`, width / 2 + 5, 12);
    pen.textAlign = "right";
    pen.fillText(`queue above its set point, to ${quantity(this.most.x, "octets")} →`, width - 6, height - 6);
    pen.textAlign = "left";
    this.drawTheory(pen, place, width, height);
    pen.strokeStyle = colour("accent");
    pen.lineWidth = 0.9;
    const parts = 6;
    for (let part = 0; part < parts; part += 1) {
      const from = Math.floor((this.points.length * part) / parts);
      const to = Math.floor((this.points.length * (part + 1)) / parts) + 1;
      pen.globalAlpha = (part + 1) / parts;
      pen.beginPath();
      for (const point of this.points.slice(from, to)) pen.lineTo(...place(point));
      pen.stroke();
    }
    const last = this.points[this.points.length - 1];
    if (last) {
      const [x, y] = place(last);
      pen.fillStyle = colour("accent");
      pen.beginPath();
      pen.arc(x, y, 4, 0, 7);
      pen.fill();
    }
  }

  private drawTheory(pen: CanvasRenderingContext2D, place: (point: [number, number]) => [number, number], width: number, height: number): void {
    const where = this.theory?.place(this.series);
    if (!this.theory || typeof where !== "object" || this.theory.table.queue !== this.port) {
      this.note = typeof where === "string" ? `No theory is drawn: ${where}.` : "";
      return;
    }
    pen.strokeStyle = colour("theory");
    pen.fillStyle = colour("theory");
    pen.lineWidth = 1.4;
    pen.setLineDash([6, 4]);
    const lines = this.theory.lines(where);
    const setPoint = this.setPoint(this.series.now_s);
    for (const { name, line } of lines) {
      const [a, b, c] = line;
      const far: Spot[] = [-1, 1].map((side) => {
        if (b === 0) return [c / a - setPoint, 2 * side * this.most.y];
        const x = 2 * side * this.most.x;
        return [x, (c - a * (x + setPoint)) / b];
      });
      pen.beginPath();
      for (const point of far) pen.lineTo(...place(point));
      pen.stroke();
      const [from, to] = far.map(place) as [Spot, Spot];
      const label = entry(from, to, [width, height]);
      if (label) pen.fillText(name, Math.min(width - 60, label[0] + 4), Math.max(24, label[1] - 4));
    }
    pen.setLineDash([]);
    const path = this.theory.path(where);
    if (path) {
      pen.beginPath();
      for (const [q, y] of path.points) pen.lineTo(...place([q - setPoint, y]));
      pen.stroke();
    }
    const names = lines.map(({ name }) => name).join(", ");
    const trajectory = path ? `the fluid's trajectory from an empty queue at line rate, at ${path.of}` : "no trajectory, as the tables have none of these values";
    this.note = `Theory: switching lines dashed (${names || "none"}); ${trajectory}. Model: ${this.theory.table.model}.`;
  }

  drawing(): Drawing {
    return { title: `Phase plane of ${this.port} (octets, bit/s)`, drawn: this.canvas };
  }

  describe(): void {
    const [x, y] = this.points[this.points.length - 1] ?? [0, 0];
    const words = `Phase plane of ${this.port}: queue ${short(x)} octets from its set point, allowed rates ${short(y)} bit/s above the link's rate`;
    this.canvas.setAttribute("aria-label", words);
  }
}
