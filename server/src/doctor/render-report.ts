// The report as a page of at most 80 columns. Colours only underline what the words and marks say, so nothing is lost
// without them.
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

export function renderReport(report: DoctorReport, paint: Colorize): string {
  const failures = [...report.checks, ...report.providers].filter(({ status }) => status === "fail").length;
  const sum = report.ok
    ? paint("pass", "All enabled parts work.")
    : paint("fail", `${failures} ${failures === 1 ? "check" : "checks"} failed.`);
  return [
    "",
    ...printChecks(report.checks, paint),
    "",
    ...printProviders(report.providers, paint),
    ...printUnoffered(report.unoffered, paint),
    "",
    `  ${sum}`,
    "",
  ].join("\n");
}

const longest = (words: string[]) => Math.max(0, ...words.map((word) => word.length));

function printChecks(checks: DoctorCheck[], paint: Colorize): string[] {
  const width = longest(checks.map(({ name }) => name));
  return checks.flatMap(({ name, status, message, fix }) => {
    const indent = width + 6;
    const [first = "", ...rest] = [...wrap(message, WIDTH - indent), ...(fix ? wrap(`→ ${fix}`, WIDTH - indent) : [])];
    return [
      `  ${paint(status, MARKS[status])} ${name.padEnd(width)}  ${first}`,
      ...rest.map((line) => " ".repeat(indent) + line),
    ];
  });
}

/** Figures are shown only where there was somebody to ask. */
const hasFigures = ({ key }: ProviderCheck) => key === "works" || key === "unasked" || key === "none";

function printProviders(providers: ProviderCheck[], paint: Colorize): string[] {
  const width = longest(["provider", ...providers.map(({ name }) => name)]);
  const row = (name: string, key: string, figures: string[]) =>
    `${name.padEnd(width)}  ${key.padEnd(10)}${figures.map((figure) => figure.padStart(9)).join("")}`;
  return [
    paint("head", `    ${row("provider", "key", ["known", "missing", "unasked"])}`),
    ...providers.flatMap((check) => {
      const { status, name, key, known, missing, unasked } = check;
      const figures = hasFigures(check) ? [known, missing.length, unasked].map((each) => String(each || "·")) : [];
      const line = row(name, KEYS[key], figures);
      const [aside, below] = notesBeside(check, WIDTH - line.length - 6);
      return [
        `  ${paint(status, MARKS[status])} ${line}  ${aside}`.trimEnd(),
        ...below.map((note) => `${" ".repeat(width + 6)}${note}`),
      ];
    }),
  ];
}

/** What does not fit beside the figures stands below them. */
function notesBeside({ message, fix, missing, name }: ProviderCheck, room: number): [aside: string, below: string[]] {
  const gone = missing.map(({ as, models }) => `✗ upstream model ${as} not found (used by ${models.join(", ")})`);
  const width = WIDTH - 6 - Math.max(name.length, 12);
  const rest = [...gone, ...(fix ? [`→ ${fix}`] : [])].flatMap((note) => wrap(note, width));
  return message.length <= room ? [message, rest] : ["", [...wrap(message, width), ...rest]];
}

/** A line for each model, whatever it is asked to do. */
function printUnoffered(unoffered: UnofferedModel[], paint: Colorize): string[] {
  if (unoffered.length === 0) return [];
  const models = [...new Set(unoffered.map(({ model }) => model))];
  const width = longest([HEAD, ...models]);
  return [
    "",
    paint("head", `    ${HEAD.padEnd(width)}  enable`),
    ...models.flatMap((model) => {
      const of = unoffered.filter((each) => each.model === model);
      const by = [...new Set(of.flatMap((each) => each.by))];
      const who = by.length > 0 ? by.join(", ") : "add an entry in gesso.yaml";
      const [first = "", ...rest] = wrap(who, WIDTH - width - 6);
      return [
        `  ${paint("skip", MARKS.skip)} ${model.padEnd(width)}  ${first}`,
        ...rest.map((line) => " ".repeat(width + 6) + line),
      ];
    }),
  ];
}

/** Breaks between words; a word that is too long by itself is left whole, so that it can be copied. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
