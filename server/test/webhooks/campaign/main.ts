// `npm run webhooks:campaign`: whether every message arrives, whatever receivers do and whoever is killed; whether the whole
// schedule is kept on the real engine; and whether a dead receiver delays a live one. `--short` is what CI runs; `--only
// NAME` is one of kills, schedule, dead.
import { parseArgs } from "node:util";
import { deadReceiver } from "./dead.ts";
import type { Report } from "./findings.ts";
import { killedSenders } from "./kills.ts";
import { wholeSchedule } from "./schedule.ts";

const { short, only } = parseArgs({
  options: { short: { type: "boolean", default: false }, only: { type: "string" } },
}).values;
const say = (line: unknown) => console.log(`    ${line}`);

const campaigns: Record<string, () => Promise<Report>> = {
  kills: () =>
    killedSenders(short ? { runs: 80, kills: 6, perSecond: 8 } : { runs: 2000, kills: 50, perSecond: 12 }, say),
  schedule: () => wholeSchedule(short ? 0.0001 : 0.001, say),
  dead: () => deadReceiver(short ? { waiting: 1000, live: 40 } : { waiting: 10_000, live: 300 }, say),
};

let passed = 0;
let failed = 0;
for (const [name, campaign] of Object.entries(campaigns)) {
  if (only !== undefined && only !== name) continue;
  console.log(`\n${name}`);
  const start = Date.now();
  const report = await campaign();
  console.log(`  ${report.name}, ${Math.round((Date.now() - start) / 1000)} s`);
  for (const note of report.notes) console.log(`  ${note}`);
  for (const { promise, holds, saw } of report.findings) {
    console.log(`  ${holds ? "holds " : "BROKEN"}  ${promise} (${saw})`);
    if (holds) passed++;
    else failed++;
  }
}
console.log(`\nwebhooks: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
