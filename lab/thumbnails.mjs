// Draws the scenarios of the gallery for the page's drawer, `node thumbnails.mjs FILE`: the network as the page lays it out, and the
// queue that it shows first, of a run with the page's engine.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

/** Points of a curve. */
const POINTS = 60;
/** Events of a call of the engine; and the width of a drawing of layout.ts. */
const SLICE = 1_000_000;
const WIDTH = 640;
const rounded = (value) => Math.round(1000 * value) / 1000;

const here = dirname(fileURLToPath(import.meta.url));
const [file] = process.argv.slice(2);
if (!file) {
  console.error("usage: node thumbnails.mjs FILE");
  process.exit(2);
}
writeFileSync(file, JSON.stringify(await thumbnails(JSON.parse(readFileSync(join(here, "gallery.json"), "utf8")))));

async function thumbnails(gallery) {
  const { initSync, Engine } = await import(join(here, "generated/engine.js"));
  initSync({ module: readFileSync(join(here, "generated/engine_bg.wasm")) });
  const made = await build({ entryPoints: [join(here, "src/layout.ts")], bundle: true, format: "esm", write: false, logLevel: "warning" });
  const { layout } = await import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].contents).toString("base64")}`);
  const drawn = {};
  for (const { scenario, view } of gallery) {
    const engine = new Engine(readFileSync(join(here, "../scenarios", `${scenario}.toml`), "utf8"));
    drawn[scenario] = { ...network(layout, JSON.parse(engine.describe()).plan), queue: queue(engine, view) };
    engine.free();
  }
  return drawn;
}

/** Links and nodes in parts of the width and the height. */
function network(layout, plan) {
  const { height, places } = layout(plan, WIDTH);
  const at = (name) => [rounded(places.get(name).x / WIDTH), rounded(places.get(name).y / height)];
  const links = new Map(plan.links.map(({ node, peer }) => [[node, peer].sort().join(" "), [...at(node), ...at(peer)]]));
  return { links: [...links.values()], nodes: plan.nodes.map(({ name, kind }) => ({ x: at(name)[0], y: at(name)[1], kind })) };
}

/** The longest queue in each part of the run, as a part of the longest of all. */
function queue(engine, view) {
  const { plan, queue_columns, flow_columns } = JSON.parse(engine.describe());
  while (!engine.advance(plan.duration_s, SLICE));
  const width = 1 + plan.queues.length * queue_columns.length + plan.flows.length * flow_columns.length;
  const place = 1 + plan.queues.indexOf(view) * queue_columns.length + queue_columns.indexOf("queue_octets");
  const rows = engine.samples(0);
  const most = new Array(POINTS).fill(0);
  for (let i = 0; i < rows.length; i += width) {
    const part = Math.min(POINTS - 1, Math.floor((POINTS * rows[i]) / plan.duration_s));
    most[part] = Math.max(most[part], rows[i + place]);
  }
  const all = Math.max(1, ...most);
  return most.map((own) => rounded(own / all));
}
