// Cost in a running Gesso, for customers and the operator: reservations, rejections, charges and reports.
import { randomInt } from "node:crypto";
import sharp from "sharp";
import { v7 } from "uuid";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectDatabase } from "../../src/db/connect.ts";
import { insertLowCreditsEvent } from "../../src/db/money/ledger.ts";
import {
  addCredit,
  createPrepaidTenant,
  listTransfers,
  ORDER,
  PRICE,
  type PricedInstallation,
  retryWhileBusy,
  startPricedInstallation,
} from "../money/priced-installation.ts";
import {
  chargeRandomInputs,
  listMischarged,
  listMispriced,
  raceCancellations,
  raceForBalance,
} from "../money/races.ts";
import { createHttpCaller } from "../support/api-caller.ts";
import { listLedgerViolations } from "../support/check-ledger.ts";
import { createSeededRandom } from "../support/seeded-random.ts";
import { createTestTenant, type TestTenant, TOKEN_REQUEST } from "../support/tenants.ts";

let environment: PricedInstallation;

beforeAll(async () => {
  environment = await startPricedInstallation();
});
afterAll(() => environment?.stop());
afterEach(async () => {
  expect(await listLedgerViolations(environment)).toEqual([]);
});

const operator = () => createHttpCaller(environment);
const credit = (tenantId: string, amount: number, headers?: Record<string, string>) =>
  addCredit(environment, tenantId, amount, headers);
const prepaid = (amount: number) => createPrepaidTenant(environment, amount);
const usageOf = async ({ caller }: TestTenant, query = "") => (await caller.get(`/usage${query}`)).body;
const movesOf = (runId: string) => listTransfers(environment, runId);

/** Does what the server does every few seconds, until no tenant with a low balance is left to report. */
const reportLowBalances = async () => {
  const database = connectDatabase({ DATABASE_URL: environment.databaseUrl, DATABASE_POOL: 1 }, null);
  while (await insertLowCreditsEvent(database, v7()));
  await database.close();
};

describe("a balance", () => {
  it("that runs low is reported once, and once more after the next payment is used up", async () => {
    const tenant = await prepaid(5 * PRICE);
    const page = async (query: string) =>
      (await tenant.caller.get(`/events${query}`, { accept: "application/json" })).body;
    const { last_id } = await page("");
    const reported = async () => (await page(`?types=credits.low&after=${last_id}`)).data;
    const spend = async () => tenant.caller.waitUntilEnded((await tenant.caller.generate(ORDER)).body.run_id);
    for (let n = 0; n < 4; n++) await spend();
    await reportLowBalances();
    expect(await reported()).toEqual([]);
    await spend();
    await expect.poll(async () => (await reported()).length).toBe(1);
    const [{ type, data }] = await reported();
    expect({ type, data }).toEqual({ type: "credits.low", data: { balance: 0, low_at: PRICE, currency: "USD" } });
    await credit(tenant.tenant_id, 2 * PRICE);
    for (let n = 0; n < 2; n++) await spend();
    await expect.poll(async () => (await reported()).length).toBe(2);
    await reportLowBalances();
    expect(await reported()).toHaveLength(2);
  });

  it("for ten runs accepts exactly ten of fifty concurrent requests; the others get 402", async () => {
    const { details, ...seen } = await raceForBalance(environment, { requests: 50, paidRuns: 10 });
    expect(details).toMatchObject({ limit: "balance", of: "tenant", estimate: PRICE });
    expect(seen).toEqual({
      ...{ accepted: 10, refused: 40, storedRuns: 10, balance: 0, costs: Array(10).fill(PRICE) },
      total: expect.objectContaining({ runs: 10, completed: 10, amount: 0.3 }),
    });
  });

  it("for one run serves all requests with the same key", async () => {
    const tenant = await prepaid(PRICE);
    const ask = () => tenant.caller.generate(ORDER, { "idempotency-key": "one" });
    const responses = await Promise.all(Array.from({ length: 50 }, () => retryWhileBusy(ask)));
    expect(new Set(responses.map(({ body }) => body.run_id)).size).toBe(1);
    expect(responses.every(({ status }) => status < 300)).toBe(true);
    expect((await tenant.caller.generate(ORDER)).status).toBe(402);
    await tenant.caller.waitUntilEnded(responses[0]!.body.run_id);
  });

  it("is changed by the operator, once for each key, and never below zero", async () => {
    const { tenant_id, caller } = await prepaid(5);
    expect((await credit(tenant_id, 20, { "idempotency-key": "june" })).body).toEqual({
      ...{ tenant_id, currency: "USD", balance: 25, prepaid: true },
    });
    const again = await credit(tenant_id, 20, { "idempotency-key": "june" });
    expect([again.body.balance, again.headers.get("idempotent-replayed")]).toEqual([25, "true"]);
    expect((await credit(tenant_id, -26)).body).toMatchObject({
      code: "insufficient_credits",
      details: { balance: 25 },
    });
    expect((await credit(tenant_id, -25)).body.balance).toBe(0);
    expect((await caller.generate(ORDER)).status).toBe(402);
    const freed = await operator().post(`/tenants/${tenant_id}/credit`, { amount: 0, prepaid: false });
    expect(freed.body.prepaid).toBe(false);
    expect((await caller.generate({ ...ORDER, sync: true })).status).toBe(200);
    expect((await caller.post(`/tenants/${tenant_id}/credit`, { amount: 1 })).status).toBe(403);
    expect((await credit("00000000-0000-7000-8000-00000000dead", 1)).body.code).toBe("route_not_found");
  });
});

