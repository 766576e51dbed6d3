/** The controls of a scheme's parameters, made from the scheme's declarations: units, ranges, sources. */

import type { EngineClient } from "./engine";
import type { Parameter, Parameters as Values, Plan, Scheme } from "./protocol";

/** Steps of a slider. */
const STEPS = 200;
/** A scheme with no parameters to show first shows all of them at once, up to this number. */
const SHOWN = 8;
/** A slider reaches this many times above and below the value that it starts from, within the parameter's range. */
const REACH = 16;

type Value = number | string | boolean;

/** Builds controls into `place`. `change` is called with a key and the text of its value. */
export class Parameters {
  private shown = "";
  /** The controls of parameters that have an effect only where another one has certain values. */
  private conditions: { row: HTMLElement; met(values: Values): boolean }[] = [];

  constructor(
    private readonly place: HTMLElement,
    private readonly engine: EngineClient,
    private readonly change: (key: string, text: string) => void,
  ) {}

  /** Shows the parameters of the plan's first scheme, which now has these values. Controls that stand are kept, so that a slider is not lost under the hand. */
  show(plan: Plan, values: Values, schemes: Scheme[]): void {
    const [used] = plan.schemes;
    const scheme = schemes.find(({ name }) => name === used?.name);
    const signature = JSON.stringify([used?.name, used?.profile]);
    if (!used || !scheme) return;
    if (this.shown !== signature) this.build(scheme, values);
    this.shown = signature;
    for (const { row, met } of this.conditions) row.hidden = !met(values);
  }

  private build(scheme: Scheme, values: Values): void {
    this.conditions = [];
    const first = new Set(scheme.tuned.flat());
    const tuned = scheme.parameters.filter(({ name }) => first.has(name));
    const rest = scheme.parameters.filter(({ name }) => !first.has(name));
    const list = (parameters: Parameter[]) => parameters.map((parameter) => this.control(scheme, parameter, values));
    const more = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = `${tuned.length > 0 ? "More parameters" : "Parameters"} of ${scheme.name} (${rest.length})`;
    more.append(summary, ...list(rest));
    more.open = tuned.length === 0 && rest.length <= SHOWN;
    this.place.replaceChildren(...list(tuned), ...(rest.length > 0 ? [more] : []));
  }

  /** Forgets what is shown, so that the controls are made again. */
  forget(): void {
    this.shown = "";
  }

  private control(scheme: Scheme, parameter: Parameter, values: Values): HTMLElement {
    const value = values[parameter.name] ?? parameter.default;
    const row = document.createElement("div");
    row.className = "parameter";
    const id = `parameter-${parameter.name}`;
    const label = document.createElement("label");
    label.htmlFor = id;
    const [meaning, rest] = sentences(parameter.description);
    const name = document.createElement("code");
    name.textContent = parameter.name;
    label.append(...marked(`${meaning} `), name);
    const help = document.createElement("details");
    help.className = "help";
    const about = document.createElement("summary");
    about.textContent = "range and source";
    const text = document.createElement("p");
    text.id = `${id}-help`;
    const range = parameter.written.minimum === null ? "" : `From ${parameter.written.minimum} to ${parameter.written.maximum}. `;
    text.append(...marked(`${rest} ${range}Source: ${parameter.source}.`));
    help.append(about, text);
    const key = `schemes.${scheme.name}.${parameter.name}`;
    const condition = parameter.when;
    if (condition) {
      const met = (now: Values) => {
        const other = now[condition.parameter];
        return other === undefined || condition.values.includes(other);
      };
      this.conditions.push({ row, met });
    }
    row.append(label, ...this.inputs(parameter, value, id, key), help);
    return row;
  }

  private inputs(parameter: Parameter, value: Value, id: string, key: string): HTMLElement[] {
    const tell = (text: string) => this.change(key, text);
    if (typeof value === "boolean") {
      const box = document.createElement("input");
      Object.assign(box, { type: "checkbox", id, checked: value });
      box.addEventListener("change", () => tell(String(box.checked)));
      return [described(box, id)];
    }
    const text = document.createElement("input");
    Object.assign(text, { type: "text", id, value: String(value), spellcheck: false });
    text.autocomplete = "off";
    text.addEventListener("change", () => tell(text.value));
    if (typeof value === "string" || parameter.minimum === null || parameter.maximum === null) return [described(text, id)];
    void this.engine.ask("writeQuantity", value, parameter.unit).then((written) => (text.value = String(written)));
    return [described(text, id), ...this.slider(parameter, value, text, tell)];
  }

  private slider(parameter: Parameter, value: number, text: HTMLInputElement, tell: (text: string) => void): HTMLElement[] {
    const [least, most] = reach(value, parameter.minimum ?? 0, parameter.maximum ?? value);
    const ends = document.createElement("span");
    ends.className = "ends";
    ends.setAttribute("aria-hidden", "true");
    for (const end of [least, most]) {
      const own = ends.appendChild(document.createElement("span"));
      const rounded = ["count", "octets", "bit/s"].includes(parameter.unit) ? Math.round(end) : Number(end.toPrecision(3));
      void this.engine.ask("showQuantity", rounded, parameter.unit).then((written) => (own.textContent = String(written)));
    }
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: "0", max: String(STEPS), step: "1" });
    slider.setAttribute("aria-label", `${parameter.name}, slider`);
    slider.value = String(Math.round((STEPS * Math.log(Math.max(value, least) / least)) / Math.log(most / least)));
    slider.addEventListener("input", () => {
      const number = least * (most / least) ** (Number(slider.value) / STEPS);
      const whole = ["count", "octets", "bit/s"].includes(parameter.unit) ? Math.round(number) : Number(number.toPrecision(3));
      void this.engine.ask("writeQuantity", whole, parameter.unit).then((written) => {
        text.value = String(written);
        slider.setAttribute("aria-valuetext", text.value);
        tell(text.value);
      });
    });
    return [slider, ends];
  }
}

/** The first sentence of a description without its full stop, which is the name of a parameter for people, and the rest. */
function sentences(text: string): [string, string] {
  const end = text.indexOf(". ");
  return end < 0 ? [text.replace(/\.$/, ""), ""] : [text.slice(0, end), text.slice(end + 2)];
}

/** Where a slider begins and ends: around the value, within the range, above zero. */
export function reach(value: number, minimum: number, maximum: number): [number, number] {
  const middle = value > 0 ? value : Math.max(minimum, maximum / REACH ** 2);
  const least = Math.max(minimum, middle / REACH, Number.MIN_VALUE);
  const most = Math.min(maximum, middle * REACH);
  return most > least ? [least, most] : [least, least * 2];
}

function described<T extends HTMLElement>(input: T, id: string): T {
  input.setAttribute("aria-describedby", `${id}-help`);
  return input;
}

/** A text whose names stand between backticks. */
function marked(text: string): (string | HTMLElement)[] {
  return text.split("`").map((part, index) => {
    if (index % 2 === 0) return part;
    const name = document.createElement("code");
    name.textContent = part;
    return name;
  });
}
