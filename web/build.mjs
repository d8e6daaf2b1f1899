/**
 * Build the viewer into the Python package: `node build.mjs`.
 *
 * One file per use, each with all it needs, so that a report is one page and users need
 * no Node. The same sources give the same bytes: `COMPARE=1 node build.mjs` writes
 * nothing and fails if the package holds another build.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../src/nonsmooth/views/static");

const entries = [
  { name: "report", source: "src/report.ts", format: "iife" },
  { name: "serve", source: "src/serve/main.ts", format: "iife" },
  { name: "widget", source: "src/widget.ts", format: "es" },
];

const wanted = process.argv.slice(2);
const isComparing = Boolean(process.env.COMPARE);
const stale = [];

for (const { name, source, format } of entries) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  if (!existsSync(join(here, source))) {
    console.log(`${name.padEnd(8)} left out: no ${source}`);
    continue;
  }
  const output = await build({
    root: here,
    configFile: false,
    envDir: false,
    logLevel: "warn",
    publicDir: false,
    build: {
      write: false,
      target: "es2022",
      minify: true,
      reportCompressedSize: false,
      lib: { entry: join(here, source), formats: [format], name: "nonsmoothViewer" },
      // Of a module Vite would keep the white space.
      rollupOptions: { output: { codeSplitting: false, minify: true } },
    },
  });
  const chunks = [output].flat().flatMap((part) => part.output);
  if (chunks.length !== 1 || chunks[0].type !== "chunk") {
    const names = chunks.map((chunk) => chunk.fileName).join(", ");
    throw new Error(`${name} should be one file, not ${names}`);
  }
  // The code stands inside a <script> of the page, which these would end.
  const code = chunks[0].code
    .replaceAll(/<\/(script)/gi, "<\\/$1")
    .replaceAll("<!--", "<\\!--");
  const path = join(target, `${name}.js`);
  const isSame = existsSync(path) && readFileSync(path, "utf8") === code;
  if (isComparing && !isSame) stale.push(name);
  if (!isComparing && !isSame) {
    mkdirSync(target, { recursive: true });
    writeFileSync(path, code);
  }
  const size = (bytes) => `${(bytes / 1024).toFixed(1)} kB`;
  const packed = gzipSync(code).length;
  console.log(
    `${name.padEnd(8)} ${size(Buffer.byteLength(code))}, gzip ${size(packed)}`,
  );
}

if (stale.length > 0) {
  console.error(
    `the shipped viewer is not that of web/: run ./dev web (${stale.join(", ")})`,
  );
  process.exit(1);
}
