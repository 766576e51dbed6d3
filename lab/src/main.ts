/** The laboratory: ties the controls of the page to the engine in its Worker. */

import "./style.css";

import { Address } from "./address";
import { Background } from "./background";
import { fill } from "./choices";
import { Parameters } from "./controls";
import { Drawer } from "./drawer";
import { Editor } from "./editor";
import { EngineClient, refusal } from "./engine";
import { listenToExports } from "./exports";
import { address, inNotebook, keep, scenarioText } from "./files";
import { JobControls, keysOf, setting, showCompared } from "./job";
import { embedding, isEmbedded, isLecture, lecture, turnLesson } from "./lecture";
import { type Lesson, LessonPanel, type Stage } from "./lesson";
import type { Description, FromWorker, Refusal, RunRequest, Scheme, Sources } from "./protocol";
import { LinkControls, SourceControls } from "./links";
import { legend } from "./network";
import { OwnScheme } from "./own";
import { byId, type Entry, listed, measureBar, press } from "./page";
import { type Rates, Scales, short } from "./plots";
import { type Axes, decode, type RunState, type State } from "./share";
import { listenToTheme } from "./theme";
import { Tables } from "./tables";
import { listenToTabs, showTab } from "./tabs";
import { Timeline } from "./timeline";
import { RunView } from "./view";
import { answered, clock, firstQueue, nearest, SPEEDS, words } from "./words";

/** A change that is dragged is applied when it rests for so long, ms. */
const CALM_MS = 140;
/** A run at the speed that is chosen at first lasts about so long, s. */
const TOUR_S = 12;
/** The engine that has not been heard for so long can be stopped, ms. */
const STUCK_MS = 1000;

class Lab {
  private schemes: Scheme[] = [];
  private gallery: Entry[] = [];
  private lessons: Lesson[] = [];
  private readonly tables = new Tables();
  private views: RunView[] = [];
  private scales = new Scales();
  private state: RunState = { text: "", own: "", compare: null, now_s: 0, speed: 0.01, view: null, link: null, rates: "throughput", axes: {} };
  /** The text that has been sent to the engine, which may refuse it. */
  private pending: RunState | null = null;
  /** The note beside the run that opens next. */
  private notice: Refusal | null = null;
  private playing = false;
  /** The run has come to its end: Play begins it again, and a change holds from its start. */
  private ended = false;
  private calm = 0;
  private heard = 0;
  /** While a changed run comes back to where it was: that time. */
  private target = 0;
  /** The run is to go to its end, also where a change restarts it meanwhile. */
  private ending = false;
  /** Asked for while the engine is compiled. */
  private readonly lists = Promise.all([listed<Entry>("gallery.json"), listed<Lesson>("lessons.json")]);
  private readonly engine: EngineClient;
  private readonly editor = new Editor(byId("text"), byId("lines"), byId("mistake"), byId("apply"));
  private readonly drawer = new Drawer(byId("gallery"), byId("drawer"), (scenario) => void this.choose(scenario));
  private readonly own: OwnScheme;
  private readonly parameters: Parameters;
  private readonly background: Background;
  private readonly links: LinkControls;
  private readonly sources: SourceControls;
  private readonly job = new JobControls(byId("job"), (key, text) => this.edit("set", key, text));
  private readonly tour: LessonPanel;
  private readonly address = new Address(
    () => (this.views.length === 0 ? null : this.whole()),
    () => this.count(),
  );
  private readonly timeline = new Timeline(byId("timeline"), byId("marks"), (to_s) => this.seek(to_s));

