// Listeners in a running Gesso: their requests, their messages, and their reports in the delivery log.
import { type Client, createClient, type Event } from "@gesso/client";
import { unwrap } from "@gesso/client/webhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, TOKEN_REQUEST } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { startWebhookReceiver, type WebhookReceiver, webhookEnv } from "./receiver.ts";

let receiver: WebhookReceiver;
let environment: TestEnvironment;
let caller: ApiCaller;
let client: Client;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  environment = await startTestEnvironment({ env: webhookEnv(receiver) });
  caller = createHttpCaller(environment);
  client = createClient({ baseUrl: environment.url, apiKey: environment.key });
});
afterAll(async () => {
  await environment?.stop();
  await receiver?.close();
});

type StreamedEvent = Event & { id: string };
type Listener = { id: string; secret: string; after: string };
const listener = async (body: Record<string, unknown> = {}): Promise<Listener> =>
  (await caller.post("/webhooks/listeners", { name: "workshop", ...body })).body;

async function nextOf(
  { after }: Listener,
  isIt: (event: StreamedEvent) => boolean = () => true,
): Promise<StreamedEvent> {
  for await (const event of client.events.stream({ types: ["run.completed", "webhook.test"], after })) {
    if (isIt(event)) return event;
  }
  throw new Error("the stream ended");
}
const message = (id: string, place: string, by = caller) => by.post(`/webhooks/listeners/${id}/message`, { place });
const now = () => new Date().toISOString();
const report = (id: string, place: string, body: Record<string, unknown>) =>
  caller.post(`/webhooks/listeners/${id}/report`, { place, started_at: now(), duration_ms: 5, ...body });
const image = () => client.images.generate({ prompt: "a boat", width: 64, height: 64 }).wait();

describe("a listener", () => {
  it("starts with a secret that is shown once, at the end of the log", async () => {
    const own = await listener();
    expect(own).toMatchObject({ name: "workshop", url: "cli:workshop", secret: expect.stringMatching(/^whsec_/) });
    const given = "a secret of my own, long enough";
    expect((await listener({ secret: given })).secret).toBeNull();
    const tables = ["webhook_listeners", "webhook_secrets", "audit_log"];
    const rows = await Promise.all(tables.map((table) => environment.query(`select * from ${table}`)));
    const ledgers = JSON.stringify(rows, (_, value) =>
      value?.type === "Buffer" ? String(Buffer.from(value.data)) : value,
    );
    expect([own.secret, own.secret.slice("whsec_".length), given].filter((secret) => ledgers.includes(secret))).toEqual(
      [],
    );
    expect(ledgers).toContain("workshop");
    const refused = [{ name: "" }, { name: "a b" }, { name: "x".repeat(65) }, { name: "x", secret: "short" }];
    for (const body of refused) expect((await caller.post("/webhooks/listeners", body)).status).toBe(400);
    const token = (await caller.post("/tokens", { ...TOKEN_REQUEST, expires_in: 600 })).body.access_token;
    const held = await createHttpCaller({ ...environment, key: token }).post("/webhooks/listeners", { name: "x" });
    expect([held.status, held.body.code]).toEqual([403, "insufficient_scope"]);
  });

  it("receives the unchanged message, signed with its own secret, and only of its tenant", async () => {
    const [own, other] = [await listener(), await listener()];
    const { run_id } = await image();
    const event = await nextOf(own, ({ data }) => "run_id" in data && data.run_id === run_id);
    const { status, body } = await message(own.id, event.id);
    expect([status, body.event_id, body.attempt]).toEqual([200, event.event_id, 1]);
    const { event_id: _, id: __, ...reported } = event;
    expect(body.body).toBe(JSON.stringify(reported));
    expect(await unwrap(body.body, body.headers, own.secret)).toEqual(reported);
    await expect(unwrap(body.body, body.headers, other.secret)).rejects.toThrow("No signature");

    const { caller: otherTenant } = await createTestTenant(environment);
    const theirs = (await otherTenant.post("/webhooks/listeners", { name: "theirs" })).body;
    const places = [
      ...[await message(own.id, event.id, otherTenant), await message(theirs.id, event.id, otherTenant)],
      ...[await message(theirs.id, event.id), await message(own.id, "000000000001-000000000001")],
    ];
    expect(places.map((response) => [response.status, response.body.code])).toEqual(
      places.map(() => [404, "route_not_found"]),
    );
    expect((await message(own.id, "yesterday")).status).toBe(400);
  });

  it("can report a delivery once, and never undo one", async () => {
    const own = await listener();
    const { run_id } = await image();
    const { id: place } = await nextOf(own, ({ data }) => "run_id" in data && data.run_id === run_id);
    const { delivery_id } = (await message(own.id, place)).body;
    expect((await caller.get(`/webhooks/deliveries/${delivery_id}`)).status).toBe(404);

    const failed = await report(own.id, place, { attempt: 1, status: null, error: "connection" });
    expect(failed.body).toMatchObject({ id: delivery_id, status: "exhausted", attempts: 1, next_attempt_at: null });
    expect((await message(own.id, place)).body.attempt).toBe(2);
    const arrived = { attempt: 2, status: 204, response: "thanks" };
    for (let n = 0; n < 2; n++) expect((await report(own.id, place, arrived)).body.status).toBe("delivered");
    const late = await report(own.id, place, { attempt: 1, status: 500 });
    expect(late.body).toMatchObject({ status: "delivered", attempts: 2 });
    const { body } = await caller.get(`/webhooks/deliveries/${delivery_id}`);
    expect(body).toMatchObject({
      ...{ url: "cli:workshop", webhook_id: own.id, run_id },
      log: [
        { attempt: 1, status: null, error: "connection" },
        { attempt: 2, status: 204, response: "thanks" },
      ],
    });
    const listed = await caller.get(`/webhooks/deliveries?webhook_id=${own.id}`);
    expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([delivery_id]);
  });

  it("gets 404 when the run was deleted", async () => {
    const own = await listener();
    const { run_id } = await image();
    const { id: place } = await nextOf(own, ({ data }) => "run_id" in data && data.run_id === run_id);
    await caller.delete(`/runs/${run_id}`);
    const gone = await message(own.id, place);
    expect([gone.status, gone.body.code]).toEqual([410, "run_deleted"]);
  });
});

