/**
 * The theory beside a run: margins, switching lines and a trajectory. They are not calculated here: penstock.theory has made tables
 * of them (tools/lab_tables.py), and this reads between their nodes.
 */

import type { Plan } from "./protocol";
import type { Series } from "./series";

type Line = [number, number, number];

interface Grid<T> {
  /** The axes by their indices. */
  x: number;
  y: number;
  /** A row for each node of y; null where the model has no answer. */
  values: (T | null)[][];
}

export interface Axis {
  name: string;
  unit: string;
  base: number;
  values: number[];
}

export interface StabilityMap extends Grid<number> {
  /** For each node the reason of a null by its index in `refused`; none where nothing is null. */
  verdicts: number[][];
  refused: string[];
}

export interface Table {
  scheme: string;
  queue: string;
  model: string;
  network: unknown;
  parameters: Record<string, number | string | boolean>;
  background_bps: number;
  axes: Axis[];
  /** Parameters that change nothing in the model. */
  idle: string[];
  /** The reason where there are no margins; empty where there are some. */
  why: string;
  maps: StabilityMap[];
  /** a q + b y = c: q the queue in octets, y the excess of the rates in bit/s. */
  lines: { name: string; base: Line; grids: (Grid<Line> & { xs: number[]; ys: number[] })[] }[];
  /** Trajectories from an empty queue and sources at line rate: pairs of q and y. */
  paths: { axis: number | null; value: number | null; points: [number, number][] }[];
}

/** Margins of neighbouring nodes that are farther apart have a jump between them, degrees. */
const JUMP_DEG = 20;

/** A run's position in the tables: a value for each axis, and the axes that are not at the scenario's own value. */
export interface Place {
  values: number[];
  away: number[];
}

/** The node before a value, and the share of the distance to the next in logarithms. */
export function spot(nodes: number[], value: number): [number, number] {
  let place = 0;
  while (place < nodes.length - 2 && value >= (nodes[place + 1] ?? Infinity)) place += 1;
  const [low, high] = [nodes[place] ?? 1, nodes[place + 1] ?? 1];
  return [place, high > low ? Math.log(value / low) / Math.log(high / low) : 0];
}

/** The four nodes around a position, and the shares of the distance between them; null where one has no value. */
function corners<T>(values: (T | null)[][], [column, along]: [number, number], [row, up]: [number, number]): { nodes: [T, T, T, T]; along: number; up: number } | null {
  const right = Math.min(column + 1, (values[0]?.length ?? 1) - 1);
  const above = Math.min(row + 1, values.length - 1);
  const nodes = [values[row]?.[column], values[row]?.[right], values[above]?.[column], values[above]?.[right]];
  return nodes.every((node) => node !== null && node !== undefined) ? { nodes: nodes as [T, T, T, T], along, up } : null;
}

function between([a, b, c, d]: number[], along: number, up: number): number {
  return (1 - up) * ((1 - along) * (a ?? 0) + along * (b ?? 0)) + up * ((1 - along) * (c ?? 0) + along * (d ?? 0));
}

/** The properties of a plan that the tables hold for: network_of in tables.py has the same. */
export function network(plan: Plan, queue: string): unknown {
  const flow = ({ hops, frame_octets }: Plan["flows"][number]) => `${hops.map(({ link }) => link).join(",")} ${frame_octets}`;
  return {
    feedback_s: plan.feedback_s,
    wire_overhead_octets: plan.wire_overhead_octets,
    links: plan.links.map((link) => [link.name, link.name === queue ? 0 : link.rate_bps, link.latency_s, link.buffer_octets, link.buffer_frames]),
    flows: [...new Set(plan.flows.filter(({ controlled }) => controlled).map(flow))].sort(),
  };
}

export class Theory {
  private readonly known: string;

  constructor(readonly table: Table) {
    this.known = JSON.stringify(table.network);
  }

