import { expect, it } from "vitest";
import { isGrantable, scopeChoice, scopeRows, toggleScope } from "./scopes.ts";

it("offers only what the own credential can give, and the operator's scopes by name only", () => {
  expect(isGrantable(["*"], "images:write")).toBe(true);
  expect(isGrantable(["*"], "tenants:read")).toBe(false);
  expect(isGrantable(["*"], "agents:write")).toBe(true);
  expect(isGrantable(["*", "tenants:read"], "content:read")).toBe(false);
  expect(isGrantable(["tenants:*"], "content:read")).toBe(true);
  expect(isGrantable(["tenants:*"], "tenants:read")).toBe(true);
  expect(isGrantable(["*:read"], "images:write")).toBe(false);
  expect(isGrantable(["*:read"], "images:read")).toBe(true);
  expect(isGrantable(["images:write"], "images:read")).toBe(false);
});

it("has one row for each resource", () => {
  expect(scopeRows(["audit:read", "keys:read", "keys:write"])).toEqual([
    { resource: "audit", read: "audit:read", write: undefined },
    { resource: "keys", read: "keys:read", write: "keys:write" },
  ]);
});

it("reads and changes a choice", () => {
  expect([scopeChoice(["*"]), scopeChoice(["*:read"]), scopeChoice(["keys:read"])]).toEqual(["all", "read", "some"]);
  expect(toggleScope(["keys:read"], "runs:read")).toEqual(["keys:read", "runs:read"]);
  expect(toggleScope(["keys:read"], "keys:read")).toEqual([]);
});