describe("listeners", () => {
  it("receive triggered test messages, and webhooks do not", async () => {
    const hook = (await caller.post("/webhooks", { url: `${receiver.url}/hook`, events: ["run.failed"] })).body;
    const own = await listener();
    const called = await caller.post("/webhooks/trigger", { type: "run.failed", metadata: { order: "4711" } });
    expect(called.status).toBe(202);
    const event = await nextOf(own);
    expect(event).toMatchObject({ type: "webhook.test", event_id: called.body.event_id });
    const first = (await message(own.id, event.id)).body;
    expect(JSON.parse(first.body)).toMatchObject({
      ...{ type: "run.failed", timestamp: event.timestamp },
      data: { status: "failed", metadata: { order: "4711", test: true } },
    });
    expect((await message(own.id, event.id)).body.body).toBe(first.body);
    // A real one comes after it: whatever was to be sent to the webhook before is there by then.
    await caller.generate({ prompt: "x [sandbox:fail]", width: 64, height: 64 });
    const [reported] = await receiver.got(1);
    expect(reported!.event.data.metadata).toEqual({});
    expect(receiver.received).toHaveLength(1);
    await caller.delete(`/webhooks/${hook.id}`);
  });

  it("receives the messages of another listener when they are resent", async () => {
    const first = await listener();
    const { run_id } = await image();
    const { id: place } = await nextOf(first, ({ data }) => "run_id" in data && data.run_id === run_id);
    const had = (await message(first.id, place)).body;
    await report(first.id, place, { attempt: 1, status: 500 });
    const second = await listener({ name: "garage" });
    const response = await caller.post(`/webhooks/deliveries/${had.delivery_id}/redeliver`, {});
    expect(response.status).toBe(202);
    const { id: again } = await nextOf(second);
    const given = (await message(second.id, again)).body;
    expect([given.event_id, given.body, given.attempt]).toEqual([had.event_id, had.body, 1]);
    expect((await message(first.id, again)).body).toMatchObject({ delivery_id: had.delivery_id, attempt: 2 });
    const { body } = await report(second.id, again, { attempt: 1, status: 200 });
    expect(body).toMatchObject({ id: given.delivery_id, url: "cli:garage", status: "delivered", run_id });
  });
});
