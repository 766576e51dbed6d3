/**
 * Lessons: guided tours that are data. Their texts point at the page, some steps have something to do that the page checks, and
 * each lesson ends with a question whose answer is simulated, not written down.
 */

import "./lesson.css";

import { marked, plain } from "./marked";
import { ask, type Question, type Setting } from "./quiz";
import type { Place } from "./share";
import { type Edit, type Estimate, estimateBox, type Maker, type Task, taskBox } from "./task";
import { Trial } from "./trial";

interface Step extends Partial<Setting> {
  /** With marks, as marked.ts has them. */
  text: string;
  compare?: string;
  view?: string;
  /** The run is taken up to here. */
  to_ms?: number;
  /** Simulated seconds a second, for a step that plays. */
  speed?: number;
  /** A question on what the step shows. */
  question?: Question;
  task?: Task;
  estimate?: Estimate;
}

export interface Lesson {
  title: string;
  /** The part of the course that it belongs to. */
  part: string;
  /** What the reader can do after it, and should know before it. */
  goal: string;
  needs: string;
  steps: Step[];
  question: Question;
}

/** A step as the page takes it. */
export interface Stage {
  text: string;
  compare: string | null;
  view: string | null;
  now_s: number;
  speed: number;
  play: boolean;
}

/** The page as lessons need it. */
export interface LessonPage {
  show(stage: Stage): void;
  /** The text of a scenario of the gallery. */
  file(name: string): Promise<string>;
  edited(text: string, edits: Edit[]): Promise<string>;
  octets(text: string): Promise<number>;
  /** The scenario and the scheme of the reader's that run now, and how they are seen. */
  now(): Stage & { own: string };
  /** The reader is at another step. */
  moved(): void;
}

/** Words that a reader reads in a minute, beside a picture that moves; and the minutes for a task or a question. */
const WORDS_A_MINUTE = 110;
const MINUTES_TO_ANSWER = 1;
/** The names of the lessons that the reader has answered are kept in this browser alone. */
const ANSWERED = "lessons answered";

/** The minutes that a lesson takes. */
export function minutes({ steps, question }: Lesson): number {
  const words = [...steps.map(({ text }) => plain(text)), question.text].join(" ").split(/\s+/).length;
  const acts = 1 + steps.filter((step) => step.question ?? step.task ?? step.estimate).length;
  return Math.max(1, Math.round(words / WORDS_A_MINUTE + acts * MINUTES_TO_ANSWER));
}

function answered(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(ANSWERED) ?? "[]");
    return Array.isArray(kept) ? kept.filter((title) => typeof title === "string") : [];
  } catch {
    return [];
  }
}

export class LessonPanel {
  private lessons: Lesson[] = [];
  private lesson: Lesson | null = null;
  private at = 0;
  private readonly trial = new Trial();

  constructor(
    private readonly place: HTMLElement,
    private readonly list: HTMLSelectElement,
    private readonly page: LessonPage,
  ) {
    list.addEventListener("change", () => this.begin(list.value === "" ? -1 : Number(list.value)));
  }

  /** Puts the lessons into the list, in the parts of the course. */
  fill(lessons: Lesson[]): void {
    this.lessons = lessons;
    for (const part of new Set(lessons.map((lesson) => lesson.part))) {
      const group = document.createElement("optgroup");
      group.label = part;
      group.append(...lessons.flatMap((lesson, i) => (lesson.part === part ? [new Option("", String(i))] : [])));
      this.list.append(group);
    }
    this.name();
  }

  /** Names the lessons in the list, with a tick for those that are answered. */
  private name(): void {
    const done = answered();
    for (const [i, lesson] of this.lessons.entries()) {
      const option = this.list.querySelector<HTMLOptionElement>(`option[value="${i}"]`);
      if (option) option.text = `${done.includes(lesson.title) ? "✓ " : ""}${i + 1}. ${lesson.title}`;
    }
  }

  /** Opens the lesson of a title, or none, at a step, beside the run that is there. */
  take(title: string | null, step: number): void {
    this.open(this.lessons.find((lesson) => lesson.title === title) ?? null, step, false);
  }

  /** Opens a lesson from its start; none below 0. */
  private begin(index: number): void {
    this.open(this.lessons[index] ?? null, 0, true);
    this.page.moved();
  }

  /** Opens a lesson, or none, at a step; the step's run is taken up unless one of it is there already. */
  private open(lesson: Lesson | null, at: number, taken: boolean): void {
    this.lesson = lesson;
    this.at = Math.min(at, lesson?.steps.length ?? 0);
    this.list.value = lesson ? String(this.lessons.indexOf(lesson)) : "";
    this.trial.stop();
    this.place.hidden = lesson === null;
    if (lesson) void this.render(taken);
  }

  /** Where the reader is. */
  get reached(): Place {
    return { lesson: this.lesson?.title ?? null, step: this.at };
  }

