/** One run on the page: its network, its plots, its phase plane. */

import uPlot from "uplot";

import { Gantt } from "./gantt";
import { balanced, balancing, valueOf } from "./job";
import { NetworkView } from "./network";
import { Phase } from "./phase";
import { Plane } from "./plane";
import type { Column } from "./picture";
import { Plots, quantity, type Rates, type Scales, short } from "./plots";
import type { Description, Rows, Scheme } from "./protocol";
import { type Numbers, Series } from "./series";
import type { Axes } from "./share";
import { Stability } from "./stability";
import { Theory, type Table } from "./theory";
import type { Summary } from "./types";

/** The plots of plots.ts have one cursor, under this key. */
const SYNC = "laboratory";
/** Plots are drawn no more often, ms: the network moves more smoothly than they need to. */
const PLOTS_MS = 30;

type Verdict = "" | "better" | "worse";
/** A number under a run: its name, its value, and how it compares with that of the other run. */
type Count = [string, string, Verdict?];

/** The page hears of what is chosen in a run. */
export interface Chooser {
  /** A port, whose queue is to be shown. */
  port(name: string): void;
  /** The axes of the stability map of a scheme. */
  axes(scheme: string, axes: Axes): void;
}

export class RunView {
  readonly series: Series;
  private plots!: Plots;
  private phase: Phase | null = null;
  private plane: Plane | null = null;
  private network!: NetworkView;
  private gantt: Gantt | null = null;
  private theory: Theory | null = null;
  private stability: Stability | null = null;
  private theoryNote!: HTMLElement;
  private counts!: HTMLElement;
  private readonly figure = document.createElement("section");
  private drawn = -1;
  private measured = -1;
  private drawnAt = 0;
  private drawnEnd = 0;
  /** Frames have come that are not drawn. */
  private looks = false;
  /** The time that is shown is not drawn. */
  private moved = false;

  constructor(
    place: HTMLElement,
    description: Description,
    private readonly schemes: Scheme[],
    private port: string,
    private rates: Rates,
    private axes: Axes | undefined,
    private readonly scales: Scales,
    private readonly chooser: Chooser,
    /** Keys by which runs side by side differ. */
    private readonly compared: string[],
  ) {
    this.series = new Series(description);
    this.figure.className = "run";
    place.append(this.figure);
    this.build();
  }

  get name(): string {
    return this.series.plan.scheme;
  }

  /** The part of the names of its files. */
  get file(): string {
    return this.paths === null ? this.name : `${this.name}-${balancing(this.series)}`;
  }

  /** The keys by which runs side by side differ, with this run's values. */
  get values(): string | null {
    return this.compared.length === 0 ? null : this.compared.map((key) => valueOf(this.series, key)).join(", ");
  }

  /** How frames choose among paths, where a job depends on it. */
  get paths(): string | null {
    return this.series.description.jobs.length === 0 ? null : balanced(this.series);
  }

  /** That and the scheme. */
  get label(): string | null {
    const [own] = [this.paths, this.values].filter((text) => text !== null);
    return own === undefined ? null : `${own} — ${this.name}`;
  }

  /** The length at which the queue is to be held at a time; null where the scheme has none. */
  private setPoint(): ((at_s: number) => number) | null {
    const [first] = this.series.plan.schemes;
    const key = this.schemes.find(({ name }) => name === first?.name)?.set_point;
    return key ? (at_s) => Number(this.series.parameters(at_s)[key]) : null;
  }

