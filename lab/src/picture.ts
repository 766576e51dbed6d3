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

/** The heights of a line of the head and of a title, and the space beside a text, in pixels of the page. */
const LINE = 20;
const ASIDE = 8;
const [LARGE, STRONG] = [
  [14, ""],
  [12, "600 "],
] as const;
type Font = readonly [number, string];
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
  const whole = widths.reduce((sum, width) => sum + width, 0);
  const picture = document.createElement("canvas");
  const pen = picture.getContext("2d");
  if (!pen) throw new Error("no picture can be drawn");
  /** A text as lines that are no longer than there is room. */
  const lines = (text: string, width: number, [size, weight]: Font): string[] => {
    pen.font = `${weight}${size * ratio}px system-ui, sans-serif`;
    const found = [""];
    for (const word of text.split(" ")) {
      const longer = `${found.at(-1)} ${word}`.trim();
      if (pen.measureText(longer).width <= width - 2 * ASIDE * ratio || found.at(-1) === "") found[found.length - 1] = longer;
      else found.push(word);
    }
    return found;
  };
  const tall = (text: string, width: number, font: Font) => lines(text, width, font).length * LINE * ratio;
  const below = (columns: { title: string; width: number }[]) => Math.max(0, ...columns.map(({ title, width }) => tall(title, width, LARGE)));
  const heads = columns.map((column, i) => ({ title: column.title, width: widths[i] ?? 0 }));
  const head = tall(title, whole, LARGE) + below(heads) + ASIDE * ratio;
  const heights = painted.map((column, i) => column.reduce((sum, own) => sum + own.height + tall(own.title, widths[i] ?? 0, STRONG) + ASIDE * ratio, 0));
  [picture.width, picture.height] = [whole, head + Math.max(0, ...heights)];
  pen.fillStyle = colour("page");
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.fillStyle = colour("text");
  /** Writes a text from a height on; gives the height below it. */
  const write = (text: string, x: number, y: number, width: number, font: Font) => {
    const all = lines(text, width, font);
    all.forEach((line, i) => pen.fillText(line, x + ASIDE * ratio, y + (i * LINE + 15) * ratio, width - 2 * ASIDE * ratio));
    return y + all.length * LINE * ratio;
  };
  const start = write(title, 0, 0, whole, LARGE);
  let x = 0;
  for (const [i, column] of painted.entries()) {
    const width = widths[i] ?? 0;
    write(columns[i]?.title ?? "", x, start, width, LARGE);
    let y = head;
    for (const { title: name, image, width: wide, height } of column) {
      const top = write(name, x, y, width, STRONG);
      pen.drawImage(image, x, top, wide, height);
      y = top + height + ASIDE * ratio;
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
