// Attempts against real receivers that do everything a receiver can do, on a real database: what is written down, when
// the next one is due, and how much of a destination is used.

import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { v7 } from "uuid";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAuthority } from "../../test/ssrf/certificates.ts";
import { startDnsServer } from "../../test/ssrf/dns-server.ts";
import { createFakeAssets } from "../../test/support/fake-assets.ts";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { createTestRuntime } from "../../test/support/test-runtime.ts";
import { until } from "../../test/support/until.ts";
import {
  RECEIVER_HOST,
  type ScriptedResponse,
  startWebhookReceiver,
  type WebhookReceiver,
} from "../../test/webhooks/receiver.ts";
import type { Database } from "../db/connect.ts";
import { findDelivery, insertMissingDeliveries, listDeliveryAttempts } from "../db/webhooks/deliveries.ts";
import {
  type DeliveryClaim,
  dispatchDeliveries,
  exhaustExpiredDeliveries,
  requeueAllDeliveries,
  requeueExpiredDeliveries,
} from "../db/webhooks/delivery-queue.ts";
import { FetchEnv } from "../outbound/fetch-settings.ts";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { attemptDelivery } from "./delivery-attempt.ts";
import { deliveryDestination } from "./destination.ts";
import { WebhookEnv } from "./settings.ts";
import { createWebhookService, deliveryLimits, type WebhookServices } from "./webhook-service.ts";

const TENANT = v7();
const NAME = "hooks.flips.test";
let database: TestDatabase;
let receiver: WebhookReceiver;
let services: WebhookServices;
let leadsTo = RECEIVER_HOST;
let names: Awaited<ReturnType<typeof startDnsServer>>;
let secure: ReturnType<typeof createSecureServer>;

beforeAll(async () => {
  database = await startTestDatabase();
  receiver = await startWebhookReceiver();
  names = await startDnsServer({ [NAME]: () => ({ addresses: [leadsTo] }) });
  secure = createSecureServer(createAuthority().issue("hooks.example.com"), (_, response) =>
    response.writeHead(204).end(),
  );
  await new Promise<void>((resolve) => secure.listen(0, RECEIVER_HOST, resolve));
  services = servicesWith({});
});
afterAll(async () => {
  await services?.httpClient.close();
  secure?.close();
  names?.close();
  await receiver?.close();
  await database?.stop();
});
beforeEach(async () => {
  receiver.respondWith(() => 204);
  receiver.received.length = 0;
  leadsTo = RECEIVER_HOST;
  for (const table of ["open_deliveries", "webhook_circuit_breakers", "token_buckets"])
    await database.owner.query(`wipe.${table}`, `delete from ${table}`);
});

const securePort = () => (secure.address() as AddressInfo).port;

type Own = { db?: Database; clock?: Clock };
function servicesWith(
  env: Record<string, string>,
  { db = database.db, clock = systemClock }: Own = {},
): WebhookServices {
  const settings = {
    WEBHOOK_ALLOW_HTTP: "true",
    WEBHOOK_TIMEOUT_SECONDS: "1",
    WEBHOOK_PER_SECOND: "1000",
    WEBHOOK_ALLOW_CIDRS: `${RECEIVER_HOST}/32`,
    ...env,
  };
  const fetching = {
    FETCH_PORTS: `443,${receiver.port},${securePort()}`,
    FETCH_DNS_SERVERS: names.server,
  };
  const parsed = { ...WebhookEnv.parse(settings), ...FetchEnv.parse(fetching), PUBLIC_URL: "http://127.0.0.1:7788" };
  const service = createWebhookService(parsed, () => [new Uint8Array(32)], clock);
  return { ...createTestRuntime(), ...service, database: db, assets: createFakeAssets() };
}

/** A message that waits to be sent, as the fan-out leaves it. */
async function queued(url: string, count = 1): Promise<string[]> {
  const about = { tenant_id: TENANT, webhook_id: null, url };
  const made = Array.from({ length: count }, () => ({
    ...{
      ...about,
      delivery_id: v7(),
      event_id: v7(),
      run_id: v7(),
      type: "run.completed",
      body: '{"type":"run.completed"}',
    },
    ...deliveryDestination(about),
  }));
  await insertMissingDeliveries(database.db, made, 1000);
  return made.map(({ delivery_id }) => delivery_id);
}
const taken = (own = services, most = 100) => dispatchDeliveries(database.db, deliveryLimits(own), most);

async function tried(reply: ScriptedResponse, url = `${receiver.url}/hook`) {
  receiver.respondWith(() => reply);
  const [id] = await queued(url);
  const [claim] = await taken();
  const clock = createManualClock();
  const own = servicesWith({}, { clock });
  const attempt = attemptDelivery(own, claim!);
  if (reply === "hang") {
    await until(() => receiver.received.length === 1);
    await clock.advance(1000);
  }
  const step = await attempt;
  expect(clock.timers()).toEqual([]);
  await own.httpClient.close();
  const row = await findDelivery(database.db, TENANT, id!);
  const [noted] = await listDeliveryAttempts(database.db, TENANT, id!);
  return { step, row: row!, noted: noted!, claim: claim! };
}

