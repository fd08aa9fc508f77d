// Runs a campaign on real processes and reports which invariants held. `--short` is the CI version; `--only NAME` runs one
// part. A campaign without results fails.
import { parseArgs } from "node:util";

export type CheckResult = { promise: string; holds: boolean; saw: string };
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
  parts: Record<string, (log: Log) => Promise<CampaignReport>>,
): Promise<never> {
  const results: CheckResult[] = [];
  for (const [name, part] of Object.entries(parts)) {
    if (only !== undefined && only !== name) continue;
    console.log(`\n${name}`);
    const beginning = Date.now();
    const report = await part(log);
    console.log(`  ${report.name}, ${Math.round((Date.now() - beginning) / 1000)} s`);
    for (const note of report.notes) console.log(`  ${note}`);
    for (const { promise, holds, saw } of report.results)
      console.log(`  ${holds ? "ok    " : "FAILED"}  ${promise} (${saw})`);
    results.push(...report.results);
  }
  const passed = results.filter(({ holds }) => holds).length;
  console.log(`\n${title}: ${passed} passed, ${results.length - passed} failed`);
  process.exit(passed === results.length && passed > 0 ? 0 : 1);
}
