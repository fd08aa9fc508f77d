// Project rules that no linter checks: forbidden code by folder, generic file names, file length, types that pass on
// too many capabilities. Prints file length statistics at the end.
import { basename, dirname } from "node:path";
import { listCapabilityTypes, MAX_CAPABILITIES } from "./capabilities.ts";
import { listSourceFiles, type SourceFile } from "./source-files.ts";

const MAX_FILE_LINES = 400;
const MAX_COLUMNS = 120;
const FORBIDDEN_NAMES = /^(utils?|helpers?|common|shared|misc|base|manager|service|handler2|types)$/;
const FORBIDDEN_SUFFIXES = /-(utils?|helpers?|common|shared|misc|base|manager|types)$/;

/** `forbidden` must not occur in the files that the rule applies to; comments count only where `inComments` is set. */
type CodeRule = { message: string; appliesTo(file: SourceFile): boolean; forbidden: RegExp; inComments?: true };

const isServer = ({ path, isTest }: SourceFile) => path.startsWith("server/src/") && !isTest;
const below =
  (...folders: string[]) =>
  (file: SourceFile) =>
    folders.some((folder) => file.path.startsWith(folder));
const OPERATIONS = below("server/src/operations/");
const SYSTEM_CLOCK = "server/src/runtime/system-clock.ts";
/** The composition root creates the source of randomness; storage names and ages its temporary files. */
const READS_THE_CLOCK = below(
  ...[
    SYSTEM_CLOCK,
    "server/src/compose.ts",
    "server/src/roles/",
    "server/src/settings/config.ts",
    "server/src/files/storage/",
  ],
);
/**
 * The composition root hands the clock of the machine to all others. Connections to other programs have it as their
 * default, because a socket or a child process takes real time.
 */
const NAMES_THE_SYSTEM_CLOCK = below(
  ...[SYSTEM_CLOCK, "server/src/compose.ts", "server/src/roles/", "server/src/db/connect.ts"],
  ...[
    "server/src/db/migrations/migrate.ts",
    "server/src/files/storage/s3-client.ts",
    "server/src/outbound/",
    "server/src/files/images/",
  ],
  ...["server/src/files/provenance/create-signer.ts", "server/src/providers/local/model-process.ts"],
);
/** Restate answers questions about invocations in SQL of its own. */
const QUERIES_THE_ENGINE = below("server/src/engine/engine-admin.ts", "server/src/doctor/check-workers.ts");

