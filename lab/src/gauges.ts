/** Where the bars of queues are drawn: on their links, apart from one another, from nodes, and from lines of other links. */

import type { Point } from "./frames";

/** Half the width and the height of a bar: upright, or flat where there is no room for that. */
export const UPRIGHT = { x: 7, y: 17 };
export const FLAT = { x: 13, y: 4.5 };
/** The room above a bar for the sign of a stop or a loss. */
export const SIGN = 15;
/** From a node to the middle of its bar: at the least, and at the most where there is room. */
const NEAR = 34;
const FAR = 46;
/** No bar stands in this part of a link at either end. */
const PART = 0.1;
/** Between two points of a line that is looked at, and between the edges of two things. */
const STEP = 4;
const GAP = 5;
/** What a candidate costs: a bar or a node below it, a line of another link through it, a flat bar. */
const [COVERED, CROSSED, LAID] = [1000, 60, 30];

/** A direction of a link, which has a bar near its first end. */
export interface Direction {
  from: Point;
  to: Point;
}

/** Something with a place: its middle, and half of its width and height. */
export interface Placed {
  at: Point;
  half: Point;
}

/** Places for the bars of `directions`. Those of one node are alike, in a row, where that leaves room for all. Each line is one of `lines`, by its ends. */
export function placeBars(directions: Direction[], nodes: Placed[], lines: [Point, Point][]): Placed[] {
  const placed = new Map<Direction, Placed>();
  const groups = new Map<string, Direction[]>();
  for (const own of directions) {
    const key = `${own.from.x} ${own.from.y}`;
    groups.set(key, [...(groups.get(key) ?? []), own]);
  }
  const cost = (own: Placed, { from, to }: Direction, others: Placed[]) => {
    const covered = [...placed.values(), ...nodes, ...others].filter((other) => meet(own, other)).length;
    const elsewhere = lines.filter(([a, b]) => !(same(a, from) && same(b, to)) && !(same(a, to) && same(b, from)));
    const crossed = elsewhere.filter((line) => crosses(line, own)).length;
    const far = Math.hypot(own.at.x - from.x, own.at.y - from.y);
    return COVERED * covered + CROSSED * crossed + Math.abs(far - preferred(from, to)) + (own.half === FLAT ? LAID : 0);
  };
  for (const group of groups.values()) {
    let best: Placed[] = [];
    let least = Infinity;
    for (const half of [UPRIGHT, FLAT]) {
      for (let part = PART; part < 1 - PART; part += PART / 2) {
        const row = group.map(({ from, to }) => ({ at: between(from, to, part), half }));
        const sum = row.reduce((all, own, i) => all + cost(own, group[i] as Direction, row.slice(0, i)), 0);
        if (sum < least) [best, least] = [row, sum];
      }
    }
    if (least < COVERED) {
      for (const [i, own] of group.entries()) placed.set(own, best[i] as Placed);
      continue;
    }
    for (const own of group) {
      const one = alone(own, (place) => cost(place, own, []));
      placed.set(own, one);
    }
  }
  return directions.map((own) => placed.get(own) as Placed);
}

/** The best place for one bar, whatever the others of its node do. */
function alone({ from, to }: Direction, cost: (place: Placed) => number): Placed {
  let best: Placed = { at: from, half: UPRIGHT };
  let least = Infinity;
  for (let part = PART; part < 1 - PART; part += PART / 4) {
    for (const half of [UPRIGHT, FLAT]) {
      const own = { at: between(from, to, part), half };
      const sum = cost(own);
      if (sum < least) [best, least] = [own, sum];
    }
  }
  return best;
}

const between = (from: Point, to: Point, part: number): Point => ({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part });

/** How far from its node a bar stands best. */
const preferred = (from: Point, to: Point) => Math.min(FAR, Math.max(NEAR, Math.hypot(to.x - from.x, to.y - from.y) / 3));

const same = (a: Point, b: Point) => a.x === b.x && a.y === b.y;

/** Whether two things overlap; each has a sign above it. */
function meet(one: Placed, other: Placed): boolean {
  const [upper, lower] = one.at.y < other.at.y ? [one, other] : [other, one];
  const apart = lower.at.y - lower.half.y - (upper.at.y + upper.half.y);
  // A sign stands above a bar alone, and a flat one has it beside.
  const room = lower.half === UPRIGHT ? SIGN : GAP;
  return Math.abs(one.at.x - other.at.x) < one.half.x + other.half.x + GAP && apart < room;
}

/** Whether a line runs through a bar: one of some points of it is inside. */
function crosses([a, b]: [Point, Point], { at, half }: Placed): boolean {
  const length = Math.hypot(b.x - a.x, b.y - a.y);
  for (let along = 0; along <= length; along += STEP) {
    const [x, y] = [a.x + ((b.x - a.x) * along) / length, a.y + ((b.y - a.y) * along) / length];
    if (Math.abs(x - at.x) < half.x + 1 && Math.abs(y - at.y) < half.y + 1) return true;
  }
  return false;
}
