// Limits of a caller: unfinished runs at a time, and requests per minute.
import { describe, expect } from "vitest";
import type { ApiCaller } from "../support/api-caller.ts";
import { createTestTenant, type TenantOptions } from "../support/tenants.ts";
import { it } from "./http-and-client.ts";
import { statusAndCode } from "./run-requests.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite();
const SLOW = { prompt: "[sandbox:delay=20] patience", width: 64, height: 64 };

/** A caller of a new tenant, on the transport of the running test. */
const callerWith = async (options: TenantOptions): Promise<ApiCaller> =>
  suite.callerWith((await createTestTenant(suite.environment, options)).key);

describe("open runs", () => {
  it("[LIM-054] are as many as the operator allows, and one more when one has ended", async () => {
    const caller = await callerWith({ tenant: { limits: { open_runs: 20 } } });
    const responses = await Promise.all(Array.from({ length: 30 }, () => caller.generate(SLOW)));
    const taken = responses.filter(({ status }) => status === 202);
    expect(taken).toHaveLength(20);
    for (const response of responses.filter(({ status }) => status !== 202)) {
      expect(statusAndCode(response)).toEqual([429, "concurrency_limit_reached"]);
    }
    await caller.post(`/runs/${taken[0]!.body.run_id}/cancel`);
    await caller.waitUntilEnded(taken[0]!.body.run_id);
    expect((await caller.generate(SLOW)).status).toBe(202);
    expect(statusAndCode(await caller.generate(SLOW))).toEqual([429, "concurrency_limit_reached"]);
  });

  it("[LIM-054] are not limited where nothing is set", async () => {
    const caller = await callerWith({});
    const order = { ...SLOW, prompt: "[sandbox:delay=0] all at once" };
    const responses = await Promise.all(Array.from({ length: 200 }, () => caller.generate(order)));
    expect(responses.filter(({ status }) => status !== 202 && status !== 200)).toEqual([]);
  });
});

describe("rates", () => {
  it("[LIM-055] are in every response, and a 429 says when to retry", async () => {
    const caller = await callerWith({ tenant: { limits: { requests_per_minute: 3 } } });
    const responses = await Promise.all([1, 2, 3].map(() => caller.get("/runs")));
    for (const { status, headers } of responses) {
      expect(status).toBe(200);
      expect(headers.get("ratelimit-policy")).toMatch(/"requests";q=3;w=60/);
      expect(headers.get("ratelimit")).toMatch(/"requests";r=[0-2];t=\d+/);
    }
    const over = await caller.get("/runs");
    expect(statusAndCode(over)).toEqual([429, "rate_limited"]);
    expect(over.headers.get("ratelimit")).toMatch(/"requests";r=0;t=\d+/);
    const [, seconds] = /"requests";r=0;t=(\d+)/.exec(over.headers.get("ratelimit")!)!;
    expect(over.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(Number(over.headers.get("retry-after"))).toBeGreaterThanOrEqual(Number(seconds));
  });
});
