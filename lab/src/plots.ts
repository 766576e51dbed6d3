/** Live plots of a run: the queue with its set point, throughput or allowed rates with the fair shares, utilisation. */

import uPlot from "uplot";

import type { Drawing } from "./picture";
import type { Series } from "./series";
import type { Span } from "./states";
import { ends, extremes } from "./thin";

/** Number of flows whose rates are drawn. */
const MOST_FLOWS = 16;
/** Up to this number of flows each line has its name at its end. */
const MOST_NAMES = 8;
/** Points of a line: more than a screen has pixels are of no use. */
const MOST_POINTS = 1500;
/** Samples whose mean is drawn as a throughput: a sample holds whole frames alone. */
const SMOOTHED = 10;
/** Between two names at the ends of lines, pixels. */
const APART = 12;
/** Room for names at the right, pixels. */
export const MARGIN = 74;
/** A golden angle apart, and every other turn lighter: neighbours, and flows some turns later, are easy to tell apart. */
const TURN = 137.5;

/** What the plot of rates shows. */
export type Rates = "throughput" | "allowed";

/** A number with a prefix of the SI, its own or that of the number beside it, for the ticks of an axis that are so far apart. */
export function short(value: number, beside = value, apart = value): string {
  const prefixes = ["p", "n", "µ", "m", "", "k", "M", "G", "T"];
  if (value === 0) return "0";
  const step = Math.min(4, Math.max(-4, Math.floor(Math.log10(Math.abs(beside)) / 3 + 1e-9)));
  const digits = Math.max(4, Math.ceil(Math.log10(Math.abs(value / apart))) + 2);
  return `${Number((value / 10 ** (3 * step)).toPrecision(Math.min(12, digits)))}${prefixes[step + 4] ?? ""}`;
}

/** A quantity for a reader, with three digits: "75 KB", "2.5 Gb/s"; with the prefix of the quantity beside it. */
export function quantity(value: number, unit: "octets" | "bit/s" | "s", beside = value): string {
  const text = short(Number((unit === "octets" ? Math.round(value) : value).toPrecision(3)), beside);
  const prefix = text.match(/[^\d.e+-]$/)?.[0] ?? "";
  const number = text.slice(0, text.length - prefix.length);
  if (unit === "octets") return prefix === "" ? `${number} octets` : `${number} ${prefix.toUpperCase()}B`;
  return `${number} ${prefix}${unit === "bit/s" ? "b/s" : unit}`;
}

/** How much larger texts and lines are than on a reader's screen. */
const ink = () => parseFloat(colour("ink")) || 1;

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The colour of a flow. */
export function flowColour(flow: number): string {
  const dark = document.documentElement.dataset["shade"] === "dark";
  const lighter = Math.floor(flow / 8) % 2 === 0 ? 0 : 14;
  return `hsl(${(flow * TURN + 205) % 360} ${dark ? 70 : 65}% ${(dark ? 62 : 34) + lighter}%)`;
}

/** The largest value of each kind of plot over all runs, and the last time, so that runs side by side have one scale. */
export class Scales {
  private readonly most = new Map<string, Map<object, number>>();

  note(kind: string, owner: object, value: number): void {
    const owners = this.most.get(kind) ?? new Map<object, number>();
    this.most.set(kind, owners.set(owner, value));
  }

  of(kind: string): number {
    return Math.max(0, ...(this.most.get(kind)?.values() ?? []));
  }

  forget(kind: string, owner: object): void {
    this.most.get(kind)?.delete(owner);
  }
}

interface Line {
  label: string;
  colour: string;
  dashed?: boolean;
  /** Its name stands at its right end. */
  named?: boolean;
  values(): number[] | number | null;
  /** The value at a state between samples, by its index. */
  now(i: number): number | null;
}

interface Kind {
  name: "queue" | "rates" | "use";
  title: string;
  unit: string;
  lines: Line[];
  /** The axis reaches so far at the least. */
  floor: number;
  /** The axis ends here, whatever the values. */
  ceiling?: number;
  ticks?: (value: number) => string;
}

class Plot {
  private readonly plot: uPlot;
  private readonly title: string;
  private readonly sizes: ResizeObserver;
  private readonly readout = document.createElement("div");
  /** The largest value that has been seen in each line, and how many of its values have been looked at. */
  private readonly largest: { most: number; seen: number }[];
  /** The states between samples that are drawn, in place of these. */
  private span: Span | null = null;
  private drawn: number[] = [];

