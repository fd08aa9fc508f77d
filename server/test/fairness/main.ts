// `npm run fairness`: what one tenant's flood does to another, whether weights and rate limits hold, and what happens under
// more load than there is room for. `--short` is what CI runs; `--only NAME` is one of flood, weights, rates, overload.
import { parseArgs } from "node:util";
import type { Report } from "../chaos/campaigns.ts";
import { overload } from "./overload.ts";
import { rateLimits } from "./rates.ts";
import { floodBeside, unequalShares } from "./shares.ts";

const { short, only } = parseArgs({
  options: { short: { type: "boolean", default: false }, only: { type: "string" } },
}).values;

const campaigns: Record<string, () => Promise<Report>> = {
  flood: () =>
    floodBeside(
      short
        ? { runs: 2000, seconds: 6, perSecond: 4, mostSeconds: 3 }
        : { runs: 20_000, seconds: 120, perSecond: 1, mostSeconds: 1 },
    ),
  weights: () => unequalShares({ runs: short ? 1000 : 3000 }),
  rates: () => rateLimits(short ? { perMinute: 3000, seconds: 10 } : { perMinute: 3000, seconds: 120 }),
  overload: () => overload({ seconds: short ? 6 : 30, atOnce: 300 }),
};

let passed = 0;
let failed = 0;
for (const [name, campaign] of Object.entries(campaigns)) {
  if (only !== undefined && only !== name) continue;
  console.log(`\n${name}`);
  const beginning = Date.now();
  const report = await campaign();
  console.log(`  ${report.name}, ${Math.round((Date.now() - beginning) / 1000)} s`);
  for (const note of report.notes) console.log(`  ${note}`);
  for (const { promise, holds, saw } of report.findings) {
    console.log(`  ${holds ? "holds " : "BROKEN"}  ${promise} (${saw})`);
    if (holds) passed++;
    else failed++;
  }
}
console.log(`\nfairness: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
