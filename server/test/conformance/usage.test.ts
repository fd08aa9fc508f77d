// Usage in the API.
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { createTestTenant } from "../support/tenants.ts";
import { it } from "./http-and-client.ts";
import { useOwnSuite } from "./suite.ts";

const suite = useOwnSuite({ GESSO_CONFIG: fileURLToPath(new URL("../chaos/prices.yaml", import.meta.url)) });

describe("usage", () => {
  it("[GNL-042] is the tenant's own, and a completed run with a known cost raises it", async () => {
    const total = async () => {
      const { status, body } = await suite.caller.get("/usage");
      expect(status).toBe(200);
      return body.total as { runs: number; completed: number; amount: number };
    };
    const before = await total();
    const run = await suite.caller.generate({ prompt: "a coin", width: 64, height: 64, sync: true });
    expect(run.body.cost).toEqual({ amount: 0.03, currency: "USD" });
    const after = await total();
    expect([after.runs - before.runs, after.completed - before.completed]).toEqual([1, 1]);
    expect(after.amount - before.amount).toBeCloseTo(0.03, 6);
  });

  it("is known to the operator as numbers of each tenant, and refused to every other key", async () => {
    const { key, caller, tenant_id } = await createTestTenant(suite.environment);
    await caller.generate({ prompt: "a secret coin", width: 64, height: 64, sync: true });
    const { status, body } = await suite.caller.get(`/tenants/${tenant_id}/usage`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ tenant_id, total: { runs: 1, amount: 0.03 }, data: [{ runs: 1 }], open_runs: 0 });
    expect(body.storage.bytes).toBeGreaterThan(0);
    expect(JSON.stringify(body)).not.toContain("secret coin");
    for (const path of [`/tenants/${tenant_id}/usage`, "/system"])
      expect((await suite.callerWith(key).get(path)).body.code).toBe("insufficient_scope");
  });

  it("of the installation shows the checks of the doctor, the providers and the queue to the operator", async () => {
    const { status, body } = await suite.caller.get("/system");
    expect(status).toBe(200);
    expect(body.checks).toContainEqual(expect.objectContaining({ name: "postgresql", status: "pass" }));
    expect(body.checks).toContainEqual(expect.objectContaining({ name: "ledger", status: "pass" }));
    expect(body.providers).toContainEqual(expect.objectContaining({ name: "sandbox", open_until: null }));
    expect(body).toMatchObject({ unknown_outcomes: 0, queue: { waiting: 0 } });
  });
});