  /** Where a run is in the tables; a text says why it is not in them. */
  place(series: Series): Place | string {
    const { plan, now_s } = series;
    const { table } = this;
    const [used] = plan.schemes;
    if (plan.schemes.length !== 1 || !used || used.name !== table.scheme) return "the theory has one scheme";
    if (JSON.stringify(network(plan, table.queue)) !== this.known) return "network or frames are not those of the gallery's scenario";
    const moved = plan.changes.filter(({ at_s, link, rate_bps }) => at_s <= now_s && (link !== table.queue || rate_bps === null));
    if (moved.length > 0) return `link ${moved[0]?.link ?? ""} has changed, and the model does not cover that`;
    const runs = (i: number) => {
      const flow = plan.flows[i];
      return flow !== undefined && flow.start_s !== null && flow.start_s <= now_s && (flow.stop_s === null || flow.stop_s > now_s);
    };
    const through = series.through(table.queue).filter(runs);
    const period = plan.fair.find(({ start_s, stop_s }) => start_s <= now_s && now_s < stop_s) ?? plan.fair[plan.fair.length - 1];
    const others = through.filter((i) => !plan.flows[i]?.controlled).reduce((sum, i) => sum + (period?.max_min_bps[i] ?? 0), 0);
    if (Math.abs(others - table.background_bps) > 1) return "other traffic takes another share of the link";
    const known: Record<string, number> = {
      flows: through.filter((i) => plan.flows[i]?.controlled).length,
      capacity_bps: series.rate(table.queue, now_s) - others,
    };
    if (known["flows"] === 0) return "no source sends";
    const parameters = series.parameters(now_s);
    const named = new Set(table.axes.map(({ name }) => name));
    for (const [name, value] of Object.entries(table.parameters)) {
      const own = parameters[name];
      if (!named.has(name) && !table.idle.includes(name) && own !== value) return `${name} is not the scenario's, and the tables have no other`;
    }
    const values = table.axes.map(({ name, base }) => known[name] ?? Number(parameters[name] ?? base));
    const away = table.axes.flatMap(({ base }, i) => (Math.abs(Math.log((values[i] ?? base) / base)) > 1e-9 ? [i] : []));
    const outside = table.axes.find((axis, i) => (values[i] ?? 0) < (axis.values[0] ?? 0) || (values[i] ?? 0) > (axis.values[axis.values.length - 1] ?? 0));
    return outside ? `${outside.name} is beyond the tables` : { values, away };
  }

  /** The map of a pair of axes. */
  map(x: number, y: number): StabilityMap | undefined {
    return this.table.maps.find((map) => map.x === Math.min(x, y) && map.y === Math.max(x, y));
  }

  /** The phase margin at a position, degrees; a text says why there is none. */
  margin({ values, away }: Place): number | string {
    if (this.table.why) return this.table.why;
    if (away.length > 2) return "more than two parameters are not the scenario's, and the tables have no such point";
    const [x, y] = this.pair(away);
    const map = this.map(x, y);
    if (!map || map.values.length === 0) return map?.refused[0] ?? "the tables have no such map";
    const [across, up] = [x, y].map((axis) => spot(this.table.axes[axis]?.values ?? [], values[axis] ?? 1)) as [[number, number], [number, number]];
    const found = corners(map.values, across, up);
    if (found) {
      const [least, most] = [Math.min(...found.nodes), Math.max(...found.nodes)];
      // It jumps where another crossing of the loop's gain decides: there is nothing between the nodes then.
      if (most - least > JUMP_DEG) return `between the nodes of the tables it goes from ${least.toFixed(0)}° to ${most.toFixed(0)}°`;
      return between(found.nodes, found.along, found.up);
    }
    const near = (at: [number, number]) => at[0] + Math.round(at[1]);
    return map.refused[map.verdicts[near(up)]?.[near(across)] ?? -1] ?? "the model ends near here";
  }

  /** The switching lines at a position. */
  lines({ values, away }: Place): { name: string; line: Line }[] {
    return this.table.lines.flatMap(({ name, base, grids }) => {
      const matters = away.filter((axis) => grids.filter(({ x, y }) => x === axis || y === axis).length === this.table.axes.length - 1);
      if (matters.length > 2) return [];
      if (matters.length === 0) return [{ name, line: base }];
      const [x, y] = this.pair(matters);
      const grid = grids.find((own) => own.x === x && own.y === y);
      const found = grid && corners(grid.values, spot(grid.xs, values[x] ?? 1), spot(grid.ys, values[y] ?? 1));
      if (!found) return [];
      const line = [0, 1, 2].map((part) => {
        const numbers = found.nodes.map((node) => node[part] ?? 0);
        // Products of powers are straight in logarithms.
        if (!numbers.every((number) => number > 0)) return between(numbers, found.along, found.up);
        return Math.exp(between(numbers.map(Math.log), found.along, found.up));
      }) as Line;
      return [{ name, line }];
    });
  }

  /** The nearest trajectory of the tables, and the value that it is of; none where more than one parameter is away. */
  path({ values, away }: Place): { points: [number, number][]; of: string } | null {
    if (away.length > 1) return null;
    const [axis = null] = away;
    const far = (value: number | null) => Math.abs(Math.log((value ?? 1) / (axis === null ? 1 : (values[axis] ?? 1))));
    const own = axis === null ? null : this.table.axes[axis];
    const all = this.table.paths.filter((path) => path.axis === axis);
    if (own) all.push(...this.table.paths.filter((path) => path.axis === null).map((path) => ({ ...path, value: own.base })));
    const [best] = all.sort((a, b) => far(a.value) - far(b.value));
    if (!best || (axis !== null && this.table.paths.every((path) => path.axis !== axis))) return null;
    return { points: best.points, of: own && best.value !== null ? `${own.name} = ${Number(best.value.toPrecision(3))}` : "the scenario's values" };
  }

  /** Two axes: those that are given, and the first others. */
  private pair(given: number[]): [number, number] {
    const rest = this.table.axes.map((_axis, i) => i).filter((i) => !given.includes(i));
    return [...given, ...rest].slice(0, 2).sort((a, b) => a - b) as [number, number];
  }
}
