/** The line of time: where the run stands, how far it has been simulated, its changes, and a way back to what has been simulated. */

import { clock } from "./words";

export class Timeline {
  /** The time that is shown, where it is before that of the engine, s. */
  shown_s: number | null = null;
  /** What has been simulated is shown again as it went. */
  isReplaying = false;
  private duration_s = 1;
  private step_s = 1;
  private before_ms = 0;
  private marked = "";

  /** `seek` is called with the time that the reader chooses. */
  constructor(
    private readonly slider: HTMLInputElement,
    private readonly marks: HTMLElement,
    seek: (to_s: number) => void,
  ) {
    slider.addEventListener("input", () => seek(Number(slider.value) * this.duration_s));
    slider.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 20, PageDown: -20 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      seek(Math.max(0, Number(slider.value) * this.duration_s + by * this.step_s));
    });
  }

  /** Begins with another run. */
  open(duration_s: number, step_s: number): void {
    [this.duration_s, this.step_s] = [duration_s, step_s];
    this.live();
    this.marked = "";
  }

  /** Shows the time of the engine. */
  live(): void {
    this.shown_s = null;
    this.isReplaying = false;
  }

  /** Shows again what has been simulated. */
  replay(): void {
    this.isReplaying = true;
    this.before_ms = performance.now();
  }

  /** Goes on in a replay at `speed` simulated seconds a second; true when it has come to the time of the engine. */
  advance(wall_ms: number, speed: number, now_s: number): boolean {
    if (!this.isReplaying || this.shown_s === null) return false;
    this.shown_s += Math.max(0, ((wall_ms - this.before_ms) / 1000) * speed);
    this.before_ms = wall_ms;
    if (this.shown_s < now_s) return false;
    this.live();
    return true;
  }

  /** Draws the time of the engine, and the times of changes of the scenario. */
  draw(now_s: number, changes: number[]): void {
    const at = this.shown_s ?? now_s;
    const part = (time_s: number) => String(Math.min(1, time_s / this.duration_s));
    if (this.slider.value !== part(at)) this.slider.value = part(at);
    this.slider.style.setProperty("--reached", part(now_s));
    this.slider.setAttribute("aria-valuetext", `${clock(at)} of ${clock(this.duration_s)}`);
    const marked = changes.join(" ");
    if (marked === this.marked) return;
    this.marked = marked;
    const mark = (time_s: number) => {
      const own = document.createElement("i");
      own.style.setProperty("--at", part(time_s));
      return own;
    };
    this.marks.replaceChildren(...changes.map(mark));
  }
}
