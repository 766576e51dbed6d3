/** The phase plane of a port: the queue's distance from its set point against the excess of the allowed rates, drawn as it goes. */

import { colour, short } from "./plots";
import type { Series } from "./series";

/** The last samples that are drawn, the newest strongest. */
const TRAIL = 600;

export class Phase {
  readonly canvas = document.createElement("canvas");
  private readonly queue: number;
  private readonly flows: number[];
  /** The largest distance and excess of the trail: the ends of the axes. */
  private most = { x: 1, y: 1 };
  private seen = 0;
  private readonly points: [number, number][] = [];

  constructor(
    place: HTMLElement,
    private readonly series: Series,
    private readonly port: string,
    private readonly setPoint: number,
  ) {
    this.queue = series.queueAt(port);
    this.flows = series.through(port);
    this.canvas.setAttribute("role", "img");
    this.canvas.className = "phase";
    place.append(this.canvas);
  }

  private read(): void {
    const lengths = this.series.queue(this.queue, "queue_octets");
    const rates = this.flows.map((flow) => this.series.flow(flow, "rate_bps"));
    for (; this.seen < this.series.time.length; this.seen += 1) {
      const at = this.series.time[this.seen] ?? 0;
      const sum = rates.reduce((all, own) => all + (own[this.seen] ?? 0), 0);
      const x = (lengths[this.seen] ?? 0) - this.setPoint;
      const y = sum - this.series.rate(this.port, at);
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
    pen.fillText(`± ${short(this.most.x)} octets →`, 6, height / 2 - 5);
    pen.fillText(`± ${short(this.most.y)} bit/s ↑`, width / 2 + 5, 12);
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
      pen.beginPath();
      pen.arc(x, y, 4, 0, 7);
      pen.fill();
    }
  }

  describe(): void {
    const [x, y] = this.points[this.points.length - 1] ?? [0, 0];
    const words = `Phase plane of ${this.port}: queue ${short(x)} octets from its set point, allowed rates ${short(y)} bit/s above the link's rate`;
    this.canvas.setAttribute("aria-label", words);
  }
}