describe("a limit", () => {
  it("that the operator sets for a tenant applies immediately, and so does its removal", async () => {
    const tenant = await createTestTenant(environment);
    await tenant.caller.generate({ ...ORDER, sync: true });
    const set = (limits: object) =>
      operator().send("PATCH", `/api/v1/tenants/${tenant.tenant_id}`, { body: { limits } });
    expect((await set({ spend_per_day: 0.05, spend_per_month: 10 })).status).toBe(200);
    const { status, body } = await tenant.caller.generate(ORDER);
    expect([status, body.code]).toEqual([402, "spend_limit_reached"]);
    expect(body.details).toMatchObject({ limit: "day", of: "tenant", retryable: false });
    const [day, month] = [0.05, 10].map((limit) => ({ limit, used: 0.03, held: 0 }));
    const budget = { of: "tenant", key_id: null, name: null, balance: null, hour: null, day, month, total: null };
    expect((await usageOf(tenant)).budgets).toEqual([budget]);
    await set({});
    expect((await tenant.caller.generate(ORDER)).status).toBe(202);
  });

  it("of a key or a token is its own", async () => {
    const tenant = await createTestTenant(environment);
    const made = await tenant.caller.post("/keys", { name: "k", scopes: ["*"], limits: { spend_per_month: PRICE } });
    const other = createHttpCaller({ url: environment.url, key: made.body.key });
    expect((await other.generate({ ...ORDER, sync: true })).status).toBe(200);
    const over = await other.generate(ORDER);
    expect([over.status, over.body.details]).toMatchObject([402, { limit: "month", of: "key" }]);

    const token = await tenant.caller.post("/tokens", { ...TOKEN_REQUEST, max_spend: 2 * PRICE });
    const bearer = createHttpCaller({ url: environment.url, key: token.body.access_token });
    for (const _ of [1, 2]) expect((await bearer.generate({ ...ORDER, sync: true })).status).toBe(200);
    const spent = await bearer.generate(ORDER);
    expect([spent.status, spent.body.details]).toMatchObject([402, { limit: "total", of: "token" }]);
    expect((await tenant.caller.generate(ORDER)).status).toBe(202);
  });

  it("refuses runs without a known price, which are accepted without a limit", async () => {
    const unknown = { ...ORDER, model_type: "nanobanana", width: undefined, height: undefined, sync: true };
    const free = await createTestTenant(environment);
    expect((await free.caller.generate(unknown)).body).toMatchObject({ status: "completed", cost: null });
    expect((await free.caller.generate({ ...unknown, max_cost: 5 })).body.code).toBe("price_unknown");
    const bound = await createTestTenant(environment, { tenant: { limits: { spend_per_day: 100 } } });
    const { status, body } = await bound.caller.generate(unknown);
    expect([status, body.code]).toEqual([402, "price_unknown"]);
    expect((await usageOf(free)).total).toMatchObject({ completed: 1, amount: 0, unpriced: 1 });
  });
});

