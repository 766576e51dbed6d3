// Builds the page into one folder: `node build.mjs FOLDER TABLES THUMBNAILS`. The engine is in generated/, where lab/bindgen has put it; the
// tables of the theory are where tools/lab_tables.py has put them, and
// the drawings of scenarios those of thumbnails.mjs.
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [out, tables, drawn] = process.argv.slice(2);
if (!out || !tables || !drawn) {
  console.error("usage: node build.mjs FOLDER TABLES THUMBNAILS");
  process.exit(2);
}
const settings = { bundle: true, minify: true, format: "esm", target: "es2022", outdir: out, absWorkingDir: here, logLevel: "warning" };

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await build({ ...settings, entryPoints: ["src/main.ts", "src/worker.ts"], alias: { engine: "./generated/engine.js" } });

const files = ["main.js", "main.css", "worker.js"];
for (const [from, to] of [["generated/engine_bg.wasm", "engine.wasm"], ["index.html", "index.html"], ["icon.svg", "icon.svg"]]) {
  cpSync(join(here, from), join(out, to));
  files.push(to);
}

// The page inside another page: the picture alone.
const page = readFileSync(join(here, "index.html"), "utf8");
writeFileSync(join(out, "embed.html"), page.replace("<body>", '<body class="embed">'));
files.push("embed.html");

/** The question of a scenario, and its scheme, are single lines of its file. */
const gallery = JSON.parse(readFileSync(join(here, "gallery.json"), "utf8")).map((entry) => {
  const text = readFileSync(join(here, "../scenarios", `${entry.scenario}.toml`), "utf8");
  const found = /^question = "(.*)"$/m.exec(text);
  if (!found) throw new Error(`${entry.scenario}.toml has no question on a separate line`);
  const scheme = /^scheme = "(.*)"$/m.exec(text);
  if (!scheme) throw new Error(`${entry.scenario}.toml has no line with its scheme`);
  const file = `scenarios/${entry.scenario}.toml`;
  mkdirSync(dirname(join(out, file)), { recursive: true });
  writeFileSync(join(out, file), text);
  files.push(file);
  for (const scheme of entry.theory) {
    const table = `theory/${entry.scenario}.${scheme}.json`;
    mkdirSync(dirname(join(out, table)), { recursive: true });
    cpSync(join(tables, `${entry.scenario}.${scheme}.json`), join(out, table));
    files.push(table);
  }
  return { ...entry, question: found[1], scheme: scheme[1] };
});
writeFileSync(join(out, "gallery.json"), `${JSON.stringify(gallery, null, 1)}\n`);
cpSync(drawn, join(out, "thumbnails.json"));
files.push("gallery.json", "thumbnails.json");

/** Lessons in the order of their files' names. Their scenarios are in the gallery. */
const known = new Set(gallery.map(({ scenario }) => scenario));
const lessons = readdirSync(join(here, "lessons")).sort().map((name) => {
  const lesson = JSON.parse(readFileSync(join(here, "lessons", name), "utf8"));
  const questions = [...lesson.steps, lesson].flatMap(({ question }) => question ?? []);
  for (const { scenario } of [...lesson.steps, ...questions.flatMap(({ runs }) => runs)]) {
    if (scenario !== undefined && !known.has(scenario)) throw new Error(`lessons/${name}: ${scenario} is not in gallery.json`);
  }
  // The texts for notebooks are no part of the page.
  return { ...lesson, steps: lesson.steps.map(({ notebook: _notebook, ...step }) => step) };
});
writeFileSync(join(out, "lessons.json"), `${JSON.stringify(lessons)}\n`);
files.push("lessons.json");

/** Templates for a scheme of the reader's are examples of the package, with the names of src/own.ts. They are no modules of Python here. */
for (const name of ["aimd", "dctcp", "qcn", "theta_powertcp"]) {
  const file = `own/${name}.txt`;
  mkdirSync(join(out, "own"), { recursive: true });
  cpSync(join(here, "../examples/foreign", `${name}.py`), join(out, file));
  files.push(file);
}

const hash = createHash("sha256");
for (const file of files) hash.update(readFileSync(join(out, file)));
const define = { VERSION: JSON.stringify(hash.digest("hex").slice(0, 16)), FILES: JSON.stringify(["./", ...files]) };
await build({ ...settings, entryPoints: ["src/offline.ts"], define });
