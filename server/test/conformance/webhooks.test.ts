// Webhooks: which messages are sent when, their format and signature, and the effect of each response of the receiver.
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import { drawScene } from "../support/scene.ts";
import { type ReceivedMessage, startWebhookReceiver, type WebhookReceiver, webhookEnv } from "../webhooks/receiver.ts";
import { expectNoNewRun } from "./expectations.ts";
import { it } from "./http-and-client.ts";
import { useOwnSuite } from "./suite.ts";

const env: Record<string, string> = {};
let receiver: WebhookReceiver;
let elsewhere: WebhookReceiver;
beforeAll(async () => {
  [receiver, elsewhere] = [await startWebhookReceiver(), await startWebhookReceiver()];
  Object.assign(env, webhookEnv(receiver, elsewhere));
});
const suite = useOwnSuite(env);
afterAll(async () => {
  await receiver?.close();
  await elsewhere?.close();
});
beforeEach(() => receiver.respondWith(() => 204));

const SECRET = "thirty-two bytes that nobody sees";
const TYPES = [
  ...["run.completed", "run.failed", "run.canceled", "run.processing", "run.progress", "webhook.test"],
  ...["webhook_endpoint.disabled", "credits.low", "budget.warning", "budget.reached", "api_key.revoked"],
];
const isOf = (runId: string) => (each: ReceivedMessage) => each.event.data.run_id === runId;
const idOf = ({ headers }: ReceivedMessage) => String(headers["webhook-id"]);
const hook = (path = "/run") => ({ webhook_url: `${receiver.url}${path}` });

/** Sends a request that creates a run with a webhook to the receiver; returns the run ID. */
async function start(body: Record<string, unknown> = {}, path = "/runs/generate"): Promise<string> {
  const response = await suite.caller.post(path, { prompt: "a boat", ...hook(), ...body });
  expect([response.status, response.body.code]).toEqual([202, undefined]);
  return String(response.headers.get("x-run-id"));
}
/** One more message passes the same queue, so that a message before it would have arrived too. */
const passOneMore = async () => void (await receiver.got(1, isOf(await start({ width: 64, height: 64 }))));
const arrival = async (body: Record<string, unknown> = {}, path?: string): Promise<ReceivedMessage> =>
  (await receiver.got(1, isOf(await start(body, path))))[0]!;

const signatureOf = (secret: string | Buffer, { headers, bytes }: ReceivedMessage) => {
  const content = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), bytes]);
  return `v1,${createHmac("sha256", secret).update(content).digest("base64")}`;
};
const signatures = ({ headers }: ReceivedMessage) => String(headers["webhook-signature"]).split(" ");

describe("the end of a run", () => {
  it("[EVT-001] that completed is sent to the URL in its request", async () => {
    const runId = await start({ width: 64, height: 64 });
    const [message] = await receiver.got(1, isOf(runId));
    expect(message!.event).toMatchObject({ type: "run.completed", data: { run_id: runId, status: "completed" } });
    expect((await suite.caller.get(`/runs/${runId}`)).body.status).toBe("completed");
  });

  it("[FLX-017] that edits with flux kontext is sent to the URL in its request", async () => {
    const edit = { original_run_id: await suite.uploadImage(), model: "flux-kontext-max" };
    const { event } = await arrival(edit, "/edits/flux-kontext");
    expect(event.type).toBe("run.completed");
    expect(event.data.image_url).toMatch(/^http/);
  });

  it("[EVT-002] that produced a video is sent, with the video", async () => {
    const { event } = await arrival({ image_url: suite.imageUrl(), duration: 5 }, "/runs/video");
    expect(event.type).toBe("run.completed");
    expect(event.data.video_url).toMatch(/^http/);
  });

  it("[EVT-003] that failed to produce a video is sent, with the error", async () => {
    const broken = { prompt: "[sandbox:fail] a boat", image_url: suite.imageUrl() };
    const { event } = await arrival(broken, "/runs/video");
    expect(event.type).toBe("run.failed");
    expect(event.data).toMatchObject({ status: "failed", error: { code: expect.any(String) }, video_url: null });
  });

  it("[EVT-004] that was canceled is sent", async () => {
    const runId = await start({ prompt: "[sandbox:never] a boat" });
    expect((await suite.caller.post(`/runs/${runId}/cancel`)).status).toBeLessThan(300);
    const [message] = await receiver.got(1, isOf(runId));
    expect(message!.event).toMatchObject({ type: "run.canceled", data: { status: "canceled" } });
  });

  it("[EVT-005] is one event: what is sent again has the same id and the same bytes", async () => {
    receiver.respondWith((_, times) => (times < 2 ? 500 : 204));
    const runId = await start({ width: 64, height: 64 });
    const messages = await receiver.got(2, isOf(runId));
    const [delivery] = (await suite.caller.get(`/webhooks/deliveries?run_id=${runId}`)).body.data;
    await suite.caller.post(`/webhooks/deliveries/${delivery.id}/redeliver`);
    const all = [...messages, ...(await receiver.got(3, isOf(runId))).slice(2)];
    expect(new Set(all.map(idOf)).size).toBe(1);
    expect(new Set(all.map(({ bytes }) => bytes.toString("hex"))).size).toBe(1);
    const ends = await suite.environment.query("select event_id from events where run_id = $1 and terminal", [runId]);
    expect(ends.map(({ event_id }) => `evt_${event_id}`)).toEqual([idOf(all[0]!)]);
  });

  it("[EVT-012] is the only message by default", async () => {
    const runId = await start({ prompt: "[sandbox:delay=4] a boat", width: 64, height: 64 });
    await receiver.got(1, isOf(runId));
    await passOneMore();
    const types = await suite.environment.query<{ type: string }>("select type from events where run_id = $1", [runId]);
    expect(types.map(({ type }) => type)).toEqual(expect.arrayContaining(["run.processing", "run.progress"]));
    expect(receiver.received.filter(isOf(runId)).map(({ event }) => event.type)).toEqual(["run.completed"]);
  });
});

