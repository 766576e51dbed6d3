/** Frames on the lines of the network, where they are at a time of the simulation. */

import { flowColour } from "./plots";
import type { Link, Plan } from "./protocol";

const SVG = "http://www.w3.org/2000/svg";
/** Octets of a long frame with all that it takes of a line; its time and the line's delay are the longest flight of most frames. */
const LONG_OCTETS = 1600;
/** Frames that are drawn at a time. */
const MOST_DOTS = 400;
/** A frame that would be seen for less than so long is not drawn, ms. */
const LEAST_MS = 40;
/** The outlines of what moves, around the origin: data, an acknowledgement, a message of the scheme, a pause, the end of one. */
export const SHAPES: Record<string, string> = {
  data: "M-3,0a3,3 0 1 0 6,0a3,3 0 1 0 -6,0",
  ack: "M-1.6,0a1.6,1.6 0 1 0 3.2,0a1.6,1.6 0 1 0 -3.2,0",
  signal: "M0,-5.5L5,4L-5,4Z",
  pause: "M-4,-4.5H-1V4.5H-4ZM1,-4.5H4V4.5H1Z",
  resume: "M-4,-4.5L4.5,0L-4,4.5Z",
};
/** How far beside its line a frame is drawn, so that the two directions are apart. */
const ASIDE = 3.5;

export type Point = { x: number; y: number };

interface Frame {
  start_s: number;
  end_s: number;
  port: number;
  flow: number;
  kind: string;
  lost: boolean;
}

export interface Way {
  from: Point;
  to: Point;
}

/** The longest time that a long frame takes over one of the links, s. */
export function longest(links: Link[]): number {
  return links.reduce((most, { latency_s, rate_bps }) => Math.max(most, latency_s + (8 * LONG_OCTETS) / rate_bps), 0);
}

export class Frames {
  private frames: Frame[] = [];
  private readonly ways: (Way | null)[];
  private readonly dots: SVGPathElement[] = [];
  private used = 0;
  /** The engine reports a frame when it has crossed its line: drawn is the time before now by which all are known, s. */
  late_s: number;

  constructor(
    private readonly sky: SVGGElement,
    plan: Plan,
    private readonly kinds: string[],
    at: (name: string) => Point | undefined,
  ) {
    this.late_s = longest(plan.links);
    this.ways = plan.links.map(({ node, peer }) => {
      const [from, to] = [at(node), at(peer)];
      return from && to ? beside(from, to, ASIDE) : null;
    });
  }

  /** Takes rows of the engine: as Description.frame_columns has them. */
  add(rows: Float64Array, columns: number): void {
    for (let i = 0; i < rows.length; i += columns) {
      const [start_s, end_s, port, flow, kind, lost] = rows.subarray(i, i + columns) as unknown as [number, number, number, number, number, number];
      this.late_s = Math.max(this.late_s, end_s - start_s);
      this.frames.push({ start_s, end_s, port, flow, kind: this.kinds[kind] ?? "", lost: lost > 0 });
    }
  }

  /** Draws the frames that were running at a time; of a run at `speed` simulated seconds a second. */
  draw(now_s: number, speed: number): void {
    const shown_s = now_s - this.late_s;
    // A run that has begun again knows none of them.
    this.frames = this.frames.filter(({ start_s, end_s }) => end_s >= shown_s && start_s <= now_s);
    let place = 0;
    for (const frame of this.frames) {
      const way = this.ways[frame.port];
      const lasts_s = frame.end_s - frame.start_s;
      if (!way || frame.start_s > shown_s || lasts_s * 1000 < LEAST_MS * speed || place >= MOST_DOTS) continue;
      this.put(place, frame, way, lasts_s > 0 ? (shown_s - frame.start_s) / lasts_s : 1);
      place += 1;
    }
    for (let i = place; i < this.used; i += 1) this.dots[i]?.setAttribute("visibility", "hidden");
    this.used = place;
  }

  private put(place: number, { kind, flow, lost }: Frame, { from, to }: Way, part: number): void {
    let dot = this.dots[place];
    if (!dot) {
      dot = document.createElementNS(SVG, "path");
      this.dots.push(dot);
      this.sky.append(dot);
    }
    dot.setAttribute("class", `frame ${kind}${lost ? " lost" : ""}`);
    dot.setAttribute("d", SHAPES[kind] ?? SHAPES["data"] ?? "");
    if (flow >= 0 && kind !== "signal") dot.setAttribute("fill", flowColour(flow));
    const [x, y] = [from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part];
    dot.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    dot.setAttribute("visibility", "visible");
  }

  /** How many are drawn. */
  get count(): number {
    return this.used;
  }
}

/** The path from one node to another, so far to the right of the line between them. */
export function beside(from: Point, to: Point, aside: number): Way {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [x, y] = [(-(to.y - from.y) * aside) / length, ((to.x - from.x) * aside) / length];
  return { from: { x: from.x + x, y: from.y + y }, to: { x: to.x + x, y: to.y + y } };
}
