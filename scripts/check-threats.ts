// Checks the threat table and the promises of the security page: every way into Gesso has a threat, every threat a row,
// every row a control, and every test that a row or a promise names exists under exactly that title. A threat without a
// test has its reason on the security page, and one that does not apply a fact that is true of the code.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AbsentText, TestTitles, Threat } from "../server/test/threats/threat.ts";
import { threatSections } from "../server/test/threats/threats.ts";
import { credentialsIn, operationsIn, routesIn, scopesIn } from "../server/test/threats/ways-in.ts";
import { testTitlesIn } from "./test-titles.ts";
import { listWaysIn } from "./ways-in.ts";

const THREATS = 141;
const PAGE = "docs/guide/security.md";
const page = readFileSync(PAGE, "utf8");

const titlesByFile = new Map<string, Set<string>>();
function titlesOf(file: string): Set<string> {
  const titles = titlesByFile.get(file) ?? testTitlesIn(readFileSync(file, "utf8"));
  titlesByFile.set(file, titles);
  return titles;
}

const findMissingTests = (tests: TestTitles): string[] =>
  Object.entries(tests).flatMap(([file, titles]) => {
    if (!existsSync(file)) return [`there is no file ${file}`];
    if (titles.length === 0) return [`${file} is named without the title of a test`];
    return titles.filter((title) => !titlesOf(file).has(title)).map((title) => `${file} has no test "${title}"`);
  });

/** The data rows of the tables of the page whose first column has this name, as cells. */
const tableRows = (firstColumn: string): string[][] =>
  [...page.matchAll(new RegExp(`^\\| ${firstColumn} \\|.*\\n\\|-.*\\n((?:\\|.*\\n)+)`, "gm"))].flatMap(([, body]) =>
    body!
      .trim()
      .split("\n")
      .map((row) => row.slice(2, -2).split(" | ")),
  );

const reasons = new Map(
  tableRows("Threat").flatMap(([ids = "", reason = ""]) => ids.split(", ").map((id) => [id, reason])),
);

function findThreatProblems(threat: Threat): string[] {
  if ([threat.asset, threat.entry, threat.threat, threat.control].some((text) => text.trim() === ""))
    return ["has an empty column"];
  const missing = findMissingTests(threat.tests ?? {});
  if (threat.kind === "control and test")
    return Object.keys(threat.tests).length > 0 ? missing : ["has no test for its control"];
  if (threat.kind === "not applicable") missing.push(...findEntries(threat.fact));
  const isExplained = threat.reason.trim() !== "" && reasons.get(threat.id) === threat.reason;
  return [...missing, ...(isExplained ? [] : [`its reason is no line of ${PAGE}: ${threat.reason}`])];
}

/** Files with an entry that must not exist. */
function findEntries({ path, matches }: AbsentText): string[] {
  const files = readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  return files
    .filter((name) => matches.test(readFileSync(join(path, name), "utf8")))
    .map((name) => `applies: ${join(path, name)} has such an entry`);
}

function compareWays(kind: string, found: string[], named: Record<string, string[]>): string[] {
  const ids = new Set<string>(threats.map(({ id }) => id));
  return [
    ...found.filter((way) => !named[way]?.length).map((way) => `no threat names the ${kind} ${way}`),
    ...Object.keys(named)
      .filter((way) => !found.includes(way))
      .map((way) => `there is no ${kind} ${way}`),
    ...Object.entries(named).flatMap(([way, named]) =>
      named.filter((id) => !ids.has(id)).map((id) => `the ${kind} ${way} names ${id}, which does not exist`),
    ),
  ];
}

/** A cell of the page names tests as `file` › "title", "title". */
function testsInCell(cell: string): TestTitles {
  const named = [...cell.matchAll(/`([^`]+\.test\.ts)`((?: ›|,)? "[^"]*")*/g)];
  return Object.fromEntries(
    named.map(([text, file = ""]) => [file, [...text.matchAll(/"([^"]*)"/g)].map(([, title = ""]) => title)]),
  );
}

function findPromiseProblems([promise = "", tests = ""]: string[]): string[] {
  const named = testsInCell(tests);
  const found = Object.keys(named).length > 0 ? findMissingTests(named) : ["names no test"];
  return found.map((problem) => `${PAGE}: "${promise}": ${problem}`);
}

const threats = threatSections.flatMap((section) => section.threats);
const ids = threats.map(({ id }) => id);
const expectedIds = Array.from({ length: THREATS }, (_, index) => `T${String(index + 1).padStart(2, "0")}`);
const withReason = new Set<string>(threats.filter(({ kind }) => kind !== "control and test").map(({ id }) => id));
const promises = tableRows("Promise");
const waysIn = listWaysIn();

const problems = [
  ...expectedIds.filter((id, index) => ids[index] !== id).map((id) => `${id}: is not at its place in the table`),
  ...(ids.length === THREATS ? [] : [`the table has ${ids.length} threats instead of ${THREATS}`]),
  ...threats.flatMap((threat) => findThreatProblems(threat).map((problem) => `${threat.id}: ${problem}`)),
  ...[...reasons.keys()]
    .filter((id) => !withReason.has(id))
    .map((id) => `${id}: ${PAGE} has a reason that it does not need`),
  ...compareWays("route", waysIn.routes, routesIn),
  ...compareWays("group of operations", waysIn.operations, operationsIn),
  ...compareWays("scope", waysIn.scopes, scopesIn),
  ...compareWays("credential", waysIn.credentials, credentialsIn),
  ...promises.flatMap(findPromiseProblems),
  ...(promises.length > 20 ? [] : [`${PAGE}: only ${promises.length} promises were found`]),
];
const count = (kind: Threat["kind"]) => `${threats.filter((threat) => threat.kind === kind).length} ${kind}`;
const kinds = [count("control and test"), count("by configuration"), count("not applicable")].join(", ");
console.log(
  [...problems, `${titlesByFile.size} files, ${threats.length} threats: ${kinds}; ${promises.length} promises`].join(
    "\n",
  ),
);
process.exit(problems.length > 0 ? 1 : 0);
