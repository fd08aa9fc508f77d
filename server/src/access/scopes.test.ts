import { describe, expect, it } from "vitest";
import { operations } from "../operations/all.ts";
import { authorize, commonScopes, missingFrom, scopeOf } from "./scopes.ts";

const verdict = (role: "owner" | "developer" | "viewer", scopes: string[], name: string): string => {
  try {
    authorize({ role, scopes }, operations.find((each) => each.name === name)!);
    return "may";
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
};

describe("the scope of an operation", () => {
  it("follows from its name and its method", () => {
    const scopes = Object.fromEntries(operations.map((operation) => [operation.name, scopeOf(operation)]));
    expect(scopes).toMatchObject({
      ...{
        "images.generate": "images:write",
        "images.edit.fluxKontext": "images:write",
        "edit.getLayers": "images:read",
      },
      ...{ "edit.maskImage": "images:write", generateVideo: "videos:write", "runs.get": "runs:read" },
      ...{ "runs.cancel": "runs:write", "prompts.list": "prompts:read", "keys.create": "keys:write" },
      ...{ "tokens.create": "tokens:write", "tenants.list": "tenants:read" },
    });
    expect(Object.values(scopes).filter((scope) => !/^[a-z]+:(read|write)$/.test(scope))).toEqual([]);
  });
});

describe("a scope", () => {
  it("covers itself and what it names more widely, and nothing else", () => {
    expect(missingFrom(["*"], ["images:write", "runs:*", "*:read", "*"])).toEqual([]);
    expect(missingFrom(["images:*"], ["images:read", "images:*", "runs:read", "*", "*:read"])).toEqual([
      ...["runs:read", "*", "*:read"],
    ]);
    expect(missingFrom(["images:write"], ["images:read", "images:*"])).toEqual(["images:read", "images:*"]);
    expect(missingFrom(["images:read", "images:write"], ["images:*"])).toEqual([]);
    expect(missingFrom(["*:read"], ["runs:read", "runs:write"])).toEqual(["runs:write"]);
    expect(missingFrom([], ["runs:read"])).toEqual(["runs:read"]);
  });

  it("of the operator has to be said: no star reaches it", () => {
    expect(missingFrom(["*", "*:read"], ["tenants:read", "tenants:*"])).toEqual(["tenants:read", "tenants:*"]);
    expect(missingFrom(["tenants:*"], ["tenants:read", "tenants:write"])).toEqual([]);
  });

  it("is narrowed by another list, whichever of the two is the narrower", () => {
    expect(commonScopes(["*"], ["images:write"])).toEqual(["images:write"]);
    expect(commonScopes(["images:*"], ["*"])).toEqual(["images:read", "images:write"]);
    expect(commonScopes(["*:read"], ["images:*", "runs:write"])).toEqual(["images:read"]);
    expect(commonScopes(["runs:read"], ["images:read"])).toEqual([]);
  });
});

describe("a role", () => {
  it.each([
    ["owner", "may", "may", "may", "may"],
    ["developer", "may", "may", "permission_denied", "permission_denied"],
    ["viewer", "may", "permission_denied", "permission_denied", "permission_denied"],
  ] as const)("%s: runs.get %s, images.generate %s, members.add %s, audit.list %s", (role, ...expected) => {
    const asked = ["runs.get", "images.generate", "members.add", "audit.list"];
    expect(asked.map((name) => verdict(role, ["*"], name))).toEqual(expected);
  });

  it("allows nothing that the credential was not given", () => {
    for (const { name } of operations) expect([name, verdict("owner", [], name)]).toEqual([name, "insufficient_scope"]);
    expect(verdict("owner", ["*"], "tenants.create")).toBe("insufficient_scope");
    expect(verdict("owner", ["tenants:*"], "tenants.create")).toBe("may");
    expect(verdict("developer", ["*", "tenants:*"], "tenants.create")).toBe("permission_denied");
  });
});
