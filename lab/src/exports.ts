/** Files that the page gives: the scenario and the rows; picture.ts has the picture. */

import { byId } from "./page";
import { png } from "./picture";
import type { JobRow } from "./protocol";
import type { Series } from "./series";
import type { RunView } from "./view";

export function download(name: string, data: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(data);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Makes the buttons work that give what the page has. */
export function listenToExports(page: () => { text: string; views: RunView[] }): void {
  for (const kind of ["toml", "csv", "png"] as const) {
    byId(`export-${kind}`).addEventListener("click", () => {
      byId<HTMLDetailsElement>("export").open = false;
      const { text, views } = page();
      void save(kind, text, views);
    });
  }
}

/** Gives a scenario, the rows of its runs, or their picture. */
async function save(kind: "toml" | "csv" | "png", text: string, views: RunView[]): Promise<void> {
  const [view] = views;
  if (!view) return;
  const { name, question } = view.series.plan;
  if (kind === "toml") download(`${name}.toml`, new Blob([text], { type: "application/toml" }));
  else if (kind === "csv") for (const own of views) downloadRows(`${name}-${own.file}`, own.series);
  else download(`${name}.png`, await png(question, views.map((own) => own.column())));
}

/** Gives the samples of a run, and its table of jobs where it has one. */
function downloadRows(name: string, series: Series): void {
  download(`${name}.csv`, new Blob([csv(series)], { type: "text/csv" }));
  if (series.jobs.length > 0) download(`${name}-jobs.csv`, new Blob([jobs(series)], { type: "text/csv" }));
}

/** The table of jobs, a line for each piece of work that a rank has ended. */
function jobs(series: Series): string {
  const names: (keyof JobRow)[] = ["job", "rank", "host", "iteration", "work", "node", "begin_s", "end_s", "after"];
  const lines = series.jobs.map((row) => names.map((name) => (typeof row[name] === "string" ? quoted(row[name]) : row[name])).join(","));
  return `${names.join(",")}\n${lines.join("\n")}\n`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** The samples, a line each: time, then each queue's columns under its port and priority, and each flow's under its name. */
function csv(series: Series): string {
  const { queue_columns, queue_priorities, flow_columns, plan } = series.description;
  const names = ["time_s"];
  const columns = [series.time];
  for (const [i, queue] of plan.queues.entries()) {
    for (const column of queue_columns) {
      names.push(quoted(`${queue} ${queue_priorities[i]} ${column}`));
      columns.push(series.queue(i, column));
    }
  }
  for (const [i, flow] of plan.flows.entries()) {
    for (const column of flow_columns) {
      names.push(quoted(`${flow.name} ${column}`));
      columns.push(series.flow(i, column));
    }
  }
  const lines = series.time.map((_time, row) => columns.map((column) => column[row]).join(","));
  return `${names.join(",")}\n${lines.join("\n")}\n`;
}