  private async scenario({ scenario, set = {} }: Setting): Promise<string> {
    const edits = Object.entries(set).map(([key, value]): Edit => ["set", key, value]);
    return this.page.edited(await this.page.file(scenario), edits);
  }

  private async render(taken: boolean): Promise<void> {
    const { lesson } = this;
    if (!lesson) return;
    const step = lesson.steps[this.at];
    // The step and its run are there at once: what the reader changes from then on is not taken back.
    const file = taken && step?.scenario !== undefined ? await this.scenario({ scenario: step.scenario, set: step.set ?? {} }) : null;
    if (this.lesson !== lesson || lesson.steps[this.at] !== step) return;
    const heading = document.createElement("h2");
    heading.textContent = `${lesson.title} (${this.at + 1} of ${lesson.steps.length + 1})`;
    const body = step ? this.stepOf(step) : ask(lesson.question, this.trial, (own) => this.scenario(own), () => this.done(lesson));
    this.place.replaceChildren(heading, ...(this.at === 0 ? [this.opening(lesson)] : []), ...body, this.moves(lesson), ...(step ? [] : [this.progress()]));
    if (file === null || !step) return;
    const { compare = null, view = null, to_ms = 0, speed } = step;
    this.page.show({ text: file, compare, view, now_s: to_ms / 1000, speed: speed ?? 0, play: speed !== undefined });
  }

  /** What the lesson is for, before its first step. */
  private opening(lesson: Lesson): HTMLElement {
    const list = document.createElement("dl");
    for (const [name, text] of [
      ["Goal", lesson.goal],
      ["Needs", lesson.needs],
      ["Time", `about ${minutes(lesson)} minutes`],
    ] as const) {
      const [term, words] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      words.textContent = text;
      list.append(term, words);
    }
    return list;
  }

  private stepOf(step: Step): HTMLElement[] {
    const text = document.createElement("p");
    text.append(...marked(step.text, (keys) => void this.set(keys)));
    const maker: Maker = {
      texts: async () => {
        const { text: made, own } = this.page.now();
        return { given: step.scenario === undefined ? made : await this.scenario({ scenario: step.scenario, set: step.set ?? {} }), made, own };
      },
      edited: (own, edits) => this.page.edited(own, edits),
      octets: (own) => this.page.octets(own),
      show: (own) => this.play(own),
    };
    return [
      text,
      ...(step.task ? [taskBox(step.task, this.trial, maker)] : []),
      ...(step.estimate ? [estimateBox(step.estimate, this.trial, maker)] : []),
      ...(step.question ? ask(step.question, this.trial, (own) => this.scenario(own), () => undefined) : []),
    ];
  }

  /** Plays a text from its start, as the run is seen now. */
  private play(text: string): void {
    this.page.show({ ...this.page.now(), text, now_s: 0, play: true });
  }

  private async set(keys: Record<string, string>): Promise<void> {
    this.play(await this.page.edited(this.page.now().text, Object.entries(keys).map(([key, value]): Edit => ["set", key, value])));
  }

  private moves(lesson: Lesson): HTMLElement {
    const index = this.lessons.indexOf(lesson);
    const following = this.lessons[index + 1];
    const last = this.at === lesson.steps.length;
    const row = document.createElement("p");
    row.className = "moves";
    const back = this.move("back", "Back", this.at > 0, () => this.step(-1));
    const next = last && following ? this.move("next", `Next lesson: ${following.title}`, true, () => this.begin(index + 1)) : this.move("next", "Next", !last, () => this.step(1));
    row.append(back, next);
    return row;
  }

  private move(kind: string, text: string, possible: boolean, act: () => void): HTMLButtonElement {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: text, disabled: !possible, className: kind });
    button.addEventListener("click", act);
    return button;
  }

  private step(by: number): void {
    this.at += by;
    this.page.moved();
    void this.render(true).then(() => this.place.querySelector<HTMLButtonElement>(by > 0 ? ".next" : ".back")?.focus());
  }

  /** The lesson's last question has been answered. */
  private done({ title }: Lesson): void {
    localStorage.setItem(ANSWERED, JSON.stringify([...new Set([...answered(), title])]));
    this.name();
    this.place.querySelector(".progress")?.replaceWith(this.progress());
  }

  /** How much of the course is answered; nothing of it leaves this browser. */
  private progress(): HTMLElement {
    const done = answered();
    const count = this.lessons.filter(({ title }) => done.includes(title)).length;
    const row = document.createElement("p");
    row.className = "progress";
    const bar = document.createElement("progress");
    Object.assign(bar, { max: this.lessons.length, value: count });
    bar.setAttribute("aria-label", "Lessons answered");
    row.append(bar, ` ${count} of ${this.lessons.length} lessons answered, kept in this browser alone`);
    return row;
  }
}
