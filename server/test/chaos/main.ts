// `npm run chaos`: kills everything that can be killed and compares the books. `--short` is what CI runs; `--only NAME` is
// one campaign of random, aimed, memory, cluster, vendors, breaker.
import { parseArgs } from "node:util";
import { failingVendor } from "./breaker.ts";
import { aimedKills, clusterLoss, lostMemory, type Report, randomKills } from "./campaigns.ts";
import { vendorKills } from "./vendors.ts";

const { short, only } = parseArgs({
  options: { short: { type: "boolean", default: false }, only: { type: "string" } },
}).values;
const say = (line: unknown) => console.log(`    ${line}`);

const campaigns: Record<string, () => Promise<Report>> = {
  random: () =>
    randomKills(
      short ? { runs: 60, kills: 10, deep: 2, mayDrop: true } : { runs: 500, kills: 48, deep: 12, mayDrop: false },
      say,
    ),
  aimed: () => aimedKills(short ? 1 : 3, say),
  memory: () => lostMemory(short ? 30 : 100, say),
  cluster: () => clusterLoss({ perSecond: short ? 10 : 20, watchSeconds: short ? 6 : 10 }, say),
  breaker: () => failingVendor({ seconds: short ? 5 : 20, isTimed: !short }, say),
  vendors: () => vendorKills(short ? 60 : 300, say),
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
console.log(`\nchaos: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
