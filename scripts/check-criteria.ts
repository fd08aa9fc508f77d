// Prints which acceptance criteria have a test, and fails if one has none or if a test carries a number that there is
// not. With `--list`, every criterion has a line with the files of its tests.
import { readFileSync } from "node:fs";
import { listSourceFiles } from "./source-files.ts";

/** Each folder has a criteria.json: the titles by number. Titles of its tests begin with the prefix and the number. */
const FOLDERS = { CON: "console/test", CLI: "cli/test", MCP: "server/test/mcp", OAI: "server/test/openai" };

type Place = { path: string; number: string };
type Tally = { count: number; tested: number; files: string[]; problems: string[] };

function checkFolder(prefix: string, folder: string): Tally {
  const criteria: Record<string, string> = JSON.parse(readFileSync(`${folder}/criteria.json`, "utf8"));
  const pattern = new RegExp(`\\[${prefix}-(\\d+)\\]`, "g");
  const tests = listSourceFiles([folder])
    .filter(({ path }) => path.endsWith(".test.ts"))
    .flatMap(({ path, text }): Place[] => [...text.matchAll(pattern)].map(([, number = ""]) => ({ path, number })));
  const filesOf = (wanted: string) => [
    ...new Set(tests.filter(({ number }) => number === wanted).map(({ path }) => path)),
  ];
  const missing = Object.keys(criteria).filter((number) => filesOf(number).length === 0);
  const unknown = tests.filter(({ number }) => !(number in criteria));
  if (process.argv.includes("--list"))
    for (const [number, title] of Object.entries(criteria))
      console.log(`${prefix}-${number.padEnd(3)}${filesOf(number).join(", ") || "NO TEST"}: ${title}`);
  const count = Object.keys(criteria).length;
  console.log(`${prefix}: ${count - missing.length} of ${count}`);
  return {
    count,
    tested: count - missing.length,
    files: tests.map(({ path }) => path),
    problems: [
      ...missing.map((number) => `${prefix}-${number} has no test: ${criteria[number]}`),
      ...unknown.map(({ path, number }) => `${path}: there is no criterion ${prefix}-${number}`),
    ],
  };
}

const tallies = Object.entries(FOLDERS).map(([prefix, folder]) => checkFolder(prefix, folder));
const problems = tallies.flatMap((tally) => tally.problems);
for (const problem of problems) console.log(problem);
const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0);
const files = new Set(tallies.flatMap((tally) => tally.files)).size;
console.log(`${files} files, ${sum(({ tested }) => tested)} of ${sum(({ count }) => count)} criteria have a test`);
if (problems.length > 0) process.exit(1);
