// `npm run fuzz:api`: 200,000 requests generated from the contract, for every operation. No response may be a 5xx, have
// no standard error body, or take longer than a second. `--short` sends 2,000, for CI; `--requests N` sends N;
// `--seed N` repeats an earlier run, `--only OPERATION` one of its operations. SIGINT ends it early, with the results
// so far.
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import fc from "fast-check";
import sharp from "sharp";
import { percentile } from "../bench/full-service.ts";
import { createErrorBodyCheck } from "../conformance/error-body.ts";
import { listFuzzedOperations } from "../conformance/generated-requests.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment } from "../support/test-environment.ts";
import { createFuzzClient } from "./api-client.ts";
import { EXTREME_TEXTS, type FuzzedRequest, fuzzedRequests } from "./api-requests.ts";
import { createFuzzResources } from "./api-resources.ts";

const { short, requests, seed, only } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    requests: { type: "string" },
    seed: { type: "string", default: String(randomInt(2 ** 31)) },
    only: { type: "string" },
  },
}).values;
const TOTAL = Number(requests ?? (short ? 2000 : 200_000));
const AT_ONCE = 8;
const MAX_MS = 1000;
/** Of each operation in one batch. Between batches, the runs that were created are canceled. */
const BATCH = short ? 5 : 25;
const PROBE_INTERVAL_MS = 100;
const CLOSE_NOTICE_MS = 50;
/** A slow response is the machine's fault if a health check at the same time took a tenth of it. */
const BUSY_FACTOR = 10;
const MAX_REPORTED = 20;
const MAX_READ_BYTES = 1024 * 1024;
const isConnectionClosed = (thrown: unknown) =>
  ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"].includes(String((thrown as NodeJS.ErrnoException).code));

const contract = JSON.parse(readFileSync("api/openapi.json", "utf8"));
const findErrorBodyFault = createErrorBodyCheck(contract);
const operations = listFuzzedOperations(contract).filter(
  ({ operationId }) => only === undefined || only === operationId,
);
const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: "teal" } })
  .png()
  .toBuffer();

const statuses: Record<string, number> = {};
const codes: Record<string, number> = {};
const latencies: number[] = [];
const failures: string[] = [];
const slow: { text: string; startedAt: number; endedAt: number }[] = [];
/** Whether the machine was busy: the time that a health check took, and the delay of this process. */
const probes: { at: number; ms: number; ownDelayMs: number }[] = [];
const createdRuns = new Set<string>();
let resentCount = 0;

const reportFailure = (failure: string) => {
  if (failures.push(failure) <= MAX_REPORTED) console.log(`FAILED ${failure}`);
};