describe("a message", () => {
  it("[EVT-006] has the headers of Standard Webhooks, a user agent and the number of the attempt", async () => {
    const message = await arrival({ width: 64, height: 64 });
    expect(message.headers).toMatchObject({
      "webhook-id": expect.stringMatching(/^evt_[0-9a-f-]{36}$/),
      "webhook-timestamp": expect.stringMatching(/^\d{10}$/),
      "webhook-signature": expect.stringMatching(/^v1,/),
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/-webhooks\/1$/),
      "x-webhook-attempt": "1",
    });
    expect(Math.abs(Number(message.headers["webhook-timestamp"]) - Date.now() / 1000)).toBeLessThan(30);
  });

  it("[EVT-007] is signed with the bytes of the secret that the request brought", async () => {
    const message = await arrival({ webhook_secret: SECRET, width: 64, height: 64 });
    expect(signatures(message)).toContain(signatureOf(SECRET, message));
    const wide = await arrival({ webhook_secret: "ünï-códe ist auch erlaubt", width: 64, height: 64 });
    expect(signatures(wide)).toContain(signatureOf("ünï-códe ist auch erlaubt", wide));
  });

  it("[EVT-008] is signed with the key in base64 after whsec_", async () => {
    const key = Buffer.alloc(32, 7);
    const message = await arrival({ webhook_secret: `whsec_${key.toString("base64")}`, width: 64, height: 64 });
    expect(signatures(message)).toContain(signatureOf(key, message));
    for (const bad of ["whsec_not base64 at all!!", `whsec_${Buffer.alloc(23).toString("base64")}`]) {
      const response = await suite.caller.post("/runs/generate", { prompt: "x", ...hook(), webhook_secret: bad });
      expect([response.status, response.body.details.errors[0].path]).toEqual([400, "/webhook_secret"]);
    }
  });

  it("[EVT-009] is signed with the secret of the tenant where the request brought none", async () => {
    const first = await arrival({ width: 64, height: 64 });
    expect(signatures(first)[0]).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    const { secret } = (await suite.caller.post("/webhooks/secret/rotate", {})).body;
    const message = await arrival({ width: 64, height: 64 });
    new Webhook(secret).verify(message.bytes.toString(), message.headers as Record<string, string>);
    // The old one signs for another day.
    expect(signatures(message).filter((each) => each.startsWith("v1,"))).toHaveLength(2);
  });

  it("[EVT-010] contains the type, the time and the run", async () => {
    const { event } = await arrival({ width: 64, height: 64 });
    expect(Object.keys(event).sort()).toEqual(["data", "timestamp", "type"]);
    expect(new Date(event.timestamp).toISOString()).toBe(event.timestamp);
    expect(Object.keys(event.data)).toEqual(
      expect.arrayContaining([
        ...["run_id", "status", "live_status", "run_type", "parent_run_id", "progress", "image_url", "video_url"],
        ...["outputs", "error", "warnings", "metadata", "created_at", "updated_at", "expires_at"],
      ]),
    );
    const run = (await suite.caller.get(`/runs/${event.data.run_id}`)).body;
    for (const field of ["status", "live_status", "run_type", "progress", "image_url", "outputs", "expires_at"]) {
      expect([field, event.data[field]]).toEqual([field, run[field]]);
    }
  });

  it("[EVT-011] has one of the known types, whatever was requested", async () => {
    const contract = (await suite.caller.send("GET", "/openapi.json")).body;
    const offered = contract.components.schemas.Webhook.properties.events.items.enum;
    const tested =
      contract.paths["/api/v1/webhooks/{webhook_id}/test"].post.requestBody.content["application/json"].schema
        .properties;
    expect([...offered, ...tested.type.enum].filter((type: string) => !TYPES.includes(type))).toEqual([]);
    const made = (await suite.caller.post("/webhooks", { url: `${receiver.url}/every`, events: offered })).body;
    const runs = [
      await start({ width: 64, height: 64 }),
      await start({ prompt: "[sandbox:fail] a boat", width: 64, height: 64 }),
    ];
    for (const runId of runs) await receiver.got(2, isOf(runId));
    await passOneMore();
    await suite.caller.delete(`/webhooks/${made.id}`);
    expect(receiver.received.map(({ event }) => event.type).filter((type) => !TYPES.includes(type))).toEqual([]);
  });

  it("[EVT-017] holds the metadata as it was given, and the secret nowhere", async () => {
    const metadata = { album: "nine", nested: { list: [1, "two", null, { deep: true }] }, words: "日本 – ünïcode" };
    const message = await arrival({ metadata, webhook_secret: SECRET, width: 64, height: 64 });
    expect(message.event.data.metadata).toEqual(metadata);
    expect(`${message.bytes}${JSON.stringify(message.headers)}`).not.toContain(SECRET);
  });

  it("[EVT-018] has at most 20 kB, and neither images nor the prompt in it", async () => {
    const metadata = { notes: "n".repeat(16_384 - 12) };
    const prompt = "a very particular harbour at four in the morning";
    const image = (await drawScene()).toString("base64");
    const image_url = `data:image/png;base64,${image}`;
    const message = await arrival({ prompt, image_url, metadata }, "/edits/vendora");
    expect(message.event.type).toBe("run.completed");
    expect(message.bytes.length).toBeLessThanOrEqual(20_000);
    expect(message.event.data.metadata).toEqual(metadata);
    expect(message.bytes.toString()).not.toContain(prompt);
    expect(message.bytes.toString()).not.toContain("base64");
    expect(message.bytes.toString()).not.toContain(image.slice(100, 200));
  });
});

