/**
 * The ranks of a job over time, a row each: every message as a bar while it arrives, whose colour is the rate at which it came, and
 * white where a rank waits. A message that follows another one of its sender arrives after that one.
 */

import { type Message, type Receiver, ranksOf } from "./messages";
import type { Drawing } from "./picture";
import { colour, MARGIN, quantity, type Scales, short } from "./plots";
import type { Series } from "./series";

/** A message that came at this part of its line's rate or more was fast; with less than the second number it was slower than slow. */
const FAST = 0.75;
const SLOW = 0.4;
/** The height of a row, and the most rows: of a larger job the first ones are drawn. */
const ROW = 18;
const MOST_ROWS = 64;
/** Room at the left, as the plots have it, and below. */
const LEFT = 52;
const BELOW = 18;
/** A bar has the number of its step where it is so wide. */
const NUMBERED = 16;
const TICKS = 5;

/** The colours, with their meaning. */
const KINDS: [string, string][] = [
  ["fast", "arrives at 75 % of the line's rate or more"],
  ["slow", "slower"],
  ["slower", "below 40 %"],
  ["compute", "computes (known at the end)"],
];

export class Gantt {
  private readonly canvas = document.createElement("canvas");
  private readonly readout = document.createElement("p");
  private readonly rows: Receiver[];
  private readonly rates: number[];
  private readonly title: string;
  /** The colours of kinds while it is drawn: a bar for each message looks them up. */
  private readonly palette = new Map<string, string>();
  /** The row and message that a reader has chosen. */
  private chosen: { row: number; at: number } | null = null;

  constructor(
    place: HTMLElement,
    private readonly series: Series,
    private readonly scales: Scales,
  ) {
    const { jobs, plan } = series.description;
    const all = series.messages.jobs[0] ?? [];
    this.rows = all.slice(0, MOST_ROWS);
    const line = (name: string) => plan.links.find(({ peer }) => peer === name)?.rate_bps ?? 1;
    this.rates = this.rows.map(({ name }) => line(name));
    const [job] = jobs;
    const size = job?.size_octets ? ` of ${quantity(job.size_octets, "octets")}` : "";
    const more = [jobs.length > 1 ? counted(jobs.length - 1, "job") : "", all.length > MOST_ROWS ? counted(all.length - MOST_ROWS, "host") : ""].filter((text) => text !== "");
    this.title = `${job?.name}: ${job?.kind ?? "graph"}${size}, what each rank receives${more.length > 0 ? `; ${more.join(" and ")} not drawn` : ""}`;
    const heading = document.createElement("h3");
    heading.textContent = this.title;
    this.canvas.className = "gantt";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.style.height = `${this.rows.length * ROW + BELOW}px`;
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("mousemove", (event) => this.point(event));
    this.canvas.addEventListener("blur", () => this.choose(null));
    this.readout.className = "help";
    this.readout.setAttribute("role", "status");
    place.append(heading, this.canvas, this.readout, legend(series));
    this.choose(null);
  }

