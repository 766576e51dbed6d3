/** The page for a hall, and inside another page: the picture alone. */

/** Whether the page is part of another one: the build makes embed.html of index.html for that. */
export const isEmbedded = document.body.classList.contains("embed");

/** Whether the page is shown to a hall: network and plots in large type, a lesson's text, and no controls. */
export function isLecture(): boolean {
  return document.body.classList.contains("lecture");
}

/** Begins or ends a lecture. The screen is filled where the browser allows it; leaving that ends the lecture, too. */
export function lecture(on: boolean, changed: () => void): void {
  if (on === isLecture()) return;
  document.body.classList.toggle("lecture", on);
  document.getElementById("lecture")?.setAttribute("aria-pressed", String(on));
  if (on) void document.documentElement.requestFullscreen?.().catch(() => undefined);
  else if (document.fullscreenElement) void document.exitFullscreen();
  changed();
}

/** Takes the step of a lesson after this one, or the one before, by its button. */
export function turnLesson(by: 1 | -1): void {
  document.querySelector<HTMLButtonElement>(`#tour button.${by > 0 ? "next" : "back"}:not(:disabled)`)?.click();
}

/** The line of HTML that shows the state of a link in another page. */
export function embedding(link: string, title: string): string {
  const address = link.replace(/(index\.html)?#/, "embed.html#");
  const name = title.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<iframe src="${address}" title="${name}" width="100%" height="640" loading="lazy" allow="fullscreen" style="border: 0"></iframe>`;
}
