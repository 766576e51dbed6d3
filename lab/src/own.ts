/** The editor of a scheme of the reader's: a text in a part of Python, templates to begin with, and what is wrong with it. */

import { Editor } from "./editor";
import type { EngineClient } from "./engine";
import { download } from "./exports";
import { address } from "./files";
import { byId } from "./page";
import type { Own, Refusal, Scheme } from "./protocol";

/** More than the engine takes. */
const MOST_TEXT = 32_000;

/** Templates by the names of their files, which are examples of the package. */
const TEMPLATES: Record<string, string> = {
  aimd: "AIMD on marks: the shortest",
  dctcp: "DCTCP: the numbers of the page's own",
  qcn: "The idea of QCN: feedback from queues, a rate, a timer",
  theta_powertcp: "Theta-PowerTCP: a window by the round-trip time",
};

export class OwnScheme {
  private readonly panel = byId<HTMLDetailsElement>("own");
  private readonly text = byId<HTMLTextAreaElement>("own-text");
  private readonly editor = new Editor(this.text, byId("own-lines"), byId("own-mistake"), byId("own-run"), { what: "the scheme", most: MOST_TEXT });
  private readonly template = byId<HTMLSelectElement>("own-template");
  /** The text that the engine has been given, and the scheme that it is. */
  private given = "";
  private known: Own | null = null;
  /** The template that is to be shown. */
  private wanted = "";
  /** Why the engine has not taken it. */
  fault: Refusal | null = null;

  /** `run` is called with a text that the engine has taken and with its location, `changed` while it is written. */
  constructor(
    private readonly engine: EngineClient,
    private readonly run: (text: string, location: string) => void,
    changed: () => void,
  ) {
    this.template.append(...Object.entries(TEMPLATES).map(([name, words]) => new Option(words, name)));
    this.template.addEventListener("change", () => void this.begin());
    byId("own-run").addEventListener("click", () => void this.apply());
    byId("own-save").addEventListener("click", () => download("own.py", new Blob([this.text.value], { type: "text/x-python" })));
    this.text.addEventListener("input", changed);
    this.text.addEventListener("keydown", (event) => this.indent(event));
    this.panel.addEventListener("toggle", () => this.panel.open && this.text.value === "" && void this.begin());
  }

  get written(): string {
    return this.text.value;
  }

  /** The schemes of the page, and the reader's. */
  all(schemes: Scheme[]): Scheme[] {
    return this.known ? [...schemes, this.known.scheme] : schemes;
  }

  /** How a scenario names a scheme. */
  location(name: string): string {
    return this.known?.scheme.name === name ? this.known.location : name;
  }

  /** Shows the text of a link, or what had been written since. */
  show(text: string): void {
    if (text === "") return;
    this.editor.show(text);
    this.panel.open = true;
  }

  /** Gives a text to the engine before a run that may need it. */
  give(text: string): void {
    if (text !== "" && text !== this.given) void this.define(text);
  }

  /** Runs what is written. */
  async apply(): Promise<void> {
    const own = await this.define(this.text.value);
    if (own) this.run(this.text.value, own.location);
    else if (this.fault) this.mistake(this.fault);
  }

  mistake(fault: Refusal): void {
    this.panel.open = true;
    this.editor.mistake(fault);
  }

  quiet(): void {
    this.editor.quiet();
  }

  private async define(text: string): Promise<Own | null> {
    this.given = text;
    this.fault = null;
    try {
      const own = JSON.parse(String(await this.engine.define(text))) as Own;
      if (this.given !== text) return null;
      this.known = own;
      this.offer(own);
      return own;
    } catch (fault) {
      if (this.given === text) this.fault = fault as Refusal;
      return null;
    }
  }

  /** Puts the scheme among those that can be chosen. */
  private offer({ location, scheme }: Own): void {
    for (const id of ["scheme", "compare"]) {
      const select = byId<HTMLSelectElement>(id);
      const before = [...select.options].find(({ value }) => value.startsWith("own.py:"));
      const option = before ?? new Option();
      Object.assign(option, { value: location, text: `${scheme.name} — your own` });
      if (!before) select.insertBefore(option, select.querySelector("optgroup"));
    }
  }

  /** Shows the template that is chosen, or the first one. */
  private async begin(): Promise<void> {
    const name = this.template.value || Object.keys(TEMPLATES)[0];
    if (!name) return;
    this.wanted = name;
    const text = await (await fetch(address(`own/${name}.txt`))).text();
    // Another one may have been chosen meanwhile.
    if (this.wanted !== name) return;
    this.text.value = text;
    this.text.dispatchEvent(new Event("input"));
    this.template.value = "";
    this.editor.quiet();
  }

  /** A new line is indented as the one before, and deeper after a colon. Tab leaves the editor, so that a keyboard can. */
  private indent(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.ctrlKey || event.isComposing) return;
    const { selectionStart: from, selectionEnd: to, value } = this.text;
    const line = value.slice(value.lastIndexOf("\n", from - 1) + 1, from);
    const deeper = line.trimEnd().endsWith(":") ? "    " : "";
    event.preventDefault();
    this.text.setRangeText(`\n${/^ */.exec(line)?.[0] ?? ""}${deeper}`, from, to, "end");
    this.text.dispatchEvent(new Event("input"));
  }
}
