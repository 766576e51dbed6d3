// Checks that the engine asks its page for nothing: no clock, no random words, no files. Each import must be one of
// wasm-bindgen's, by which values cross to JavaScript.
//
//   node lab/imports.mjs target/wasm32-unknown-unknown/web/penstock_web.wasm

import { readFileSync } from "node:fs";

const [file] = process.argv.slice(2);
const imports = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(file)));
const foreign = imports.filter(({ module }) => !module.startsWith("__wbindgen_"));
console.log(`${file}: ${imports.length} imports`);
for (const { module, name, kind } of foreign) {
    console.error(`  ${module}.${name}, a ${kind}, is not of wasm-bindgen`);
}
process.exitCode = foreign.length > 0 || imports.length === 0 ? 1 : 0;
