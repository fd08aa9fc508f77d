// The gate of a commit, started by .ci/run: checks, all tests, the campaigns whose guarded paths have changed, and one
// campaign in rotation with a fresh seed. Nothing is tried twice, and no check is about speed. The last line is the
// number of passed and failed checks. SIGTERM stops everything that the gate has started.
import { randomInt } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Campaign, withSeed } from "./campaign-list.ts";
import { listChangedPaths, selectChanged, selectRotating } from "./changed-paths.ts";
import { type CommandOptions, type CommandResult, runCommand, stopEverything } from "./run-command.ts";
import { startS3 } from "./s3.ts";
import { countTests, type TestResults } from "./test-results.ts";

const FIGURES = ".campaigns/gate.json";
const SHOWN_FILES = 10;
const TESTS_LIMIT_SECONDS = 3600;

type StepFigures = { name: string; seconds: number; cpuSeconds: number | undefined; passed: number; failed: number };

const startedAt = performance.now();
const work = mkdtempSync(join(tmpdir(), "gesso-gate-"));
const costs = join(work, "costs.jsonl");
const steps: StepFigures[] = [];
const failures: string[] = [];

const elapsed = () => Math.round((performance.now() - startedAt) / 1000);

async function step(
  options: CommandOptions,
  count: (result: CommandResult) => { passed: number; failed: number; failures?: string[] } = countExit,
): Promise<void> {
  console.log(`\n=== ${options.name} (${elapsed()} s)`);
  const result = await runCommand(options);
  const { passed, failed, failures: own = failed > 0 ? [options.name] : [] } = count(result);
  steps.push({ name: options.name, seconds: result.seconds, cpuSeconds: result.cpuSeconds, passed, failed });
  failures.push(...own);
}

const countExit = ({ code }: CommandResult) => ({ passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 });

function countTestsOf(file: string) {
  return ({ code }: CommandResult) => {
    if (!existsSync(file)) return { passed: 0, failed: 1 };
    const counts = countTests(JSON.parse(readFileSync(file, "utf8")) as TestResults);
    // An error between tests, or the limit of the step, is a failure too.
    if (code !== 0 && counts.failed === 0) return { ...counts, failed: 1, failures: ["tests: exit code"] };
    return counts;
  };
}

const npmRun = (script: string, ...words: string[]) => ["npm", "run", "--silent", script, ...words];

async function runGate(): Promise<void> {
  // It starts while the checks run.
  const s3 = startS3(work);
  await step({ name: "check", command: npmRun("check"), limitSeconds: 300 });
  await step({ name: "bill of materials", command: npmRun("release", "--", "sbom"), limitSeconds: 120 });
  await step({ name: "known vulnerabilities", command: npmRun("release", "--", "advisories"), limitSeconds: 120 });
  const results = join(work, "tests.json");
  const endpoint = await s3.ready();
  await step(
    {
      name: "tests",
      command: ["npx", "vitest", "run", "--reporter=default", "--reporter=json", `--outputFile=${results}`],
      env: { GESSO_TEST_COSTS: costs, ...(endpoint && { TEST_S3_ENDPOINT: endpoint }) },
      limitSeconds: TESTS_LIMIT_SECONDS,
    },
    countTestsOf(results),
  );
  await s3.stop();
  for (const each of selectChanged(listChangedPaths())) await runCampaignStep(each);
  await runCampaignStep(selectRotating());
}

const runCampaignStep = ({ name, command, limitSeconds }: Campaign) =>
  step({ name, command: withSeed(command, String(randomInt(2 ** 31))), limitSeconds });

function report(): number {
  const total = { passed: sum(steps, "passed"), failed: sum(steps, "failed") };
  const files = readCosts();
  console.log(`\n=== result (${elapsed()} s)`);
  for (const { name, seconds, cpuSeconds, passed, failed } of steps)
    console.log(
      `${name.padEnd(28)} ${seconds.toFixed(0).padStart(5)} s  ${(cpuSeconds?.toFixed(0) ?? "?").padStart(5)} CPU s  ${passed} passed, ${failed} failed`,
    );
  if (files.length > 0) console.log(`\nthe ${SHOWN_FILES} dearest test files, in CPU seconds`);
  for (const { file, seconds } of files.slice(0, SHOWN_FILES))
    console.log(`${seconds.toFixed(1).padStart(7)}  ${file}`);
  if (failures.length > 0) console.log(`\nfailed:\n${failures.map((each) => `  ${each}`).join("\n")}`);
  mkdirSync(".campaigns", { recursive: true });
  writeFileSync(FIGURES, `${JSON.stringify({ seconds: elapsed(), steps, files }, null, 2)}\n`);
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

const sum = (figures: StepFigures[], field: "passed" | "failed") =>
  figures.reduce((total, each) => total + each[field], 0);

function readCosts(): { file: string; seconds: number }[] {
  if (!existsSync(costs)) return [];
  const lines = readFileSync(costs, "utf8").split("\n").filter(Boolean);
  return lines
    .map((line) => JSON.parse(line) as { file: string; seconds: number })
    .sort((one, other) => other.seconds - one.seconds);
}

/** The report reads files of the work folder. */
function exit(): never {
  const code = report();
  rmSync(work, { recursive: true, force: true });
  process.exit(code);
}

async function stop(signal: string): Promise<never> {
  failures.push(`stopped by ${signal}`);
  steps.push({ name: `stopped by ${signal}`, seconds: 0, cpuSeconds: 0, passed: 0, failed: 1 });
  await stopEverything();
  return exit();
}
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.once(signal, () => void stop(signal));

await runGate().catch((thrown: unknown) => {
  console.error(thrown);
  steps.push({ name: "gate", seconds: 0, cpuSeconds: 0, passed: 0, failed: 1 });
});
await stopEverything();
exit();
