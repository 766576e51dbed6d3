/** Where the bars of queues stand: on their links, apart from one another, from nodes, and from lines of other links. */

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
/** What stands against a candidate: a bar or a node below it, a line of another link through it, a flat bar. */
const [COVERED, CROSSED, LAID] = [1000, 60, 30];

/** A bar that is wanted: the ends of its link. */
export interface Wanted {
  from: Point;
  to: Point;
}

/** A bar that stands. */
export interface Stood {
  at: Point;
  half: Point;
}

/** Places for bars. Those of one node stand alike, in a row, where that leaves room for all. Each line is one of `lines`, by its ends. */
export function stand(wanted: Wanted[], nodes: Stood[], lines: [Point, Point][]): Stood[] {
  const stood = new Map<Wanted, Stood>();
  const groups = new Map<string, Wanted[]>();
  for (const own of wanted) {
    const key = `${own.from.x} ${own.from.y}`;
    groups.set(key, [...(groups.get(key) ?? []), own]);
  }
  const against = (own: Stood, { from, to }: Wanted, others: Stood[]) => {
    const covered = [...stood.values(), ...nodes, ...others].filter((other) => meet(own, other)).length;
    const elsewhere = lines.filter(([a, b]) => !(same(a, from) && same(b, to)) && !(same(a, to) && same(b, from)));
    const crossed = elsewhere.filter((line) => crosses(line, own)).length;
    const far = Math.hypot(own.at.x - from.x, own.at.y - from.y);
    return COVERED * covered + CROSSED * crossed + Math.abs(far - preferred(from, to)) + (own.half === FLAT ? LAID : 0);
  };
  for (const group of groups.values()) {
    let best: Stood[] = [];
    let least = Infinity;
    for (const half of [UPRIGHT, FLAT]) {
      for (let part = PART; part < 1 - PART; part += PART / 2) {
        const row = group.map(({ from, to }) => ({ at: between(from, to, part), half }));
        const sum = row.reduce((all, own, i) => all + against(own, group[i] as Wanted, row.slice(0, i)), 0);
        if (sum < least) [best, least] = [row, sum];
      }
    }
    if (least < COVERED) {
      for (const [i, own] of group.entries()) stood.set(own, best[i] as Stood);
      continue;
    }
    for (const own of group) {
      const one = alone(own, (place) => against(place, own, []));
      stood.set(own, one);
    }
  }
  return wanted.map((own) => stood.get(own) as Stood);
}

/** The best place for one bar, whatever the others of its node do. */
function alone({ from, to }: Wanted, against: (place: Stood) => number): Stood {
  let best: Stood = { at: from, half: UPRIGHT };
  let least = Infinity;
  for (let part = PART; part < 1 - PART; part += PART / 4) {
    for (const half of [UPRIGHT, FLAT]) {
      const own = { at: between(from, to, part), half };
      const sum = against(own);
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
function meet(one: Stood, other: Stood): boolean {
  const [upper, lower] = one.at.y < other.at.y ? [one, other] : [other, one];
  const apart = lower.at.y - lower.half.y - (upper.at.y + upper.half.y);
  // A sign stands above a bar alone, and a flat one has it beside.
  const room = lower.half === UPRIGHT ? SIGN : GAP;
  return Math.abs(one.at.x - other.at.x) < one.half.x + other.half.x + GAP && apart < room;
}

/** Whether a line runs through a bar: one of some points of it is inside. */
function crosses([a, b]: [Point, Point], { at, half }: Stood): boolean {
  const length = Math.hypot(b.x - a.x, b.y - a.y);
  for (let along = 0; along <= length; along += STEP) {
    const [x, y] = [a.x + ((b.x - a.x) * along) / length, a.y + ((b.y - a.y) * along) / length];
    if (Math.abs(x - at.x) < half.x + 1 && Math.abs(y - at.y) < half.y + 1) return true;
  }
  return false;
}
