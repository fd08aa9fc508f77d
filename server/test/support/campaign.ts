// Runs a campaign on real processes and reports which invariants held. `--short` is the CI version; `--only NAME` runs
// one of several. A campaign without results fails.
import { parseArgs } from "node:util";

export type CheckResult = { invariant: string; passed: boolean; observed: string };
export type CampaignReport = { name: string; results: CheckResult[]; notes: string[] };
export type Log = (line: string) => void;

const { short, only } = parseArgs({
  options: { short: { type: "boolean", default: false }, only: { type: "string" } },
}).values;
export const isShort = short;

const log = (line: unknown) => console.log(`    ${line}`);

/** Runs the campaigns one after the other, prints the results, and exits. */
export async function runCampaign(
  title: string,
  campaigns: Record<string, (log: Log) => Promise<CampaignReport>>,
): Promise<never> {
  const results: CheckResult[] = [];
  for (const [name, campaign] of Object.entries(campaigns)) {
    if (only !== undefined && only !== name) continue;
    console.log(`\n${name}`);
    const startedAt = Date.now();
    const report = await campaign(log);
    console.log(`  ${report.name}, ${Math.round((Date.now() - startedAt) / 1000)} s`);
    for (const note of report.notes) console.log(`  ${note}`);
    for (const { invariant, passed, observed } of report.results)
      console.log(`  ${passed ? "ok    " : "FAILED"}  ${invariant} (${observed})`);
    results.push(...report.results);
  }
  const passedCount = results.filter(({ passed }) => passed).length;
  console.log(`\n${title}: ${passedCount} passed, ${results.length - passedCount} failed`);
  process.exit(passedCount === results.length && passedCount > 0 ? 0 : 1);
}
