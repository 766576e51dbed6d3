/** Files that the page gives: the scenario, the rows, a picture. */

import { colour } from "./plots";
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

/** The samples, a line each: time, then each queue's columns under its port and priority, and each flow's under its name. */
export function csv(series: Series): string {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
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

/** The plots of all runs, side by side, as one picture. */
export async function png(views: RunView[], title: string): Promise<Blob> {
  const columns = views.map((view) => view.canvases());
  const ratio = window.devicePixelRatio || 1;
  const head = 48 * ratio;
  const width = columns.reduce((sum, column) => sum + Math.max(0, ...column.map((canvas) => canvas.width)), 0);
  const heights = columns.map((column) => column.reduce((sum, canvas) => sum + canvas.height, 0));
  const picture = document.createElement("canvas");
  picture.width = width;
  picture.height = head + Math.max(...heights);
  const pen = picture.getContext("2d");
  if (!pen) throw new Error("no picture can be drawn");
  pen.fillStyle = colour("page");
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.fillStyle = colour("text");
  pen.font = `${14 * ratio}px system-ui, sans-serif`;
  pen.fillText(title, 8 * ratio, 18 * ratio);
  let x = 0;
  for (const [i, column] of columns.entries()) {
    pen.fillText(views[i]?.name ?? "", x + 8 * ratio, 40 * ratio);
    let y = head;
    for (const canvas of column) {
      pen.drawImage(canvas, x, y);
      y += canvas.height;
    }
    x += Math.max(0, ...column.map((canvas) => canvas.width));
  }
  return new Promise((resolve, reject) => {
    picture.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture can be drawn"))), "image/png");
  });
}
