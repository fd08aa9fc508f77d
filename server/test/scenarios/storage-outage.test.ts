// The S3 server goes away while runs are in flight and others are accepted: the API stays ready, no customer's URL is
// fetched twice, nothing is bought twice, and every paid result is stored afterwards. Real radosgw behind a TCP proxy.
// OUTAGE_SECONDS sets the length of the outage; the deadline of the runs is three times as long.
import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient } from "@gesso/client";
import { freePort } from "@gesso/dev/components";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createS3Storage } from "../../src/files/storage/s3-storage.ts";
import { noiseImage } from "../corpora/valid-images.ts";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { fakeOpenai } from "../fake-vendors/openai.ts";
import { readSandboxLedger } from "../support/api-caller.ts";
import { S3_TEST_CREDENTIALS, type S3Server, startS3Server } from "../support/s3-server.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const OUTAGE_SECONDS = Number(process.env.OUTAGE_SECONDS ?? 20);
const DEADLINE_SECONDS = OUTAGE_SECONDS * 3 + 60;
const PAID_BEFORE = 6;
const UPSCALED = 6;
/** Requests to a provider that returns the image in its response and cannot be asked again. */
const IN_ONE_REQUEST = 4;

let server: Partial<S3Server & { stop(): Promise<void> }> = {};
let proxy: TcpProxy;
let environment: TestEnvironment;
let client: Client;
let openai: FakeVendor;

/** The customer's server: counts how often each path is fetched. */
const fetches = new Map<string, number>();
let customer: Server;
const image = await noiseImage(64, 48).png().toBuffer();
const sourceUrl = (path: string) => `http://127.0.0.1:${(customer.address() as AddressInfo).port}/${path}.png`;

beforeAll(async () => {
  customer = createServer((request, response) => {
    fetches.set(request.url!, (fetches.get(request.url!) ?? 0) + 1);
    response.writeHead(200, { "content-type": "image/png" }).end(image);
  });
  await new Promise<void>((resolve) => customer.listen(0, "127.0.0.1", resolve));
  openai = await fakeOpenai.start();
  openai.switches.workMs = 8000;
  const running = process.env.TEST_S3_ENDPOINT;
  server = running
    ? { endpoint: running }
    : await startS3Server(mkdtempSync(join(tmpdir(), "gesso-radosgw-")), await freePort());
  proxy = await startTcpProxy(Number(new URL(server.endpoint!).port));
  const bucket = `outage-${Date.now()}`;
  const endpoint = `http://127.0.0.1:${proxy.port}`;
  const options = { endpoint, region: "us-east-1", bucket, credentials: S3_TEST_CREDENTIALS, forcePathStyle: true };
  await createS3Storage(options).ensureBucket();
  environment = await startTestEnvironment({
    ...{ roles: "split", secondWorker: true, apis: 2 },
    env: {
      ...{ STORAGE: "s3", S3_ENDPOINT: endpoint, S3_BUCKET: bucket },
      S3_ACCESS_KEY_ID: S3_TEST_CREDENTIALS.accessKeyId,
      S3_SECRET_ACCESS_KEY: S3_TEST_CREDENTIALS.secretAccessKey,
      ...fakeOpenai.env(openai),
      RUN_DEADLINE_SECONDS: String(DEADLINE_SECONDS),
      FETCH_ALLOW_ORIGINS: new URL(sourceUrl("")).origin,
    },
  });
  client = createClient({ baseUrl: environment.url, apiKey: environment.key });
});
afterAll(async () => {
  await environment?.stop();
  await proxy?.close();
  await server.stop?.();
  await openai?.close();
  customer?.close();
});

const readiness = (url: string) =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
    async (response) => `${response.status} ${((await response.json()) as { status: string }).status}`,
    () => "no response",
  );
/** Asks every API process once a second, as a load balancer does. */
async function watchReadiness(seconds: number): Promise<Set<string>> {
  const seen = new Set<string>();
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(1000))
    for (const answer of await Promise.all(environment.urls.map(readiness))) seen.add(answer);
  return seen;
}
const generateInOneRequest = () => client.images.generate({ prompt: "at once", model_type: "vendora" });
const jobCount = async (runId: string) =>
  (await readSandboxLedger(environment)).filter(({ reference }) => reference?.startsWith(runId)).length;

