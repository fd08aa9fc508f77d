// Webhooks in a running Gesso: subscriptions, messages, and the delivery log.
import { createPublicKey, verify } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { type ReceivedMessage, startWebhookReceiver, type WebhookReceiver, webhookEnv } from "../webhooks/receiver.ts";

let receiver: WebhookReceiver;
let other: WebhookReceiver;
let environment: TestEnvironment;
let caller: ApiCaller;

beforeAll(async () => {
  [receiver, other] = [await startWebhookReceiver(), await startWebhookReceiver()];
  // A second of the schedule is a hundredth here.
  environment = await startTestEnvironment({ env: { ...webhookEnv(receiver, other), WEBHOOK_TIME_SCALE: "0.01" } });
  caller = createHttpCaller(environment);
});
afterAll(async () => {
  await environment?.stop();
  await receiver?.close();
  await other?.close();
});
beforeEach(() => {
  receiver.respondWith(() => 204);
  other.respondWith(() => 204);
});

const make = async (body: Record<string, unknown> = {}) =>
  (await caller.generate({ prompt: "a boat", width: 64, height: 64, ...body })).body.run_id as string;
const isOf = (runId: string) => (each: ReceivedMessage) => each.event.data.run_id === runId;
const hook = async (body: Record<string, unknown> = {}, path = "/hook") =>
  (await caller.post("/webhooks", { url: `${receiver.url}${path}`, ...body })).body;
const drop = (id: string) => caller.delete(`/webhooks/${id}`);
const verified = (message: ReceivedMessage, secret: string) =>
  new Webhook(secret).verify(message.bytes.toString(), message.headers as Record<string, string>);

/** Sends one more message and waits for it, so that a message before it would have arrived too. */
async function passOneMore(path: string, event: "run.completed" | "api_key.revoked" = "run.completed"): Promise<void> {
  const { id } = await hook({ events: [event] }, path);
  const made =
    event === "run.completed" ? undefined : (await caller.post("/keys", { name: "x", scopes: ["runs:read"] })).body;
  if (made) await caller.delete(`/keys/${made.id}`);
  else await make();
  await receiver.got(1, (each) => each.path === path);
  await drop(id);
}

