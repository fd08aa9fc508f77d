// Ten thousand requests from the generated contract, valid and invalid: the server never fails, and every error has the
// standard body with a code of the catalogue. The seed is fixed, so that failures are reproducible; FUZZ_SEED sets
// another.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { drawScene } from "../support/scene.ts";
import { createErrorBodyCheck, type ReceivedResponse } from "./error-body.ts";
import { createResourceFor, queryFor, REFUSED_BY_STATE, withEventPosition } from "./fixtures.ts";
import {
  type FuzzedOperation,
  type GeneratedFormPart,
  type GeneratedRequest,
  invalidRequests,
  listFuzzedOperations,
  type ResourcePool,
} from "./generated-requests.ts";
import { asDataUrl, leftHalfMask, UNKNOWN_ID } from "./run-requests.ts";
import { useOwnSuite } from "./suite.ts";

const REQUESTS = 10_000;
const AT_ONCE = 24;
const MOST_RUNS = 400;
const seed = Number(process.env.FUZZ_SEED ?? 20_261);

/** The run of the examples is an upload. It has ended, so there is nothing to cancel or repair. */
const KNOWN_REFUSALS = {
  ...REFUSED_BY_STATE,
  "runs.cancel": "run_not_cancelable",
  "admin.end": "conflict",
  "admin.retry": "conflict",
  "admin.quarantine": "conflict",
};

const suite = useOwnSuite();
const contract = JSON.parse(readFileSync("api/openapi.json", "utf8"));
const findErrorBodyFault = createErrorBodyCheck(contract);
const operations = listFuzzedOperations(contract);
const files: Buffer[] = [];
const made = new Set<string>();
let stock: ResourcePool;
let sent = 0;

beforeAll(async () => {
  files.push(await drawScene(64, 64), Buffer.from("only words"), (await drawScene(64, 64)).subarray(0, 60));
  const run = await suite.uploadImage(files[0]);
  stock = {
    images: [suite.imageUrl(), run, run, asDataUrl(files[0]!), UNKNOWN_ID],
    runs: [run, run, run.toUpperCase(), UNKNOWN_ID],
    missing: [UNKNOWN_ID, UNKNOWN_ID.toUpperCase()],
  };
});

function formOf(parts: GeneratedFormPart[]): FormData {
  const form = new FormData();
  for (const { name, text, file } of parts) {
    if (text !== undefined) form.append(name, text);
    else form.append(name, new Blob([new Uint8Array(files[file!]!)]), "a.png");
  }
  return form;
}

async function send({
  method,
  url,
  headers,
  json,
  form,
}: Omit<GeneratedRequest, "operationId" | "wrong">): Promise<ReceivedResponse> {
  sent += 1;
  const response = await fetch(`${suite.environment.url}${url}`, {
    method,
    // No request waits for its run, not even where that is the default: a started run is canceled.
    headers: {
      authorization: `Bearer ${suite.environment.key}`,
      accept: "application/json",
      prefer: "wait=0",
      ...headers,
    },
    ...((json !== undefined || form) && { body: form ? formOf(form) : json! }),
  });
  const text = await response.text();
  const run = response.headers.get("x-run-id");
  if (run) made.add(run);
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text };
}

/** What went wrong on the connection, as the body of a failure: one lost response must not hide the others. */
const noResponse = ({ message, cause }: Error): ReceivedResponse => ({
  ...{ status: 599, headers: new Headers() },
  body: { code: `${message}: ${(cause as NodeJS.ErrnoException | undefined)?.code ?? cause}` },
});

async function inTurns<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}

const cancelAll = () =>
  inTurns([...made], async (run) => {
    const { status } = await send({ method: "POST", url: `/api/v1/runs/${run}/cancel`, headers: {} });
    if (status !== 404) made.delete(run);
  });

/** The example of an operation, with images and runs that are there, small and idle. */
function exampleOf(operation: FuzzedOperation, run: string): Record<string, unknown> {
  const { schema, example = {} } = operation.bodies["application/json"] ?? { schema: {} };
  const there = JSON.stringify(example)
    .replaceAll(/https:\/\/example\.com\/mask\.png/g, asDataUrl(files.at(-1)!))
    .replaceAll(/https:\/\/example\.com\/\w+\.png/g, asDataUrl(files[0]!))
    .replaceAll(UNKNOWN_ID, run);
  const fields = Object.keys(schema.properties ?? {});
  return {
    ...JSON.parse(there),
    ...(operation.makesRuns && fields.includes("prompt") && { prompt: "[sandbox:never] x" }),
    ...(operation.makesRuns && fields.includes("width") && { width: 64, height: 64 }),
    ...(operation.makesRuns && { sync: false, metadata: { "": [null, "é\u200b😀"] } }),
  };
}

describe(`with the seed ${seed}`, () => {
  it("accepts the example of every operation", async () => {
    files.push(await leftHalfMask(64, 64));
    const refused: Record<string, string> = {};
    for (const operation of operations) {
      const id = (await createResourceFor(suite, operation.path)) ?? (await suite.uploadImage(files[0]));
      const { id: _inPath, ...example } = await withEventPosition(suite, exampleOf(operation, id));
      const reported = await send({
        method: operation.method,
        url: operation.path.replace(/\{\w+\}/, id) + queryFor(operation.operationId),
        headers: operation.bodies["application/json"] ? { "content-type": "application/json" } : {},
        ...(operation.bodies["application/json"]
          ? { json: JSON.stringify(example) }
          : operation.bodies["multipart/form-data"] && { form: [{ name: "file", file: 0 }] }),
      });
      if (reported.status >= 300) refused[operation.operationId] = reported.body?.code;
    }
    await cancelAll();
    expect(refused).toEqual(KNOWN_REFUSALS);
  });

  it("rejects invalid requests with its own errors, ten thousand times, without a 5xx", async () => {
    const each = Math.ceil(REQUESTS / operations.length);
    const cases = operations.flatMap((operation, index) =>
      fc.sample(invalidRequests(operation, stock), { numRuns: each, seed: seed + index }),
    );
    const problems: string[] = [];
    const refusals = new Map<string, number>();
    await inTurns(cases, async (request) => {
      const reported = await send(request).catch((thrown: Error) => noResponse(thrown));
      if (reported.status >= 400) refusals.set(reported.body?.code, (refusals.get(reported.body?.code) ?? 0) + 1);
      const problem = findErrorBodyFault(reported);
      if (problem) problems.push(`${problem} (${reported.body?.code}): ${JSON.stringify(request).slice(0, 600)}`);
    });
    await cancelAll();
    expect(problems.slice(0, 10)).toEqual([]);
    expect(sent).toBeGreaterThan(REQUESTS);
    expect([...refusals.values()].reduce((sum, count) => sum + count)).toBeGreaterThan(REQUESTS * 0.8);
    expect(refusals.size).toBeGreaterThan(12);
    expect((await suite.caller.get("/runs?limit=1")).status).toBe(200);
    const { count } = (await suite.environment.query<{ count: number }>("select count(*)::int as count from runs"))[0]!;
    expect(count).toBeLessThan(MOST_RUNS);
  });
});
