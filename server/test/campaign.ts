// A campaign runs real parts for a while and says which promises held. `--short` is what CI runs; `--only NAME` is one part
// of it. Nothing found is a failure too.
import { parseArgs } from "node:util";

export type Finding = { promise: string; holds: boolean; saw: string };
export type Report = { name: string; findings: Finding[]; notes: string[] };
export type Say = (line: string) => void;

const { short, only } = parseArgs({
  options: { short: { type: "boolean", default: false }, only: { type: "string" } },
}).values;
export const isShort = short;

const say = (line: unknown) => console.log(`    ${line}`);

/** Does them one after the other, tells what each found, and ends the process. */
export async function runCampaign(title: string, parts: Record<string, (say: Say) => Promise<Report>>): Promise<never> {
  const found: Finding[] = [];
  for (const [name, part] of Object.entries(parts)) {
    if (only !== undefined && only !== name) continue;
    console.log(`\n${name}`);
    const beginning = Date.now();
    const report = await part(say);
    console.log(`  ${report.name}, ${Math.round((Date.now() - beginning) / 1000)} s`);
    for (const note of report.notes) console.log(`  ${note}`);
    for (const { promise, holds, saw } of report.findings)
      console.log(`  ${holds ? "holds " : "BROKEN"}  ${promise} (${saw})`);
    found.push(...report.findings);
  }
  const passed = found.filter(({ holds }) => holds).length;
  console.log(`\n${title}: ${passed} passed, ${found.length - passed} failed`);
  process.exit(passed === found.length && passed > 0 ? 0 : 1);
}
