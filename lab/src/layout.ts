/** Where the nodes of a network are drawn: in columns from sources to destinations, or around a ring where flows make one. */

import type { Point } from "./frames";
import type { Plan } from "./protocol";

/** A node's place, the radius of a host's circle, and where its name stands; null, where names are too close. */
export interface Place extends Point {
  radius: number;
  name: "in" | "below" | "left" | "right" | null;
}

export interface Layout {
  height: number;
  places: Map<string, Place>;
}

/** The circle of a host that has room, and the widest name that fits into it. */
const RADIUS = 9;
const WIDE = 18;

/** Whether a name fits into a circle; capital letters are wider. */
const fits = (name: string) => [...name].reduce((sum, letter) => sum + (/[A-Z]/.test(letter) ? 7 : 5.8), 0) <= WIDE;

/** A place with room for its name: in a switch, in a circle if it is short. */
const roomy = (at: Point, name: string, plan: Plan): Place => {
  const isHost = plan.nodes.some((own) => own.name === name && own.kind === "host");
  return { ...at, radius: RADIUS, name: isHost && !fits(name) ? "below" : "in" };
};

/** How often the columns are ordered by their neighbours. */
const SWEEPS = 8;
/** The height of a ring, and its half axes as parts of the width and the height: of the switches, and of the hosts beyond them. */
const RING = 340;
const INNER = { x: 0.24, y: 0.26 };
const OUTER = { x: 0.42, y: 0.44 };

export function layout(plan: Plan, width: number): Layout {
  const columns = plan.flows.length === 0 ? null : layers(plan);
  if (columns) return inColumns(columns, plan, width);
  // Without listed flows, or with flows in all directions, hosts stand below their switches, and these below others.
  const floors = tiers(plan);
  return floors && (plan.flows.length === 0 || floors.length > 2) ? onFloors(floors, plan, width) : aroundRing(plan, width);
}

/** Between two nodes of a column, where there is room; from this on a name fits into a circle, and from this on beside one. */
const APART = 30;
const ROOMY = 21;
const TALL = 11;
const TALLEST = 460;
const EDGE = 6;
/** The part of the space between two hosts that a circle takes, at the most. */
const CIRCLE = 0.43;

function inColumns(columns: string[][], plan: Plan, width: number): Layout {
  const rows = Math.max(...columns.map((column) => column.length), 1);
  const height = Math.min(TALLEST, Math.max(150, rows * APART));
  const places = new Map<string, Place>();
  const switches = new Set(plan.nodes.flatMap(({ name, kind }) => (kind === "switch" ? [name] : [])));
  columns.forEach((column, i) => {
    const x = columns.length === 1 ? width / 2 : 60 + (i * (width - 120)) / (columns.length - 1);
    const side = i === 0 ? "left" : i === columns.length - 1 ? "right" : "below";
    const step = (height - 2 * EDGE) / column.length;
    const radius = Math.min(RADIUS, CIRCLE * step);
    // Names that are too close together are left out between others.
    const every = Math.ceil(TALL / step);
    column.forEach((name, j) => {
      const isInside = switches.has(name) || (fits(name) && step >= ROOMY);
      const beside = j % every === 0 ? side : null;
      places.set(name, { x, y: EDGE + (j + 0.5) * step, radius, name: isInside ? "in" : beside });
    });
  });
  return { height, places };
}

/** The floors of a building: how far above each other, and the most nodes side by side. */
const FLOOR = 120;
const ROOF = 26;
const MOST_ASIDE = 32;

function onFloors(floors: string[][], plan: Plan, width: number): Layout {
  const places = new Map<string, Place>();
  [...floors].reverse().forEach((floor, i) => {
    floor.forEach((name, j) => places.set(name, roomy({ x: ((j + 0.5) * width) / floor.length, y: ROOF + i * FLOOR }, name, plan)));
  });
  return { height: 2 * ROOF + (floors.length - 1) * FLOOR, places };
}