  constructor() {
    this.engine = new EngineClient({
      ready: (schemes) => void this.begin(schemes),
      opened: (descriptions, sources) => this.opened(descriptions, sources),
      refused: (fault) => this.refused(fault),
      rows: (message) => this.take(message),
    });
    this.own = new OwnScheme(this.engine, (text, location) => this.runOwn(text, location), () => this.address.saveSoon());
    this.parameters = new Parameters(byId("parameters"), this.engine, (key, text) => this.edit("changeParameter", this.since(), key, text));
    this.links = new LinkControls(byId("link-controls"), this.engine, (event) => this.edit("changeLink", this.link(), this.since(), event));
    this.sources = new SourceControls(byId("sources"), byId("sources-shown"), this.engine, (active) => this.edit("changeSources", this.since(), active));
    this.background = new Background(
      byId("background"),
      byId("background-shown"),
      this.engine,
      () => ({ text: this.state.text, link: this.link(), at_s: this.since() }),
      (rate_bps) => this.edit("changeBackground", this.link(), this.since(), rate_bps),
    );
    this.tour = new LessonPanel(byId("tour"), byId("lesson"), {
      show: (stage) => this.stage(stage),
      file: scenarioText,
      edited: (text, edits) => this.engine.edited(text, edits),
      octets: async (text) => Number(await this.engine.ask("readQuantity", text, "octets")),
      now: () => ({ ...(this.pending ?? this.state), play: this.playing }),
      moved: () => this.address.save(),
    });
    listenToTheme(() => this.redraw());
    legend(byId("legend"));
    listenToTabs();
    measureBar();
    this.listen();
    this.draw();
  }

  /** The engine is there, for the first time or after a stop. */
  private async begin(schemes: Scheme[]): Promise<void> {
    if (this.schemes.length > 0) return;
    this.schemes = schemes;
    [this.gallery, this.lessons] = await this.lists;
    fill(this.schemes);
    this.drawer.fill(this.gallery);
    this.tour.fill(this.lessons);
    await this.arrive();
    window.addEventListener("hashchange", () => {
      if (this.address.isNew) void this.arrive();
    });
  }

  /** Takes up the state of the address: a link, a scenario of the gallery, or one that the server has. */
  private async arrive(): Promise<void> {
    const hash = new URLSearchParams(location.hash.slice(1));
    const given = hash.get("s");
    const state = given === null ? null : await decode(given);
    if (given !== null && state === null) {
      this.notice = refusal("the link is not one of this page, or is not whole; another run is shown", "copy all of the link");
    }
    if (state) {
      this.own.show(state.draft || state.own);
      this.open(state, null);
      this.tour.take(state.lesson, state.step);
      return;
    }
    if (inNotebook || new URLSearchParams(location.search).has("opened")) {
      const response = await fetch(address("opened.toml"));
      if (response.ok) {
        await this.fresh(await response.text(), null);
        return;
      }
    }
    const scheme = hash.get("scheme");
    this.state.compare = hash.get("compare");
    await this.choose(hash.get("gallery") ?? this.gallery[0]?.scenario ?? "", scheme === null ? {} : { scheme });
  }

  private async choose(name: string, set: Record<string, string> = {}): Promise<void> {
    const entry = this.gallery.find(({ scenario }) => scenario === name) ?? this.gallery[0];
    if (!entry) return;
    await this.fresh(await this.engine.setAll(await scenarioText(entry.scenario), set), entry.view);
  }

  /** A step of a lesson. */
  private stage({ text, compare, view, now_s, speed, play }: Stage): void {
    this.parameters.forget();
    if (!play) this.paused();
    this.open({ ...this.state, text, compare, view, link: null, now_s, speed }, play ? speed : null);
  }

  /** A scenario from its start. The speed follows from its duration, when that is known. */
  private async fresh(text: string, view: string | null): Promise<void> {
    this.parameters.forget();
    this.open({ ...this.state, text, now_s: 0, speed: 0, view, link: null }, null);
  }

  private open(state: RunState, speed: number | null): void {
    this.pending = state;
    this.heard = performance.now();
    this.own.give(state.own);
    const runs: RunRequest[] = [{ text: state.text, scheme: null }];
    const set = state.compare === null ? null : setting(state.compare);
    if (state.compare !== null) runs.push({ text: state.text, scheme: set ? null : state.compare, set: set ?? {} });
    this.engine.open(runs, state.now_s, speed);
  }

