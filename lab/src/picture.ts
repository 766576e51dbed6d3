/** The runs as one picture: for each of them the network, the plots and the phase plane, each under its title. */

import { colour } from "./plots";

/** A drawing of the page, and what it shows, with its units. */
export interface Drawing {
  title: string;
  drawn: HTMLCanvasElement | SVGSVGElement;
}

export interface Column {
  title: string;
  drawings: Drawing[];
}

/** Heights of the picture's head and of a title, and the space beside a text, in pixels of the page. */
const HEAD = 48;
const TITLE = 24;
const ASIDE = 8;
/** What style.css gives to the parts of a drawing. */
const STYLED = ["fill", "stroke", "stroke-width", "font-family", "font-size", "text-anchor", "visibility"];

interface Painted {
  title: string;
  image: CanvasImageSource;
  width: number;
  height: number;
}

/** The columns side by side, in the page's colours. */
export async function png(title: string, columns: Column[]): Promise<Blob> {
  const ratio = window.devicePixelRatio || 1;
  const painted = await Promise.all(columns.map(({ drawings }) => Promise.all(drawings.map((drawing) => paint(drawing, ratio)))));
  const widths = painted.map((column) => Math.max(0, ...column.map(({ width }) => width)));
  const heights = painted.map((column) => column.reduce((sum, { height }) => sum + height + TITLE * ratio, 0));
  const picture = document.createElement("canvas");
  picture.width = widths.reduce((sum, width) => sum + width, 0);
  picture.height = HEAD * ratio + Math.max(0, ...heights);
  const pen = picture.getContext("2d");
  if (!pen) throw new Error("no picture can be drawn");
  pen.fillStyle = colour("page");
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.fillStyle = colour("text");
  const write = (text: string, x: number, y: number, width: number, font: string) => {
    pen.font = font;
    pen.fillText(text, x + ASIDE * ratio, y, width - 2 * ASIDE * ratio);
  };
  const [large, strong] = [`${14 * ratio}px system-ui, sans-serif`, `600 ${12 * ratio}px system-ui, sans-serif`];
  write(title, 0, 18 * ratio, picture.width, large);
  let x = 0;
  for (const [i, column] of painted.entries()) {
    const width = widths[i] ?? 0;
    write(columns[i]?.title ?? "", x, 40 * ratio, width, large);
    let y = HEAD * ratio;
    for (const { title: name, image, width: wide, height } of column) {
      write(name, x, y + 16 * ratio, width, strong);
      pen.drawImage(image, x, y + TITLE * ratio, wide, height);
      y += height + TITLE * ratio;
    }
    x += width;
  }
  return new Promise((resolve, reject) => {
    picture.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture can be drawn"))), "image/png");
  });
}

async function paint({ title, drawn }: Drawing, ratio: number): Promise<Painted> {
  if (drawn instanceof HTMLCanvasElement) return { title, image: drawn, width: drawn.width, height: drawn.height };
  const [width, height] = [drawn.clientWidth * ratio, drawn.clientHeight * ratio];
  return { title, image: await image(drawn, width, height), width, height };
}

/** A drawing as an image, which has no style sheet: its parts get what the page's gives them. */
async function image(drawn: SVGSVGElement, width: number, height: number): Promise<HTMLImageElement> {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const parts = [...drawn.querySelectorAll<SVGElement>("*")];
  for (const [i, part] of [...copy.querySelectorAll<SVGElement>("*")].entries()) {
    const style = getComputedStyle(parts[i] ?? drawn);
    part.removeAttribute("style");
    for (const name of STYLED) part.setAttribute(name, style.getPropertyValue(name));
  }
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const made = new Image();
  made.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
  await made.decode();
  return made;
}
