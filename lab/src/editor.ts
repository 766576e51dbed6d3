/** An editor, of the scenario or of a scheme: its text, the numbers of its lines, and a mistake in it. */

import { refusal } from "./engine";
import type { Refusal } from "./protocol";
import { MOST_TEXT } from "./share";
import { words } from "./words";

export class Editor {
  constructor(
    private readonly text: HTMLTextAreaElement,
    private readonly lines: HTMLElement,
    private readonly box: HTMLElement,
    /** The button that takes the text. */
    private readonly button: HTMLElement,
    private readonly size = { what: "the scenario", most: MOST_TEXT },
  ) {
    text.addEventListener("scroll", () => this.number());
    text.addEventListener("input", () => this.number());
    text.addEventListener("beforeinput", (event) => this.admit(event));
  }

  get written(): string {
    return this.text.value;
  }

  /** Shows a text, but not under the hand of its writer. */
  show(text: string): void {
    if (document.activeElement !== this.text) this.text.value = text;
    this.number();
  }

  focus(): void {
    this.text.focus();
  }

  /** Shows a mistake. Its line is chosen, where the writer has just asked for the text to be taken. */
  mistake(fault: Refusal): void {
    this.box.textContent = words(fault);
    this.box.hidden = false;
    const active = document.activeElement;
    if (fault.line === null || (active !== this.text && active !== this.button)) return;
    this.focus();
    const lines = this.text.value.split("\n");
    const start = lines.slice(0, fault.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    const end = start + (lines[fault.line - 1]?.length ?? 0);
    this.text.setSelectionRange(Math.min(start + (fault.column ?? 1) - 1, end), end);
    // Some lines before it are seen, too. All are of one height.
    this.text.scrollTop = (this.text.scrollHeight * (fault.line - 5)) / lines.length;
  }

  quiet(): void {
    this.box.hidden = true;
  }

  /** Scrolls the mistake into view. */
  reveal(): void {
    this.box.scrollIntoView({ block: "nearest" });
  }

  /** Keeps a text out that is longer than the page takes: laying it out would stop the page for seconds. */
  private admit(event: InputEvent): void {
    const added = event.data?.length ?? 0;
    const { what, most: limit } = this.size;
    if (added === 0 || this.text.value.length + added <= limit) return;
    event.preventDefault();
    const [long, most] = [this.text.value.length + added, limit].map((count) => count.toLocaleString("en"));
    this.mistake(refusal(`${what} would have ${long} characters, and here it has ${most} at most`, "larger ones run with penstock run"));
    this.reveal();
  }

  private number(): void {
    const count = this.text.value.split("\n").length;
    if (this.lines.dataset["lines"] !== String(count)) {
      this.lines.dataset["lines"] = String(count);
      this.lines.textContent = Array.from({ length: count }, (_own, i) => i + 1).join("\n");
    }
    this.lines.scrollTop = this.text.scrollTop;
  }
}