const declaresQuery = ({ text }: SourceFile) => /\bdefineQuery\(/.test(text);

const RULES: CodeRule[] = [
  {
    message: "rules between fields are data, so that the contract can carry them; no refine in operations",
    appliesTo: OPERATIONS,
    forbidden: /\.(super)?[rR]efine\(/,
  },
  {
    message: "plans are deterministic: no clock and no randomness in operations that create runs",
    appliesTo: (file) => OPERATIONS(file) && !file.isTest && !declaresQuery(file),
    forbidden: /\bDate\.now\(|\bnew Date\(|\bMath\.random\(|\brandomUUID\(|\bperformance\./,
  },
  {
    message: "handlers get time and IDs handed in, as `clock` and `ids`",
    appliesTo: (file) => OPERATIONS(file) && !file.isTest && declaresQuery(file),
    forbidden: /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(|\bperformance\./,
  },
  {
    message: "time and randomness are handed in (Clock, Random, Ids); only these files read them",
    appliesTo: (file) => isServer(file) && !READS_THE_CLOCK(file),
    forbidden: /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(/,
  },
  {
    message: "timers come from the clock that is handed in (Clock.sleep, after, every), so that a test can move it",
    appliesTo: (file) => isServer(file) && file.path !== SYSTEM_CLOCK,
    forbidden:
      /\b(setTimeout|setInterval|clearTimeout|clearInterval)\b|\bAbortSignal\.timeout\b|["'](node:)?timers(\/promises)?["']/,
  },
  {
    message: "a clock is handed in; only the composition root and connections to other programs name systemClock",
    appliesTo: (file) => isServer(file) && !NAMES_THE_SYSTEM_CLOCK(file),
    forbidden: /\bsystemClock\b/,
  },
  {
    message: "only config.ts reads the environment",
    appliesTo: (file) =>
      !file.isTest &&
      !below("dev/", "cli/", "examples/", "scripts/", "server/src/settings/config.ts", "sandbox/src/main.ts")(file),
    forbidden: /\bprocess\.env\b/,
  },
  {
    message: "only outbound/ opens sockets to other hosts",
    appliesTo: (file) => isServer(file) && !below("server/src/outbound/")(file),
    forbidden: /(?<![.\w])fetch\(|\bnew \(?WebSocket\b|\bnew EventSource\b/,
  },
  {
    message: "SQL stands in db/ only",
    appliesTo: (file) => isServer(file) && !below("server/src/db/")(file) && !QUERIES_THE_ENGINE(file),
    forbidden:
      /["`]\s*(select\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\(|listen\s+\w+["`])/,
  },
  {
    message:
      "Database.query is for tests: a query of the server is a statement(...), which is checked against the schema",
    appliesTo: isServer,
    // `client` and `pool` are those of the driver, `req` is an HTTP request.
    forbidden: /(?<!\b(client|pool|req))\.query\s*(<[^(]*>)?\(|[{,]\s*query\b[^=(]*\}\s*=\s/,
  },
  {
    message: "name the columns: after a migration adds one, a prepared statement with * fails in running processes",
    appliesTo: (file) => isServer(file) && below("server/src/db/")(file),
    forbidden: /\b(select|returning|distinct)\s+\*|[\w)]\.\*(?![/\w])|^\s*\*\s+from\b/,
  },
  {
    message: "providers/resolve-model.ts turns names into offers; others ask it (listOffers, findOffers)",
    appliesTo: (file) =>
      isServer(file) && !below("server/src/providers/", "server/src/catalogue/", "server/src/doctor/")(file),
    forbidden: /\bprovider\??\.offers\b/,
  },
  {
    message: "an open end is an issue, not a comment",
    appliesTo: () => true,
    forbidden: /\b(TO(?:DO)|FIX(?:ME))\b/,
    inComments: true,
  },
  {
    message: "no skipped and no focused tests",
    appliesTo: ({ isTest }) => isTest,
    forbidden: /\b(it|test|describe)\.(skip|only|todo|fails)\b/,
  },
];

const findRuleViolations = (file: SourceFile): string[] =>
  RULES.filter((rule) => rule.appliesTo(file)).flatMap((rule) =>
    (rule.inComments ? file.text : withoutComments(file.text))
      .split("\n")
      .flatMap((line, index) => (rule.forbidden.test(line) ? [`${file.path}:${index + 1}: ${rule.message}`] : [])),
  );

/** Comments become empty lines, so that line numbers stay. Good enough for the code that we write. */
const withoutComments = (text: string) =>
  text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, "")).replace(/(^|\s)\/\/.*$/gm, "$1");

function findNameViolations({ path }: SourceFile): string[] {
  const stem = basename(path).replace(/(\.test|\.contract)?\.(tsx?|js)$/, "");
  const folders = dirname(path).split("/");
  const bad = [stem, ...folders].filter((name) => FORBIDDEN_NAMES.test(name) || FORBIDDEN_SUFFIXES.test(name));
  return bad.map((name) => `${path}: ${name} is too generic a name`);
}

function findFileViolations(file: SourceFile): string[] {
  const isSource = file.path.split("/")[1] === "src" && !file.isTest && !OPERATIONS(file);
  const opening = file.text.replace(/^#!.*\n/, "");
  return [
    ...(file.lines > MAX_FILE_LINES ? [`${file.path}: ${file.lines} lines, at most ${MAX_FILE_LINES}`] : []),
    ...(isSource && !/^\/[/*]/.test(opening) ? [`${file.path}: has no header comment`] : []),
    ...findLongComments(file),
  ];
}

const findLargeCapabilityTypes = (file: SourceFile) =>
  listCapabilityTypes(file)
    .filter(({ members }) => isServer(file) && members > MAX_CAPABILITIES)
    .map(
      ({ name, line, members }) =>
        `${file.path}:${line}: ${name} passes on ${members} capabilities, at most ${MAX_CAPABILITIES}: split it by use`,
    );

/** The formatter wraps code at 120 columns; comments are wrapped by hand. */
const findLongComments = ({ path, text }: SourceFile) =>
  text
    .split("\n")
    .flatMap((line, index) =>
      line.length > MAX_COLUMNS && /^\s*(\/\/|\/?\*)/.test(line) && !/https?:\/\/|eslint|biome-ignore/.test(line)
        ? [`${path}:${index + 1}: a comment of ${line.length} columns, at most ${MAX_COLUMNS}`]
        : [],
    );

const files = listSourceFiles([
  "server",
  "sandbox",
  "dev",
  "cli",
  "sdk",
  "console",
  "examples",
  "python",
  "scripts",
  "docs",
]);
const lengths = files
  .filter(({ isTest }) => !isTest)
  .map(({ lines }) => lines)
  .sort((a, b) => a - b);
const at = (share: number) => lengths[Math.floor(lengths.length * share)] ?? 0;

const broken = files.flatMap((file) => [
  ...findRuleViolations(file),
  ...findNameViolations(file),
  ...findFileViolations(file),
  ...findLargeCapabilityTypes(file),
]);

const sizes = `${lengths.length} files, lines: median ${at(0.5)}, p90 ${at(0.9)}, longest ${lengths.at(-1)}`;
console.log([...broken, sizes].join("\n"));
process.exit(broken.length > 0 ? 1 : 0);