/** Asks until it is so. */
async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean, seconds = 600): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await read();
    if (isSo(value)) return value;
    if (Date.now() > end) throw new Error(`not so after ${seconds} s: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const deliveryOf = async (query: string, isSo: (row: any) => boolean) => {
  const { data } = await until(
    async () => (await caller.get(`/webhooks/deliveries?${query}`)).body,
    (page) => page.data.length > 0 && isSo(page.data[0]),
  );
  return (await caller.get(`/webhooks/deliveries/${data[0].id}`)).body;
};

describe("a webhook", () => {
  it("receives the outcome of runs, with a signature that its secret and the public key verify", async () => {
    const { id, secret, public_keys_url, events } = await hook();
    expect(events).toEqual(["run.completed", "run.failed", "run.canceled"]);
    const runId = await make({ metadata: { album: 9 } });
    const [message] = await receiver.got(1, isOf(runId));
    expect(verified(message!, secret)).toMatchObject({ type: "run.completed", data: { metadata: { album: 9 } } });
    const { keys } = (await (await fetch(public_keys_url)).json()) as {
      keys: [{ kty: string; crv: string; x: string }];
    };
    const last = String(message!.headers["webhook-signature"]).split(" ").at(-1)!;
    const content = `${message!.headers["webhook-id"]}.${message!.headers["webhook-timestamp"]}.${message!.bytes}`;
    const key = createPublicKey({ key: keys[0], format: "jwk" });
    expect(verify(null, Buffer.from(content), key, Buffer.from(last.slice(4), "base64"))).toBe(true);
    const delivery = await deliveryOf(`webhook_id=${id}`, ({ status }) => status === "delivered");
    expect(delivery).toMatchObject({ run_id: runId, event_id: message!.headers["webhook-id"], attempts: 1 });
    expect(delivery.body).toBe(message!.bytes.toString());
    expect(delivery.log).toMatchObject([{ attempt: 1, status: 204, error: null }]);
    await drop(id);
  });

  it("receives only its event types, also run.processing and progress, which is sent every two seconds", async () => {
    const { id } = await hook({ events: ["run.processing", "run.progress"] }, "/steps");
    const runId = await make({ prompt: "[sandbox:delay=5] a boat" });
    await caller.waitUntilEnded(runId);
    await until(
      async () => receiver.received.filter(isOf(runId)).length,
      (count) => count >= 2,
    );
    const messages = receiver.received.filter(isOf(runId));
    const types = messages.map(({ event }) => event.type);
    expect(types.filter((type) => type === "run.processing")).toHaveLength(1);
    expect(types.filter((type) => type === "run.progress").length).toBeGreaterThanOrEqual(1);
    expect(types.filter((type) => !/^run\.(processing|progress)$/.test(type))).toEqual([]);
    const reported = messages
      .filter(({ event }) => event.type === "run.progress")
      .map(({ event }) => Date.parse(event.timestamp))
      .sort((one, two) => one - two);
    for (const [n, at] of reported.slice(1).entries()) expect(at - reported[n]!).toBeGreaterThanOrEqual(2000);
    for (const { event } of messages) expect(event.data).toMatchObject({ status: "processing", outputs: [] });
    await drop(id);
  });

  it("signs with both secrets during a rotation, and with one after that", async () => {
    const { id, secret: old } = await hook({}, "/rotated");
    const { secret: fresh } = (await caller.post(`/webhooks/${id}/rotate`, {})).body;
    expect(fresh).not.toBe(old);
    const [both] = await receiver.got(1, isOf(await make()));
    verified(both!, old);
    verified(both!, fresh);
    await environment.query(
      "update webhook_secrets set ends_at = now() - interval '1 second' where ends_at is not null",
    );
    const [one] = await receiver.got(1, isOf(await make()));
    verified(one!, fresh);
    expect(() => verified(one!, old)).toThrow();
    const given = await caller.post(`/webhooks/${id}/rotate`, {
      secret: "one that I have thought of",
      overlap_seconds: 0,
    });
    expect([given.status, given.body.secret]).toEqual([201, null]);
    const [mine] = await receiver.got(1, isOf(await make()));
    verified(mine!, Buffer.from("one that I have thought of").toString("base64"));
    await drop(id);
  });

  it("that responds 410 is disabled, and the tenant's other webhook is notified", async () => {
    const watcher = (
      await caller.post("/webhooks", { url: `${other.url}/watch`, events: ["webhook_endpoint.disabled"] })
    ).body;
    const { id } = await hook({}, "/gone");
    receiver.respondWith(({ path }) => (path === "/gone" ? 410 : 204));
    const runId = await make();
    const [news] = await other.got(1, ({ event }) => event.data.webhook_id === id);
    expect(news!.event).toMatchObject({ type: "webhook_endpoint.disabled", data: { reason: "gone" } });
    expect((await caller.get(`/webhooks/${id}`)).body).toMatchObject({ enabled: false, disabled_reason: "gone" });
    const delivery = await deliveryOf(`run_id=${runId}`, ({ status }) => status !== "pending");
    expect(delivery).toMatchObject({ status: "disabled", log: [{ status: 410 }] });
    const again = await caller.post(`/webhooks/deliveries/${delivery.id}/redeliver`);
    expect([again.status, again.body.code]).toEqual([409, "conflict"]);
    const count = receiver.received.filter(({ path }) => path === "/gone").length;
    await make();
    receiver.respondWith(() => 204);
    await caller.send("PATCH", `/api/v1/webhooks/${id}`, { body: { enabled: true } });
    expect((await caller.post(`/webhooks/deliveries/${delivery.id}/redeliver`)).status).toBe(202);
    const messages = await receiver.got(count + 1, ({ path }) => path === "/gone");
    const [first, last] = [messages[0]!, messages.at(-1)!];
    expect(last.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
    expect(last.bytes.equals(first.bytes)).toBe(true);
    expect([first.headers["x-webhook-attempt"], last.headers["x-webhook-attempt"]]).toEqual(["1", "2"]);
    await Promise.all([drop(id), drop(watcher.id)]);
  });

  it("is notified that a key was revoked, once and without the key", async () => {
    const { id } = await hook({ events: ["api_key.revoked"] }, "/keys");
    const made = (await caller.post("/keys", { name: "the old phone", scopes: ["runs:read"] })).body;
    for (let n = 0; n < 2; n++) await caller.delete(`/keys/${made.id}`);
    const isOfKey = ({ event }: ReceivedMessage) => event.data.key_id === made.id;
    const [news] = await receiver.got(1, isOfKey);
    expect(news!.event).toMatchObject({
      type: "api_key.revoked",
      data: { name: "the old phone", hint: made.hint, user_id: made.user_id, revoked_by: made.user_id },
    });
    expect(news!.bytes.toString()).not.toContain(made.key);
    await passOneMore("/keys-after", "api_key.revoked");
    expect(receiver.received.filter(isOfKey)).toHaveLength(1);
    await drop(id);
  });

  it("that has failed for five days is disabled", async () => {
    const { id } = await hook({}, "/failing");
    receiver.respondWith(({ path }) => (path === "/failing" ? 500 : 204));
    await environment.query(
      "update webhook_endpoints set failing_since = now() - interval '5 days' where webhook_id = $1",
      [id],
    );
    await make();
    const row = await until(
      async () => (await caller.get(`/webhooks/${id}`)).body,
      ({ enabled }) => !enabled,
    );
    expect(row).toMatchObject({ disabled_reason: "failing", enabled: false });
    await drop(id);
  });

  it("receives missed events of a period again, under the same IDs, and delivered ones only on request", async () => {
    const from = new Date().toISOString();
    const runs = await Promise.all(["one", "two", "three"].map((prompt) => make({ prompt })));
    await Promise.all(runs.map((run) => caller.waitUntilEnded(run)));
    const { id } = await hook({}, "/late");
    const isLate = (each: ReceivedMessage) => each.path === "/late" && runs.includes(each.event.data.run_id);
    expect((await caller.post(`/webhooks/${id}/replay`, { from })).status).toBe(202);
    const first = await receiver.got(3, isLate);
    expect(new Set(first.map(({ event }) => event.data.run_id)).size).toBe(3);
    await caller.post(`/webhooks/${id}/replay`, { from });
    await until(
      async () => environment.query("select from webhook_replays where finished_at is null"),
      (open) => open.length === 0,
    );
    await passOneMore("/after-replay");
    expect(receiver.received.filter(isLate)).toHaveLength(3);
    await caller.post(`/webhooks/${id}/replay`, { from, only_failed: false });
    const both = await receiver.got(6, isLate);
    const bytesOf = new Map(first.map((each) => [each.headers["webhook-id"], each.bytes]));
    for (const each of both.slice(3)) expect(bytesOf.get(each.headers["webhook-id"])?.equals(each.bytes)).toBe(true);
    await drop(id);
  });

  it("with a new URL receives waiting messages there", async () => {
    const { id } = await hook({}, "/old");
    receiver.respondWith(({ path }) => (path === "/old" ? 500 : 204));
    const runId = await make();
    await receiver.got(2, isOf(runId));
    await caller.send("PATCH", `/api/v1/webhooks/${id}`, { body: { url: `${other.url}/new` } });
    const [message] = await other.got(1, isOf(runId));
    expect(message!.headers["webhook-id"]).toBe(receiver.received.find(isOf(runId))!.headers["webhook-id"]);
    await drop(id);
  });

  it("is one of at most a hundred, and is created once for each key", async () => {
    const { caller: own } = await createTestTenant(environment);
    const ask = (key?: string) =>
      own.post("/webhooks", { url: "https://example.com/" }, key ? { "idempotency-key": key } : {});
    const first = await ask("once");
    const again = await ask("once");
    expect([again.status, again.body.id, again.body.secret]).toEqual([201, first.body.id, null]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    const responses = [];
    for (let n = 0; n < 100; n++) responses.push(await ask());
    expect(responses.map(({ status }) => status)).toEqual([...Array(99).fill(201), 409]);
    expect(responses.at(-1)!.body.details.reason).toBe("too_many_webhooks");
    expect((await ask("once")).body.id).toBe(first.body.id);
  });

  it("sends nothing of a deleted run, and deletes the bodies of its messages", async () => {
    receiver.respondWith(({ path }) => (path === "/deleted" ? 500 : 204));
    const runId = await make({ webhook_url: `${receiver.url}/deleted`, webhook_secret: "a secret of this run" });
    await receiver.got(1, isOf(runId));
    await until(
      () => caller.delete(`/runs/${runId}`),
      ({ status }) => status === 200,
    );
    const [row] = await environment.query("select status, body from webhook_deliveries where run_id = $1", [runId]);
    expect(row).toEqual({ status: "dropped", body: null });
    expect(await environment.query("select from open_deliveries where run_id = $1", [runId])).toEqual([]);
    expect(await environment.query("select from webhook_secrets where owner_id = $1", [runId])).toEqual([]);
  });
});

describe("another tenant's webhook", () => {
  it("receives no event of this tenant, and has another signature", async () => {
    const otherTenant = await createTestTenant(environment);
    const theirs = (await otherTenant.caller.post("/webhooks", { url: `${other.url}/stranger` })).body;
    const { id, public_keys_url } = await hook({}, "/own");
    const runId = await make();
    await receiver.got(1, isOf(runId));
    await passOneMore("/after-other");
    expect(other.received.filter(isOf(runId))).toEqual([]);
    const keysOf = async (url: string) => JSON.stringify(await (await fetch(url)).json());
    expect(await keysOf(public_keys_url)).not.toBe(await keysOf(theirs.public_keys_url));
    expect((await fetch(`${environment.url}/.well-known/webhook-keys`)).status).toBe(400);
    await drop(id);
  });

  it("cannot send a message back to the server", async () => {
    const response = await fetch(`${environment.url}/api/v1/runs`, { headers: { "user-agent": "Gesso-webhooks/1" } });
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([403, "permission_denied"]);
    const own = await caller.post("/webhooks", { url: `${environment.url}/api/v1/runs` });
    expect([own.status, own.body.code]).toEqual([422, "webhook_url_not_allowed"]);
  });
});
