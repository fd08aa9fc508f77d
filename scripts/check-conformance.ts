// Whether every statement of the conformance checklist has a test that carries its id, or is named among those that later
// work makes true; and whether no test carries an id that there is not.
import { readFileSync } from "node:fs";
import { sourceFiles } from "./sources.ts";

const FOLDER = "server/test/conformance";
const FOLDERS = [FOLDER, "server/test/stories"];
const read = (name: string) => JSON.parse(readFileSync(`${FOLDER}/${name}`, "utf8"));

const rows: { id: string }[] = read("checklist.json");
const { says: _, ...later }: Record<string, string[]> = read("later.json");

/** Ids stand in brackets in a test's name; where the name has `[%s]`, they stand as text in its table. */
function idsIn(text: string): string[] {
  const named = text.matchAll(/\[([A-Z]{3}-\d{3})\]/g);
  const listed = text.includes("[%s]") ? text.matchAll(/"([A-Z]{3}-\d{3})"/g) : [];
  return [...named, ...listed].map(([, id]) => id!);
}

const files = sourceFiles(FOLDERS).filter(({ path }) => path.endsWith(".test.ts"));
const tested = new Map<string, string>(files.flatMap(({ path, text }) => idsIn(text).map((id) => [id, path] as const)));
const known = new Set(rows.map(({ id }) => id));
const postponed = Object.entries(later).flatMap(([work, ids]) => ids.map((id) => ({ id, work })));
const isPostponed = new Set(postponed.map(({ id }) => id));

const complaints = [
  ...rows.filter(({ id }) => !tested.has(id) && !isPostponed.has(id)).map(({ id }) => `${id}: no test carries it`),
  ...postponed
    .filter(({ id }) => tested.has(id))
    .map(({ id, work }) => `${id}: is left for later (${work}), and ${tested.get(id)} tests it`),
  ...postponed.filter(({ id }) => !known.has(id)).map(({ id, work }) => `${id}: is left for later (${work}), unknown`),
  ...postponed
    .filter(({ id }, index) => postponed.findIndex((other) => other.id === id) < index)
    .map(({ id, work }) => `${id}: is left for later twice, again in ${work}`),
  ...[...tested].filter(([id]) => !known.has(id)).map(([id, path]) => `${id}: is no statement, but ${path} tests it`),
];

const sum = `${files.length} files, ${rows.length} statements: ${[...tested.keys()].filter((id) => known.has(id)).length} tested, ${isPostponed.size} later`;
console.log([...complaints, sum].join("\n"));
process.exit(complaints.length > 0 ? 1 : 0);