describe("the cost of a run", () => {
  it("is at most max_cost, or the run is rejected and nothing is stored", async () => {
    const tenant = await createTestTenant(environment);
    const over = await tenant.caller.generate({ ...ORDER, batch_size: 2, max_cost: 0.05 });
    expect([over.status, over.body.details.reason]).toEqual([402, "max_cost"]);
    expect(over.body.details).toMatchObject({ estimate: 0.06, max_cost: 0.05 });
    const within = await tenant.caller.generate({ ...ORDER, batch_size: 2, max_cost: 0.06, sync: true });
    expect(within.body.cost).toEqual({ amount: 0.06, currency: "USD" });
    expect((await tenant.caller.get("/runs")).body.data).toHaveLength(1);
  });

  it("is the estimated one, for 20 random inputs", async () => {
    const seed = randomInt(2 ** 31);
    const charged = await chargeRandomInputs(environment, { inputs: 20, random: createSeededRandom(seed) });
    expect(charged).toHaveLength(20);
    expect({ seed, mispriced: listMispriced(charged) }).toEqual({ seed, mispriced: [] });
  });

  it("is zero for a failed run; what the provider may have charged is booked as waste", async () => {
    const { caller } = await createTestTenant(environment);
    const order = (directive: string, model_type: string) =>
      caller.generate({ ...ORDER, prompt: `[sandbox:${directive}] loss`, model_type });
    const failed = await caller.waitUntilEnded((await order("fail", "flux-dev")).body.run_id);
    expect([failed.status, failed.cost]).toEqual(["failed", null]);
    expect(await movesOf(failed.run_id)).toEqual([
      ...[
        { kind: "release", amount: "30000" },
        { kind: "reserve", amount: "30000" },
      ],
    ]);
    const unknown = await caller.waitUntilEnded((await order("drop,no_callback", "vendora")).body.run_id);
    expect([unknown.error.code, unknown.cost]).toEqual(["provider_outcome_unknown", null]);
    expect(await movesOf(unknown.run_id)).toEqual([
      ...[
        { kind: "release", amount: "250000" },
        { kind: "reserve", amount: "250000" },
        { kind: "waste", amount: "250000" },
      ],
    ]);
  });
});

describe("a price per megapixel", () => {
  const upload = async ({ caller }: TestTenant, side: number) => {
    const create = { width: side, height: side, channels: 3, background: "#204060" } as const;
    const form = new FormData();
    form.append(
      "file",
      new Blob([new Uint8Array(await sharp({ create }).png().toBuffer())], { type: "image/png" }),
      "a.png",
    );
    const { run_id } = (await caller.post("/upload", form)).body.data;
    return { run_id, image_url: (await caller.get(`/runs/${run_id}`)).body.image_url };
  };

  it("counts the pixels that are made of a source whose size is known", async () => {
    const tenant = await prepaid(1);
    const { run_id, image_url } = await upload(tenant, 800);
    for (const source of [{ run_id }, { image_url }]) {
      const estimate = await tenant.caller.post("/runs/estimate", { operation: "images.upscale", input: source });
      expect([estimate.status, estimate.body.amount]).toEqual([200, 0.0256]);
      const { body } = await tenant.caller.post("/edits/upscale", { ...source, sync: true });
      expect([body.status, body.cost]).toEqual(["completed", { amount: 0.0256, currency: "USD" }]);
      expect(await movesOf(body.run_id)).toContainEqual({ kind: "reserve", amount: "25600" });
    }
  });

  it("is unknown for a source whose size is not known, so that a limited tenant is refused", async () => {
    const tenant = await prepaid(1);
    const input = { image_url: "https://pictures.example.com/large.png" };
    const { body } = await tenant.caller.post("/edits/upscale", input);
    expect([body.code, body.details?.of]).toEqual(["price_unknown", "tenant"]);
    const estimate = await tenant.caller.post("/runs/estimate", { operation: "images.upscale", input });
    expect([estimate.body.known, estimate.body.amount]).toEqual([false, null]);
  });
});

describe("a run that is canceled after its job was submitted", () => {
  const submitAndCancel = async ({ caller }: TestTenant) => {
    const { body } = await caller.generate({ ...ORDER, prompt: "[sandbox:never] a coin" });
    const submitted = "select 1 from attempts where run_id = $1 and state = 'submitted'";
    await expect.poll(async () => (await environment.query(submitted, [body.run_id])).length).toBe(1);
    await caller.post(`/runs/${body.run_id}/cancel`);
    return caller.waitUntilEnded(body.run_id);
  };

  it("costs what the provider may charge: the balance is not restored", async () => {
    const tenant = await prepaid(PRICE);
    const run = await submitAndCancel(tenant);
    expect([run.status, run.cost]).toEqual(["canceled", { amount: PRICE, currency: "USD" }]);
    expect(await movesOf(run.run_id)).toEqual([
      { kind: "reserve", amount: "30000" },
      { kind: "settle", amount: "30000" },
    ]);
    expect((await usageOf(tenant)).budgets[0].balance).toBe(0);
    expect((await tenant.caller.generate(ORDER)).body.code).toBe("insufficient_credits");
  });

  it("counts against the limit of the day", async () => {
    const tenant = await createTestTenant(environment, { limits: { spend_per_day: PRICE } });
    expect((await submitAndCancel(tenant)).status).toBe("canceled");
    expect((await tenant.caller.generate(ORDER)).body.code).toBe("spend_limit_reached");
  });
});

