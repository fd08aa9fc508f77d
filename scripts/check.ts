// `npm run check`: everything that can be said about the code without running it. A line for each check with its time;
// what a failed one said follows.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { delimiter, resolve } from "node:path";

const LIMIT_SECONDS = 30;

type Check = { name: string; command: string[] };
type Outcome = Check & { seconds: number; code: number; output: string };

const node = (...parameters: string[]) => [process.execPath, ...parameters];

/** What the last check has found about unchanged files is kept. */
const checkTypes = (project: string) => [
  ...["tsc", "--noEmit", "-p", project, "--incremental"],
  ...["--tsBuildInfoFile", `node_modules/.cache/types/${project === "." ? "root" : project}.tsbuildinfo`],
];

/** The slow ones first, so that they do not wait behind the quick ones. */
const CHECKS: Check[] = [
  { name: "types", command: checkTypes(".") },
  { name: "types, console", command: checkTypes("console") },
  { name: "contract", command: ["redocly", "lint", "api/openapi.json"] },
  { name: "generated", command: node("scripts/generate.ts", "--check") },
  { name: "format, lint", command: ["biome", "ci", ".", "--error-on-warnings", "--colors=off"] },
  { name: "dead code", command: ["knip", "--no-progress"] },
  { name: "imports", command: node("scripts/check-imports.ts") },
  { name: "code rules", command: node("scripts/check-code-rules.ts") },
  { name: "migrations", command: node("scripts/check-migrations.ts") },
  { name: "conformance", command: node("scripts/check-conformance.ts") },
  { name: "campaigns", command: node("scripts/check-campaigns.ts") },
  { name: "criteria", command: node("scripts/check-criteria.ts") },
  { name: "exported names", command: node("scripts/check-names.ts") },
  { name: "threats", command: node("scripts/check-threats.ts") },
  { name: "supply chain", command: node("scripts/check-supply-chain.ts") },
  { name: "commands", command: node("scripts/check-commands.ts") },
  { name: "versions", command: node("scripts/set-version.ts", "--check") },
  { name: "vocabulary", command: node("scripts/check-vocabulary.ts") },
];

function runCheck(check: Check): Promise<Outcome> {
  const [file = "", ...parameters] = check.command;
  const beginning = performance.now();
  const path = `${resolve("node_modules/.bin")}${delimiter}${process.env.PATH}`;
  const child = spawn(file, parameters, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, PATH: path } });
  const said: Buffer[] = [];
  child.stdout.on("data", (chunk) => said.push(chunk));
  child.stderr.on("data", (chunk) => said.push(chunk));
  return new Promise((done) => {
    const end = (code: number) => {
      const seconds = (performance.now() - beginning) / 1000;
      done({ ...check, seconds, code, output: Buffer.concat(said).toString().trim() });
    };
    child.on("error", (error) => {
      said.push(Buffer.from(error.message));
      end(1);
    });
    child.on("close", (code) => end(code ?? 1));
  });
}

function show({ name, seconds, code, output: said }: Outcome): void {
  const last = said.split("\n").at(-1) ?? "";
  const note = code === 0 && /^\d+ files/.test(last) ? `   ${last}` : "";
  console.log(`${code === 0 ? "ok    " : "FAILED"}  ${name.padEnd(14)}${seconds.toFixed(1).padStart(5)} s${note}`);
  if (code !== 0) console.log(`\n${said}\n`);
}

const beginning = performance.now();
const pendingChecks = [...CHECKS];
const outcomes: Outcome[] = [];
const worker = async () => {
  for (let check = pendingChecks.shift(); check; check = pendingChecks.shift()) {
    const outcome = await runCheck(check);
    show(outcome);
    outcomes.push(outcome);
  }
};
await Promise.all(Array.from({ length: Math.min(availableParallelism(), CHECKS.length) }, worker));

const failed = outcomes.filter(({ code }) => code !== 0);
const seconds = (performance.now() - beginning) / 1000;
const isSlow = seconds > LIMIT_SECONDS;
const slow = isSlow ? `, which is more than ${LIMIT_SECONDS} s` : "";
console.log(
  `check: ${CHECKS.length - failed.length} passed, ${failed.length} failed in ${seconds.toFixed(1)} s${slow}`,
);
// A machine that is busy with something else, as one of CI may be, is no fault of the code: there the time is only
// told.
process.exit(failed.length > 0 || (isSlow && !process.env.CI) ? 1 : 0);
