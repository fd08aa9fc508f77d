// Responses, for all operations: status and headers, waiting, and idempotency keys.
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { ApiCaller, ApiResponse } from "../support/api-caller.ts";
import { drawScene } from "../support/scene.ts";
import { createTestTenant, type TenantOptions } from "../support/tenants.ts";
import { startWebhookReceiver, webhookEnv } from "../webhooks/receiver.ts";
import { it } from "./http-and-client.ts";
import { postForBytes, withSandboxBehaviour } from "./response-checks.ts";
import {
  formOf,
  type RunRequest,
  readRunRef,
  runOperations,
  runRequests,
  sendRun,
  statusAndCode,
  UNKNOWN_ID,
} from "./run-requests.ts";
import { oncePerTransport, useOwnSuite } from "./suite.ts";

const receiver = await startWebhookReceiver();
const suite = useOwnSuite(webhookEnv(receiver));
afterAll(() => receiver.close());
const TENANT = "00000000-0000-7000-8000-000000000001";
const SECRET = "a secret of sixteen and more";
const EXTRAS = { webhook_url: `${receiver.url}/gesso`, webhook_secret: SECRET, metadata: { album: "nine" } };
const BODY = { prompt: "[sandbox:delay=0] x", width: 64, height: 64 };

let source: string;
let requests: RunRequest[];

beforeAll(async () => {
  source = await suite.uploadImage();
  requests = await runRequests(source);
});

const sendAll = async (more: object) =>
  new Map(
    await Promise.all(requests.map(async (each) => [each.name, await sendRun(suite, each, { ...more })] as const)),
  );
/** Every operation once with all common fields, synchronously; and once plainly, asynchronously. */
const waited = oncePerTransport(() => sendAll({ ...EXTRAS, sync: true }));
const plain = oncePerTransport(() => sendAll({ sync: false }));
const all = async () => [...(await waited()), ...(await plain())];

const generate = (fields: object = {}, headers: Record<string, string> = {}) =>
  suite.caller.generate({ ...BODY, ...fields }, headers);
const isUpload = (name: string) => name.startsWith("images.upload");
let keys = 0;
const newKey = () => ({ "idempotency-key": `key-${process.pid}-${++keys}` });
const secondsOf = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const startedAt = performance.now();
  return [await work(), (performance.now() - startedAt) / 1000];
};
const taggedRuns = async (tag: string) =>
  (await suite.caller.get("/runs?limit=100")).body.data.filter((run: any) => run.metadata.tag === tag);

describe("responses of creating operations", () => {
  it("[GNL-016] are 202 while the run in the body is open, and 200 when it has ended", async () => {
    for (const [name, response] of (await all()).filter(([name]) => !isUpload(name))) {
      expect([name, response.status]).toEqual([name, readRunRef(response).isOpen ? 202 : 200]);
    }
    const seen = (responses: Map<string, ApiResponse>) => new Set([...responses.values()].map(({ status }) => status));
    expect(seen(await waited())).toEqual(new Set([200, 201]));
    expect(seen(await plain())).toEqual(new Set([202, 201]));
  });

  it("[GNL-017] name the run of their body in Location and X-Run-Id", async () => {
    for (const [name, response] of await all()) {
      const { run_id } = readRunRef(response);
      expect([name, response.headers.get("location"), response.headers.get("x-run-id")]).toEqual([
        ...[name, `/api/v1/runs/${run_id}`, run_id],
      ]);
    }
  });

  it("[GNL-018] have their own X-Request-Id, as all responses have", async () => {
    const { body: run } = await generate({ sync: true });
    const path = `/api/v1/runs/${run.run_id}`;
    const { headers } = await suite.caller.send("GET", path);
    const responses = [
      ...(await all()).map(([, response]) => response),
      await suite.caller.send("GET", path),
      await suite.caller.send("GET", path, { headers: { "if-none-match": headers.get("etag")! } }),
      await suite.caller.send("GET", "/api/v1/nowhere"),
      await suite.caller.send("PUT", path),
      await suite.caller.send("GET", path, { headers: { authorization: "Bearer wrong" } }),
      await suite.caller.generate({ prompt: 7 }),
      await suite.caller.generate({ prompt: "x", width: 64, height: 64 }, { prefer: "return=minimal" }),
      await postForBytes(suite, "/edits/remove-bg", { run_id: source }),
      await suite.caller.send("GET", new URL(run.image_url).pathname),
      await suite.caller.send("GET", "/openapi.json"),
    ];
    const ids = responses.map((response) => response.headers.get("x-request-id"));
    expect(ids).not.toContain(null);
    expect(ids).not.toContain("");
    expect(new Set(ids).size).toBe(responses.length);
  });

  it("[GNL-019] are 201 for uploads, with the same headers", async () => {
    for (const name of ["images.upload", "images.uploadMask"]) {
      const { status, headers, body } = (await waited()).get(name)!;
      expect(status).toBe(201);
      expect(headers.get("location")).toBe(`/api/v1/runs/${body.data.run_id}`);
      expect(headers.get("x-run-id")).toBe(body.data.run_id);
      expect(headers.get("x-request-id")).toMatch(/\S/);
    }
  });

  it("[GNL-020] are 204 without a body where little is preferred, and still lead to the run", async () => {
    for (const request of requests) {
      const { status, headers, body } = await sendRun(suite, request, {}, { prefer: "return=minimal" });
      expect([request.name, status, body]).toEqual([request.name, 204, ""]);
      const read = await suite.caller.send("GET", headers.get("location")!);
      expect(read.body).toMatchObject({ run_id: headers.get("x-run-id"), run_type: request.run_type });
    }
  });

  it("[GNL-021] are never 204 otherwise", async () => {
    const statuses = (await all()).map(([, { status }]) => status);
    expect(statuses).toHaveLength(2 * requests.length);
    expect(statuses).not.toContain(204);
  });
});

