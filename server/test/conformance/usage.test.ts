// Usage in the API.
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { it } from "./http-and-client.ts";
import { useSuite } from "./suite.ts";

const suite = useSuite({ GESSO_CONFIG: fileURLToPath(new URL("../chaos/prices.yaml", import.meta.url)) });

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
});
