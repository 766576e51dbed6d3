/** The stability map of a run over two parameters, with the run's position on it, and its phase margin as text. */

import type { Drawing } from "./picture";
import { colour, short } from "./plots";
import type { Series } from "./series";
import type { Axes } from "./share";
import { type Place, spot, type Theory } from "./theory";

const HEIGHT = 220;
const LEFT = 62;
const BOTTOM = 34;
/** The margin that has the full colour, degrees. */
const FULL = 90;

export class Stability {
  private readonly canvas = document.createElement("canvas");
  private readonly words = document.createElement("output");
  private readonly choices: [HTMLSelectElement, HTMLSelectElement];
  private drawn = "";

  constructor(
    place: HTMLElement,
    private readonly theory: Theory,
    private readonly series: Series,
    axes: Axes | undefined,
    private readonly turn: (axes: Axes) => void,
  ) {
    const heading = document.createElement("h3");
    heading.textContent = "Stability by the fluid model";
    const names = theory.table.axes.map(({ name }) => name);
    const select = (label: string, chosen: number): [HTMLLabelElement, HTMLSelectElement] => {
      const [text, box] = [document.createElement("label"), document.createElement("select")];
      box.append(...names.map((name, i) => new Option(name, String(i))));
      box.value = String(chosen);
      box.addEventListener("change", () => this.choose());
      text.append(`${label} `, box);
      return [text, box];
    };
    const [first, second] = (axes ?? []).map((name) => names.indexOf(name));
    const known = first !== undefined && second !== undefined && first >= 0 && second >= 0 && first !== second;
    const [across, x] = select("Across", known ? first : 0);
    const [up, y] = select("Up", known ? second : Math.min(2, names.length - 1));
    this.choices = [x, y];
    this.canvas.className = "stability";
    this.canvas.setAttribute("role", "img");
    this.words.className = "margin";
    const row = document.createElement("p");
    row.append(across, " ", up);
    place.replaceChildren(heading, this.words, ...(theory.table.maps.length > 0 ? [row, this.canvas] : []));
  }

  /** An axis that is chosen twice replaces the other. */
  private choose(): void {
    const [x, y] = this.choices;
    if (x.value === y.value) y.value = String((Number(y.value) + 1) % this.theory.table.axes.length);
    this.turn([x, y].map(({ value }) => this.theory.table.axes[Number(value)]?.name ?? "") as Axes);
    this.draw();
  }

  /** The map, where there is one. */
  drawing(): Drawing | null {
    return this.drawn === "" || this.theory.table.maps.length === 0 ? null : { title: `Stability by the fluid model. ${this.words.textContent ?? ""}`, drawn: this.canvas };
  }

  draw(): void {
    const found = this.theory.place(this.series);
    const place = typeof found === "string" ? null : found;
    const text = typeof found === "string" ? `No answer: ${found}.` : this.describe(found);
    const [x, y] = this.choices.map(({ value }) => Number(value)) as [number, number];
    const state = JSON.stringify([text, x, y, place?.values, this.canvas.clientWidth, document.documentElement.dataset["shade"]]);
    if (state === this.drawn) return;
    this.drawn = state;
    if (this.words.textContent !== text) this.words.textContent = text;
    if (this.theory.table.maps.length > 0) this.paint(x, y, place);
  }

  private describe(place: Place): string {
    const margin = this.theory.margin(place);
    if (typeof margin === "string") return `No margin: ${margin}.`;
    const names = place.away.map((axis) => `${this.theory.table.axes[axis]?.name} = ${short(Number((place.values[axis] ?? 0).toPrecision(3)))}`);
    const where = names.length > 0 ? ` at ${names.join(", ")}` : "";
    return `Phase margin ${margin.toFixed(1)}°${where}: ${margin > 0 ? "stable" : "unstable"}.`;
  }

  private paint(x: number, y: number, place: Place | null): void {
    const [width, ratio] = [this.canvas.clientWidth, window.devicePixelRatio || 1];
    const pen = this.canvas.getContext("2d");
    const map = this.theory.map(x, y);
    const [across, up] = [this.theory.table.axes[x], this.theory.table.axes[y]];
    if (!pen || width === 0 || !across || !up) return;
    this.canvas.width = width * ratio;
    this.canvas.height = HEIGHT * ratio;
    pen.scale(ratio, ratio);
    const [columns, rows] = [across.values.length, up.values.length];
    const [wide, high] = [(width - LEFT - 8) / columns, (HEIGHT - BOTTOM - 8) / rows];
    // A map has its axes in the order of the table.
    const value = (column: number, row: number) => (map && map.x === x ? map.values[row]?.[column] : map?.values[column]?.[row]) ?? null;
    for (let column = 0; column < columns; column += 1) {
      for (let row = 0; row < rows; row += 1) {
        pen.fillStyle = shade(value(column, row));
        pen.fillRect(LEFT + column * wide, 8 + (rows - 1 - row) * high, wide + 0.5, high + 0.5);
      }
    }
    pen.fillStyle = colour("text");
    pen.font = "11px system-ui, sans-serif";
    const [left, bottom] = [LEFT + wide / 2, HEIGHT - BOTTOM - high / 2];
    const number = (own: number | undefined) => short(Number((own ?? 0).toPrecision(2)));
    pen.textAlign = "left";
    pen.fillText(number(across.values[0]), LEFT, HEIGHT - 20);
    pen.fillText(`${across.name} (${across.unit}, logarithmic) →`, LEFT, HEIGHT - 5);
    pen.textAlign = "right";
    pen.fillText(number(across.values[columns - 1]), width - 8, HEIGHT - 20);
    pen.fillText(number(up.values[rows - 1]), LEFT - 5, 18);
    pen.fillText(number(up.values[0]), LEFT - 5, HEIGHT - BOTTOM);
    pen.save();
    pen.translate(12, HEIGHT / 2 - 10);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText(`${up.name} (${up.unit}) →`, 0, 0);
    pen.restore();
    let on = "the run is not on it";
    if (place && place.away.every((axis) => axis === x || axis === y)) {
      const at = (nodes: number[], own: number | undefined) => spot(nodes, own ?? 1).reduce((sum, part) => sum + part, 0);
      const [px, py] = [left + at(across.values, place.values[x]) * wide, bottom - at(up.values, place.values[y]) * high];
      pen.lineWidth = 5;
      pen.strokeStyle = colour("page");
      ring(pen, px, py);
      pen.lineWidth = 2.5;
      pen.strokeStyle = colour("text");
      ring(pen, px, py);
      on = "a ring shows the run";
    }
    this.canvas.setAttribute("aria-label", `Stability map over ${across.name} and ${up.name}: ${on}. ${this.words.textContent ?? ""}`);
  }
}

function ring(pen: CanvasRenderingContext2D, x: number, y: number): void {
  pen.beginPath();
  pen.arc(x, y, 6, 0, 7);
  pen.stroke();
}

/** Blue is stable, orange is not, the stronger the farther from the border; without a colour there is no margin. */
function shade(margin: number | null): string {
  if (margin === null) return colour("panel");
  const strength = Math.min(1, Math.abs(margin) / FULL);
  const dark = document.documentElement.dataset["shade"] === "dark";
  const light = dark ? 22 + 30 * strength : 92 - 38 * strength;
  return margin > 0 ? `hsl(210 70% ${light}%)` : `hsl(25 85% ${light}%)`;
}
