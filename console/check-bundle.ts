// Checks the built console: the compressed size of what the first page loads, of each lazy page and of what several
// lazy pages share, such as the forms; and that index.html has no inline script, style or handler. Runs at the end of
// `npm run build -w console`.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const ENTRY_LIMIT_KB = 260;
const LAZY_LIMIT_KB = 25;
const DIST = join(import.meta.dirname, "dist");
const ENTRY = "index.html";

type Chunk = { file: string; css?: string[]; imports?: string[]; dynamicImports?: string[] };

const manifest: Record<string, Chunk> = JSON.parse(readFileSync(join(DIST, "manifest.json"), "utf8"));

/** Scripts and styles that a chunk needs before it runs: its own and those of its static imports. */
function filesOf(name: string, seen = new Set<string>()): Set<string> {
  const chunk = manifest[name];
  if (!chunk || seen.has(chunk.file)) return seen;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) seen.add(file);
  for (const each of chunk.imports ?? []) filesOf(each, seen);
  return seen;
}

const kilobytes = (files: Iterable<string>) =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(DIST, file))).byteLength, 0) / 1000;

const entryFiles = filesOf(ENTRY);
const entrySize = kilobytes(entryFiles);
const lazyPages = Object.keys(manifest)
  .filter((name) => Object.values(manifest).some(({ dynamicImports = [] }) => dynamicImports.includes(name)))
  .map((name) => ({ name, files: [...filesOf(name)].filter((file) => !entryFiles.has(file)) }));
/** A file that several pages load is a part of its own: the browser loads it once. */
const isShared = (file: string) => lazyPages.filter(({ files }) => files.includes(file)).length > 1;
const sharedFiles = new Set(lazyPages.flatMap(({ files }) => files.filter(isShared)));
const lazyParts = [
  ...lazyPages.map(({ name, files }) => ({ name, files: files.filter((file) => !sharedFiles.has(file)) })),
  ...[...sharedFiles].map((file) => ({ name: `${file} (shared)`, files: [file] })),
]
  .map(({ name, files }) => ({ name, size: kilobytes(files) }))
  .sort((a, b) => b.size - a.size);

const page = readFileSync(join(DIST, ENTRY), "utf8");
const isInline = /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/i.test(page);
const failures = [
  ...(entrySize > ENTRY_LIMIT_KB ? [`the entry has ${entrySize.toFixed(1)} kB, at most ${ENTRY_LIMIT_KB} kB`] : []),
  ...lazyParts
    .filter(({ size }) => size > LAZY_LIMIT_KB)
    .map(({ name, size }) => `${name} has ${size.toFixed(1)} kB, at most ${LAZY_LIMIT_KB} kB`),
  ...(isInline ? [`${ENTRY} has an inline script, style or handler`] : []),
];

for (const { name, size } of lazyParts) console.log(`${size.toFixed(1).padStart(7)} kB  ${name}`);
console.log(`${entrySize.toFixed(1).padStart(7)} kB  entry (gzip), at most ${ENTRY_LIMIT_KB} kB`);
for (const failure of failures) console.error(failure);
process.exit(failures.length > 0 ? 1 : 0);
