import { describe, expect, it } from "vitest";
import { createCallerRecord } from "../../test/support/tenants.ts";
import { assertCanDelegate, assertNotAccessToken, inheritLimits } from "./delegation.ts";

const until = new Date("2026-06-01T00:00:00Z");
const caller = createCallerRecord({
  ...{ scopes: ["images:*", "runs:read"], grants_until: until },
  limits: { runs_per_minute: 10, label: "not a number" },
});
const within = { scopes: ["images:read"], limits: { runs_per_minute: 10 }, expires_at: until };
const delegate = (granted: Partial<typeof within> | object) => () =>
  assertCanDelegate(caller, { ...within, ...granted });

describe("a credential grants", () => {
  it("what it has itself, or less", () => {
    expect(delegate({})).not.toThrow();
    expect(delegate({ scopes: ["images:*"], limits: { runs_per_minute: 1, open_runs: 5 } })).not.toThrow();
    expect(delegate({ scopes: [], expires_at: new Date(until.getTime() - 1) })).not.toThrow();
  });

  it("no scope that it does not have", () => {
    expect(delegate({ scopes: ["images:read", "runs:write", "keys:*"] })).toThrow(
      expect.objectContaining({ code: "insufficient_scope", details: { required: ["runs:write", "keys:*"] } }),
    );
  });

  it("the scope for agents if it has all others, that for content if it is an operator's, and no other by a wildcard", () => {
    const grant = (scopes: string[], wanted: string) => () =>
      assertCanDelegate(createCallerRecord({ scopes }), { scopes: [wanted], limits: {}, expires_at: null });
    expect(grant(["*"], "agents:write")).not.toThrow();
    expect(grant(["agents:write"], "agents:write")).not.toThrow();
    expect(grant(["keys:*", "images:*"], "agents:write")).toThrow();
    expect(grant(["*"], "tenants:read")).toThrow();
    expect(grant(["*"], "content:read")).toThrow();
    expect(grant(["*", "tenants:read"], "content:read")).toThrow();
    expect(grant(["*", "tenants:*"], "content:read")).not.toThrow();
  });

  it.each([[{ runs_per_minute: 11 }], [{}], [{ runs_per_minute: null }], [{ runs_per_minute: "1" }]])(
    "no limit above its own: %j",
    (limits) =>
      expect(delegate({ limits })).toThrow(
        expect.objectContaining({ code: "permission_denied", details: { limits: { runs_per_minute: 10 } } }),
      ),
  );

  it.each([null, new Date(until.getTime() + 1)])("nothing that outlives it: %s", (expires_at) =>
    expect(delegate({ expires_at })).toThrow(
      expect.objectContaining({ code: "permission_denied", details: { expires_at: "2026-06-01T00:00:00.000Z" } }),
    ),
  );

  it("any expiry if it has none itself", () => {
    const lasting = createCallerRecord({ scopes: ["*"], grants_until: null });
    expect(() => assertCanDelegate(lasting, { ...within, expires_at: null })).not.toThrow();
    expect(() => assertCanDelegate(lasting, within)).not.toThrow();
  });

  it("nothing if it is an access token", () => {
    const refusal = expect.objectContaining({ code: "permission_denied", details: { reason: "token" } });
    const token = { ...caller, token: { token_id: "t", max_spend: null, end_user: "visitor-1" } };
    expect(() => assertCanDelegate(token, within)).toThrow(refusal);
    expect(() => assertNotAccessToken(token)).toThrow(refusal);
    expect(() => assertNotAccessToken(caller)).not.toThrow();
  });
});

it("limits that a request leaves out are inherited", () => {
  const limits = { runs_per_minute: undefined, open_runs: 3, waiters: null };
  expect(inheritLimits([caller], limits)).toEqual({ runs_per_minute: 10, label: "not a number", open_runs: 3 });
  expect(inheritLimits([caller], { runs_per_minute: 2 })).toMatchObject({ runs_per_minute: 2 });
  expect(inheritLimits([caller], { runs_per_minute: 0 })).toMatchObject({ runs_per_minute: 0 });
});
