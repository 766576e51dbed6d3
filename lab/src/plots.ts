/** Live plots of a run: the queue with its set point, rates with the fair share, utilisation. */

import uPlot from "uplot";

import type { Drawing } from "./picture";
import type { Series } from "./series";

/** Rates of so many flows are drawn. */
const MOST_FLOWS = 16;
/** Points of a line: more than a screen has pixels are of no use. */
const MOST_POINTS = 1500;

/** A number with a prefix of the SI, for the ticks of an axis. */
export function short(value: number): string {
  const prefixes = ["p", "n", "µ", "m", "", "k", "M", "G", "T"];
  if (value === 0) return "0";
  const step = Math.min(4, Math.max(-4, Math.floor(Math.log10(Math.abs(value)) / 3 + 1e-9)));
  return `${Number((value / 10 ** (3 * step)).toPrecision(4))}${prefixes[step + 4] ?? ""}`;
}

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** The colour of a flow: neighbours are easy to tell apart. */
export function flowColour(flow: number): string {
  const dark = document.documentElement.dataset["shade"] === "dark";
  return `hsl(${(flow * 137.5 + 205) % 360} ${dark ? 70 : 65}% ${dark ? 66 : 38}%)`;
}

interface Line {
  label: string;
  colour: string;
  dashed?: boolean;
  values(): number[] | number | null;
}

class Plot {
  private plot: uPlot;
  private readonly title: string;
  private readonly sizes: ResizeObserver;

  constructor(
    private readonly place: HTMLElement,
    title: string,
    unit: string,
    private readonly lines: Line[],
    private readonly series: Series,
    range: (low: number, high: number) => [number, number],
    ticks: (value: number) => string = short,
  ) {
    this.title = `${title}${unit ? ` (${unit})` : ""}`;
    const axis = { stroke: () => colour("text"), grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false } };
    const dash = (line: Line) => (line.dashed ? { dash: [6, 4] } : {});
    this.plot = new uPlot(
      {
        width: Math.max(200, place.clientWidth),
        height: 150,
        title: this.title,
        legend: { show: false },
        cursor: { y: false, drag: { x: true, y: false } },
        scales: {
          x: { time: false, range: (_plot, low, high) => (low === null ? [0, series.plan.duration_s] : [low, Math.max(high, low + series.plan.interval_s)]) },
          y: { range: (_plot, low, high) => range(low ?? 0, high ?? 1) },
        },
        axes: [
          { ...axis, values: (_plot, ticks) => ticks.map((tick) => `${short(tick)}s`), size: 26, gap: 2 },
          { ...axis, values: (_plot, values) => values.map(ticks), size: 52, space: 26 },
        ],
        series: [
          {},
          ...lines.map((line) => ({ label: line.label, stroke: line.colour, width: 1.5, points: { show: false }, ...dash(line) })),
        ],
      },
      [[], ...lines.map(() => [])],
      place,
    );
    this.sizes = new ResizeObserver(() => this.plot.setSize({ width: Math.max(200, place.clientWidth), height: 150 }));
    this.sizes.observe(place);
    place.setAttribute("role", "img");
  }

  draw(): void {
    const time = this.series.time;
    const stride = Math.max(1, Math.ceil(time.length / MOST_POINTS));
    const thin = (values: number[]) => (stride === 1 ? values : values.filter((_value, i) => i % stride === 0));
    const shown = thin(time);
    const data = this.lines.map((line) => {
      const values = line.values();
      return Array.isArray(values) ? thin(values) : shown.map(() => values);
    });
    this.plot.setData([shown, ...data] as uPlot.AlignedData);
  }

  /** The plot in words, for those who do not see it. */
  describe(words: string): void {
    this.place.setAttribute("aria-label", words);
  }

  drawing(): Drawing {
    return { title: this.title, drawn: this.plot.ctx.canvas };
  }

  close(): void {
    this.sizes.disconnect();
    this.plot.destroy();
  }
}

/** The plots of one run. */
export class Plots {
  private readonly plots: { plot: Plot; words(): string }[];
  readonly hidden: number;

  constructor(place: HTMLElement, series: Series, port: string, setPoint: ((at_s: number) => number) | null) {
    const queue = series.queueAt(port);
    const flows = series.controlled(port);
    this.hidden = Math.max(0, flows.length - MOST_FLOWS);
    const shown = flows.slice(0, MOST_FLOWS);
    const last = (values: number[]) => values[values.length - 1] ?? 0;
    const fromZero = (_low: number, high: number): [number, number] => [0, high > 0 ? high * 1.08 : 1];
    const box = () => place.appendChild(document.createElement("div"));
    const length: Line = { label: "queue", colour: colour("accent"), values: () => series.queue(queue, "queue_octets") };
    const point: Line = { label: "set point", colour: colour("text"), dashed: true, values: () => (series.plan.parameter_changes.length > 0 ? series.time.map(setPoint ?? Number) : (setPoint?.(0) ?? null)) };
    const rates = shown.map((flow): Line => ({ label: series.plan.flows[flow]?.name ?? "", colour: flowColour(flow), values: () => series.flow(flow, "rate_bps") }));
    const first = shown[0];
    const fair: Line[] = first === undefined ? [] : [{ label: "fair share", colour: colour("text"), dashed: true, values: () => series.flow(first, "fair_rate_bps") }];
    const used: Line = { label: "utilisation", colour: colour("accent"), values: () => series.queue(queue, "utilization") };
    const total = () => shown.reduce((sum, flow) => sum + last(series.flow(flow, "rate_bps")), 0);
    this.plots = [
      {
        plot: new Plot(box(), `Queue of ${port}`, "octets", setPoint === null ? [length] : [length, point], series, fromZero),
        words: () => `Queue of ${port}: ${short(last(length.values() as number[]))} octets${setPoint === null ? "" : `, set point ${short(setPoint(series.now_s))}`}`,
      },
      {
        plot: new Plot(box(), "Allowed rates", "bit/s", [...rates, ...fair], series, fromZero),
        words: () => `Allowed rates of ${flows.length} flows, ${short(total())} bit/s together`,
      },
      {
        plot: new Plot(box(), `Utilisation of ${port}`, "", [used], series, () => [0, 1.05], (value) => `${Math.round(100 * value)} %`),
        words: () => `Utilisation of ${port}: ${Math.round(100 * last(used.values() as number[]))} per cent`,
      },
    ];
  }

  draw(): void {
    for (const { plot } of this.plots) plot.draw();
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