console.log(`fuzz:api: ${TOTAL} requests for ${operations.length} operations, seed ${seed}`);
const environment = await startTestEnvironment({ env: { LOG_LEVEL: "error", TENANT_OPEN_RUNS: "40" } });
try {
  // Several at once, so that every decoder process has started before a response is timed.
  const caller = createHttpCaller(environment);
  const [poolOf] = await Promise.all(Array.from({ length: 4 }, () => createFuzzResources(caller, image)));
  const send = createFuzzClient({
    ...{ url: environment.url, key: environment.key, connections: AT_ONCE },
    files: [image, Buffer.from("only words"), image.subarray(0, 60)],
  });

  let isOver = false;
  let isInterrupted = false;
  process.once("SIGINT", () => {
    isInterrupted = true;
  });
  const probe = async () => {
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    while (!isOver) {
      const at = performance.now();
      await fetch(`${environment.url}/livez`).then((response) => response.arrayBuffer());
      probes.push({ at, ms: performance.now() - at, ownDelayMs: delay.max / 1e6 });
      delay.reset();
      await pause(PROBE_INTERVAL_MS);
    }
  };
  const probing = probe();

  const sendAndCheck = async (request: FuzzedRequest, batchSeed: number) => {
    const describe = (problem: string) =>
      `${problem}: batch seed ${batchSeed}, ${JSON.stringify(request)
        .replace(/base64,[\w+/=]+/g, "base64,…")
        .slice(0, 800)}`;
    try {
      // A connection can be closed just when it is used again; clients then send on another one.
      const { status, headers, body, ms, startedAt } = await send(request).catch((thrown) => {
        if (!isConnectionClosed(thrown)) throw thrown;
        resentCount++;
        return send(request);
      });
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status >= 400) codes[body?.code] = (codes[body?.code] ?? 0) + 1;
      latencies.push(ms);
      const runId = headers.get("x-run-id");
      if (runId) createdRuns.add(runId);
      const isHead = request.method === "HEAD";
      const problem = isHead && status < 500 ? undefined : findErrorBodyFault({ status, headers, body });
      if (problem) reportFailure(describe(problem));
      if (ms > MAX_MS) slow.push({ text: describe(`took ${ms.toFixed(0)} ms`), startedAt, endedAt: startedAt + ms });
    } catch (thrown) {
      // A body over the limit is refused unread, and the connection closed; the client may miss the response.
      const bytes = Buffer.byteLength(request.json ?? EXTREME_TEXTS[request.extremeText ?? ""] ?? "");
      if (bytes > MAX_READ_BYTES && isConnectionClosed(thrown)) {
        statuses["cut off"] = (statuses["cut off"] ?? 0) + 1;
        return;
      }
      reportFailure(describe(`no response: ${(thrown as Error).message}`));
    }
  };
  const inTurns = async <T>(items: T[], work: (item: T) => Promise<unknown>) => {
    const waiting = items[Symbol.iterator]();
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const item of waiting) await work(item);
      }),
    );
  };

  const startedAt = performance.now();
  const perOperation = Math.ceil(TOTAL / operations.length);
  for (let done = 0, batch = 0; done < perOperation && !isInterrupted; done += BATCH, batch++) {
    const batchSeed = Number(seed) + batch;
    const numRuns = Math.min(BATCH, perOperation - done);
    const cases = operations.flatMap((operation) =>
      fc.sample(fuzzedRequests(operation, poolOf!(operation.path)), { numRuns, seed: batchSeed }),
    );
    // Generating blocks this process: let it notice connections that the server has closed meanwhile.
    await pause(CLOSE_NOTICE_MS);
    await inTurns(cases, (request) => sendAndCheck(request, batchSeed));
    await inTurns([...createdRuns], async (runId) => {
      await send({ method: "POST", url: `/api/v1/runs/${runId}/cancel`, headers: {} });
    });
    createdRuns.clear();
    if (short) continue;
    const perSecond = latencies.length / ((performance.now() - startedAt) / 1000);
    console.log(`  ${latencies.length} requests, ${perSecond.toFixed(0)} per second, ${failures.length} failures`);
  }
  isOver = true;
  await probing;
  const [runs] = await environment.query<{ count: number }>("select count(*)::int from runs");
  const times = [0.5, 0.99, 0.999, 1].map((share) => percentile(latencies, share).toFixed(0));
  console.log(`${latencies.length} responses in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  console.log(`statuses: ${JSON.stringify(statuses)}`);
  console.log(`codes: ${JSON.stringify(codes)}`);
  console.log(`latency: p50 ${times[0]} ms, p99 ${times[1]} ms, p99.9 ${times[2]} ms, maximum ${times[3]} ms`);
  console.log(
    `${runs!.count} runs created; ${resentCount} requests sent again; ${slow.length} responses took longer than ${MAX_MS} ms`,
  );
} finally {
  await environment.stop();
}
const late = slow.map((each) => {
  const during = probes.filter(({ at, ms }) => at < each.endedAt && at + ms > each.startedAt);
  const healthMs = Math.max(0, ...during.map(({ ms }) => ms));
  const ownDelayMs = Math.max(0, ...during.map(({ ownDelayMs }) => ownDelayMs));
  // On a busy machine, everything is slow; the health check, which does nothing, shows how slow.
  const isMachineBusy = each.endedAt - each.startedAt <= BUSY_FACTOR * Math.max(healthMs, ownDelayMs);
  return { ...each, isMachineBusy, busy: `health check ${healthMs.toFixed(0)} ms, client ${ownDelayMs.toFixed(0)} ms` };
});
const tooLate = late.filter(({ isMachineBusy }) => !isMachineBusy);
for (const { text, busy } of late.filter((each) => each.isMachineBusy).slice(0, 5))
  console.log(`busy (${busy}) ${text}`);
for (const { text, busy } of tooLate.slice(0, MAX_REPORTED)) console.log(`SLOW (${busy}) ${text}`);
const hasEnough = latencies.length + (statuses["cut off"] ?? 0) >= TOTAL;
const busyCount = late.length - tooLate.length;
console.log(
  `fuzz:api: ${failures.length} failures, ${tooLate.length} slow, ${busyCount} slow while busy, seed ${seed}`,
);
process.exit(failures.length + tooLate.length === 0 && hasEnough ? 0 : 1);
