// The rules of the house that no linter knows, each a line or two: what is forbidden, and where. At the end it says how
// long files are, because small files are a rule too.
import { basename, dirname } from "node:path";
import { type SourceFile, sourceFiles } from "./sources.ts";

const LONGEST = 400;
const MEDIAN = 90;
const NINTH_DECILE = 250;
const NAMES = /^(utils?|helpers?|common|shared|misc|base|manager|service|handler2|types)$/;
const SUFFIXES = /-(utils?|helpers?|common|shared|misc|base|manager|types)$/;

/** `within` chooses the files; `code` is what may not stand in them, in comments only where it says so. */
type Rule = { says: string; within(file: SourceFile): boolean; code: RegExp; inComments?: true };

const isServer = ({ path, isTest }: SourceFile) => path.startsWith("server/src/") && !isTest;
const below =
  (...folders: string[]) =>
  (file: SourceFile) =>
    folders.some((folder) => file.path.startsWith(folder));
const OPERATIONS = below("server/src/operations/");

const RULES: Rule[] = [
  {
    says: "rules between fields are data, so that the contract can carry them; no refine in operations",
    within: OPERATIONS,
    code: /\.(super)?[rR]efine\(/,
  },
  {
    says: "a plan is the same today and after a crash; no clock and no chance in operations",
    within: (file) => OPERATIONS(file) && !file.isTest,
    code: /\bDate\.now\(|\bnew Date\(|\bMath\.random\(|\brandomUUID\(|\bperformance\./,
  },
  {
    says: "only config.ts reads the environment",
    within: (file) =>
      !file.isTest &&
      !below("dev/", "cli/", "examples/", "scripts/", "server/src/config.ts", "sandbox/src/main.ts")(file),
    code: /\bprocess\.env\b/,
  },
  {
    says: "addresses are fetched by media/fetch.ts, or with the fetch that world.ts hands out",
    within: (file) => isServer(file) && !below("server/src/media/fetch.ts", "server/src/world.ts")(file),
    code: /(?<![.\w])fetch\(/,
  },
  {
    says: "SQL stands in db/ only",
    within: (file) => isServer(file) && !below("server/src/db/")(file),
    code: /["`]\s*(select\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\(|listen\s+\w+["`])/,
  },
  {
    says: "an open end is an issue, not a comment",
    within: () => true,
    code: /\b(TO(?:DO)|FIX(?:ME))\b/,
    inComments: true,
  },
  {
    says: "no test is left out, and none stands alone",
    within: ({ isTest }) => isTest,
    code: /\b(it|test|describe)\.(skip|only|todo|fails)\b/,
  },
];

const breaches = (file: SourceFile): string[] =>
  RULES.filter((rule) => rule.within(file)).flatMap((rule) =>
    (rule.inComments ? file.text : withoutComments(file.text))
      .split("\n")
      .flatMap((line, index) => (rule.code.test(line) ? [`${file.path}:${index + 1}: ${rule.says}`] : [])),
  );

/** Comments become empty lines, so that line numbers stay. Good enough for the code that we write. */
const withoutComments = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, "")).replace(/(^|\s)\/\/.*$/gm, "$1");

function nameBreaches({ path }: SourceFile): string[] {
  const stem = basename(path).replace(/(\.test|\.contract)?\.(ts|js)$/, "");
  const folders = dirname(path).split("/");
  const bad = [stem, ...folders].filter((name) => NAMES.test(name) || SUFFIXES.test(name));
  return bad.map((name) => `${path}: ${name} says nothing about what is inside`);
}

function shapeBreaches(file: SourceFile): string[] {
  const isSource = file.path.split("/")[1] === "src" && !file.isTest && !OPERATIONS(file);
  const opening = file.text.replace(/^#!.*\n/, "");
  return [
    ...(file.lines > LONGEST ? [`${file.path}: ${file.lines} lines, at most ${LONGEST}`] : []),
    ...(isSource && !/^\/[/*]/.test(opening) ? [`${file.path}: opens without saying what it is for`] : []),
  ];
}

const files = sourceFiles(["server", "sandbox", "dev", "cli", "sdk", "examples", "scripts", "docs"]);
const lengths = files
  .filter(({ isTest }) => !isTest)
  .map(({ lines }) => lines)
  .sort((a, b) => a - b);
const at = (share: number) => lengths[Math.floor(lengths.length * share)] ?? 0;

const broken = files.flatMap((file) => [...breaches(file), ...nameBreaches(file), ...shapeBreaches(file)]);
if (at(0.5) > MEDIAN) broken.push(`the median file has ${at(0.5)} lines, at most ${MEDIAN}`);
if (at(0.9) > NINTH_DECILE) broken.push(`one file in ten has more than ${at(0.9)} lines, at most ${NINTH_DECILE}`);

const sizes = `${lengths.length} files, lines: median ${at(0.5)}, p90 ${at(0.9)}, longest ${lengths.at(-1)}`;
console.log([...broken, sizes].join("\n"));
process.exit(broken.length > 0 ? 1 : 0);