  private build(): void {
    const title = this.schemes.find(({ name }) => name === this.name)?.title ?? "Several schemes by priority";
    const heading = document.createElement("h2");
    heading.textContent = this.label ?? `${this.name} — ${title}`;
    const [numbers, network, plots, phase, note, theory] = ["numbers", "network-box", "plots", "phase-box", "note", "theory-box"].map((name) => {
      const box = document.createElement("div");
      box.className = name;
      return box;
    }) as [HTMLDivElement, HTMLDivElement, HTMLDivElement, HTMLDivElement, HTMLDivElement, HTMLDivElement];
    this.figure.replaceChildren(heading, numbers, network, plots, phase, note, theory);
    this.counts = numbers;
    this.network = new NetworkView(network, this.series, (chosen) => this.chooser.port(chosen));
    this.gantt = this.series.description.jobs.length > 0 ? new Gantt(network, this.series, this.scales) : null;
    const setPoint = this.setPoint();
    this.plots = new Plots(plots, this.series, this.port, setPoint, this.rates, this.scales);
    const isDrawn = this.series.plan.flows.length > 0;
    this.phase = setPoint === null || !isDrawn ? null : new Phase(phase, this.series, this.port, setPoint);
    const pair = Plane.of(this.series, this.port);
    this.plane = pair === null ? null : new Plane(phase, this.series, this.port, pair);
    const hidden = this.plots.hidden > 0 ? `The rates of ${this.plots.hidden} more flows are not drawn. ` : "";
    const plane = this.phase
      ? "Phase plane: the queue's distance from its set point (right) against the excess of the allowed rates (up). "
      : "This scheme has no set point, so that there is no phase plane.";
    const { every } = this.series.description;
    const thinned = every > 1 ? `The run is long: of ${every} samples one is drawn. The numbers at its end are those of all. ` : "";
    note.textContent = thinned + (isDrawn ? hidden + plane : "");
    this.theoryNote = note.appendChild(document.createElement("span"));
    this.stability = this.theory ? new Stability(theory, this.theory, this.series, this.axes, (axes) => this.turn(axes)) : null;
    if (this.phase) this.phase.theory = this.theory;
    this.drawn = -1;
    this.measured = -1;
    this.measure();
  }

  private turn(axes: Axes): void {
    this.axes = axes;
    this.chooser.axes(this.name, axes);
  }

  /** Shows the theory of a scenario beside its run. */
  explain(table: Table): void {
    this.theory = new Theory(table);
    this.rebuild();
  }

  /** Shows another port, or other rates; the same rows. */
  show(port: string, rates: Rates): void {
    this.port = port;
    this.rates = rates;
    this.rebuild();
  }

  /** Looks at the rows that have come: before any run is drawn, so that all have one scale. */
  measure(): void {
    if (this.series.time.length !== this.measured) this.plots.measure();
    this.scales.note("time", this, this.series.now_s);
    this.measured = this.series.time.length;
  }

  /** Draws all of it again, as after a change of colours. */
  rebuild(): void {
    this.plots.close();
    this.build();
    this.draw(performance.now(), 1);
  }

  /** Takes rows that have come. */
  add(rows: Rows): void {
    this.series.add(rows);
    if (rows.frames.length > 0) {
      this.network.add(rows.frames);
      this.looks = true;
    }
  }

  /** Draws what has changed; the run goes at `speed` simulated seconds a second. An earlier time than that of the engine can be shown. */
  draw(wall_ms: number, speed: number, shown_s: number | null = this.series.shown_s): void {
    if (shown_s !== this.series.shown_s) {
      this.series.shown_s = shown_s;
      this.moved = true;
      this.figure.classList.toggle("past", shown_s !== null);
    }
    const end_s = this.scales.of("time");
    const past = this.moved && this.series.states.time.length > 0;
    const fresh = (past || this.series.time.length !== this.drawn || end_s !== this.drawnEnd) && wall_ms - this.drawnAt > PLOTS_MS;
    if (fresh) {
      this.drawnEnd = end_s;
      this.drawnAt = wall_ms;
      this.plots.draw(speed);
      this.gantt?.draw();
      this.phase?.draw();
      this.plane?.draw();
      this.stability?.draw();
      const theoryNote = this.phase?.note ?? "";
      if (this.theoryNote.textContent !== theoryNote) this.theoryNote.textContent = theoryNote;
    }
    if (this.moved) {
      this.phase?.draw();
      pointAt(shown_s);
    }
    if (fresh || this.looks || this.moved || this.network.moving) this.network.draw(wall_ms, speed);
    this.looks = false;
    this.moved = false;
    if (fresh) this.drawn = this.series.time.length;
  }

  /** The numbers of the chosen port up to the sample that is shown; null before the second one. */
  numbers(): Numbers | null {
    return this.series.last < 1 ? null : this.series.numbers(this.port);
  }

  /** Writes the numbers, and marks those that are better than those of the other run. */
  describe(other: Numbers | null): void {
    this.counts.replaceChildren(...this.count(other).map(([name, value, verdict]) => pair(name, value, verdict)));
    this.plots.describe();
    this.phase?.describe();
    this.plane?.describe();
    this.gantt?.describe();
  }

