/** The controls of the link that is changed, and of the number of sources. */

import type { EngineClient } from "./engine";
import type { Sources } from "./protocol";
import type { Series } from "./series";

/** A change of the link: a rate such as "2 Gbps", or "down", or "up". */
type Change = (event: string) => void;

export class LinkControls {
  private readonly rate: HTMLInputElement;
  private readonly down: HTMLButtonElement;
  private readonly up: HTMLButtonElement;
  private series: Series | null = null;
  private link = "";

  constructor(
    private readonly place: HTMLElement,
    private readonly engine: EngineClient,
    change: Change,
  ) {
    const part = <T extends HTMLElement>(id: string) => place.querySelector<T>(`#${id}`) as T;
    [this.rate, this.down, this.up] = [part("rate"), part("break"), part("mend")];
    this.rate.addEventListener("input", () => void this.turn(Number(this.rate.value) / 100, change));
    this.down.addEventListener("click", () => change("down"));
    this.up.addEventListener("click", () => change("up"));
  }

  /** Shows a link of a run as it is at a time. */
  show(series: Series, link: string, now_s: number): void {
    [this.series, this.link] = [series, link];
    const isDown = series.isDown(link, now_s);
    this.down.disabled = isDown;
    this.up.disabled = !isDown;
    const rate = series.rate(link, now_s);
    this.rate.value = String(Math.round((100 * rate) / this.most()));
    void this.engine.ask("showQuantity", rate, "bit/s").then((text) => this.tell(String(text)));
  }

  private most(): number {
    return this.series?.plan.links.find(({ name }) => name === this.link)?.rate_bps ?? 1;
  }

  private tell(text: string): void {
    const shown = this.place.querySelector("#rate-shown");
    if (shown) shown.textContent = text;
  }

  /** Sets the link to a share of its rate. */
  private async turn(share: number, change: Change): Promise<void> {
    const text = String(await this.engine.ask("writeQuantity", Math.max(1, Math.round(this.most() * share)), "bit/s"));
    const number = Number(await this.engine.ask("readQuantity", text, "bit/s"));
    this.tell(String(await this.engine.ask("showQuantity", number, "bit/s")));
    change(text);
  }
}

/** The slider of the sources that send. */
export class SourceControls {
  private sources: Sources = { active: 0, most: 0 };

  constructor(
    private readonly slider: HTMLInputElement,
    private readonly shown: HTMLElement,
    private readonly engine: EngineClient,
    change: (active: number) => void,
  ) {
    slider.addEventListener("input", () => {
      shown.textContent = `${slider.value} of ${this.sources.most}`;
      change(Number(slider.value));
    });
  }

  /** Begins with the sources of another run. */
  open(sources: Sources | null): void {
    this.sources = sources ?? { active: 0, most: 0 };
  }

  /** Asks how many sources are active at a time: some begin later than others. */
  count(text: string, now_s: number, isMoved: boolean): void {
    this.engine.ask("countSources", text, now_s).then(
      (found) => {
        this.open(JSON.parse(String(found)) as Sources);
        this.show(isMoved);
      },
      () => undefined,
    );
  }

  /** Shows them, unless the slider is under a hand. */
  show(isMoved: boolean): void {
    const { slider } = this;
    const { active, most } = this.sources;
    if (document.activeElement === slider && isMoved) return;
    slider.max = String(Math.max(1, most));
    slider.value = String(active);
    slider.disabled = most < 2;
    this.shown.textContent = most < 2 ? "as the scenario has them" : `${active} of ${most}`;
  }
}
