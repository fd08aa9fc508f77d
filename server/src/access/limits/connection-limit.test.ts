// Places to wait in: of one tenant, of one key, of all.
import { describe, expect, it } from "vitest";
import { createCallerRecord } from "../../../test/support/tenants.ts";
import { createConnectionLimiter } from "./connection-limit.ts";

const enterAll = (
  waiters: ReturnType<typeof createConnectionLimiter>,
  caller: ReturnType<typeof createCallerRecord>,
  times: number,
) => Array.from({ length: times }, () => waiters.acquire(caller)).filter((leave) => leave !== undefined);

describe("waiting connections", () => {
  it("are limited per tenant and in total", () => {
    const waiters = createConnectionLimiter({ ofAll: 5, ofTenant: 3 });
    expect(enterAll(waiters, createCallerRecord({ tenant_id: "a" }), 10)).toHaveLength(3);
    expect(enterAll(waiters, createCallerRecord({ tenant_id: "b" }), 10)).toHaveLength(2);
    expect(enterAll(waiters, createCallerRecord({ tenant_id: "c" }), 10)).toHaveLength(0);
  });

  it("free their slots when they close", () => {
    const waiters = createConnectionLimiter({ ofAll: 0, ofTenant: 1 });
    const [leave] = enterAll(waiters, createCallerRecord({ tenant_id: "a" }), 2);
    expect(waiters.acquire(createCallerRecord({ tenant_id: "a" }))).toBeUndefined();
    leave!();
    expect(waiters.acquire(createCallerRecord({ tenant_id: "a" }))).toBeDefined();
  });

  it("have limits per tenant and narrower ones per key", () => {
    const waiters = createConnectionLimiter({ ofAll: 0, ofTenant: 3 });
    const tenant = { weight: 1, limits: { waiters: 6 } };
    expect(enterAll(waiters, createCallerRecord({ tenant, key_id: "k", limits: { waiters: 2 } }), 10)).toHaveLength(2);
    expect(enterAll(waiters, createCallerRecord({ tenant, key_id: "l" }), 10)).toHaveLength(4);
  });

  it("are not limited without a setting", () => {
    expect(enterAll(createConnectionLimiter({ ofAll: 0, ofTenant: 0 }), createCallerRecord(), 1000)).toHaveLength(1000);
  });
});