describe("cancel and completion at the same time", () => {
  it("end in one of the two, 30 times: a run is charged if its job was submitted", async () => {
    const { ends, completed, canceled, submitted, spent, amount } = await raceCancellations(environment, { races: 30 });
    expect(listMischarged(ends)).toEqual([]);
    expect(ends.length).toBeGreaterThanOrEqual(30);
    expect(completed + canceled).toBe(ends.length);
    expect(submitted).toBeGreaterThanOrEqual(completed);
    expect(spent).toBeCloseTo(submitted * PRICE, 6);
    expect(amount).toBeCloseTo(submitted * PRICE, 6);
  });
});

describe("usage", () => {
  it("is reported by day, key, model and operation, as JSON and as CSV, for the own tenant only", async () => {
    const tenant = await createTestTenant(environment);
    const other = await createTestTenant(environment, { tenantId: tenant.tenant_id, user_id: "second" });
    await tenant.caller.generate({ ...ORDER, sync: true });
    await tenant.caller.generate({ ...ORDER, batch_size: 2, sync: true });
    await other.caller.generate({ ...ORDER, model_type: "vendora", sync: true });
    await other.caller.generate({ ...ORDER, prompt: "[sandbox:fail] no", sync: true });

    const day = new Date().toISOString().slice(0, 10);
    const byModel = await usageOf(tenant, "?by=model,operation");
    expect(byModel.data).toEqual([
      {
        model: "flux-dev",
        operation: "images.generate",
        runs: 3,
        completed: 2,
        failed: 1,
        canceled: 0,
        amount: 0.09,
        unpriced: 0,
      },
      {
        model: "vendora",
        operation: "images.generate",
        runs: 1,
        completed: 1,
        failed: 0,
        canceled: 0,
        amount: 0.25,
        unpriced: 0,
      },
    ]);
    expect(byModel.total).toMatchObject({ runs: 4, amount: 0.34 });
    const byKey = (await usageOf(tenant, "?by=key")).data;
    expect(Object.fromEntries(byKey.map((row: any) => [row.key_id, row.amount]))).toEqual({
      ...{ [tenant.key_id]: 0.09, [other.key_id]: 0.25 },
    });
    const table = await tenant.caller.get("/usage?by=day,model", { accept: "text/csv" });
    expect(table.headers.get("content-type")).toContain("text/csv");
    expect(table.body).toBe(
      `day,model,runs,completed,failed,canceled,amount,unpriced\r\n${day},flux-dev,3,2,1,0,0.09,0\r\n${day},vendora,1,1,0,0,0.25,0\r\n`,
    );
    expect((await usageOf(await createTestTenant(environment))).data).toEqual([]);
    expect((await usageOf(tenant, "?from=2020-01-01&to=2020-01-31")).total.runs).toBe(0);
    for (const wrong of ["?by=year", "?from=2030-01-02&to=2030-01-01", "?from=2020-01-01&to=2030-01-01"]) {
      expect((await tenant.caller.get(`/usage${wrong}`)).body.code).toBe("validation_error");
    }
  });
});

// Last, because it leaves a server with other prices.
describe("a price that changes", () => {
  it("uses the price at acceptance, even if it changed while the run was queued", async () => {
    const { caller } = await createTestTenant(environment);
    await environment.stopGracefully("worker");
    const { body } = await caller.generate(ORDER);
    environment.setPrice(0.5);
    await environment.stopGracefully("api");
    await Promise.all([environment.start("api"), environment.start("worker")]);
    expect((await caller.waitUntilEnded(body.run_id)).cost).toEqual({ amount: PRICE, currency: "USD" });
    expect((await caller.generate({ ...ORDER, sync: true })).body.cost.amount).toBe(0.5);
  });
});
