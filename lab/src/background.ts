/** The control of the background traffic over a link: constant, and controlled by no scheme. */

import type { EngineClient } from "./engine";
import type { Background as Counted } from "./protocol";

/** A slider in hundredths of the link's rate. */
export class Background {
  private link_bps = 0;
  private order = 0;

  /** `now` has the text, the link and the simulated time that the slider is about; `change` is called with a rate. */
  constructor(
    private readonly slider: HTMLInputElement,
    private readonly shown: HTMLElement,
    private readonly engine: EngineClient,
    private readonly now: () => { text: string; link: string; at_s: number },
    change: (rate_bps: number) => void,
  ) {
    slider.addEventListener("input", () => {
      const rate_bps = Math.round((this.link_bps * Number(slider.value)) / 100);
      this.tell(rate_bps);
      change(rate_bps);
    });
  }

  /** Asks for the traffic as it is now, unless the slider is under a hand. */
  show(moved: boolean): void {
    if (moved) return;
    const { text, link, at_s } = this.now();
    const order = ++this.order;
    this.engine.ask("countBackground", text, link, at_s).then(
      (answer) => {
        if (order !== this.order) return;
        const { rate_bps, link_bps } = JSON.parse(String(answer)) as Counted;
        this.link_bps = link_bps;
        this.slider.disabled = false;
        this.slider.value = String(Math.round((100 * rate_bps) / link_bps));
        this.tell(rate_bps);
      },
      () => {
        if (order !== this.order) return;
        this.slider.disabled = true;
        this.shown.textContent = "no flow to one host crosses the link";
      },
    );
  }

  private tell(rate_bps: number): void {
    void this.engine.ask("showQuantity", rate_bps, "bit/s").then((text) => {
      this.shown.textContent = rate_bps > 0 ? String(text) : "none";
      this.slider.setAttribute("aria-valuetext", this.shown.textContent);
    });
  }
}
