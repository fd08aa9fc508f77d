// `npm run proof -- fuzz-api`: 200,000 requests generated from the contract, for every operation. No response may be a
// 5xx or have no standard error body; the slowest are reported. `--requests N` sends N; `--seed N` repeats an earlier
// run, `--only OPERATION` one of its operations. SIGINT ends it early, with the results so far. The tests send 2,000.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { percentile } from "../bench/full-service.ts";
import { startTestEnvironment } from "../support/test-environment.ts";
import { countAnswered, FUZZ_SETTINGS, type FuzzReport, fuzzApi } from "./fuzz-api.ts";

const { short, requests, seed, only } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    requests: { type: "string" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
    only: { type: "string" },
  },
}).values;
const TOTAL = Number(requests ?? (short ? 2000 : 200_000));
const SLOW_MS = 1000;
const MAX_REPORTED = 20;

console.log(`fuzz:api: ${TOTAL} requests, seed ${seed}`);
const environment = await startTestEnvironment({ env: FUZZ_SETTINGS });
let isInterrupted = false;
process.once("SIGINT", () => {
  isInterrupted = true;
});
let report: FuzzReport;
try {
  const startedAt = performance.now();
  let reportedCount = 0;
  report = await fuzzApi(environment, {
    ...{ total: TOTAL, seed: Number(seed), batch: short ? 5 : 25, ...(only && { only }) },
    onFailure: (failure) => {
      if (++reportedCount <= MAX_REPORTED) console.log(`FAILED ${failure}`);
    },
    onBatch: ({ latencies, failures }) => {
      const perSecond = latencies.length / ((performance.now() - startedAt) / 1000);
      console.log(`  ${latencies.length} requests, ${perSecond.toFixed(0)} per second, ${failures.length} failures`);
      return !isInterrupted;
    },
  });
  const [runs] = await environment.query<{ count: number }>("select count(*)::int from runs");
  console.log(`${runs!.count} runs created; ${report.resentCount} requests sent again`);
} finally {
  await environment.stop();
}
const { statuses, codes, latencies, slowest, failures } = report;
const times = [0.5, 0.99, 0.999, 1].map((share) => percentile(latencies, share).toFixed(0));
console.log(`statuses: ${JSON.stringify(statuses)}`);
console.log(`codes: ${JSON.stringify(codes)}`);
console.log(`latency: p50 ${times[0]} ms, p99 ${times[1]} ms, p99.9 ${times[2]} ms, maximum ${times[3]} ms`);
for (const { request } of slowest.filter(({ ms }) => ms > SLOW_MS)) console.log(`SLOW ${request}`);
const slowCount = latencies.filter((ms) => ms > SLOW_MS).length;
console.log(`fuzz:api: ${failures.length} failures, ${slowCount} of more than ${SLOW_MS} ms, seed ${seed}`);
process.exit(failures.length === 0 && countAnswered(report) >= TOTAL ? 0 : 1);