  /** The numbers that matter at the port so far, with their names. */
  private count(other: Numbers | null = null): Count[] {
    const own = this.numbers();
    if (own === null) return [];
    const { mean_octets, max_octets, use, dropped, paused_s, jain } = own;
    return [
      ...this.countJob(),
      ["mean queue", quantity(mean_octets, "octets"), judged(mean_octets, other?.mean_octets, -1)],
      ["longest", quantity(max_octets, "octets"), judged(max_octets, other?.max_octets, -1)],
      ["use", `${(100 * use).toFixed(1)} %`, judged(use, other?.use, 1)],
      ["dropped", String(dropped), judged(dropped, other?.dropped, -1)],
      ["paused", quantity(paused_s, "s"), judged(paused_s, other?.paused_s, -1)],
      ...(jain === null ? [] : ([["Jain's index", jain.toFixed(3), judged(jain, other?.jain, 1)]] as Count[])),
      ...this.countFlows(),
    ];
  }

  /** The flows with an end, when the run has come to its own: how many are complete, and the time of the slowest. */
  private countFlows(): [string, string][] {
    const { summary, plan } = this.series;
    if (summary === null || !plan.flows.some(({ size_octets }) => size_octets !== null)) return [];
    const times = (JSON.parse(summary) as Summary).flows.flatMap(({ completion_time_s }) => completion_time_s ?? []);
    const slowest: [string, string][] = times.length === 0 ? [] : [["slowest", quantity(Math.max(...times), "s")]];
    return [["complete", `${times.length} of ${plan.flows.length}`], ...slowest];
  }

  /** The numbers of the first job: those of the summary at the end, and before it how far it has come. */
  private countJob(): Count[] {
    const { summary, description, messages } = this.series;
    if (description.jobs.length === 0) return [];
    const [job] = summary === null ? [] : ((JSON.parse(summary) as Summary).jobs ?? []);
    if (!job) return [["received", `${Math.floor(100 * messages.part(0))} %`]];
    const found: Count[] = [["iteration", job.iteration_mean_s === null ? "not ended" : quantity(job.iteration_mean_s, "s")]];
    if (typeof job.bus_bandwidth_bps === "number") found.push(["bus bandwidth", quantity(job.bus_bandwidth_bps, "bit/s")]);
    if (typeof job.efficiency === "number") found.push(["of ideal", `${(100 * job.efficiency).toFixed(1)} %`]);
    return found;
  }

  /** All that is drawn of the run, for a picture. */
  column(): Column {
    const network = { title: `The network at ${short(this.series.now_s)}s`, drawn: this.network.svg };
    const planes = [this.phase?.drawing() ?? null, this.plane?.drawing() ?? null, this.stability?.drawing() ?? null].filter((drawing) => drawing !== null);
    const numbers = this.count().map(([name, value]) => `${name} ${value}`);
    return { title: [this.label ?? this.name, ...numbers].join(" · "), drawings: [network, ...(this.gantt ? [this.gantt.drawing()] : []), ...this.plots.drawings(), ...planes] };
  }

  close(): void {
    this.scales.forget("time", this);
    this.plots.close();
    this.figure.remove();
  }
}

/** Two numbers that differ by less than this part of the larger are alike. */
const ALIKE = 0.05;

/** Whether a number is better or worse than that of the other run: more is better with 1, less with -1. */
function judged(own: number, other: number | null | undefined, sign: 1 | -1): Verdict {
  if (other === null || other === undefined || Math.abs(own - other) <= ALIKE * Math.max(Math.abs(own), Math.abs(other))) return "";
  return sign * (own - other) > 0 ? "better" : "worse";
}

function pair(name: string, value: string, verdict: Verdict = ""): HTMLElement {
  const box = document.createElement("span");
  const strong = document.createElement("b");
  strong.textContent = value;
  box.className = verdict;
  box.append(`${name} `, strong);
  if (verdict !== "") box.title = `${verdict} than the other run`;
  return box;
}

/** Puts the cursor of all plots at a time, or takes it away. */
function pointAt(time_s: number | null): void {
  for (const plot of uPlot.sync(SYNC).plots) {
    plot.setCursor(time_s === null ? { left: -10, top: -10 } : { left: plot.valToPos(time_s, "x"), top: 0 });
  }
}
