// Whether every statement of the conformance checklist has a test that carries its id, by every way that it names, or is
// named among those that later work makes true or that the client cannot show; and whether no test carries an id that
// there is not.
import { readFileSync } from "node:fs";
import { type SourceFile, sourceFiles } from "./sources.ts";

const FOLDER = "server/test/conformance";
const FOLDERS = [FOLDER, "server/test/stories"];
const read = (name: string) => JSON.parse(readFileSync(`${FOLDER}/${name}`, "utf8"));

type Statement = { id: string; via: "both" | "http" | "client" };
const rows: Statement[] = read("checklist.json");
const { says: _later, ...later }: Record<string, string[]> = read("later.json");
const { says: _reason, ...impossible }: Record<string, string> = read("not-through-client.json");

/** Ids stand in brackets in a test's name; where the name has `[%s]`, they stand as text in its table. */
function idsIn({ text }: SourceFile): string[] {
  const named = text.matchAll(/\[([A-Z]{3}-\d{3})\]/g);
  const listed = text.includes("[%s]") ? text.matchAll(/"([A-Z]{3}-\d{3})"/g) : [];
  return [...named, ...listed].map(([, id]) => id!);
}

const imports = (name: string, from: string) => new RegExp(`import {[^}]*\\b${name}\\b[^}]*} from "${from}"`);
/** A test that takes its `it` from there runs both ways, and fails when nothing of it went through the client. */
const BOTH_WAYS = imports("it", "(\\./|\\.\\./conformance/)both-ways\\.ts");
const OF_THE_CLIENT = imports("createClient", "@gesso/client");

const files = sourceFiles(FOLDERS).filter(({ path }) => path.endsWith(".test.ts"));
const testedBy = (chosen: SourceFile[]) =>
  new Map(chosen.flatMap((file) => idsIn(file).map((id) => [id, file.path] as const)));
const tested = testedBy(files);
const overHttp = testedBy(files.filter(({ text }) => !OF_THE_CLIENT.test(text)));
const bothWays = testedBy(files.filter(({ text }) => BOTH_WAYS.test(text)));
const ofTheClient = testedBy(files.filter(({ text }) => OF_THE_CLIENT.test(text)));

const known = new Map(rows.map(({ id, via }) => [id, via]));
const postponed = Object.entries(later).flatMap(([work, ids]) => ids.map((id) => ({ id, work })));
const isPostponed = new Set(postponed.map(({ id }) => id));
const due = rows.filter(({ id }) => !isPostponed.has(id));
const isShown = ({ id, via }: Statement) =>
  via === "both" ? (bothWays.has(id) || ofTheClient.has(id)) && !(id in impossible) : ofTheClient.has(id);
const throughHttp = due.filter(({ id, via }) => via !== "client" && overHttp.has(id));
const throughClient = due.filter((row) => row.via !== "http" && isShown(row));

const complaints = [
  ...due.filter(({ id }) => !tested.has(id)).map(({ id }) => `${id}: no test carries it`),
  ...due
    .filter((row) => tested.has(row.id) && row.via !== "client" && !throughHttp.includes(row))
    .map(({ id }) => `${id}: no test carries it over HTTP`),
  ...due
    .filter(
      (row) => tested.has(row.id) && row.via !== "http" && !throughClient.includes(row) && !(row.id in impossible),
    )
    .map(({ id }) => `${id}: no test carries it through the client`),
  ...Object.keys(impossible)
    .filter((id) => isPostponed.has(id) || known.get(id) !== "both")
    .map((id) => `${id}: is not to be shown through the client, so there is no reason to give`),
  ...postponed
    .filter(({ id }) => tested.has(id))
    .map(({ id, work }) => `${id}: is left for later (${work}), and ${tested.get(id)} tests it`),
  ...postponed.filter(({ id }) => !known.has(id)).map(({ id, work }) => `${id}: is left for later (${work}), unknown`),
  ...postponed
    .filter(({ id }, index) => postponed.findIndex((other) => other.id === id) < index)
    .map(({ id, work }) => `${id}: is left for later twice, again in ${work}`),
  ...[...tested].filter(([id]) => !known.has(id)).map(([id, path]) => `${id}: is no statement, but ${path} tests it`),
];

const ways = `${throughHttp.length} over HTTP, ${throughClient.length} through the client`;
const rest = `${Object.keys(impossible).length} not to be shown by it, ${isPostponed.size} later`;
console.log([...complaints, `${files.length} files, ${rows.length} statements: ${ways}, ${rest}`].join("\n"));
process.exit(complaints.length > 0 ? 1 : 0);
