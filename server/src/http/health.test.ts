// Readiness: what makes a process unready, what is only reported, and how often the dependencies are asked.
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { healthRoutes } from "./health.ts";

const works = async () => {};
const fails = () => Promise.reject(new Error("away"));
const hangs = () => new Promise<void>(() => {});

let clock = createManualClock();
let checks: { database: () => Promise<void>; storage: () => Promise<void> };
let probes: number;
let app: ReturnType<typeof healthRoutes>;
beforeEach(() => {
  clock = createManualClock();
  checks = { database: works, storage: works };
  probes = 0;
  const storage = () => {
    probes++;
    return checks.storage();
  };
  app = healthRoutes({ required: { database: () => checks.database() }, degrading: { storage } }, clock);
});

async function readiness() {
  const response = await app.request("/readyz");
  return [response.status, await response.json()];
}

describe("/readyz", () => {
  it("is 200 while every dependency works", async () => {
    expect(await readiness()).toEqual([200, { status: "ok", checks: { database: "ok", storage: "ok" } }]);
  });

  it("stays 200 and reports the storage as degraded while only the storage is away", async () => {
    checks.storage = fails;
    expect(await readiness()).toEqual([200, { status: "degraded", checks: { database: "ok", storage: "failed" } }]);
  });

  it("responds within a second while the storage does not respond at all", async () => {
    checks.storage = hangs;
    const response = readiness();
    await clock.advance(800);
    expect(await response).toEqual([200, { status: "degraded", checks: { database: "ok", storage: "timed_out" } }]);
    expect(clock.timers()).toEqual([]);
  });

  it("is 503 while the database is away", async () => {
    checks.database = fails;
    expect(await readiness()).toEqual([503, { status: "unavailable", checks: { database: "failed", storage: "ok" } }]);
  });

  it("is 503 while an operator drains the process, also if every dependency works", async () => {
    let isDraining = false;
    const draining = healthRoutes({ required: { database: works }, degrading: {} }, clock, () => isDraining);
    expect((await draining.request("/readyz")).status).toBe(200);
    isDraining = true;
    const response = await draining.request("/readyz");
    expect([response.status, await response.json()]).toEqual([503, { status: "draining", checks: { database: "ok" } }]);
  });

  it("probes the storage at most once a second, however many ask", async () => {
    await Promise.all(Array.from({ length: 50 }, readiness));
    clock.at += 999;
    await readiness();
    expect(probes).toBe(1);
    clock.at += 1;
    await Promise.all([readiness(), readiness()]);
    expect(probes).toBe(2);
  });

  it("starts no second probe beside one that does not respond", async () => {
    checks.storage = hangs;
    const responses = Promise.all([readiness(), readiness()]);
    await clock.advance(800);
    await responses;
    clock.at += 60_000;
    const later = readiness();
    await clock.advance(800);
    expect(await later).toMatchObject([200, { checks: { storage: "timed_out" } }]);
    expect(probes).toBe(1);
  });

  it("notices within a second that the storage is back", async () => {
    checks.storage = fails;
    await readiness();
    checks.storage = works;
    clock.at += 1000;
    expect(await readiness()).toMatchObject([200, { status: "ok" }]);
  });
});

it("/livez asks no dependency", async () => {
  checks = { database: fails, storage: fails };
  const response = await app.request("/livez");
  expect([response.status, probes]).toEqual([200, 0]);
});
