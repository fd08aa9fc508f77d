// Webhook secrets are nowhere: in no response, row, event, log, or file of the engine. All of these are searched whole,
// and a marker proves that each of them is searched.
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type createHttpCaller, type SendApiRequest, sendOverHttp } from "../support/api-caller.ts";
import { drawScene } from "../support/scene.ts";
import { findSecretsIn, readAllRows, readEngineData, readFilesBelow } from "../support/stored-text.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { startWebhookReceiver, type WebhookReceiver, webhookEnv } from "./receiver.ts";

const canary = (n: number) => `canary-${n}-Qx7vRk2mZ8tLw5`;
const key = Buffer.from("canary-key-of-32-bytes-Qx7vRk2mZ8").toString("base64");
/** Secrets that callers pass, in every field that accepts one. */
const SECRETS = [canary(1), canary(2), canary(3), canary(4), canary(5), canary(6), `whsec_${key}`];
/** A marker that must be found wherever a secret could be. */
const MARK = "marked-by-the-canary-test";

let receiver: WebhookReceiver;
let environment: TestEnvironment;
const responses: string[] = [];
const ours: string[] = [];

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  environment = await startTestEnvironment({
    env: { ...webhookEnv(receiver), WEBHOOK_TIME_SCALE: "0.02", LOG_LEVEL: "debug" },
  });
});
afterAll(async () => {
  await environment?.stop();
  await receiver?.close();
});

/** As callers do it, with every response recorded. */
function keeping(): ReturnType<typeof createHttpCaller>["send"] {
  const send: SendApiRequest = sendOverHttp(environment);
  return async (method, path, sending) => {
    const response = await send(method, `/api/v1${path}`, sending);
    responses.push(`${[...response.headers].join("\n")}\n${response.bytes}`);
    return response;
  };
}

async function live(): Promise<string> {
  const send = keeping();
  const post = (path: string, body?: unknown, headers?: Record<string, string>) =>
    send("POST", path, { ...(body !== undefined && { body }), ...(headers && { headers }) });
  receiver.respondWith((_, times) => (times < 3 ? 500 : 204));
  const small = { prompt: `${MARK} a boat`, width: 64, height: 64, webhook_url: `${receiver.url}/run` };
  const twice = { "idempotency-key": "canary-once" };
  const runs = [
    (await post("/runs/generate", { ...small, webhook_secret: SECRETS[0], metadata: { note: MARK } }, twice)).body
      .run_id,
    (await post("/runs/generate", { ...small, webhook_secret: SECRETS[6] })).body.run_id,
    (await post("/runs/generate", { ...small, prompt: "[sandbox:fail] x", webhook_secret: SECRETS[1] })).body.run_id,
  ];
  await post("/runs/generate", { ...small, webhook_secret: SECRETS[0], metadata: { note: MARK } }, twice);
  await post("/runs/generate", { ...small, webhook_secret: SECRETS[0], width: 1 });
  await post("/runs/generate", { ...small, webhook_secret: `${SECRETS[0]}${"x".repeat(300)}` });
  await post("/runs/generate", { ...small, webhook_url: "https://10.0.0.1/", webhook_secret: SECRETS[0] });
  await post("/runs/estimate", { operation: "images.generate", input: { ...small, webhook_secret: SECRETS[0] } });
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(await drawScene())], { type: "image/png" }), "a.png");
  form.set("webhook_url", `${receiver.url}/upload`);
  form.set("webhook_secret", SECRETS[2]!);
  runs.push((await post("/upload", form)).body.data.run_id);

  const hook = (await post("/webhooks", { url: `${receiver.url}/hook`, secret: SECRETS[3] })).body;
  await send("PATCH", `/webhooks/${hook.id}`, { body: { secret: SECRETS[3], enabled: true } });
  await post(`/webhooks/${hook.id}/rotate`, { secret: SECRETS[4] });
  await post("/webhooks/secret/rotate", { secret: SECRETS[5] });
  await post(`/webhooks/${hook.id}/test`, {});
  const made = [
    (await post("/webhooks", { url: `${receiver.url}/made` })).body,
    (await post(`/webhooks/${hook.id}/rotate`, {})).body,
    (await post("/webhooks/secret/rotate", {})).body,
  ];
  // Generated secrets are in the three responses that create them; elsewhere they must not appear either.
  responses.splice(-3);
  ours.push(...made.map(({ secret }) => secret.slice("whsec_".length)));
  await post("/runs/generate", { ...small, prompt: "one more" });
  for (const run of runs) await receiver.got(3, ({ event }) => event.data.run_id === run, 60);
  const { data } = (await send("GET", "/webhooks/deliveries?limit=100")).body;
  for (const { id } of data) await send("GET", `/webhooks/deliveries/${id}`);
  await post(`/webhooks/deliveries/${data[0].id}/redeliver`);
  const paths = ["/runs", "/webhooks", `/webhooks/${hook.id}`, "/audit", "/usage"];
  for (const path of [...paths, ...runs.map((run) => `/runs/${run}`), ...runs.map((run) => `/runs/${run}/tree`)]) {
    await send("GET", path);
  }
  for (const run of runs) await send("GET", `/runs/${run}/events`);
  return runs[0];
}

it("is nowhere: responses, rows, logs, messages, or files of the engine", async () => {
  const runId = await live();
  const logs = ["api"].map((name) => readFilesBelow(join(dirname(environment.storageDir), name))).join("\n");
  const messages = receiver.received.map(({ headers, bytes }) => `${JSON.stringify(headers)}\n${bytes}`).join("\n");
  const ledgers = {
    answers: responses.join("\n"),
    rows: await readAllRows(environment),
    engine: await readEngineData(environment),
    logs,
    messages,
  };
  const deliveries = await environment.query<{ delivery_id: string }>(
    "select delivery_id from webhook_deliveries where run_id = $1",
    [runId],
  );
  // Each place is searched, and contains the marker.
  expect(ledgers.answers).toContain(MARK);
  expect(ledgers.rows).toContain(MARK);
  expect(ledgers.messages).toContain(MARK);
  expect(ledgers.engine).toContain(deliveries[0]!.delivery_id);
  expect(ledgers.engine).toContain("Webhook");
  expect(ledgers.logs).toContain('"msg":"ready"');
  expect((await environment.query("select from webhook_secrets")).length).toBeGreaterThanOrEqual(8);
  const found = Object.entries(ledgers).map(([name, text]) => [name, findSecretsIn(text, [...SECRETS, key, ...ours])]);
  expect(Object.fromEntries(found)).toEqual({ answers: [], rows: [], engine: [], logs: [], messages: [] });
});