describe("a receiver that", () => {
  it.each<[string, ScriptedResponse, object]>([
    ["takes it", 200, { row: { status: "delivered", attempts: 1 }, noted: { status: 200 } }],
    ["answers 500", 500, { row: { status: "pending" }, noted: { status: 500 } }],
    ["answers 404", 404, { row: { status: "pending" }, noted: { status: 404 } }],
    ["says nothing", "hang", { row: { status: "pending" }, noted: { status: null, error: "timeout" } }],
    ["hangs up", "reset", { row: { status: "pending" }, noted: { status: null, error: "connection" } }],
    ["has gone", 410, { row: { status: "disabled" }, noted: { status: 410 } }],
    ["talks without end", "endless", { row: { status: "delivered" }, noted: { status: 200 } }],
  ])("%s", async (_, reply, expected) => {
    const { step, row, noted } = await tried(reply);
    expect({ row, noted }).toMatchObject(expected);
    expect((noted.response ?? "").length).toBeLessThanOrEqual(1024);
    if (row.status !== "pending") expect(step).toEqual({ isDone: true });
    else expect(step).toEqual({ waitSeconds: expect.closeTo(5.25, 0) });
  });

  it("redirects is not followed", async () => {
    const location = "http://169.254.169.254/latest/";
    const { row, noted } = await tried({ status: 302, headers: { location } });
    expect([row.status, noted.status]).toEqual(["pending", 302]);
    expect(receiver.received).toHaveLength(1);
  });

  it("is busy says when to come again", async () => {
    const { step, row } = await tried({ status: 429, headers: { "retry-after": "120" } });
    expect(step).toEqual({ waitSeconds: 120 });
    expect(row.next_attempt_at!.getTime() - Date.now()).toBeGreaterThan(115_000);
  });

  it("with an untrusted certificate gets nothing", async () => {
    const url = `https://${RECEIVER_HOST}:${securePort()}/hook`;
    expect((await tried(204, url)).noted).toMatchObject({ status: null, error: "tls" });
  });

  it("says much is remembered by the first kilobyte of it, as text that can be stored", async () => {
    const { noted } = await tried({ status: 500, body: Buffer.from("<script>\0\ud800 x".repeat(400)) });
    expect(noted.response).toMatch(/^<script>/);
    expect(noted.response!.length).toBeLessThanOrEqual(1024);
    expect(noted.response).not.toContain("\0");
  });
});

describe("an address", () => {
  it("that leads inside since it was given gets no connection, and no second attempt", async () => {
    const url = `http://${NAME}:${receiver.port}/hook`;
    expect((await tried(204, url)).row.status).toBe("delivered");
    const before = receiver.connections();
    for (const inner of ["127.0.0.1", "10.0.0.8", "169.254.169.254"]) {
      leadsTo = inner;
      const { row, noted } = await tried(204, url);
      expect([inner, row.status, noted.error]).toEqual([inner, "disabled", "webhook_url_not_allowed"]);
    }
    expect(receiver.connections()).toBe(before);
  });
});

describe("a delivery", () => {
  it("that is tried again after a crash is the same attempt, and once written down it waits", async () => {
    receiver.respondWith((_, times) => (times < 3 ? 500 : 204));
    await queued(`${receiver.url}/crash`);
    const [claim] = await taken();
    await attemptDelivery(services, claim!);
    // The engine lost the answer of the step and does it again.
    expect(await attemptDelivery(services, claim!)).toEqual({ waitSeconds: expect.closeTo(5.25, 0) });
    expect(receiver.received).toHaveLength(1);
    await database.owner.query("due", "update open_deliveries set due_at = now()");
    await attemptDelivery(services, claim!);
    expect(receiver.received.map(({ headers }) => headers["x-webhook-attempt"])).toEqual(["1", "2"]);
  });

  it("belongs to its newest round: an older one sends nothing", async () => {
    await queued(`${receiver.url}/rounds`);
    const [old] = await taken();
    expect(await requeueAllDeliveries(database.db)).toBe(1);
    const [fresh] = await taken();
    expect(fresh!.epoch).toBeGreaterThan(old!.epoch);
    expect(await attemptDelivery(services, old!)).toEqual({ isDone: true });
    expect(receiver.received).toHaveLength(0);
    await attemptDelivery(services, fresh!);
    expect(receiver.received).toHaveLength(1);
    await queued(`${receiver.url}/rounds`);
    await taken();
    await database.owner.query("silent", "update open_deliveries set claim_expires_at = now() - interval '1 second'");
    expect(await requeueExpiredDeliveries(database.db, 10)).toBe(1);
    expect(await taken()).toHaveLength(1);
  });
});

