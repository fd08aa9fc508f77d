// Cost in a running Gesso, for customers and the operator: reservations, rejections, charges and reports.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createHttpCaller } from "../support/api-caller.ts";
import { listLedgerViolations } from "../support/check-ledger.ts";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const catalogue = (price: number) => `
models:
  flux-dev: [{ provider: sandbox, price: ${price} }]
  vendora: [{ provider: sandbox, price: 0.25, per: call }]
  qwen-image-edit: [{ provider: sandbox, price: 0.011, per: megapixel }]
  nanobanana: [{ provider: sandbox, price: unknown }]
  upscale-default: [{ provider: sandbox, price: 0.01, per: megapixel }]
`;
const PRICE = 0.03;
const ORDER = { prompt: "[sandbox:delay=0] a coin", width: 64, height: 64 };

const folder = mkdtempSync(join(tmpdir(), "gesso-money-"));
const file = join(folder, "gesso.yaml");
let environment: TestEnvironment;

beforeAll(async () => {
  writeFileSync(file, catalogue(PRICE));
  const env = { GESSO_CONFIG: file, UNKNOWN_SECONDS: "1", SUBMIT_SECONDS: "3" };
  environment = await startTestEnvironment({ roles: "split", env });
});
afterAll(async () => {
  await environment?.stop();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  expect(await listLedgerViolations(environment)).toEqual([]);
});

const operator = () => createHttpCaller(environment);
const credit = (tenant_id: string, amount: number, headers?: Record<string, string>) =>
  operator().post(`/tenants/${tenant_id}/credit`, { amount }, headers);
const prepaid = async (amount: number) => {
  const tenant = await createTestTenant(environment);
  expect((await credit(tenant.tenant_id, amount)).status).toBe(200);
  return tenant;
};
const usageOf = async ({ caller }: Awaited<ReturnType<typeof createTestTenant>>, query = "") =>
  (await caller.get(`/usage${query}`)).body;

/** A busy server may return 503; the client retries. */
const insist = async <T extends { status: number }>(ask: () => Promise<T>): Promise<T> => {
  for (;;) {
    const response = await ask();
    if (response.status !== 503 && response.status !== 429) return response;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};
const movesOf = (run_id: string) =>
  environment.query<{ kind: string; amount: string }>(
    "select kind, amount::text from transfers where cause_id = $1 order by kind",
    [run_id],
  );

describe("a balance", () => {
  it("that runs low is reported once, and once more after the next payment is used up", async () => {
    const tenant = await prepaid(5 * PRICE);
    const page = async (query: string) =>
      (await tenant.caller.get(`/events${query}`, { accept: "application/json" })).body;
    const { last_id } = await page("");
    const reported = async () => (await page(`?types=credits.low&after=${last_id}`)).data;
    const spend = async () => tenant.caller.waitUntilEnded((await tenant.caller.generate(ORDER)).body.run_id);
    for (let n = 0; n < 4; n++) await spend();
    await new Promise((resolve) => setTimeout(resolve, 6000));
    expect(await reported()).toEqual([]);
    await spend();
    await expect.poll(async () => (await reported()).length).toBe(1);
    const [{ type, data }] = await reported();
    expect({ type, data }).toEqual({ type: "credits.low", data: { balance: 0, low_at: PRICE, currency: "USD" } });
    await credit(tenant.tenant_id, 2 * PRICE);
    for (let n = 0; n < 2; n++) await spend();
    await expect.poll(async () => (await reported()).length).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 6000));
    expect(await reported()).toHaveLength(2);
  });

  it("for ten runs accepts exactly ten of a thousand concurrent requests; the others get 402", async () => {
    const tenant = await prepaid(10 * PRICE);
    const responses = await Promise.all(
      Array.from({ length: 1000 }, () => insist(() => tenant.caller.generate(ORDER))),
    );
    const accepted = responses.filter(({ status }) => status < 300);
    const refused = responses.filter(({ status, body }) => status === 402 && body.code === "insufficient_credits");
    expect([accepted.length, refused.length]).toEqual([10, 990]);
    expect(refused[0]!.body.details).toMatchObject({ limit: "balance", of: "tenant", estimate: PRICE });
    for (const { body } of accepted) expect((await tenant.caller.waitUntilEnded(body.run_id)).cost.amount).toBe(PRICE);
    expect(await usageOf(tenant)).toMatchObject({
      total: { runs: 10, completed: 10, amount: 0.3 },
      budgets: [{ of: "tenant", balance: 0 }],
    });
    const [left] = await environment.query("select count(*)::int as runs from runs where tenant_id = $1", [
      tenant.tenant_id,
    ]);
    expect(left).toEqual({ runs: 10 });
  });

  it("for one run serves all requests with the same key", async () => {
    const tenant = await prepaid(PRICE);
    const ask = () => tenant.caller.generate(ORDER, { "idempotency-key": "one" });
    const responses = await Promise.all(Array.from({ length: 200 }, () => insist(ask)));
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
    const budget = { of: "tenant", key_id: null, name: null, balance: null, day, month, total: null };
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

    const token = await tenant.caller.post("/tokens", { max_spend: 2 * PRICE });
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
    expect((await free.caller.generate({ ...unknown, max_cost: 5 })).body.details.reason).toBe("price_unknown");
    const bound = await createTestTenant(environment, { tenant: { limits: { spend_per_day: 100 } } });
    const { status, body } = await bound.caller.generate(unknown);
    expect([status, body.details.reason]).toEqual([402, "price_unknown"]);
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

  it("is the estimated one, for 200 random inputs", async () => {
    const { caller } = await createTestTenant(environment);
    const pick = <T>(...all: T[]): T => all[Math.floor(Math.random() * all.length)]!;
    const one = async () => {
      const input = {
        prompt: "[sandbox:delay=0] chance",
        model_type: pick("flux-dev", "vendora", "qwen-image-edit"),
        batch_size: pick(1, 2, 3, 4),
        width: 64 * pick(1, 2, 3, 4, 20),
        height: 64 * pick(1, 2, 3, 16),
      };
      const estimate = await insist(() => caller.post("/runs/estimate", { operation: "images.generate", input }));
      const run = await insist(() => caller.generate({ ...input, sync: true }));
      const ended = run.body.status === "completed" ? run.body : await caller.waitUntilEnded(run.body.run_id);
      expect([input, ended.cost]).toEqual([input, { amount: estimate.body.amount, currency: "USD" }]);
      expect(ended.cost.amount).toBeGreaterThan(0);
    };
    for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 10 }, one));
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

  it("uses the price at acceptance, even if it changed while the run was queued", async () => {
    const { caller } = await createTestTenant(environment);
    const restartOne = (name: "api" | "worker") => environment.stopGracefully(name).then(() => environment.start(name));
    const restart = () => Promise.all([restartOne("api"), restartOne("worker")]);
    await environment.stopGracefully("worker");
    const { body } = await caller.generate(ORDER);
    writeFileSync(file, catalogue(0.5));
    await restart();
    expect((await caller.waitUntilEnded(body.run_id)).cost).toEqual({ amount: PRICE, currency: "USD" });
    expect((await caller.generate({ ...ORDER, sync: true })).body.cost.amount).toBe(0.5);
    writeFileSync(file, catalogue(PRICE));
    await restart();
  });
});