describe("waiting", () => {
  it("[GNL-022] is accepted by every operation that makes a run", async () => {
    const responses = await waited();
    expect([...responses].filter(([, { status }]) => status !== 200 && status !== 201)).toEqual([]);
    expect(responses.size).toBe(runOperations.length);
  });

  it("[GNL-023] delays the response until the run has ended, in JSON and in a form", async () => {
    const prompt = "[sandbox:delay=1] x";
    const fields = { prompt, run_id: source, sync: "true" };
    for (const response of [
      await suite.caller.generate({ prompt, width: 64, height: 64, sync: true }),
      await suite.caller.post("/edits/nanobanana", suite.form(fields)),
    ]) {
      expect([response.status, response.body.status]).toEqual([200, "completed"]);
    }
  });

  it("[GNL-024] [GNL-025] with Prefer ends after its seconds, and the run continues to its end", async () => {
    const [{ status, body }, seconds] = await secondsOf(() =>
      generate({ prompt: "[sandbox:delay=8] x" }, { prefer: "wait=1" }),
    );
    expect(status).toBe(202);
    expect(["queued", "processing"]).toContain(body.status);
    expect(seconds).toBeGreaterThan(0.9);
    expect((await suite.caller.waitUntilEnded(body.run_id)).status).toBe("completed");
  });

  it("[GNL-026] is the default of binary operations, and they return the image", async () => {
    for (const { name, path, fields } of requests.filter(({ returnsImage }) => returnsImage)) {
      const { status, headers, bytes } = await postForBytes(suite, path, fields);
      expect([name, status, headers.get("content-type")]).toEqual([name, 200, expect.stringMatching(/^image\//)]);
      expect(bytes.length).toBeGreaterThan(50);
      const run = await suite.caller.get(`/runs/${headers.get("x-run-id")}`);
      expect(run.body.status).toBe("completed");
    }
  });

  it("[GNL-027] that ends too early for an image is a 504 with the run ID, and the run continues", async () => {
    const late = await withSandboxBehaviour(suite, { delay: 8 }, () =>
      Promise.all(
        requests
          .filter(({ returnsImage }) => returnsImage)
          .map((request) => sendRun(suite, request, {}, { accept: "*/*", prefer: "wait=1" })),
      ),
    );
    for (const response of late) {
      expect(statusAndCode(response)).toEqual([504, "sync_timeout"]);
      expect(response.headers.get("content-type")).toMatch(/^application\/json/);
      expect((await suite.caller.waitUntilEnded(response.body.details.run_id)).status).toBe("completed");
    }
    expect(late).toHaveLength(3);
  });

  it("[GNL-028] is not the default of binary operations that accept JSON only", async () => {
    await withSandboxBehaviour(suite, { delay: 8 }, async () => {
      for (const request of requests.filter(({ returnsImage }) => returnsImage)) {
        const { status, headers, body } = await sendRun(suite, request);
        expect([request.name, status, body.run_type]).toEqual([request.name, 202, request.run_type]);
        expect(headers.get("content-type")).toMatch(/^application\/json/);
      }
    });
  });

  it("[GNL-029] of a client that disconnects leaves its run alone", async () => {
    const leaving = new AbortController();
    const body = { prompt: "[sandbox:delay=2] x", width: 64, height: 64, sync: true, metadata: { tag: "left" } };
    const waiting = fetch(`${suite.environment.url}/api/v1/runs/generate`, {
      method: "POST",
      headers: { authorization: `Bearer ${suite.environment.key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: leaving.signal,
    }).catch((thrown: Error) => thrown.name);
    await expect.poll(async () => (await taggedRuns("left")).length).toBe(1);
    leaving.abort();
    expect(await waiting).toBe("AbortError");
    const [run] = await taggedRuns("left");
    expect((await suite.caller.waitUntilEnded(run.run_id)).status).toBe("completed");
  });
});

describe("a key", () => {
  it("[GNL-030] returns the same run in its current state, and creates no other", async () => {
    const key = newKey();
    const first = await generate({ metadata: { tag: "once" } }, key);
    expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([202, null]);
    await suite.caller.waitUntilEnded(first.body.run_id);
    const again = await generate({ metadata: { tag: "once" } }, key);
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(again.body).toMatchObject({ run_id: first.body.run_id, status: "completed" });
    expect(await taggedRuns("once")).toHaveLength(1);
  });

  it("[GNL-031] does the same whether the caller waits or not", async () => {
    for (const [first, second] of [
      [{}, { sync: true }],
      [{ sync: true }, {}],
    ]) {
      const key = newKey();
      const [one, two] = [await generate(first, key), await generate(second, key)];
      expect(two.body.run_id).toBe(one.body.run_id);
      expect(two.headers.get("idempotent-replayed")).toBe("true");
      if (second!.sync) expect([two.status, two.body.status]).toEqual([200, "completed"]);
    }
  });

  it("[GNL-033] with another request is refused", async () => {
    const key = newKey();
    expect((await generate({}, key)).status).toBe(202);
    expect(statusAndCode(await generate({ prompt: "another" }, key))).toEqual([422, "idempotency_key_reused"]);
  });

  it("[GNL-034] does not mind the order of fields, and does mind the order of entries", async () => {
    const other = await suite.uploadImage(await drawScene(64, 64));
    const key = newKey();
    const combine = (body: object) => suite.caller.post("/combine", body, key);
    const first = await combine({ images: [source, other], metadata: { a: 1, b: 2 } });
    const turned = await combine({ metadata: { b: 2, a: 1 }, images: [source, other] });
    expect(turned.body.run_id).toBe(first.body.run_id);
    const swapped = await combine({ images: [other, source], metadata: { a: 1, b: 2 } });
    expect(statusAndCode(swapped)).toEqual([422, "idempotency_key_reused"]);
  });

  /** Another key of the same tenant. */
  const sibling = async (options: TenantOptions) =>
    suite.callerWith((await createTestTenant(suite.environment, { tenantId: TENANT, ...options })).key);
  type Refused = { fields?: object; headers?: Record<string, string>; caller?: () => Promise<ApiCaller> };

  it.each<[number, string, Refused]>([
    [400, "validation_error", { fields: { width: 1 } }],
    [401, "invalid_api_key", { headers: { authorization: "Bearer nobody" } }],
    [403, "insufficient_scope", { caller: () => sibling({ scopes: ["runs:read"] }) }],
    [404, "run_not_found", { fields: { model_type: "gemini-2.5", run_ids: [UNKNOWN_ID, UNKNOWN_ID] } }],
    [413, "payload_too_large", { fields: { scheduler: "x".repeat(1_100_000) } }],
    [415, "unsupported_media_type", { headers: { "content-type": "text/plain" } }],
    [422, "url_not_allowed", { fields: { reference_image_url: "http://127.0.0.1/a.png" } }],
    [
      429,
      "rate_limited",
      {
        caller: async () => {
          const limited = await sibling({ limits: { requests_per_minute: 1 } });
          expect((await limited.get("/runs")).status).toBe(200);
          return limited;
        },
      },
    ],
    [503, "model_unavailable", { fields: { model_type: "vendorc" } }],
  ])("[GNL-036] is not used up by a refusal with %i %s", async (status, code, { fields, headers, caller }) => {
    const key = newKey();
    const tag = key["idempotency-key"];
    const own = (await caller?.()) ?? suite.caller;
    const refused = await own.generate({ ...BODY, metadata: { tag }, ...fields }, { ...key, ...headers });
    expect(statusAndCode(refused)).toEqual([status, code]);
    const mended = await generate({ metadata: { tag } }, key);
    expect([mended.status, mended.headers.get("idempotent-replayed")]).toEqual([202, null]);
    expect((await taggedRuns(tag)).map((run: any) => run.run_id)).toEqual([mended.body.run_id]);
    expect((await suite.caller.waitUntilEnded(mended.body.run_id)).status).toBe("completed");
  });

  it("[GNL-037] sent twenty times at once makes one run", async () => {
    const key = newKey();
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => generate({ metadata: { tag: "twenty" } }, key)),
    );
    const runs = await taggedRuns("twenty");
    expect(runs).toHaveLength(1);
    for (const response of responses) {
      if (response.status === 409) {
        expect([response.body.code, response.headers.get("retry-after")]).toEqual(["idempotency_in_progress", "1"]);
      } else expect(response.body.run_id).toBe(runs[0].run_id);
    }
    expect(responses.some(({ status }) => status < 300)).toBe(true);
  });

  it("[GNL-038] of a failed or canceled run returns that run, and of a deleted one that it is gone", async () => {
    const failing = { prompt: "[sandbox:fail,delay=0] x" };
    const key = newKey();
    const { body: failed } = await generate(failing, key);
    await suite.caller.waitUntilEnded(failed.run_id);
    expect((await generate(failing, key)).body).toMatchObject({ run_id: failed.run_id, status: "failed" });

    const endless = { prompt: "[sandbox:never] x" };
    const other = newKey();
    const { body: stopped } = await generate(endless, other);
    await suite.caller.post(`/runs/${stopped.run_id}/cancel`);
    await suite.caller.waitUntilEnded(stopped.run_id);
    expect((await generate(endless, other)).body).toMatchObject({ run_id: stopped.run_id, status: "canceled" });

    await suite.caller.delete(`/runs/${failed.run_id}`);
    expect(statusAndCode(await generate(failing, key))).toEqual([410, "run_deleted"]);
  });

  it("[GNL-039] holds for uploads too, by the bytes of the file", async () => {
    const key = newKey();
    const upload = async (bytes: Buffer) => suite.caller.post("/upload", formOf(suite, { file: bytes }), key);
    const first = await upload(await drawScene());
    const same = await upload(await drawScene());
    expect([same.status, same.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(same.body.data).toEqual(first.body.data);
    expect(statusAndCode(await upload(await drawScene(64, 64)))).toEqual([422, "idempotency_key_reused"]);
  });
});

describe("common fields of every run", () => {
  it("[GNL-040] is webhook_url, webhook_secret and metadata, on every operation", async () => {
    const responses = await waited();
    expect(responses.size).toBe(runOperations.length);
    for (const [name, response] of responses) {
      expect([name, response.status < 300]).toEqual([name, true]);
      const runId = response.headers.get("x-run-id");
      const { body } = await suite.caller.get(`/runs/${runId}`);
      expect([name, body.metadata]).toEqual([name, EXTRAS.metadata]);
      // The message arrives at webhook_url, signed with webhook_secret, with the metadata.
      const [message] = await receiver.got(1, ({ event }) => event.data.run_id === runId);
      const content = Buffer.concat([
        Buffer.from(`${message!.headers["webhook-id"]}.${message!.headers["webhook-timestamp"]}.`),
        message!.bytes,
      ]);
      const signature = `v1,${createHmac("sha256", SECRET).update(content).digest("base64")}`;
      const [bySecret] = String(message!.headers["webhook-signature"]).split(" ");
      expect([name, message!.path, bySecret]).toEqual([name, "/gesso", signature]);
      expect([name, message!.event.data.metadata]).toEqual([name, EXTRAS.metadata]);
    }
  });

  it("[GNL-041] are returned without webhook_secret, everywhere", async () => {
    const texts: string[] = [];
    const note = ({ body }: ApiResponse) => texts.push(JSON.stringify(body));
    for (const response of (await waited()).values()) {
      note(response);
      const path = `/runs/${response.headers.get("x-run-id")}`;
      for (const part of ["", "/tree", "/layers", "/events"]) note(await suite.caller.get(`${path}${part}`));
    }
    note(await suite.caller.get("/runs?limit=100"));
    note(await generate({ webhook_secret: SECRET, width: 1 }));
    note(await generate({ webhook_secret: `${SECRET}${"x".repeat(300)}` }));
    note(
      await suite.caller.post("/runs/estimate", { operation: "images.generate", input: { webhook_secret: SECRET } }),
    );
    expect(texts.length).toBeGreaterThan(100);
    for (const text of texts) expect(text).not.toContain(SECRET);
    expect(texts.join()).not.toContain('webhook_secret":"');
  });
});

it("Lists, errors and other responses with data of a tenant are not kept by browsers or proxies", async () => {
  const { body: run } = await generate({ sync: true });
  const cachingOf = async (path: string) => (await suite.caller.get(path)).headers.get("cache-control");
  for (const path of ["/runs?limit=1", "/keys", "/usage", "/runs/not-a-run", `/runs/${run.run_id}/tree`])
    expect([path, await cachingOf(path)]).toEqual([path, "no-store"]);
  // A run has an ETag: a browser keeps it, and asks before it shows it again.
  expect(await cachingOf(`/runs/${run.run_id}`)).toBe("private, no-cache");
});