  private opened(descriptions: string[], sources: Sources | null): void {
    if (this.pending) this.state = this.pending;
    this.pending = null;
    this.target = this.state.now_s;
    this.quiet();
    if (this.notice) this.message(this.notice);
    this.notice = null;
    const all = descriptions.map((text) => JSON.parse(text) as Description);
    const plan = all[0]?.plan;
    if (!plan) return;
    if (this.state.speed === 0) this.state.speed = nearest(plan.duration_s / TOUR_S);
    if (this.state.view === null || !plan.queues.includes(this.state.view)) this.state.view = firstQueue(plan);
    if (!plan.links.some(({ name }) => name === this.state.link)) this.state.link = null;
    this.ended = false;
    this.timeline.open(plan.duration_s, plan.interval_s * (all[0]?.every ?? 1));
    this.label();
    for (const view of this.views) view.close();
    const port = this.state.view;
    const chooser = { port: (chosen: string) => this.look(chosen), axes: (scheme: string, axes: Axes) => this.turn(scheme, axes) };
    const { rates, axes } = this.state;
    this.scales = new Scales();
    this.views = all.map((description) => new RunView(byId("runs"), description, this.own.all(this.schemes), port, rates, axes[description.plan.scheme], this.scales, chooser, keysOf(this.state.compare)));
    byId("runs").classList.toggle("single", this.views.length === 1);
    this.sources.open(sources);
    for (const view of this.views) void this.explain(view);
    this.show();
    this.address.save();
  }

  /** Loads the theory of a run, where the page has it. */
  private async explain(view: RunView): Promise<void> {
    const table = await this.tables.of(view, this.gallery);
    if (table && this.views.includes(view)) view.explain(table);
  }

  /** Puts the state into the controls. */
  private show(): void {
    const [view] = this.views;
    if (!view) return;
    const { plan } = view.series;
    byId("question").textContent = plan.question;
    this.answer();
    document.title = `${plan.name}: Penstock's laboratory`;
    this.editor.show(this.state.text);
    this.drawer.show(this.gallery.find(({ question }) => question === plan.question));
    byId<HTMLSelectElement>("scheme").value = this.own.location(plan.scheme);
    showCompared(byId("compare"), this.state.compare);
    byId<HTMLSelectElement>("speed").value = String(nearest(this.state.speed));
    byId("summary").textContent = "";
    this.sources.show(this.calm !== 0);
    byId<HTMLSelectElement>("port").replaceChildren(...plan.links.map(({ name }) => new Option(name, name)));
    byId<HTMLSelectElement>("port").value = this.link();
    byId<HTMLSelectElement>("view").replaceChildren(...plan.queues.filter((name, i) => plan.queues.indexOf(name) === i).map((name) => new Option(name, name)));
    byId<HTMLSelectElement>("view").value = this.state.view ?? "";
    byId<HTMLSelectElement>("rates").value = this.state.rates;
    this.job.show(view.series);
    this.parameters.show(plan, view.series.parameters(this.now()), this.own.all(this.schemes));
    this.showRate();
  }

  private showRate(): void {
    this.background.show(this.calm !== 0);
    const [view] = this.views;
    if (view && this.link() !== "") this.links.show(view.series, this.link(), this.now());
  }

  private count(): void {
    this.background.show(this.calm !== 0);
    this.sources.count(this.state.text, this.now(), this.calm !== 0);
  }