  constructor(
    private readonly place: HTMLElement,
    private readonly kind: Kind,
    private readonly series: Series,
    private readonly scales: Scales,
  ) {
    const { title, unit, lines } = kind;
    this.title = `${title}${unit ? ` (${unit})` : ""}`;
    this.largest = lines.map(() => ({ most: 0, seen: 0 }));
    const ticks = kind.ticks ?? short;
    const axis = { stroke: () => colour("text"), grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false }, font: `${12 * ink()}px system-ui, sans-serif` };
    const dash = (line: Line) => (line.dashed ? { dash: [6, 4] } : {});
    this.plot = new uPlot(
      {
        ...this.size(),
        title: this.title,
        legend: { show: false },
        // One cursor, and one zoom, over all plots of all runs.
        cursor: { y: false, drag: { x: true, y: false }, sync: { key: "laboratory" } },
        padding: [8, MARGIN * ink(), 0, 0],
        scales: {
          x: { time: false, range: (_plot, low, high) => this.along(low, high) },
          y: { range: () => [0, this.top()] },
        },
        axes: [
          { ...axis, values: (_plot, ticks, _axis, _space, apart) => ticks.map((tick) => `${short(tick, tick, apart)}s`), size: 30 * ink(), gap: 6, space: 50 * ink() },
          { ...axis, values: (_plot, values) => values.map((value) => ticks(value)), size: 52 * ink(), space: 26 * ink() },
        ],
        series: [
          {},
          ...lines.map((line) => ({ label: line.label, stroke: line.colour, width: 1.5 * ink() ** 2, points: { show: false }, ...dash(line) })),
        ],
        hooks: { draw: [() => this.annotate()], setCursor: [() => this.read(ticks)] },
      },
      [[], ...lines.map(() => [])],
      place,
    );
    this.readout.className = "readout";
    this.readout.setAttribute("aria-hidden", "true");
    place.append(this.readout);
    this.sizes = new ResizeObserver(() => this.plot.setSize(this.size()));
    this.sizes.observe(place);
    place.setAttribute("role", "img");
    this.describe(kind.title);
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(200, this.place.clientWidth), height: parseFloat(getComputedStyle(this.place).getPropertyValue("--plot")) || 150 };
  }

  private top(): number {
    return this.kind.ceiling ?? Math.max(this.kind.floor, 1.08 * this.scales.of(this.kind.name));
  }

  /** The ends of the time axis, for a part of the times that the reader chooses, or all that are drawn. */
  private along(low: number | null, high: number): [number, number] {
    const { series, span, drawn } = this;
    if (span && low === drawn[0] && high === drawn.at(-1)) return [span.from_s, span.to_s];
    if (low === null || drawn.length < 2) return [0, series.plan.duration_s];
    return [low, Math.max(this.last(high), low + (span ? 0 : series.interval_s))];
  }

  /** The right end of the time axis: where all is shown, that of the run that has come farthest. */
  private last(high: number): number {
    return high === this.series.time.at(-1) ? Math.max(high, this.scales.of("time")) : high;
  }

  /** Looks at the values that have come. */
  measure(): void {
    for (const [i, { values }] of this.kind.lines.entries()) {
      const own = values();
      const largest = this.largest[i];
      if (largest === undefined) continue;
      if (!Array.isArray(own)) largest.most = own ?? 0;
      else for (; largest.seen < own.length; largest.seen += 1) largest.most = Math.max(largest.most, own[largest.seen] ?? 0);
    }
    this.scales.note(this.kind.name, this, Math.max(0, ...this.largest.map(({ most }) => most)));
  }

  draw(speed: number): void {
    this.span = this.series.span(speed);
    if (this.span) this.drawStates(this.span);
    else this.drawSamples();
  }

  private drawStates({ first }: Span): void {
    const time = this.series.states.time.slice(first);
    const data = this.kind.lines.map(({ now }, line) => {
      const values = time.map((_own, i) => now(first + i));
      const largest = this.largest[line];
      if (largest) largest.most = values.reduce<number>((most, own) => Math.max(most, own ?? 0), largest.most);
      return values;
    });
    this.measure();
    this.drawn = time;
    this.plot.setData([time, ...data] as uPlot.AlignedData);
  }

  private drawSamples(): void {
    const { time } = this.series;
    const buckets = Math.ceil(time.length / Math.max(1, Math.ceil((2 * time.length) / MOST_POINTS)));
    const whole = time.length <= MOST_POINTS;
    const shown = whole ? time : ends(time, buckets);
    const data = this.kind.lines.map((line) => {
      const values = line.values();
      if (!Array.isArray(values)) return shown.map(() => values);
      return whole ? values : extremes(values, buckets);
    });
    this.drawn = shown;
    this.plot.setData([shown, ...data] as uPlot.AlignedData);
  }

  /** Changes of the scenario as lines from top to bottom, and the names of lines at their right ends. */
  private annotate(): void {
    const { ctx: pen, bbox } = this.plot;
    const ratio = window.devicePixelRatio || 1;
    pen.save();
    pen.font = `${11 * ink() * ratio}px system-ui, sans-serif`;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.strokeStyle = colour("soft");
    pen.lineWidth = ratio;
    for (const at_s of this.series.changesUntilNow()) {
      const x = this.plot.valToPos(at_s, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      pen.setLineDash([2 * ratio, 3 * ratio]);
      pen.beginPath();
      pen.moveTo(x, bbox.top);
      pen.lineTo(x, bbox.top + bbox.height);
      pen.stroke();
    }
    const last = (i: number) => this.plot.data[i + 1]?.at(-1) ?? null;
    const named = this.kind.lines.map((line, i) => ({ line, value: last(i) })).filter(({ line, value }) => line.named && value !== null);
    named.sort((a, b) => (a.value ?? 0) - (b.value ?? 0));
    let below = Infinity;
    const heights = named.map(({ value }) => (below = Math.min(this.plot.valToPos(Math.min(value ?? 0, this.top()), "y", true), below - APART * ink() * ratio)));
    // Names of lines that lie on one another grow upwards; those that would leave the plot at the top push the others down.
    let above = bbox.top - APART * ink() * ratio;
    for (let i = heights.length - 1; i >= 0; i -= 1) heights[i] = above = Math.max(heights[i] ?? 0, above + APART * ink() * ratio);
    for (const [i, { line }] of named.entries()) {
      pen.fillStyle = line.colour;
      pen.fillText(line.label, bbox.left + bbox.width + 4 * ratio, heights[i] ?? 0, (MARGIN * ink() - 6) * ratio);
    }
    pen.restore();
  }

  /** The values under the cursor. */
  private read(ticks: (value: number) => string): void {
    const { idx, left } = this.plot.cursor;
    if (idx === undefined || idx === null || (left ?? -1) < 0) {
      this.readout.textContent = "";
      return;
    }
    const values = this.kind.lines.flatMap(({ label }, i) => {
      const value = this.plot.data[i + 1]?.[idx];
      return value === null || value === undefined ? [] : [`${label} ${ticks(value)}`];
    });
    const more = values.length > MOST_NAMES ? " …" : "";
    const at_s = this.plot.data[0][idx] ?? 0;
    const apart = this.span ? (this.span.to_s - this.span.from_s) / MOST_POINTS : at_s;
    this.readout.textContent = `${short(at_s, at_s, apart)}s: ${values.slice(0, MOST_NAMES).join(", ")}${more}`;
  }

  /** The plot as text, for those who do not see it. */
  describe(words: string): void {
    this.place.setAttribute("aria-label", words);
  }

  drawing(): Drawing {
    return { title: this.title, drawn: this.plot.ctx.canvas };
  }

  close(): void {
    this.scales.forget(this.kind.name, this);
    this.sizes.disconnect();
    this.plot.destroy();
  }
}

