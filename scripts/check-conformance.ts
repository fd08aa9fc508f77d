// Whether every statement of the conformance checklist has a test that carries its id, by every way that it names, or
// is named among those that later work makes true or that the client cannot show; and whether no test carries an id
// that there is not.
import { readFileSync } from "node:fs";
import { statementIdsIn } from "./conformance-ids.ts";
import { listSourceFiles, type SourceFile } from "./source-files.ts";

const FOLDER = "server/test/conformance";
const FOLDERS = [FOLDER, "server/test/scenarios"];
const read = (name: string) => JSON.parse(readFileSync(`${FOLDER}/${name}`, "utf8"));

type Statement = { id: string; via: "both" | "http" | "client" };
const rows: Statement[] = read("checklist.json");
const { says: _later, ...later }: Record<string, string[]> = read("postponed.json");
const { says: _reason, ...clientExceptions }: Record<string, string> = read("client-exceptions.json");

const imports = (name: string, from: string) => new RegExp(`import {[^}]*\\b${name}\\b[^}]*} from "${from}"`);
/** A test that takes its `it` from there runs both ways, and fails when nothing of it went through the client. */
const BOTH_WAYS = imports("it", "(\\./|\\.\\./conformance/)http-and-client\\.ts");
const OF_THE_CLIENT = imports("createClient", "@gesso/client");

const files = listSourceFiles(FOLDERS).filter(({ path }) => path.endsWith(".test.ts"));
const testedBy = (chosen: SourceFile[]) =>
  new Map(chosen.flatMap((file) => statementIdsIn(file.text).map((id) => [id, file.path] as const)));
const tested = testedBy(files);
const overHttp = testedBy(files.filter(({ text }) => !OF_THE_CLIENT.test(text)));
const overBothTransports = testedBy(files.filter(({ text }) => BOTH_WAYS.test(text)));
const throughClientOnly = testedBy(files.filter(({ text }) => OF_THE_CLIENT.test(text)));

const known = new Map(rows.map(({ id, via }) => [id, via]));
const postponed = Object.entries(later).flatMap(([work, ids]) => ids.map((id) => ({ id, work })));
const isPostponed = new Set(postponed.map(({ id }) => id));
const requiredStatements = rows.filter(({ id }) => !isPostponed.has(id));
const isCoveredThroughClient = ({ id, via }: Statement) =>
  via === "both"
    ? (overBothTransports.has(id) || throughClientOnly.has(id)) && !(id in clientExceptions)
    : throughClientOnly.has(id);
const throughHttp = requiredStatements.filter(({ id, via }) => via !== "client" && overHttp.has(id));
const throughClient = requiredStatements.filter((row) => row.via !== "http" && isCoveredThroughClient(row));

const problems = [
  ...requiredStatements.filter(({ id }) => !tested.has(id)).map(({ id }) => `${id}: no test covers it`),
  ...requiredStatements
    .filter((row) => tested.has(row.id) && row.via !== "client" && !throughHttp.includes(row))
    .map(({ id }) => `${id}: no test carries it over HTTP`),
  ...requiredStatements
    .filter(
      (row) =>
        tested.has(row.id) && row.via !== "http" && !throughClient.includes(row) && !(row.id in clientExceptions),
    )
    .map(({ id }) => `${id}: no test carries it through the client`),
  ...Object.keys(clientExceptions)
    .filter((id) => isPostponed.has(id) || known.get(id) !== "both")
    .map((id) => `${id}: is not required through the client; remove the exception`),
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
const rest = `${Object.keys(clientExceptions).length} client exceptions, ${isPostponed.size} later`;
console.log([...problems, `${files.length} files, ${rows.length} statements: ${ways}, ${rest}`].join("\n"));
process.exit(problems.length > 0 ? 1 : 0);