  private take(message: Extract<FromWorker, { type: "rows" }>): void {
    this.heard = performance.now();
    for (const rows of message.runs) this.views[rows.run]?.add(rows);
    const reached = Math.max(0, ...message.runs.map(({ now_s }) => now_s));
    if (reached >= this.target || message.runs.every(({ ended }) => ended)) this.target = 0;
    const ended = message.runs.length > 0 && message.runs.every((rows) => rows.ended);
    if (ended) this.ending = false;
    if (ended !== this.ended) {
      this.ended = ended;
      this.label();
      this.answer();
      this.describe();
    }
    this.state.now_s = Math.max(reached, this.target);
    if (this.timeline.isReplaying) return;
    if (this.playing && message.runs.every(({ ended }) => ended)) this.paused();
    else if (message.playing && !this.playing && this.engine.isCurrent(message.order)) this.played();
    if (!this.playing) this.address.saveSoon();
    const hops = short(Number(message.hops_per_s.toPrecision(3)));
    byId("pace").textContent = this.playing ? `${hops} frames over links a second` : "";
    const summaries = this.views.map(({ series }) => series.summary);
    if (summaries.every((summary) => summary !== null) && byId("summary").textContent === "") {
      byId("summary").textContent = summaries.map((summary) => summary ?? "").join("\n");
    }
  }

  /** The time that the page shows. */
  private now(): number {
    return this.timeline.shown_s ?? this.state.now_s;
  }
  /** The run has come to its end, which is shown. */
  private atEnd(): boolean {
    return this.ended && this.timeline.shown_s === null;
  }
  /** The time from which a change holds: now, or, of a run that is shown at its end, its start. */
  private since(): number {
    return this.atEnd() ? 0 : this.now();
  }

  /** Shows what has been simulated at a time, or simulates up to it. */
  private seek(to_s: number): void {
    if (this.playing) {
      this.engine.pause();
      this.paused();
    }
    this.timeline.live();
    if (to_s < this.state.now_s) this.timeline.shown_s = to_s;
    else if (!this.ended) this.engine.step(to_s);
    this.label();
    this.describe();
    this.address.saveSoon();
  }

  private describe(): void {
    const all = this.views.map((view) => view.numbers());
    for (const [i, view] of this.views.entries()) view.describe(all[1 - i] ?? null);
  }

  /** The link that the controls change. */
  private link(): string {
    return this.state.link ?? this.state.view ?? "";
  }

  /** What the button for playing does. */
  private label(): void {
    byId("play").textContent = this.playing ? "Pause" : this.atEnd() ? "Again" : "Play";
  }

  /** Beside the question: the scheme under which it is asked, where that is not the scenario's, and the comparison of two runs. */
  private answer(): void {
    const text = answered(this.views, this.gallery, this.state.view ?? "", this.ended);
    byId("answer").textContent = text;
    byId("answer").hidden = text === "";
  }