/** The mean of the last samples at each sample, kept as far as it is known. */
class Mean {
  private readonly means: number[] = [];
  private sum = 0;

  of(values: number[]): number[] {
    for (let i = this.means.length; i < values.length; i += 1) {
      this.sum += (values[i] ?? 0) - (i >= SMOOTHED ? (values[i - SMOOTHED] ?? 0) : 0);
      this.means.push(Math.max(0, this.sum) / Math.min(i + 1, SMOOTHED));
    }
    return this.means;
  }
}

/** The name of a flow without its number. */
function group(flow: number, series: Series): string {
  return (series.plan.flows[flow]?.name ?? "").replace(/\d+$/, "");
}

/** The flows that are drawn: of each group of names (victim, or s0 to s15) some, the smallest groups first. */
function chosen(flows: number[], series: Series): number[] {
  if (flows.length <= MOST_FLOWS) return flows;
  const groups = new Map<string, number[]>();
  for (const flow of flows) {
    const name = group(flow, series);
    groups.set(name, [...(groups.get(name) ?? []), flow]);
  }
  const order = [...groups.values()].sort((a, b) => a.length - b.length).flat();
  return order.slice(0, MOST_FLOWS).sort((a, b) => a - b);
}

/** The plots of one run. */
export class Plots {
  private readonly plots: { plot: Plot; words(): string }[];
  /** Flows whose rates are not drawn. */
  readonly hidden: number;

