// Secrets are nowhere but where they belong: not in rows, storage, the engine, logs, responses or messages, although a
// provider repeats them in its errors. All of these are searched whole, and a marker proves that each is searched.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiResponse, createHttpCaller } from "../support/api-caller.ts";
import { drawScene } from "../support/scene.ts";
import { findSecretsIn, readAllRows, readEngineData, readFilesBelow } from "../support/stored-text.ts";
import { TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { startWebhookReceiver, type WebhookReceiver, webhookEnv } from "../webhooks/receiver.ts";

const KEYS = 50;
const MARK = "marked-by-the-canary-test";
const canary = (name: string) => `canary-${name}-Qx7vRk2mZ8tLw5Yp3`;
const SETTINGS = {
  GESSO_SECRET: canary("gesso-secret-that-is-long-enough"),
  GESSO_ACCEPTED_SECRETS: canary("previous-secret-that-is-long-enough"),
  S3_ACCESS_KEY_ID: canary("s3-id"),
  S3_SECRET_ACCESS_KEY: canary("s3-secret"),
  OPENAI_API_KEY: canary("openai"),
  FAL_KEY: canary("fal"),
  GEMINI_API_KEY: canary("gemini"),
  BFL_API_KEY: canary("bfl"),
};

const folder = mkdtempSync(join(tmpdir(), "gesso-secrets-"));
let environment: TestEnvironment;
let receiver: WebhookReceiver;
let provider: Server;
const requests: string[] = [];
const responses: string[] = [];

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  // A provider that repeats the credential in every error.
  provider = createServer((request, response) => {
    const credential = `${request.headers.authorization} ${request.headers["x-key"]} ${request.headers["x-goog-api-key"]}`;
    requests.push(credential);
    response.writeHead(400, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ error: { message: `${MARK} invalid ${credential}`, type: credential }, detail: credential }),
    );
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const GESSO_CONFIG = join(folder, "gesso.yaml");
  writeFileSync(GESSO_CONFIG, "providers:\n  sandbox: off\n");
  environment = await startTestEnvironment({
    env: {
      ...{ ...SETTINGS, ...webhookEnv(receiver), GESSO_CONFIG, LOG_LEVEL: "debug", WEBHOOK_TIME_SCALE: "0.02" },
      ...{ OPENAI_BASE_URL: url, GEMINI_BASE_URL: url, BFL_BASE_URL: url },
      ...{ FAL_QUEUE_URL: url, FAL_REST_URL: url, FAL_API_URL: url },
    },
  });
});
afterAll(async () => {
  await environment?.stop();
  await receiver?.close();
  provider?.close();
  rmSync(folder, { recursive: true, force: true });
});

const record = (response: ApiResponse): ApiResponse => {
  responses.push(`${[...response.headers].join("\n")}\n${response.bytes}`);
  return response;
};

/** Uses every secret in every way that callers have, and returns those that the API created. */
async function useSecrets(): Promise<{ keys: string[]; token: string }> {
  const operator = createHttpCaller(environment);
  const created = [];
  for (let n = 0; n < KEYS; n++)
    created.push((await operator.post("/keys", { name: `${MARK} ${n}`, scopes: ["*"] })).body);
  const keys: string[] = created.map(({ key }) => key);
  const token: string = (await operator.post("/tokens", TOKEN_REQUEST)).body.access_token;
  for (const { id, key } of created) {
    record(await createHttpCaller({ url: environment.url, key }).get(`/keys/${id}`));
  }
  const [first, second] = [keys[0]!, keys[1]!];
  const caller = createHttpCaller({ url: environment.url, key: first });
  record(await caller.get(`/runs?api_key=${second}`));
  record(await caller.get("/runs", { "x-api-key": second }));
  record(await caller.get("/runs", { authorization: `Bearer ${first}x` }));
  record(await caller.get(`/runs/${second}`));
  record(await createHttpCaller({ url: environment.url, key: token }).get("/runs"));
  record(await caller.delete(`/keys/${created[2].id}`));
  record(await createHttpCaller({ url: environment.url, key: keys[2]! }).get("/runs"));

  const webhook_url = `${receiver.url}/run`;
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(await drawScene())], { type: "image/png" }), "a.png");
  form.set("description", MARK);
  const { body: upload } = record(await caller.post("/upload", form));
  const run_id = upload.data.run_id;
  const runs = [
    await caller.post("/prompts/enhance", { prompt: `${MARK} a boat`, webhook_url }),
    await caller.post("/runs/generate", { prompt: `${MARK} a boat`, model_type: "flux-dev", webhook_url }),
    await caller.post("/runs/generate", { prompt: `${MARK} a boat`, model_type: "vendora", webhook_url }),
    await caller.post("/edits/gemini-2.5", { prompt: `${MARK} a boat`, run_id, webhook_url }),
  ].map(record);
  const ids = runs.map(({ body }) => body.run_id ?? body.data?.run_id);
  expect(ids.filter(Boolean)).toHaveLength(runs.length);
  for (const id of ids) {
    expect((await caller.waitUntilEnded(id)).status).toBe("failed");
    for (const path of ["", "/tree", "/events", "/layers"]) record(await caller.get(`/runs/${id}${path}`));
  }
  for (const path of ["/runs", "/keys", "/audit", "/usage", "/models", "/webhooks/deliveries"])
    record(await caller.get(path));
  await receiver.got(runs.length);
  return { keys, token };
}

it("no API key, token, provider key or setting is in rows, storage, the engine, logs, responses or messages", async () => {
  const { keys, token } = await useSecrets();
  const places = {
    responses: responses.join("\n"),
    rows: await readAllRows(environment),
    engine: await readEngineData(environment),
    storage: readFilesBelow(environment.storageDir),
    logs: readFilesBelow(join(dirname(environment.storageDir), "api")),
    messages: receiver.received.map(({ headers, bytes }) => `${JSON.stringify(headers)}\n${bytes}`).join("\n"),
  };
  const signatures = [...places.responses.matchAll(/\/files\/[0-9a-f-]{36}\/([\w-]{16,})\./g)].map(
    ([, signature]) => signature!,
  );
  // Each place is searched, and contains what it should.
  for (const name of ["responses", "rows"] as const) expect([name, places[name].includes(MARK)]).toEqual([name, true]);
  expect(places.engine).toContain("Run");
  expect(places.storage).toContain("IEND");
  expect(places.logs).toContain('"msg":"ready"');
  expect(places.messages).toContain("run.failed");
  for (const name of ["OPENAI_API_KEY", "FAL_KEY", "GEMINI_API_KEY"] as const)
    expect([name, requests.some((text) => text.includes(SETTINGS[name]))]).toEqual([name, true]);

  const password = new URL(environment.databaseUrl).password;
  const secrets = [...keys, token, environment.key, environment.sandboxKey, password, ...Object.values(SETTINGS)];
  expect(secrets.length).toBeGreaterThanOrEqual(KEYS + 12);
  const found = Object.entries(places).map(([name, text]) => [name, findSecretsIn(text, secrets)]);
  expect(Object.fromEntries(found)).toEqual({
    responses: [],
    rows: [],
    engine: [],
    storage: [],
    logs: [],
    messages: [],
  });
  // Signatures of file URLs are for callers; they are computed, never stored or logged.
  expect(signatures.length).toBeGreaterThan(0);
  for (const name of ["rows", "engine", "logs"] as const)
    expect([name, findSecretsIn(places[name], signatures)]).toEqual([name, []]);
});
