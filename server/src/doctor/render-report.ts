// Renders the report as text of at most 80 columns. Colors repeat what text and marks say, so they can be left out.
import { UNIT_LABELS } from "../prices/price.ts";
import type { CheckStatus, DoctorCheck, DoctorReport, ProviderCheck, UnofferedModel } from "./report.ts";

export type Colorize = (status: CheckStatus | "head", text: string) => string;

const WIDTH = 80;
const HEAD = "models without an enabled provider";
const MARKS: Record<CheckStatus, string> = { pass: "✓", warn: "!", fail: "✗", skip: "–" };
const KEYS: Record<ProviderCheck["key"], string> = {
  works: "works",
  refused: "refused",
  unasked: "not checked",
  none: "needs none",
  off: "off",
  unknown: "unknown",
};

export function renderReport(report: DoctorReport, colorize: Colorize): string {
  const failures = [...report.checks, ...report.providers].filter(({ status }) => status === "fail").length;
  const sum = report.ok
    ? colorize("pass", "All enabled parts work.")
    : colorize("fail", `${failures} ${failures === 1 ? "check" : "checks"} failed.`);
  return [
    "",
    ...renderChecks(report.checks, colorize),
    "",
    ...renderProviders(report.providers, colorize),
    ...renderModels(report.providers, colorize),
    ...renderUnoffered(report.unoffered, colorize),
    "",
    `  ${sum}`,
    "",
  ].join("\n");
}

/** The checks of an upgrade, in the same form. */
export function renderUpgradeReport(
  { version, ok, checks }: { version: string; ok: boolean; checks: DoctorCheck[] },
  colorize: Colorize,
): string {
  const sum = ok
    ? colorize("pass", `You can upgrade to ${version}.`)
    : colorize("fail", `Do not upgrade to ${version}.`);
  return ["", ...renderChecks(checks, colorize), "", `  ${sum}`, ""].join("\n");
}

const longest = (texts: string[]) => Math.max(0, ...texts.map((text) => text.length));

function renderChecks(checks: DoctorCheck[], colorize: Colorize): string[] {
  const width = longest(checks.map(({ name }) => name));
  return checks.flatMap(({ name, status, message, fix }) => {
    const indent = width + 6;
    const [first = "", ...rest] = [...wrap(message, WIDTH - indent), ...(fix ? wrap(`→ ${fix}`, WIDTH - indent) : [])];
    return [
      `  ${colorize(status, MARKS[status])} ${name.padEnd(width)}  ${first}`,
      ...rest.map((line) => " ".repeat(indent) + line),
    ];
  });
}

/** Counts are shown only if the provider was reachable. */
const hasCounts = ({ key }: ProviderCheck) => key === "works" || key === "unasked" || key === "none";

function renderProviders(providers: ProviderCheck[], colorize: Colorize): string[] {
  const width = longest(["provider", ...providers.map(({ name }) => name)]);
  const row = (name: string, key: string, counts: string[]) =>
    `${name.padEnd(width)}  ${key.padEnd(10)}${counts.map((count) => count.padStart(9)).join("")}`;
  return [
    colorize("head", `    ${row("provider", "key", ["known", "missing", "unasked"])}`),
    ...providers.flatMap((check) => {
      const { status, name, key, known, missing, unasked } = check;
      const counts = hasCounts(check) ? [known, missing.length, unasked].map((each) => String(each || "·")) : [];
      const line = row(name, KEYS[key], counts);
      const [aside, below] = notesBeside(check, WIDTH - line.length - 6);
      return [
        `  ${colorize(status, MARKS[status])} ${line}  ${aside}`.trimEnd(),
        ...below.map((note) => `${" ".repeat(width + 6)}${note}`),
      ];
    }),
  ];
}

/** Text that does not fit beside the counts goes below them. */
function notesBeside(
  { message, fix, missing, prices, name }: ProviderCheck,
  available: number,
): [aside: string, below: string[]] {
  const notFound = missing.map(({ as, models }) => `✗ upstream model ${as} not found (used by ${models.join(", ")})`);
  const width = WIDTH - 6 - Math.max(name.length, 12);
  const otherPrices = prices.map(
    ({ as, unit, here, there }) => `! ${as} costs $${there} ${UNIT_LABELS[unit]} today; Gesso expects $${here}`,
  );
  const rest = [...notFound, ...otherPrices, ...(fix ? [`→ ${fix}`] : [])].flatMap((note) => wrap(note, width));
  return message.length <= available ? [message, rest] : ["", [...wrap(message, width), ...rest]];
}

const LISTED = { yes: "listed", no: "not listed", unasked: "not asked" };
const SCHEMAS = { fits: "fits", changed: "changed", unread: "not readable", unpublished: "not published" };

/** One line per upstream model, with `--live`. */
function renderModels(providers: ProviderCheck[], colorize: Colorize): string[] {
  const rows = providers.flatMap(({ name, models = [] }) => models.map((model) => ({ ...model, name })));
  if (rows.length === 0) return [];
  const names = rows.map(({ name, as }) => `${name}:${as}`);
  const width = longest(["upstream model", ...names]);
  const head = `    ${"upstream model".padEnd(width)}  ${"at provider".padEnd(11)}  schema`;
  return [
    "",
    colorize("head", head),
    ...rows.flatMap(({ listed, schema, problem }, index) => {
      const isWrong = listed === "no" || schema === "changed";
      const status = isWrong ? "fail" : listed === "yes" ? "pass" : "skip";
      const line = `${names[index]!.padEnd(width)}  ${LISTED[listed].padEnd(11)}  ${SCHEMAS[schema]}`;
      const notes = problem ? wrap(`✗ ${problem}`, WIDTH - 6) : [];
      return [`  ${colorize(status, MARKS[status])} ${line}`, ...notes.map((note) => `      ${note}`)];
    }),
  ];
}

/** One line per model, for all its tasks. */
function renderUnoffered(unoffered: UnofferedModel[], colorize: Colorize): string[] {
  if (unoffered.length === 0) return [];
  const models = [...new Set(unoffered.map(({ model }) => model))];
  const width = longest([HEAD, ...models]);
  return [
    "",
    colorize("head", `    ${HEAD.padEnd(width)}  enable`),
    ...models.flatMap((model) => {
      const of = unoffered.filter((each) => each.model === model);
      const by = [...new Set(of.flatMap((each) => each.by))];
      const hint = by.length > 0 ? by.join(", ") : "add an entry in gesso.yaml";
      const [first = "", ...rest] = wrap(hint, WIDTH - width - 6);
      return [
        `  ${colorize("skip", MARKS.skip)} ${model.padEnd(width)}  ${first}`,
        ...rest.map((line) => " ".repeat(width + 6) + line),
      ];
    }),
  ];
}

/** Breaks lines between words. A longer word stays whole, so that it can be copied. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
