import { describe, expect, it } from "vitest";
import { createBodyBudget } from "./body-budget.ts";

const MEGABYTE = 1024 * 1024;
const open = () => createBodyBudget({ policy: "body-bytes", ofAll: 100, ofTenant: 60 });

describe("the budget of bodies in memory", () => {
  it("refuses a tenant's body above its limit and serves other tenants", () => {
    const budget = open();
    expect(budget.reserve("a").add(40 * MEGABYTE)).toBeUndefined();
    expect(budget.reserve("a").add(30 * MEGABYTE)).toMatchObject({
      code: "rate_limited",
      details: { policy: "body-bytes" },
    });
    expect(budget.reserve("b").add(30 * MEGABYTE)).toBeUndefined();
  });

  it("refuses bodies above the limit of all tenants together", () => {
    const budget = open();
    for (const tenant of ["a", "b"]) expect(budget.reserve(tenant).add(45 * MEGABYTE)).toBeUndefined();
    expect(budget.reserve("c").add(20 * MEGABYTE)?.code).toBe("rate_limited");
  });

  it("counts a refused or finished body no longer", () => {
    const budget = open();
    for (let n = 0; n < 50; n++) {
      const body = budget.reserve("a");
      expect(body.add(50 * MEGABYTE)).toBeUndefined();
      expect(budget.reserve("a").add(50 * MEGABYTE)?.code).toBe("rate_limited");
      body.release();
      body.release();
    }
    expect(budget.reserve("a").add(60 * MEGABYTE)).toBeUndefined();
  });

  it("counts a body while it arrives", () => {
    const body = open().reserve("a");
    const refusals = Array.from({ length: 61 }, () => body.add(MEGABYTE)?.code);
    expect(refusals.slice(0, 60).every((code) => code === undefined)).toBe(true);
    expect(refusals[60]).toBe("rate_limited");
  });

  it("counts nothing that arrives after the end of a body, such as the rest of a refused one", () => {
    const budget = open();
    const body = budget.reserve("a");
    expect(body.add(61 * MEGABYTE)?.code).toBe("rate_limited");
    expect(body.add(61 * MEGABYTE)).toBeUndefined();
    expect(budget.reserve("a").add(60 * MEGABYTE)).toBeUndefined();
  });
});
