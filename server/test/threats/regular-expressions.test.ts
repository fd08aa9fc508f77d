// No regular expression of the server, the client or the contract takes more than linear time: each is matched against
// hostile text of 50 kB.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LENGTH = 50_000;
const MAX_CPU_MS = 50;
/** A pattern that takes quadratic or exponential time is stopped here. */
const STOP_MS = 300;
/** Only the operator or the program that uses the client writes what these are matched against: base URLs. */
const OF_SETTINGS = ["\\/+$"];

/** A literal of a regular expression: after a character that can precede one, and with closed classes. */
const LITERAL =
  /(?<=[(,=:[!&|?{};]\s*|\breturn\s|^\s*)\/(?![/*\s])((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)(?![\w/])/gm;

type Pattern = { place: string; source: string; flags: string };

const literalsIn = (path: string, text: string): Pattern[] =>
  [...text.matchAll(LITERAL)].flatMap(({ 1: source = "", 2: flags = "", index }) => {
    try {
      new RegExp(source, flags);
    } catch {
      return [];
    }
    return [{ place: `${path}:${text.slice(0, index).split("\n").length}`, source, flags }];
  });

const listPrograms = (folder: string) =>
  readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !/\.(test|contract)\.ts$/.test(name))
    .map((name) => `${folder}/${name}`);

function patternsOfContract(): Pattern[] {
  const text = readFileSync(`${ROOT}/api/openapi.json`, "utf8");
  const sources = [...text.matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g)].map(([, json]) => JSON.parse(json!) as string);
  return [...new Set(sources)].map((source) => ({ place: "api/openapi.json", source, flags: "u" }));
}

/** Text that a pattern matches for long and then not, of characters that patterns name and of those in the pattern. */
function hostileTexts({ source }: Pattern): string[] {
  const own = [...new Set(source.replace(/\\[a-zA-Z]/g, ""))].filter(
    (character) => !"\\^$*+?()|{}".includes(character),
  );
  const parts = new Set([..."a0 .-:/=&\n", "a.", "a ", "0,", ...own.slice(0, 12)]);
  return [...parts].map((part) => `${part.repeat(LENGTH / part.length)}\u0001`);
}

const context = createContext({ pattern: /x/, text: "" });
const script = new Script("pattern.lastIndex = 0; pattern.test(text)");

/** Milliseconds of CPU, the less of two attempts; infinite if a match had to be stopped. */
function timeOf(pattern: RegExp, text: string): number {
  Object.assign(context, { pattern, text });
  const attempt = () => {
    const before = process.cpuUsage();
    try {
      script.runInContext(context, { timeout: STOP_MS });
    } catch {
      return Number.POSITIVE_INFINITY;
    }
    return process.cpuUsage(before).user / 1000;
  };
  const first = attempt();
  return first > MAX_CPU_MS && Number.isFinite(first) ? Math.min(first, attempt()) : first;
}

const findSlowText = (pattern: Pattern) => {
  const compiled = new RegExp(pattern.source, pattern.flags);
  return hostileTexts(pattern).find((text) => timeOf(compiled, text) > MAX_CPU_MS);
};

it("every pattern matches 50 kB of hostile text in less than 50 ms of CPU", () => {
  const files = ["server/src", "sdk/src"].flatMap(listPrograms);
  const patterns = [
    ...patternsOfContract(),
    ...files.flatMap((path) => literalsIn(path, readFileSync(`${ROOT}/${path}`, "utf8"))),
  ];
  expect(patterns.length).toBeGreaterThan(150);
  const slow = patterns.flatMap((pattern) => {
    const text = OF_SETTINGS.includes(pattern.source) ? undefined : findSlowText(pattern);
    return text === undefined ? [] : [`${pattern.place} /${pattern.source}/ with ${JSON.stringify(text.slice(0, 4))}…`];
  });
  console.log(`${patterns.length} patterns in ${files.length} files`);
  expect(slow).toEqual([]);
});

it("a pattern that backtracks is noticed, exponential or quadratic", () => {
  for (const source of ["^(a+)+$", "^(\\w|\\d)+$", "\\s+$", "=+$"])
    expect([source, findSlowText({ place: "", source, flags: "" }) !== undefined]).toEqual([source, true]);
});
