// Prints which of the console's acceptance criteria have a test in the browser, and fails if one has none or if a test
// carries a number that there is not.
import { readFileSync } from "node:fs";
import { listSourceFiles } from "./source-files.ts";

const criteria: Record<string, string> = JSON.parse(readFileSync("console/test/criteria.json", "utf8"));
const files = listSourceFiles(["console/test"]).filter(({ path }) => path.endsWith(".test.ts"));
const tests = files.flatMap(({ path, text }) =>
  [...text.matchAll(/\[CON-(\d+)\]/g)].map(([, number = ""]) => ({ number, path })),
);
const filesOf = (number: string) => [
  ...new Set(tests.filter((test) => test.number === number).map(({ path }) => path)),
];

const missing = Object.keys(criteria).filter((number) => filesOf(number).length === 0);
const unknown = tests.filter(({ number }) => !(number in criteria));
for (const [number, title] of Object.entries(criteria)) {
  console.log(`CON-${number.padEnd(3)}${filesOf(number).join(", ") || "NO TEST"}: ${title}`);
}
for (const { number, path } of unknown) console.log(`${path}: there is no criterion CON-${number}`);
const count = Object.keys(criteria).length;
console.log(`${files.length} files, ${count - missing.length} of ${count} criteria of the console have a test`);
if (missing.length > 0 || unknown.length > 0) process.exit(1);
