/** Where the nodes of a network are drawn: in columns from sources to destinations, or around a ring where flows make one. */

import type { Point } from "./frames";
import type { Plan } from "./protocol";

export interface Layout {
  height: number;
  places: Map<string, Point>;
}

/** The height of a ring, and its half axes as parts of the width and the height: of the switches, and of the hosts beyond them. */
const RING = 340;
const INNER = { x: 0.24, y: 0.26 };
const OUTER = { x: 0.42, y: 0.44 };

export function layout(plan: Plan, width: number): Layout {
  const columns = layers(plan);
  return columns ? inColumns(columns, width) : aroundRing(plan, width);
}

function inColumns(columns: string[][], width: number): Layout {
  const rows = Math.max(...columns.map((column) => column.length), 1);
  const height = Math.min(420, Math.max(150, rows * 30));
  const places = new Map<string, Point>();
  columns.forEach((column, i) => {
    const x = columns.length === 1 ? width / 2 : 60 + (i * (width - 120)) / (columns.length - 1);
    column.forEach((name, j) => places.set(name, { x, y: ((j + 0.5) * height) / column.length }));
  });
  return { height, places };
}

/** Switches around a ring in their order, the first one at the top, and the hosts of each beyond it. */
function aroundRing(plan: Plan, width: number): Layout {
  const switches = new Set(plan.nodes.filter(({ kind }) => kind === "switch").map(({ name }) => name));
  const groups = new Map<string, string[]>([...switches].map((name) => [name, []]));
  const links = plan.links.map(({ name }) => ends(name));
  for (const { name, kind } of plan.nodes) {
    if (kind === "switch") continue;
    const [, to] = links.find(([from, other]) => from === name && switches.has(other)) ?? [];
    // A host without a switch is a part of the ring itself.
    if (to === undefined) groups.set(name, []);
    else groups.get(to)?.push(name);
  }
  const places = new Map<string, Point>();
  const put = (name: string, turn: number, part: Point) => {
    const angle = 2 * Math.PI * (turn - 0.25);
    places.set(name, { x: width * (0.5 + part.x * Math.cos(angle)), y: RING * (0.5 + part.y * Math.sin(angle)) });
  };
  for (const [i, [name, hosts]] of [...groups].entries()) {
    put(name, i / groups.size, INNER);
    hosts.forEach((host, j) => put(host, (i + (j + 0.5) / hosts.length - 0.5) / groups.size, OUTER));
  }
  return { height: RING, places };
}

function ends(link: string): [string, string] {
  return link.split("->") as [string, string];
}

/** The pairs of nodes that flows go over, each once: many flows share a link. */
function pairs(plan: Plan): [string, string][] {
  const links = new Set<string>();
  for (const { hops } of plan.flows) for (const { link } of hops) links.add(link);
  return [...links].map(ends);
}

/** Columns of nodes: each as far to the right as the longest way of a flow to it; null where flows go in a circle. */
function layers(plan: Plan): string[][] | null {
  const depth = new Map<string, number>(plan.nodes.map(({ name }) => [name, 0]));
  const used = pairs(plan);
  let moved = true;
  // Without a circle no way is longer than there are nodes, and the last round moves nothing.
  for (let round = 0; moved; round += 1) {
    if (round > plan.nodes.length) return null;
    moved = false;
    for (const [from, to] of used) {
      const next = (depth.get(from) ?? 0) + 1;
      if (next <= (depth.get(to) ?? 0)) continue;
      depth.set(to, next);
      moved = true;
    }
  }
  const columns: string[][] = [];
  for (const { name } of plan.nodes) (columns[depth.get(name) ?? 0] ??= []).push(name);
  return columns.filter((column) => column !== undefined);
}