describe("a receiver", () => {
  it("[EVT-013] that returns 500 is retried about 5 s later, with the same ID and a new timestamp", async () => {
    receiver.respondWith((_, times) => (times < 2 ? 500 : 204));
    const [first, second] = await receiver.got(2, isOf(await start({ width: 64, height: 64 })));
    expect(idOf(second!)).toBe(idOf(first!));
    expect(second!.headers["x-webhook-attempt"]).toBe("2");
    expect(Number(second!.headers["webhook-timestamp"])).toBeGreaterThan(Number(first!.headers["webhook-timestamp"]));
    expect(second!.at - first!.at).toBeGreaterThan(4_900);
    expect(signatures(second!)[0]).not.toBe(signatures(first!)[0]);
  });

  it("[EVT-014] that returns 302 is not followed, and counts as failed", async () => {
    receiver.respondWith((_, times) =>
      times < 2 ? { status: 302, headers: { location: `${elsewhere.url}/target` } } : 204,
    );
    const runId = await start({ width: 64, height: 64 });
    await receiver.got(2, isOf(runId));
    expect([elsewhere.received.length, elsewhere.connections()]).toEqual([0, 0]);
    const [row] = (await suite.caller.get(`/webhooks/deliveries?run_id=${runId}`)).body.data;
    const { log } = (await suite.caller.get(`/webhooks/deliveries/${row.id}`)).body;
    expect(log[0]).toMatchObject({ attempt: 1, status: 302 });
  });

  it("[EVT-015] that returns 410 is not retried", async () => {
    receiver.respondWith(() => 410);
    const runId = await start({ width: 64, height: 64 });
    await receiver.got(1, isOf(runId));
    const readDelivery = async () => (await suite.caller.get(`/webhooks/deliveries?run_id=${runId}`)).body.data[0];
    await expect.poll(async () => (await readDelivery()).status).toBe("disabled");
    expect(await readDelivery()).toMatchObject({ attempts: 1, next_attempt_at: null });
    expect(receiver.received.filter(isOf(runId))).toHaveLength(1);
  });

  it("[EVT-016] at an inner address is refused, and no run is made", async () => {
    const inner = [
      ...["https://127.0.0.1/hook", "https://localhost/hook", "https://10.0.0.8/hook", "https://192.168.1.1/hook"],
      ...["https://169.254.169.254/latest/", "https://[::1]/hook", "https://[fe80::1]/hook", "http://127.0.0.2/hook"],
    ];
    for (const webhook_url of inner) {
      const response = await expectNoNewRun(suite, () =>
        suite.caller.post("/runs/generate", { prompt: "x", webhook_url }),
      );
      expect([webhook_url, response.status, response.body.code]).toEqual([webhook_url, 422, "webhook_url_not_allowed"]);
    }
  });

  it("[EVT-022] can be sent a test, which arrives signed", async () => {
    const made = (await suite.caller.post("/webhooks", { url: `${receiver.url}/test` })).body;
    const response = await suite.caller.post(`/webhooks/${made.id}/test`, {});
    expect([response.status, response.body.type]).toEqual([202, "webhook.test"]);
    const [message] = await receiver.got(1, ({ event }) => event.data.webhook_id === made.id);
    expect(message!.event.type).toBe("webhook.test");
    new Webhook(made.secret).verify(message!.bytes.toString(), message!.headers as Record<string, string>);
    await suite.caller.delete(`/webhooks/${made.id}`);
  });
});
