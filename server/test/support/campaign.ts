// Runs a campaign on real processes and reports which invariants held. `--short` is the CI version; `--only NAME` runs
// one of several. A campaign without results fails. `--seed N` repeats the random choices of an earlier run. Checks of
// speed are recorded and compared with the last run; they count only with `--speed`, on a machine that does nothing
// else.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { type CheckResult, recordSpeed } from "./check-result.ts";
import { createSeededRandom } from "./seeded-random.ts";

export type { CheckResult };

/** `counts`: how many runs were posted and how often a process was killed. */
export type CampaignReport = {
  name: string;
  results: CheckResult[];
  notes: string[];
  counts?: { runs: number; kills: number };
};
export type Log = (line: string) => void;

const { short, only, at, seed, speed } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string" },
    at: { type: "string" },
    speed: { type: "boolean", default: false },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
  },
}).values;
export const isShort = short;
/** The crash point or the kind of fault that a campaign is limited to; all of them if undefined. */
export const onlyPoint = at;
/** Returns random integers from 0 up to, not including, the given number, determined by the seed. */
export const random = createSeededRandom(Number(seed));

type CampaignGroup = Record<string, (log: Log) => Promise<CampaignReport>>;

/** Runs the groups one after the other and the campaigns of a group at once, prints the results, and exits. */
export async function runCampaign(title: string, ...groups: CampaignGroup[]): Promise<never> {
  const results: CheckResult[] = [];
  const counts = { runs: 0, kills: 0 };
  const campaignStart = Date.now();
  console.log(`${title}: seed ${seed}`);
  const run = async ([name, campaign]: [string, CampaignGroup[string]]) => {
    const startedAt = Date.now();
    const report = await campaign((line) => console.log(`    ${name}: ${line}`));
    console.log(`\n${name}`);
    console.log(`  ${report.name}, ${Math.round((Date.now() - startedAt) / 1000)} s`);
    for (const note of report.notes) console.log(`  ${note}`);
    for (const result of report.results)
      console.log(`  ${renderVerdict(result)}  ${result.invariant} (${result.observed})`);
    results.push(...report.results);
    counts.runs += report.counts?.runs ?? 0;
    counts.kills += report.counts?.kills ?? 0;
  };
  for (const group of groups) {
    const selected = Object.entries(group).filter(([name]) => only === undefined || only === name);
    await Promise.all(selected.map(run));
  }
  recordSpeed(
    title,
    results.filter(({ kind }) => kind === "speed"),
  );
  const counted = results.filter(({ kind }) => speed || kind !== "speed");
  const passedCount = counted.filter(({ passed }) => passed).length;
  const minutes = ((Date.now() - campaignStart) / 60_000).toFixed(1);
  console.log(`\n${title}: ${counts.runs} runs, ${counts.kills} kills, ${minutes} minutes, seed ${seed}`);
  console.log(`${title}: ${passedCount} passed, ${counted.length - passedCount} failed`);
  process.exit(passedCount === counted.length && passedCount > 0 ? 0 : 1);
}

function renderVerdict({ passed, kind }: CheckResult): string {
  if (passed) return "ok    ";
  return kind === "speed" && !speed ? "slow  " : "FAILED";
}
