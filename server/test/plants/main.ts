// `npm run proof -- plants`: applies each planted fault of this folder to a copy of the repository, runs the command
// that must notice it, and fails if one goes unnoticed. `--only NAME,NAME` tries some. The tests are thereby tested
// themselves.
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { type PlantedFault, readPlantedFaults } from "./planted-faults.ts";
import { createRepositoryCopy, type RepositoryCopy } from "./repository-copy.ts";

const TIMEOUT_MS = 15 * 60 * 1000;
/** A test that takes this long hangs because of the planted fault. */
const HANGING_TEST_MS = 120_000;
const SHOWN_LINES = 30;

type Attempt = { isAsExpected: boolean; seenBy: string; output: string };
type Verdict = Attempt & { plant: PlantedFault; seconds: number };

const { only } = parseArgs({ options: { only: { type: "string" } } }).values;
const names = only?.split(",");
const plants = readPlantedFaults().filter(({ name }) => names === undefined || names.includes(name));
if (names && plants.length < names.length) throw new Error(`not all of these planted faults exist: ${only}`);

const copy = await createRepositoryCopy();
const verdicts: Verdict[] = [];
try {
  for (const plant of plants) {
    const verdict = await tryPlant(copy, plant);
    verdicts.push(verdict);
    console.log(renderRow(verdict));
    if (!verdict.isAsExpected) console.log(verdict.output.split("\n").slice(-SHOWN_LINES).join("\n"));
  }
} finally {
  copy.remove();
}

const asExpected = verdicts.filter(({ isAsExpected }) => isAsExpected);
console.log(
  `\n| Plant | Promise | Seen by | Simulation | Seconds |\n|---|---|---|---|---|\n${verdicts.map(renderRow).join("\n")}`,
);
console.log(`\nplants: ${asExpected.length} as expected, ${verdicts.length - asExpected.length} not`);
process.exit(asExpected.length === verdicts.length ? 0 : 1);

/** A fault that only shows by chance gets several tries. */
async function tryPlant({ path, apply }: RepositoryCopy, plant: PlantedFault): Promise<Verdict> {
  const start = Date.now();
  const restore = apply(plant.file);
  try {
    for (let left = plant.tries; ; left--) {
      const attempt = judge(plant, await run(path, plant.command));
      if (attempt.isAsExpected || left <= 1)
        return { ...attempt, plant, seconds: Math.round((Date.now() - start) / 1000) };
    }
  } finally {
    restore();
  }
}

/** A command that fails for another reason than the expected one, such as a crash, has not noticed the fault. */
function judge(plant: PlantedFault, { code, output }: { code: number | null; output: string }): Attempt {
  if (plant.holds) return { isAsExpected: code === 0, seenBy: code === 0 ? "holds, as it must" : "BROKEN", output };
  const failures = output.split("\n").filter((line) => /FAILED|FAIL |×|✗/.test(line));
  const failure = failures.find((line) => line.includes(plant.failure));
  const isSeen = code !== 0 && failure !== undefined;
  return { isAsExpected: isSeen, seenBy: isSeen ? `${plant.command}: ${plant.failure}` : "UNSEEN", output };
}

function run(directory: string, command: string): Promise<{ code: number | null; output: string }> {
  const env = { ...process.env, HANGING_TEST_MS: String(HANGING_TEST_MS) };
  const child = spawn("npx", command.split(" "), { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] });
  const timer = setTimeout(() => child.kill("SIGTERM"), TIMEOUT_MS);
  const output: Buffer[] = [];
  child.stdout.on("data", (chunk) => output.push(chunk));
  child.stderr.on("data", (chunk) => output.push(chunk));
  return new Promise((resolve) => {
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output: Buffer.concat(output).toString() });
    });
  });
}

function renderRow({ plant, seenBy, seconds }: Verdict): string {
  const simulation = plant.isSimulated ? "seen" : "not covered";
  return `| ${plant.name} | ${plant.promise} | ${seenBy} | ${simulation} | ${seconds} |`;
}