it(
  `an outage of ${OUTAGE_SECONDS} s costs no fetch, no second purchase and no result`,
  async () => {
    const SMALL = { width: 64, height: 64 };
    const paid = Array.from({ length: PAID_BEFORE }, (_, n) =>
      client.images.generate({ prompt: `${n} [sandbox:delay=8]`, ...SMALL }),
    );
    const inOneRequest = Array.from({ length: IN_ONE_REQUEST / 2 }, () => generateInOneRequest());
    await Promise.all([...paid, ...inOneRequest]);
    await expect.poll(() => openai.ledger.length).toBe(inOneRequest.length);
    await expect.poll(async () => (await readSandboxLedger(environment)).length).toBe(PAID_BEFORE);

    proxy.refuse(true);
    proxy.cut();
    inOneRequest.push(...Array.from({ length: IN_ONE_REQUEST / 2 }, () => generateInOneRequest()));
    const upscaled = Array.from({ length: UPSCALED }, (_, n) =>
      client.images.upscale({ image_url: sourceUrl(`upscale-${n}`) }),
    );
    const combined = [1, 2].map((n) =>
      client.images.combine.nanobanana({
        prompt: "both",
        images: [sourceUrl(`combine-${n}-a`), sourceUrl(`combine-${n}-b`), sourceUrl(`combine-${n}-a`)],
      }),
    );
    const local = client.images.combine({ images: [sourceUrl("local-a"), sourceUrl("local-b")] });
    const calls = [...paid, ...inOneRequest, ...upscaled, ...combined, local];
    const accepted = await Promise.all(calls);
    const seen = await watchReadiness(OUTAGE_SECONDS);
    // A result from before the outage is reused for a second.
    expect([...seen].filter((answer) => answer !== "200 ok")).toEqual(["200 degraded"]);
    expect((await client.images.generate({ prompt: "accepted", ...SMALL })).status).toBe("queued");

    const sourceCount = UPSCALED + 2 * 2 + 2;
    const sortedCounts = () => [...fetches.values()].sort((one, other) => other - one);
    expect(sortedCounts()).toEqual(Array(sourceCount).fill(1));
    const ids = accepted.map(({ run_id }) => run_id);
    const epochs = await environment.query(
      "select epoch, count(*)::int as runs from open_runs where run_id = any($1) group by 1",
      [ids],
    );
    expect(epochs).toEqual([{ epoch: 0, runs: ids.length }]);

    proxy.refuse(false);
    const restoredAt = Date.now();
    const runs = await Promise.all(calls.map((call) => call.wait({ timeout: DEADLINE_SECONDS * 1000 })));
    const recoverySeconds = Math.round((Date.now() - restoredAt) / 1000);
    for (const run of runs) {
      expect(run.status).toBe("completed");
      for (const [index, { sha256 }] of run.outputs.entries())
        expect(
          createHash("sha256")
            .update(await run.images[index]!.bytes())
            .digest("hex"),
        ).toBe(sha256);
    }
    expect(sortedCounts()).toEqual(Array(sourceCount).fill(1));
    const bought = await Promise.all(
      [...paid, ...upscaled, ...combined].map(async (call) => jobCount((await call).run_id)),
    );
    expect(bought).toEqual(Array(bought.length).fill(1));
    expect(openai.ledger).toHaveLength(IN_ONE_REQUEST);
    const stored = (await Promise.all(inOneRequest.map((call) => call.wait()))).flatMap(({ outputs }) => outputs);
    expect(stored.filter(({ sha256 }) => openai.producedHashes.has(sha256))).toHaveLength(IN_ONE_REQUEST);
    await expect.poll(() => readiness(environment.url)).toBe("200 ok");
    console.log(
      `storage away for ${OUTAGE_SECONDS} s: ${runs.length} runs completed within ${recoverySeconds} s afterwards, ` +
        `${sourceCount} sources fetched ${sortedCounts().reduce((sum, count) => sum + count, 0)} times, ` +
        `${bought.length} jobs bought ${bought.reduce((sum, count) => sum + count, 0)} times, ` +
        `${IN_ONE_REQUEST} results of one request bought ${openai.ledger.length} times`,
    );
  },
  (DEADLINE_SECONDS + 120) * 1000,
);