describe("a price per megapixel", () => {
  const upload = async ({ caller }: Awaited<ReturnType<typeof createTestTenant>>, side: number) => {
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
    expect([body.code, body.details?.reason]).toEqual(["spend_limit_reached", "price_unknown"]);
    const estimate = await tenant.caller.post("/runs/estimate", { operation: "images.upscale", input });
    expect([estimate.body.known, estimate.body.amount]).toEqual([false, null]);
  });
});

describe("a run that is canceled after its job was submitted", () => {
  const submitAndCancel = async ({ caller }: Awaited<ReturnType<typeof createTestTenant>>) => {
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
  it("end in one of the two, 300 times: a run is charged if its job was submitted", async () => {
    const tenant = await prepaid(300 * PRICE);
    const race = async (n: number) => {
      const prompt = `[sandbox:delay=${(n % 5) * 0.1}] race ${n}`;
      const { body } = await insist(() => tenant.caller.generate({ ...ORDER, prompt }));
      await new Promise((resolve) => setTimeout(resolve, (n % 30) * 40));
      await insist(() => tenant.caller.post(`/runs/${body.run_id}/cancel`));
      const run = await tenant.caller.waitUntilEnded(body.run_id);
      const settled = (await movesOf(run.run_id)).filter(({ kind }) => kind === "settle").map(({ amount }) => amount);
      const submitted = "select 1 from attempts where run_id = $1 and state in ('submitted', 'succeeded')";
      const isCharged = (await environment.query(submitted, [run.run_id])).length > 0;
      expect({ cost: run.cost, settled, hasImage: run.image_url !== null }).toEqual({
        cost: isCharged ? { amount: PRICE, currency: "USD" } : null,
        settled: isCharged ? ["30000"] : [],
        hasImage: run.status === "completed",
      });
      return { status: run.status as string, isCharged };
    };
    const ends: Awaited<ReturnType<typeof race>>[] = [];
    for (let n = 0; n < 300; n += 30) {
      ends.push(...(await Promise.all(Array.from({ length: 30 }, (_, at) => race(n + at)))));
    }
    const count = (status: string) => ends.filter((each) => each.status === status).length;
    expect(count("completed") + count("canceled")).toBe(300);
    expect(Math.min(count("completed"), count("canceled"))).toBeGreaterThan(20);
    const charged = ends.filter(({ isCharged }) => isCharged).length;
    expect(charged).toBeGreaterThanOrEqual(count("completed"));
    const { budgets, total } = await usageOf(tenant);
    expect(budgets[0].balance).toBeCloseTo((300 - charged) * PRICE, 6);
    expect(total.amount).toBeCloseTo(charged * PRICE, 6);
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