  constructor(place: HTMLElement, series: Series, port: string, setPoint: ((at_s: number) => number) | null, rates: Rates, scales: Scales) {
    const { states } = series;
    const queue = series.queueAt(port);
    const flows = rates === "allowed" ? series.controlled(port) : series.through(port);
    const shown = chosen(flows, series);
    this.hidden = flows.length - shown.length;
    const last = (values: number[]) => values[values.length - 1] ?? 0;
    const link = series.plan.links.find(({ name }) => name === port);
    const room = link?.buffer_octets ?? (link?.buffer_frames ?? 0) * 1500;
    const length: Line = { label: "queue", colour: colour("accent"), values: () => series.queue(queue, "queue_octets"), now: (i) => states.queue(queue, "queue_octets", i) };
    const point: Line = {
      label: "set point",
      colour: colour("text"),
      dashed: true,
      named: true,
      values: () => (series.plan.parameter_changes.length > 0 ? series.time.map(setPoint ?? Number) : (setPoint?.(0) ?? null)),
      now: (i) => setPoint?.(states.time[i] ?? 0) ?? null,
    };
    const rate = (flow: number): (() => number[]) => {
      const mean = new Mean();
      return rates === "allowed" ? () => series.flow(flow, "rate_bps") : () => mean.of(series.flow(flow, "throughput_bps"));
    };
    const rateNow = (flow: number) => (rates === "allowed" ? (i: number) => states.flow(flow, "rate_bps", i) : (i: number) => states.throughput(flow, i));
    const named = shown.length <= MOST_NAMES;
    const alone = (flow: number) => shown.filter((own) => group(own, series) === group(flow, series)).length === 1;
    const lines = shown.map((flow): Line => ({ label: series.plan.flows[flow]?.name ?? "", colour: flowColour(flow), named: named || alone(flow), values: rate(flow), now: rateNow(flow) }));
    const fair = series.fairShares(shown).map(
      (own, _i, all): Line => ({
        label: all.length === 1 ? "fair share" : `fair, ${own.length === 1 ? series.plan.flows[own[0] ?? 0]?.name : `${own.length} flows`}`,
        colour: own.length === 1 && shown.length > 1 ? flowColour(own[0] ?? 0) : colour("text"),
        dashed: true,
        named: true,
        values: () => series.flow(own[0] ?? 0, "fair_rate_bps"),
        now: () => series.flow(own[0] ?? 0, "fair_rate_bps").at(-1) ?? null,
      }),
    );
    const used: Line = { label: "utilisation", colour: colour("accent"), values: () => series.queue(queue, "utilization"), now: (i) => states.use(queue, i) };
    const total = () => lines.reduce((sum, line) => sum + last(line.values() as number[]), 0);
    const name = rates === "allowed" ? "Allowed rates" : "Throughput";
    const point0 = setPoint?.(0) ?? 0;
    const kinds: { kind: Kind; words(): string }[] = [
      {
        kind: { name: "queue", title: `Queue of ${port}`, unit: "octets", lines: setPoint === null ? [length] : [length, point], floor: point0 > 0 ? 1.5 * point0 : Math.max(0.1 * room, 3000) },
        words: () => `Queue of ${port}: ${short(last(length.values() as number[]))} octets${setPoint === null ? "" : `, set point ${short(setPoint(series.now_s))}`}`,
      },
      {
        kind: { name: "rates", title: name, unit: "bit/s", lines: [...lines, ...fair], floor: 0.1 * (link?.rate_bps ?? 1e9) },
        words: () => `${name} of ${flows.length} flows, ${short(total())} bit/s together`,
      },
      {
        kind: { name: "use", title: `Utilisation of ${port}`, unit: "", lines: [used], floor: 1, ceiling: 1.05, ticks: (value) => `${Math.round(100 * value)} %` },
        words: () => `Utilisation of ${port}: ${Math.round(100 * last(used.values() as number[]))} per cent`,
      },
    ];
    // Rates are those of flows that the scenario lists.
    const drawn = kinds.filter(({ kind }) => kind.name !== "rates" || series.plan.flows.length > 0);
    this.plots = drawn.map(({ kind, words }) => {
      const box = place.appendChild(document.createElement("div"));
      box.dataset["plot"] = kind.name;
      return { plot: new Plot(box, kind, series, scales), words };
    });
  }

  measure(): void {
    for (const { plot } of this.plots) plot.measure();
  }

  /** Draws all, of a run at `speed` simulated seconds a second. */
  draw(speed: number): void {
    for (const { plot } of this.plots) plot.draw(speed);
  }

  describe(): void {
    for (const { plot, words } of this.plots) plot.describe(words());
  }

  drawings(): Drawing[] {
    return this.plots.map(({ plot }) => plot.drawing());
  }

  close(): void {
    for (const { plot } of this.plots) plot.close();
  }
}