  /** A frame of the screen. */
  private draw(): void {
    let described = 0;
    let seen = false;
    const frame = (wall_ms: number) => {
      if (this.timeline.advance(wall_ms, this.state.speed, this.state.now_s)) this.caughtUp();
      for (const view of this.views) view.measure();
      for (const view of this.views) view.draw(wall_ms, this.state.speed, this.timeline.shown_s);
      this.timeline.draw(this.state.now_s, this.views[0]?.series.changes() ?? []);
      byId("stop").hidden = !this.ending && (wall_ms - this.heard < STUCK_MS || !(this.pending || (this.playing && !this.timeline.isReplaying)));
      if (!seen && this.views.length > 0) {
        seen = true;
        performance.mark("first run drawn");
        keep();
      }
      byId("clock").textContent = clock(this.now());
      if (wall_ms - described > 1000) {
        described = wall_ms;
        this.describe();
        if (this.playing) {
          this.address.save();
          this.count();
          this.showRate();
        }
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  private refused(given: Refusal): void {
    // A scenario whose scheme has not been taken is refused for it.
    const fault = (this.pending && this.own.fault) ?? given;
    if (fault.own) this.own.mistake(fault);
    if (this.pending) this.unopened(this.pending, fault);
    else this.message(fault);
    this.pending = null;
    this.paused();
  }

  /** Puts a text that the engine refuses into the editor, where it can be mended. */
  private unopened(state: RunState, fault: Refusal): void {
    this.editor.show(state.text);
    // The run before it stays, where there is one.
    const alone = this.views.length === 0;
    if (alone) {
      this.state = state;
      this.drawer.show(undefined);
      byId<HTMLSelectElement>("compare").value = state.compare ?? "";
      showTab("scenario");
      this.editor.focus();
    }
    if (!fault.own) this.editor.mistake(fault);
    if (alone && !fault.own) this.editor.reveal();
    else this.message(fault);
  }

  private message(fault: Refusal): void {
    byId("message").textContent = words(fault);
    byId("message").hidden = false;
  }

  private quiet(): void {
    byId("message").hidden = true;
    for (const editor of [this.editor, this.own]) editor.quiet();
  }

  /** Changes the text by a function of the engine, and runs it up to now. */
  private edit(name: "set" | "changeParameter" | "changeLink" | "changeSources" | "changeBackground", ...values: (string | number)[]): void {
    clearTimeout(this.calm);
    this.calm = window.setTimeout(() => {
      this.calm = 0;
      const from = this.pending ?? this.state;
      this.engine.ask(name, from.text, ...values).then(
        (text) => {
          // A run that has come to its end is seen again from its start, where the change holds.
          const again = this.atEnd();
          this.open({ ...from, text: String(text), now_s: again ? 0 : this.now() }, this.playing || again ? this.state.speed : null);
          if (this.ending) this.engine.step(Number.MAX_VALUE);
        },
        (fault: Refusal) => {
          this.message(fault);
          this.editor.mistake(fault);
          this.show();
        },
      );
    }, CALM_MS);
  }

  private look(port: string): void {
    this.state.view = port;
    this.state.link = null;
    byId<HTMLSelectElement>("view").value = port;
    byId<HTMLSelectElement>("port").value = port;
    this.lookAgain();
  }

  /** The controls change another link; its queue is shown, where one is recorded. */
  private hold(link: string): void {
    if (this.views[0]?.series.plan.queues.includes(link)) {
      this.look(link);
      return;
    }
    this.state.link = link;
    this.showRate();
    this.address.save();
  }

  private lookAgain(): void {
    for (const view of this.views) view.show(this.state.view ?? "", this.state.rates);
    this.showRate();
    this.address.save();
  }

  private turn(scheme: string, axes: Axes): void {
    this.state.axes = { ...this.state.axes, [scheme]: axes };
    this.address.save();
  }

  private played(): void {
    this.playing = true;
    this.ending = false;
    this.label();
  }

  private paused(): void {
    this.playing = false;
    this.ending = false;
    this.timeline.isReplaying = false;
    this.label();
    byId("status").textContent = `Paused at ${clock(this.now())}`;
    byId("pace").textContent = "";
    this.count();
    this.address.save();
  }

  private toggle(): void {
    if (this.playing) {
      this.engine.pause();
      this.paused();
    } else if (!this.engine.holds) {
      // Before the first run, too, its scenario may still be loading: then there is none to take up.
      const from = this.pending ?? this.state;
      if (from.text !== "") this.open(from, from.speed || null);
    } else if (this.atEnd()) {
      this.open({ ...this.state, now_s: 0 }, this.state.speed);
    } else if (this.timeline.shown_s !== null) {
      this.timeline.replay();
      this.played();
    } else {
      this.engine.play(this.state.speed);
      this.played();
    }
  }

  /** A replay has come to the time of the engine, which goes on from there. */
  private caughtUp(): void {
    if (this.ended) this.paused();
    else this.engine.play(this.state.speed);
  }

  private step(): void {
    const [view] = this.views;
    if (!view) return;
    this.paused();
    const next_s = this.now() + view.series.interval_s;
    if (this.timeline.shown_s === null) this.engine.step(next_s);
    else this.seek(next_s);
  }

  private toEnd(): void {
    const [view] = this.views;
    if (!view) return;
    this.paused();
    this.timeline.live();
    this.ending = !this.ended;
    this.engine.step(2 * view.series.plan.duration_s);
  }

  private reset(): void {
    this.paused();
    this.open({ ...this.state, now_s: 0 }, null);
  }

  private stop(): void {
    this.engine.stop();
    this.pending = null;
    this.paused();
    this.message(refusal("the engine has been stopped", "Play starts it again from here, Reset from the beginning"));
  }

  private apply(): void {
    this.parameters.forget();
    this.open({ ...this.state, text: this.editor.written, now_s: this.since() }, this.playing ? this.state.speed : null);
  }

  /** Runs the scenario under the reader's scheme, from its start. */
  private runOwn(own: string, location: string): void {
    this.parameters.forget();
    const from = this.pending ?? this.state;
    this.engine.ask("set", from.text, "scheme", location).then(
      (text) => this.open({ ...from, own, text: String(text), now_s: 0 }, this.state.speed),
      (fault: Refusal) => this.message(fault),
    );
  }

  private speed(speed: number): void {
    this.state.speed = speed;
    byId<HTMLSelectElement>("speed").value = String(nearest(speed));
    if (this.playing && !this.timeline.isReplaying) this.engine.play(speed);
    this.address.save();
  }

  /** The whole of the page, for a link. */
  private whole(): State {
    const { written } = this.own;
    return { ...this.state, now_s: this.now(), ...this.tour.reached, draft: written === this.state.own ? "" : written };
  }

  /** Draws all again, as after a change of colours or sizes. */
  private redraw(): void {
    for (const view of this.views) view.rebuild();
  }

  private listen(): void {
    const on = (id: string, event: string, act: () => void) => byId(id).addEventListener(event, act);
    const value = (id: string) => byId<HTMLInputElement | HTMLSelectElement>(id).value;
    on("scheme", "change", () => this.edit("set", "scheme", value("scheme")));
    on("compare", "change", () => this.open({ ...(this.pending ?? this.state), compare: value("compare") || null }, this.playing ? this.state.speed : null));
    on("play", "click", () => this.toggle());
    on("step", "click", () => this.step());
    on("end", "click", () => this.toEnd());
    on("reset", "click", () => this.reset());
    on("stop", "click", () => this.stop());
    on("speed", "change", () => this.speed(Number(value("speed"))));
    on("apply", "click", () => this.apply());
    on("share", "click", () => void this.address.share("share", "link", (link) => link));
    on("embed", "click", () => void this.address.share("embed", "line", (link) => embedding(link, document.title)));
    on("lecture", "click", () => lecture(!isLecture(), () => this.redraw()));
    document.addEventListener("fullscreenchange", () => document.fullscreenElement || lecture(false, () => this.redraw()));
    listenToExports(() => ({ text: this.state.text, views: this.views }));
    on("port", "change", () => this.hold(value("port")));
    on("view", "change", () => this.look(value("view")));
    on("rates", "change", () => {
      this.state.rates = value("rates") as Rates;
      this.lookAgain();
    });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    const place = SPEEDS.indexOf(nearest(this.state.speed));
    press(event, {
      " ": () => this.toggle(),
      ".": () => this.step(),
      e: () => this.toEnd(),
      r: () => this.reset(),
      "+": () => this.speed(SPEEDS[Math.min(SPEEDS.length - 1, place + 1)] ?? 1),
      "-": () => this.speed(SPEEDS[Math.max(0, place - 1)] ?? 1),
      f: () => lecture(!isLecture(), () => this.redraw()),
      Escape: () => lecture(false, () => this.redraw()),
      PageDown: () => turnLesson(1),
      PageUp: () => turnLesson(-1),
      "Ctrl+Enter": () => this.apply(),
      "Ctrl+Enter own": () => void this.own.apply(),
    });
  }
}

// A notebook keeps the page itself, and has no address for a link.
if (inNotebook) for (const id of ["share", "embed"]) byId(id).hidden = true;
byId("whole").hidden = !isEmbedded;
new Lab();