describe("a destination", () => {
  it("is sent so many at a time and no more", async () => {
    await queued(`${receiver.url}/many`, 50);
    const own = servicesWith({ WEBHOOK_CONCURRENCY: "4" });
    const claim = await taken(own);
    expect(claim).toHaveLength(4);
    expect(await taken(own)).toHaveLength(0);
    for (const each of claim) await attemptDelivery(own, each);
    expect(await taken(own)).toHaveLength(4);
    await own.httpClient.close();
  });

  it("is left alone after ten failures in a row, tried with one, and back when that arrives", async () => {
    const own = servicesWith({ WEBHOOK_CONCURRENCY: "20", WEBHOOK_BREAKER_SECONDS: "1" });
    receiver.respondWith(() => 500);
    await queued(`${receiver.url}/breaks`, 60);
    const send = async (claim: DeliveryClaim[]) => Promise.all(claim.map((each) => attemptDelivery(own, each)));
    await send((await taken(own)).slice(0, 20));
    expect(receiver.received.length).toBe(20);
    expect(await taken(own)).toHaveLength(0);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const probe = await taken(own);
    expect(probe).toHaveLength(1);
    receiver.respondWith(() => 204);
    await send(probe);
    expect((await taken(own)).length).toBeGreaterThan(1);
    await own.httpClient.close();
  });

  it("of one tenant does not stand in the way of another's, nor a webhook in the way of its neighbour", async () => {
    receiver.respondWith(() => 500);
    await queued(`${receiver.url}/dead`, 30);
    const claim = await taken();
    for (const each of claim) await attemptDelivery(services, each);
    expect(await taken()).toHaveLength(0);
    const about = { tenant_id: TENANT, webhook_id: v7(), url: `${receiver.url}/dead` };
    const ids = { delivery_id: v7(), event_id: v7(), run_id: null };
    await insertMissingDeliveries(
      database.db,
      [{ ...about, ...ids, type: "run.failed", body: "{}", ...deliveryDestination(about) }],
      1000,
    );
    expect((await taken()).map(({ delivery_id }) => delivery_id)).toEqual([ids.delivery_id]);
  });

  it("gets at most the configured messages per second and host, from all processes", async () => {
    const own = servicesWith({ WEBHOOK_PER_SECOND: "20", WEBHOOK_CONCURRENCY: "100" });
    await queued(`${receiver.url}/fast`, 200);
    let sent = 0;
    const begun = performance.now();
    while (sent < 60) {
      const claim = await taken(own);
      sent += claim.length;
      await Promise.all(claim.map((each) => attemptDelivery(own, each)));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const seconds = (performance.now() - begun) / 1000;
    expect(sent).toBeLessThanOrEqual(20 + Math.ceil(20 * seconds));
    await own.httpClient.close();
  });
});

describe("a delivery of a suspended tenant", () => {
  const suspend = (isSuspended: boolean) =>
    database.owner.query(
      "test.suspend",
      `insert into tenants (tenant_id, name, suspended_at) values ($1, 'x', $2)
       on conflict (tenant_id) do update set suspended_at = excluded.suspended_at`,
      [TENANT, isSuspended ? new Date() : null],
    );
  afterEach(() => suspend(false));

  it("waits in the queue, does not expire, and is sent when the tenant is active again", async () => {
    const [id] = await queued(`${receiver.url}/suspended`);
    await suspend(true);
    expect(await taken()).toEqual([]);
    await database.owner.query("test.age", "update open_deliveries set expires_at = now() - interval '1 hour'");
    expect(await exhaustExpiredDeliveries(database.db, 100)).toBe(0);
    await suspend(false);
    const [claim] = await taken();
    expect(await attemptDelivery(services, claim!)).toEqual({ isDone: true });
    expect(receiver.received).toHaveLength(1);
    expect(await findDelivery(database.db, TENANT, id!)).toMatchObject({ status: "delivered", attempts: 1 });
  });

  it("that was dispatched before sends nothing and returns to the queue", async () => {
    const [id] = await queued(`${receiver.url}/suspended`);
    const [claim] = await taken();
    await suspend(true);
    expect(await attemptDelivery(services, claim!)).toEqual({ isDone: true });
    expect(receiver.received).toEqual([]);
    expect(await findDelivery(database.db, TENANT, id!)).toMatchObject({ status: "pending", attempts: 0 });
    await suspend(false);
    const [next] = await taken();
    expect(next!.epoch).toBeGreaterThan(claim!.epoch);
    await attemptDelivery(services, next!);
    expect(receiver.received).toHaveLength(1);
  });
});