  /** The time at the right end of the rows. One who wants less motion gets an axis that moves seldom. */
  private end(): number {
    const now = Math.max(this.scales.of("time"), this.series.plan.interval_s);
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches || this.series.ended) return now;
    const step = 10 ** Math.floor(Math.log10(now));
    return step * Math.ceil(now / step);
  }

  draw(): void {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (width === 0) return;
    [this.canvas.width, this.canvas.height] = [width * ratio, height * ratio];
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    pen.scale(ratio, ratio);
    for (const [kind] of KINDS) for (const name of [kind, `on-${kind}`]) this.palette.set(name, colour(name));
    const [right, end_s] = [width - MARGIN, this.end()];
    const x = (at_s: number) => LEFT + ((right - LEFT) * Math.min(at_s, end_s)) / end_s;
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.strokeStyle = colour("grid");
    pen.fillStyle = colour("text");
    const bottom = this.rows.length * ROW;
    for (const at_s of ticks(end_s)) {
      pen.beginPath();
      pen.moveTo(x(at_s), 0);
      pen.lineTo(x(at_s), bottom);
      pen.stroke();
      pen.textAlign = at_s === 0 ? "left" : "center";
      pen.fillText(`${short(at_s)}s`, x(at_s), bottom + BELOW / 2);
    }
    for (const [i, receiver] of this.rows.entries()) {
      const top = i * ROW;
      pen.fillStyle = colour("text");
      pen.textAlign = "right";
      pen.fillText(receiver.ranks.length === 1 ? `rank ${receiver.ranks[0]}` : receiver.name, LEFT - 5, top + ROW / 2, LEFT - 6);
      this.drawComputing(pen, receiver, top, x);
      for (const message of receiver.messages) this.drawMessage(pen, message, i, receiver.lanes, x);
      pen.fillStyle = colour("text");
      pen.textAlign = "left";
      pen.fillText(this.reached(receiver), right + 5, top + ROW / 2, MARGIN - 6);
    }
    this.drawChosen(pen, x);
  }

  /** How far a host has come: the part that has arrived, and in the end when. */
  private reached({ arrived, expected, messages }: Receiver): string {
    if (expected > 0 && arrived >= expected) return quantity(Math.max(...messages.map(({ end_s }) => end_s)), "s");
    return expected > 0 ? `${Math.floor((100 * arrived) / expected)} %` : "";
  }

  private drawComputing(pen: CanvasRenderingContext2D, { ranks }: Receiver, top: number, x: (at_s: number) => number): void {
    const name = this.series.description.jobs[0]?.name;
    pen.fillStyle = colour("compute");
    for (const { job, rank, work, begin_s, end_s } of this.series.jobs) {
      if (job === name && work === "compute" && ranks.includes(rank)) pen.fillRect(x(begin_s), top + 2, x(end_s) - x(begin_s), ROW - 4);
    }
  }

  private drawMessage(pen: CanvasRenderingContext2D, message: Message, row: number, lanes: number, x: (at_s: number) => number): void {
    const { alone_s, end_s, step, lane, waits } = message;
    const still = end_s < 0;
    if (still && (waits || matchMedia("(prefers-reduced-motion: reduce)").matches)) return;
    const [left, width] = [x(alone_s), x(still ? this.series.now_s : end_s) - x(alone_s)];
    const height = (ROW - 4) / lanes;
    const top = row * ROW + 2 + lane * height;
    pen.fillStyle = still ? colour("grid") : (this.palette.get(this.pace(message, row)) ?? "");
    // A gap between two bars that follow one another.
    pen.fillRect(left, top, Math.max(1, width - (width > 4 ? 1.5 : 0)), lanes > 1 ? Math.max(1, height - 1) : height);
    if (still || width < NUMBERED || lanes > 1) return;
    pen.fillStyle = this.palette.get(`on-${this.pace(message, row)}`) ?? "";
    pen.textAlign = "center";
    pen.fillText(String(step), left + width / 2, top + height / 2 + 0.5);
  }

  /** The part of its line's rate at which a message has come. */
  private part({ octets, alone_s, end_s }: Message, row: number): number {
    return (8 * octets) / (end_s - alone_s) / (this.rates[row] ?? 1);
  }

  private pace(message: Message, row: number): string {
    // Senders that send to a host at once share its line.
    const part = this.part(message, row) * (this.rows[row]?.lanes ?? 1);
    return part >= FAST ? "fast" : part >= SLOW ? "slow" : "slower";
  }

  private drawChosen(pen: CanvasRenderingContext2D, x: (at_s: number) => number): void {
    const message = this.chosenMessage();
    if (!message || !this.chosen) return;
    const end_s = message.end_s < 0 ? this.series.now_s : message.end_s;
    pen.strokeStyle = colour("text");
    pen.lineWidth = 2;
    pen.strokeRect(x(message.alone_s), this.chosen.row * ROW + 1, Math.max(2, x(end_s) - x(message.alone_s)), ROW - 2);
  }

  private chosenMessage(): Message | undefined {
    return this.chosen ? this.rows[this.chosen.row]?.messages[this.chosen.at] : undefined;
  }

  /** Arrows go from message to message, and from rank to rank. */
  private key(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const { row, at } = this.chosen ?? { row: -move[0], at: -move[1] };
    const next = Math.min(this.rows.length - 1, Math.max(0, row + move[0]));
    const most = (this.rows[next]?.messages.length ?? 0) - 1;
    this.choose({ row: next, at: Math.max(0, Math.min(most, at + move[1])) });
  }

  private point(event: MouseEvent): void {
    const row = Math.floor(event.offsetY / ROW);
    const right = this.canvas.clientWidth - MARGIN;
    const at_s = ((event.offsetX - LEFT) / (right - LEFT)) * this.end();
    const messages = this.rows[row]?.messages ?? [];
    const at = messages.findIndex(({ alone_s, end_s, waits }) => !waits && alone_s <= at_s && (end_s < 0 || at_s < end_s));
    this.choose(at < 0 ? null : { row, at });
  }

  private choose(chosen: { row: number; at: number } | null): void {
    this.chosen = chosen;
    const message = this.chosenMessage();
    const receiver = chosen ? this.rows[chosen.row] : undefined;
    if (!message || !receiver || !chosen) {
      this.readout.textContent = "Point at a bar, or walk with the arrow keys.";
    } else {
      const rate = message.end_s < 0 ? "under way" : `${quantity(message.end_s - message.alone_s, "s")}, ${Math.round(100 * this.part(message, chosen.row))} % of the line's rate`;
      const from = this.series.plan.nodes[message.from]?.name;
      this.readout.textContent = `${ranksOf(receiver)} on ${receiver.name}, message ${message.step}: ${quantity(message.octets, "octets")} from ${from}, ${rate}`;
    }
    this.draw();
  }

  /** The drawing as text, for those who do not see it. */
  describe(): void {
    const part = Math.floor(100 * this.series.messages.part(0));
    this.canvas.setAttribute("aria-label", `${this.title}: ${part} per cent have arrived`);
  }

  drawing(): Drawing {
    return { title: this.title, drawn: this.canvas };
  }
}

function counted(count: number, name: string): string {
  return `${count} more ${name}${count === 1 ? "" : "s"}`;
}

/** Round times from 0 on. */
function ticks(end_s: number): number[] {
  const rough = end_s / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((own) => own * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(end_s / step) + 1 }, (_own, i) => i * step);
}

function legend(series: Series): HTMLElement {
  const list = document.createElement("ul");
  list.className = "legend";
  const computes = series.description.jobs.some(({ kind }) => kind === null) || /^compute = (?!"0 s")/m.test(series.description.resolved);
  for (const [kind, words] of [...KINDS.filter(([own]) => computes || own !== "compute"), ["wait", "waits for others"] as const]) {
    const item = document.createElement("li");
    const square = document.createElement("span");
    square.className = `square ${kind}`;
    item.append(square, words);
    list.append(item);
  }
  return list;
}
