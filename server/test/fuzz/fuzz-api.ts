// Sends requests generated from the contract to a running Gesso and checks every response: no 5xx, and every error has
// the standard body with a code of the catalogue. The same seed generates the same requests.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import sharp from "sharp";
import { createErrorBodyCheck } from "../conformance/error-body.ts";
import { listFuzzedOperations } from "../conformance/generated-requests.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { createFuzzClient } from "./api-client.ts";
import { EXTREME_TEXTS, type FuzzedRequest, fuzzedRequests } from "./api-requests.ts";
import { createFuzzResources } from "./api-resources.ts";

const AT_ONCE = 8;
const CLOSE_NOTICE_MS = 50;
const MAX_READ_BYTES = 1024 * 1024;

export type FuzzOptions = {
  total: number;
  seed: number;
  /** Of each operation in one batch. Between batches, the runs that were created are canceled. */
  batch: number;
  /** Sends requests of this operation only. */
  only?: string;
  onFailure?: (failure: string) => void;
  /** Returns false to end early. */
  onBatch?: (report: FuzzReport) => boolean;
};

export type FuzzReport = {
  failures: string[];
  statuses: Record<string, number>;
  codes: Record<string, number>;
  /** Of every response, in milliseconds. */
  latencies: number[];
  slowest: { ms: number; request: string }[];
  resentCount: number;
};

/** The server needs `TENANT_OPEN_RUNS`, so that valid requests can't fill its queue. */
export const FUZZ_SETTINGS = { LOG_LEVEL: "error", TENANT_OPEN_RUNS: "40" };
const MAX_SLOWEST = 20;

const isConnectionClosed = (thrown: unknown) =>
  ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"].includes(String((thrown as NodeJS.ErrnoException).code));

const count = (counts: Record<string, number>, name: string | number) => {
  counts[name] = (counts[name] ?? 0) + 1;
};

export async function fuzzApi(target: { url: string; key: string }, options: FuzzOptions): Promise<FuzzReport> {
  const contract = JSON.parse(readFileSync("api/openapi.json", "utf8"));
  const findErrorBodyFault = createErrorBodyCheck(contract);
  const operations = listFuzzedOperations(contract).filter(
    ({ operationId }) => options.only === undefined || options.only === operationId,
  );
  const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: "teal" } })
    .png()
    .toBuffer();
  const poolOf = await createFuzzResources(createHttpCaller(target), image);
  const send = createFuzzClient({
    ...{ url: target.url, key: target.key, connections: AT_ONCE },
    files: [image, Buffer.from("only words"), image.subarray(0, 60)],
  });
  const report: FuzzReport = { failures: [], statuses: {}, codes: {}, latencies: [], slowest: [], resentCount: 0 };
  const createdRuns = new Set<string>();
  const fail = (failure: string) => {
    report.failures.push(failure);
    options.onFailure?.(failure);
  };

  const sendAndCheck = async (request: FuzzedRequest, batchSeed: number) => {
    const describe = (problem: string) =>
      `${problem}: batch seed ${batchSeed}, ${JSON.stringify(request)
        .replace(/base64,[\w+/=]+/g, "base64,…")
        .slice(0, 800)}`;
    try {
      // A connection can be closed just when it is used again; clients then send on another one.
      const { status, headers, body, ms } = await send(request).catch((thrown) => {
        if (!isConnectionClosed(thrown)) throw thrown;
        report.resentCount++;
        return send(request);
      });
      count(report.statuses, status);
      if (status >= 400) count(report.codes, body?.code);
      report.latencies.push(ms);
      const runId = headers.get("x-run-id");
      if (runId) createdRuns.add(runId);
      const isHead = request.method === "HEAD";
      const problem = isHead && status < 500 ? undefined : findErrorBodyFault({ status, headers, body });
      if (problem) fail(describe(problem));
      if (report.slowest.length < MAX_SLOWEST || ms > report.slowest.at(-1)!.ms) {
        report.slowest.push({ ms, request: describe(`took ${ms.toFixed(0)} ms`) });
        report.slowest.sort((left, right) => right.ms - left.ms).splice(MAX_SLOWEST);
      }
    } catch (thrown) {
      // A body over the limit is refused unread, and the connection closed; the client may miss the response.
      const bytes = Buffer.byteLength(request.json ?? EXTREME_TEXTS[request.extremeText ?? ""] ?? "");
      if (bytes > MAX_READ_BYTES && isConnectionClosed(thrown)) count(report.statuses, "cut off");
      else fail(describe(`no response: ${(thrown as Error).message}`));
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

  const perOperation = Math.ceil(options.total / operations.length);
  for (let done = 0, batch = 0; done < perOperation; done += options.batch, batch++) {
    const batchSeed = options.seed + batch;
    const numRuns = Math.min(options.batch, perOperation - done);
    const cases = operations.flatMap((operation) =>
      fc.sample(fuzzedRequests(operation, poolOf(operation.path)), { numRuns, seed: batchSeed }),
    );
    // Generating blocks this process: let it notice connections that the server has closed meanwhile.
    await pause(CLOSE_NOTICE_MS);
    await inTurns(cases, (request) => sendAndCheck(request, batchSeed));
    await inTurns([...createdRuns], async (runId) => {
      await send({ method: "POST", url: `/api/v1/runs/${runId}/cancel`, headers: {} });
    });
    createdRuns.clear();
    if (options.onBatch?.(report) === false) break;
  }
  return report;
}

/** How many requests got a response or were cut off as too large. */
export const countAnswered = ({ latencies, statuses }: FuzzReport): number =>
  latencies.length + (statuses["cut off"] ?? 0);
