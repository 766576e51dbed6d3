/** Keeps the state of the page in its address, so that a reload finds it, and gives it away as a link. */

import { byId } from "./page";
import { encode, type State } from "./share";

/** Rows that come are followed by others: the address waits until they rest for so long, ms. */
const CALM_MS = 140;

export class Address {
  private saved = "";
  private saving = 0;

  /** `state` gives the whole state, or null while there is none; `rested` is called after a save that has waited. */
  constructor(
    private readonly state: () => State | null,
    private readonly rested: () => void,
  ) {}

  /** Whether the reader has gone to another address. */
  get isNew(): boolean {
    return location.hash !== this.saved;
  }

  save(): void {
    const state = this.state();
    if (state === null) return;
    void encode(state).then((text) => {
      this.saved = `#s=${text}`;
      history.replaceState(null, "", this.saved);
      byId<HTMLAnchorElement>("whole").href = `index.html${this.saved}`;
    });
  }

  /** The same, when no more rows come. */
  saveSoon(): void {
    clearTimeout(this.saving);
    this.saving = window.setTimeout(() => {
      this.save();
      this.rested();
    }, CALM_MS);
  }

  /** Copies a link to the whole state, or a text with it; the button says so for a while. */
  async share(button: string, what: string, text: (link: string) => string): Promise<void> {
    const state = this.state();
    if (state === null) return;
    await navigator.clipboard.writeText(text(`${location.origin}${location.pathname}#s=${await encode(state)}`));
    byId("status").textContent = `The ${what} is in the clipboard`;
    const before = byId(button).textContent;
    byId(button).textContent = "Copied";
    setTimeout(() => (byId(button).textContent = before), 1500);
  }
}