/** Hosts, then switches by their distance in links from the nearest host; null where a floor would be too wide. */
function tiers(plan: Plan): string[][] | null {
  const beside = neighbours(plan);
  const found = new Map(plan.nodes.filter(({ kind }) => kind === "host").map(({ name }) => [name, 0]));
  for (const [name, height] of found) {
    for (const next of beside.get(name) ?? []) if (!found.has(next)) found.set(next, height + 1);
  }
  const floors: string[][] = [];
  for (const [name, height] of found) (floors[height] ??= []).push(name);
  return floors.every((floor) => floor.length <= MOST_ASIDE) ? ordered(floors, plan) : null;
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
  const places = new Map<string, Place>();
  const put = (name: string, turn: number, part: Point) => {
    const angle = 2 * Math.PI * (turn - 0.25);
    places.set(name, roomy({ x: width * (0.5 + part.x * Math.cos(angle)), y: RING * (0.5 + part.y * Math.sin(angle)) }, name, plan));
  };
  for (const [i, [name, hosts]] of [...groups].entries()) {
    put(name, i / groups.size, INNER);
    hosts.forEach((host, j) => put(host, (i + (j + 0.5) / hosts.length - 0.5) / groups.size, OUTER));
  }
  // The drawing ends below the lowest node.
  return { height: Math.max(...[...places.values()].map(({ y }) => y)) + APART, places };
}

/** The nodes at both ends of a link; the number of a parallel one is no part of a name. */
function ends(link: string): [string, string] {
  return link.replace(/\.\d+$/, "").split("->") as [string, string];
}

/** The pairs of nodes that flows go over, each once: many flows share a link. */
function pairs(plan: Plan): [string, string][] {
  const links = new Set<string>();
  for (const { hops } of plan.flows) for (const { link } of hops) links.add(link);
  return [...links].map(ends);
}

/** Columns of nodes: each as far to the right as the longest path of a flow to it; null where flows go in a circle. */
function layers(plan: Plan): string[][] | null {
  const used = pairs(plan);
  const depth = new Map<string, number>(used.flat().map((name) => [name, 0]));
  let moved = true;
  // Without a circle no path is longer than there are nodes, and the last round moves nothing.
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
  idle(plan, depth);
  const columns: string[][] = [];
  for (const { name } of plan.nodes) (columns[depth.get(name) ?? 0] ??= []).push(name);
  return ordered(
    columns.filter((column) => column !== undefined),
    plan,
  );
}

/** Nodes that no flow uses: a switch stands in the column of its like, a host beside its switch, away from the middle. */
function idle(plan: Plan, depth: Map<string, number>): void {
  const beside = neighbours(plan);
  const last = Math.max(0, ...depth.values());
  const left = (kind: string) => plan.nodes.filter((node) => node.kind === kind && !depth.has(node.name));
  for (const { name } of left("switch")) {
    const known = (beside.get(name) ?? []).flatMap((own) => depth.get(own) ?? []);
    depth.set(name, known.length === 0 ? 0 : Math.max(0, Math.min(...known) - 1));
  }
  for (const { name } of left("host")) {
    const at = depth.get((beside.get(name) ?? [])[0] ?? "") ?? 0;
    depth.set(name, 2 * at > last ? at + 1 : Math.max(0, at - 1));
  }
}

function neighbours(plan: Plan): Map<string, string[]> {
  const beside = new Map<string, string[]>();
  for (const { name } of plan.links) {
    const [from, to] = ends(name);
    beside.set(from, [...(beside.get(from) ?? []), to]);
  }
  return beside;
}

/** The columns with each node near the mean height of its neighbours, so that few lines cross. */
function ordered(columns: string[][], plan: Plan): string[][] {
  const beside = neighbours(plan);
  const height = new Map<string, number>();
  const note = (column: string[]) => column.forEach((name, i) => height.set(name, (i + 0.5) / column.length));
  columns.forEach(note);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const column of sweep % 2 === 0 ? columns : [...columns].reverse()) {
      const own = new Set(column);
      const wanted = new Map<string, number>();
      for (const name of column) {
        const heights = (beside.get(name) ?? []).filter((other) => !own.has(other)).map((other) => height.get(other) ?? 0.5);
        wanted.set(name, heights.length === 0 ? (height.get(name) ?? 0.5) : heights.reduce((sum, one) => sum + one, 0) / heights.length);
      }
      // Names that come in the scenario's order keep it where nothing speaks for another one.
      column.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
      note(column);
    }
  }
  return columns;
}
