/** The plane of two rates: what one of two flows gets against what the other gets, with the line of fairness and that of full use. */

import type { Drawing } from "./picture";
import { colour, quantity } from "./plots";
import type { Series } from "./series";

/** The last points that are drawn, the newest strongest, and the parts in which they fade. */
const TRAIL = 900;
const PARTS = 6;
/** A point is a mean of this number of samples: a sample holds whole frames alone. */
const SMOOTHED = 10;
/** Room at the left and below, and at the other sides, pixels. */
const EDGE = 34;
const FREE = 12;
/** The axes reach this far beyond the rate of the link. */
const BEYOND = 1.08;

export class Plane {
  private readonly canvas = document.createElement("canvas");
  private readonly points: [number, number][] = [];
  private seen = 0;
  private readonly sums: [number, number] = [0, 0];

  /** The two controlled flows of a port; null where there are more, or fewer. */
  static of(series: Series, port: string): [number, number] | null {
    const flows = series.controlled(port);
    return flows.length === 2 ? (flows as [number, number]) : null;
  }

  constructor(
    place: HTMLElement,
    private readonly series: Series,
    private readonly port: string,
    private readonly flows: [number, number],
  ) {
    this.canvas.setAttribute("role", "img");
    this.canvas.className = "plane";
    this.canvas.setAttribute("aria-label", `Plane of two rates at ${port}`);
    place.append(this.canvas);
  }

  private read(): void {
    const rates = this.flows.map((flow) => this.series.flow(flow, "throughput_bps"));
    for (; this.seen < this.series.time.length; this.seen += 1) {
      const point = rates.map((own, i) => {
        const sum = (this.sums[i as 0 | 1] += (own[this.seen] ?? 0) - (this.seen >= SMOOTHED ? (own[this.seen - SMOOTHED] ?? 0) : 0));
        return Math.max(0, sum) / Math.min(this.seen + 1, SMOOTHED);
      });
      this.points.push(point as [number, number]);
    }
    this.points.splice(0, Math.max(0, this.points.length - TRAIL));
  }

  private names(): [string, string] {
    return this.flows.map((flow) => this.series.plan.flows[flow]?.name ?? "") as [string, string];
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
    const now_s = this.series.now_s;
    const rate = this.series.rate(this.port, now_s);
    // What flows that no scheme controls leave of the link.
    const left = Math.max(0, rate - this.series.background(this.port, now_s));
    const side = Math.min(width, height) - EDGE - FREE;
    const place = ([x, y]: [number, number]): [number, number] => [EDGE + (side * x) / (rate * BEYOND), height - EDGE - (side * y) / (rate * BEYOND)];
    const line = (from: [number, number], to: [number, number]) => {
      pen.beginPath();
      pen.moveTo(...place(from));
      pen.lineTo(...place(to));
      pen.stroke();
    };
    pen.font = "11px system-ui, sans-serif";
    pen.strokeStyle = colour("grid");
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      line([part * rate, 0], [part * rate, rate * BEYOND]);
      line([0, part * rate], [rate * BEYOND, part * rate]);
    }
    pen.strokeStyle = colour("text");
    pen.setLineDash([6, 4]);
    line([0, 0], [rate, rate]);
    pen.strokeStyle = colour("theory");
    line([left, 0], [0, left]);
    pen.setLineDash([]);
    const [one, other] = this.names();
    pen.fillStyle = colour("text");
    pen.textAlign = "right";
    const [far, near] = [place([rate, rate]), place([rate, 0])];
    pen.fillText("equal shares", far[0], far[1] - 4);
    pen.fillText(`${one}: ${quantity(rate, "bit/s")} →`, near[0], near[1] + 16);
    pen.textAlign = "left";
    pen.fillStyle = colour("theory");
    const middle = place([0.72 * left, 0.28 * left]);
    pen.fillText("link full", middle[0] + 6, middle[1] - 4);
    pen.fillStyle = colour("text");
    pen.save();
    pen.translate(14, place([0, 0])[1]);
    pen.rotate(-Math.PI / 2);
    pen.fillText(`${other}: up to ${quantity(rate, "bit/s")} →`, 0, 0);
    pen.restore();
    this.trail(pen, place);
  }

  private trail(pen: CanvasRenderingContext2D, place: (point: [number, number]) => [number, number]): void {
    pen.strokeStyle = colour("accent");
    pen.lineWidth = 1.2;
    for (let part = 0; part < PARTS; part += 1) {
      const from = Math.floor((this.points.length * part) / PARTS);
      const to = Math.floor((this.points.length * (part + 1)) / PARTS) + 1;
      pen.globalAlpha = (part + 1) / PARTS;
      pen.beginPath();
      for (const point of this.points.slice(from, to)) pen.lineTo(...place(point));
      pen.stroke();
    }
    const last = this.points.at(-1);
    if (!last) return;
    pen.fillStyle = colour("accent");
    pen.beginPath();
    pen.arc(...place(last), 5, 0, 7);
    pen.fill();
  }

  describe(): void {
    const [x, y] = this.points.at(-1) ?? [0, 0];
    const [one, other] = this.names();
    this.canvas.setAttribute("aria-label", `Plane of two rates at ${this.port}: ${one} gets ${quantity(x, "bit/s")}, ${other} gets ${quantity(y, "bit/s")}`);
  }

  drawing(): Drawing {
    return { title: `Plane of two rates at ${this.port} (bit/s)`, drawn: this.canvas };
  }
}
