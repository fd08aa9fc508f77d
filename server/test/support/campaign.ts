// Runs a campaign on real processes and reports which invariants held. `--short` is the CI version; `--only NAME` runs
// one of several. A campaign without results fails. `--seed N` repeats the random choices of an earlier run.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { createSeededRandom } from "./seeded-random.ts";

export type CheckResult = { invariant: string; passed: boolean; observed: string };
/** `counts`: how many runs were posted and how often a process was killed. */
export type CampaignReport = {
  name: string;
  results: CheckResult[];
  notes: string[];
  counts?: { runs: number; kills: number };
};
export type Log = (line: string) => void;

const { short, only, at, seed } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string" },
    at: { type: "string" },
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
    for (const { invariant, passed, observed } of report.results)
      console.log(`  ${passed ? "ok    " : "FAILED"}  ${invariant} (${observed})`);
    results.push(...report.results);
    counts.runs += report.counts?.runs ?? 0;
    counts.kills += report.counts?.kills ?? 0;
  };
  for (const group of groups) {
    const selected = Object.entries(group).filter(([name]) => only === undefined || only === name);
    await Promise.all(selected.map(run));
  }
  const passedCount = results.filter(({ passed }) => passed).length;
  const minutes = ((Date.now() - campaignStart) / 60_000).toFixed(1);
  console.log(`\n${title}: ${counts.runs} runs, ${counts.kills} kills, ${minutes} minutes, seed ${seed}`);
  console.log(`${title}: ${passedCount} passed, ${results.length - passedCount} failed`);
  process.exit(passedCount === results.length && passedCount > 0 ? 0 : 1);
}
