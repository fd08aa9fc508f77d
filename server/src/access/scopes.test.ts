import { describe, expect, it } from "vitest";
import { operations } from "../operations/all.ts";
import {
  authorize,
  authorizeAgent,
  intersectScopes,
  isOperatorOperation,
  isScope,
  missingScopes,
  needsAgentScope,
  requiredScope,
} from "./scopes.ts";

const verdict = (role: "owner" | "developer" | "viewer", scopes: string[], name: string): string => {
  try {
    authorize({ role, scopes }, operations.find((each) => each.name === name)!);
    return "may";
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
};

describe("the scope of an operation", () => {
  it("is derived from its name and its method", () => {
    const scopes = Object.fromEntries(operations.map((operation) => [operation.name, requiredScope(operation)]));
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
  it("covers itself and what its wildcard matches, and nothing else", () => {
    expect(missingScopes(["*"], ["images:write", "runs:*", "*:read", "*"])).toEqual([]);
    expect(missingScopes(["images:*"], ["images:read", "images:*", "runs:read", "*", "*:read"])).toEqual([
      ...["runs:read", "*", "*:read"],
    ]);
    expect(missingScopes(["images:write"], ["images:read", "images:*"])).toEqual(["images:read", "images:*"]);
    expect(missingScopes(["images:read", "images:write"], ["images:*"])).toEqual([]);
    expect(missingScopes(["*:read"], ["runs:read", "runs:write"])).toEqual(["runs:write"]);
    expect(missingScopes([], ["runs:read"])).toEqual(["runs:read"]);
  });

  it("of the operator must be named: no wildcard matches it", () => {
    expect(missingScopes(["*", "*:read"], ["tenants:read", "tenants:*"])).toEqual(["tenants:read", "tenants:*"]);
    expect(missingScopes(["tenants:*"], ["tenants:read", "tenants:write"])).toEqual([]);
  });

  it("for content of tenants must be named: neither a wildcard nor the operator's scope includes it", () => {
    expect(missingScopes(["*", "*:read", "tenants:*"], ["content:read"])).toEqual(["content:read"]);
    for (const { name } of operations.filter(({ returnsContent }) => returnsContent)) {
      expect([name, verdict("owner", ["*", "tenants:*"], name)]).toEqual([name, "insufficient_scope"]);
      expect([name, verdict("owner", ["*", "content:read"], name)]).toEqual([name, "insufficient_scope"]);
      expect([name, verdict("owner", ["tenants:*", "content:read"], name)]).toEqual([name, "may"]);
    }
  });

  it("for agents must be named: no wildcard matches it", () => {
    expect(missingScopes(["*", "*:read", "tenants:*"], ["agents:write"])).toEqual(["agents:write"]);
    expect(missingScopes(["agents:write"], ["agents:write"])).toEqual([]);
    expect(intersectScopes(["*"], ["agents:write"])).toEqual([]);
  });

  it("is narrowed by another list, whichever of the two is narrower", () => {
    expect(intersectScopes(["*"], ["images:write"])).toEqual(["images:write"]);
    expect(intersectScopes(["images:*"], ["*"])).toEqual(["images:read", "images:write"]);
    expect(intersectScopes(["*:read"], ["images:*", "runs:write"])).toEqual(["images:read"]);
    expect(intersectScopes(["runs:read"], ["images:read"])).toEqual([]);
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

  it("allows nothing that the credential does not have", () => {
    for (const { name } of operations.filter(({ name }) => name !== "me.get"))
      expect([name, verdict("owner", [], name)]).toEqual([name, "insufficient_scope"]);
    expect(verdict("owner", ["*"], "tenants.create")).toBe("insufficient_scope");
    expect(verdict("owner", ["tenants:*"], "tenants.create")).toBe("may");
    expect(verdict("developer", ["*", "tenants:*"], "tenants.create")).toBe("permission_denied");
  });
});

it("every credential may ask who it is", () => {
  expect(["owner", "developer", "viewer"].map((role) => verdict(role as "viewer", [], "me.get"))).toEqual([
    ...["may", "may", "may"],
  ]);
});

describe("the syntax of scopes", () => {
  it.each(["*", "*:read", "images:read", "images:write", "images:*", "custom-models:read"])("accepts %s", (text) =>
    expect(isScope(text)).toBe(true),
  );
  it.each(["", "x", "*:write", "*:*", "images", "images:", "images:delete", ":read", "Images:read", "-a:read"])(
    "refuses %j",
    (text) => expect(isScope(text)).toBe(false),
  );
  it.each(["ximages:read x", " images:read", "images:read ", "1images:read", "images:read:write", "images:reads"])(
    "refuses %j, which only contains a scope",
    (text) => expect(isScope(text)).toBe(false),
  );
});

describe("a refusal", () => {
  const refusal = (role: "developer" | "viewer", scopes: string[], name: string) => () =>
    authorize({ role, scopes }, operations.find((each) => each.name === name)!);

  it("names the scope that is missing, or the role that does not have it", () => {
    expect(refusal("viewer", ["runs:read"], "images.generate")).toThrow(
      expect.objectContaining({ code: "insufficient_scope", details: { required: "images:write" } }),
    );
    expect(refusal("viewer", ["*"], "images.generate")).toThrow(
      expect.objectContaining({ code: "permission_denied", details: { role: "viewer" } }),
    );
  });

  it("holds for reads of the operator and of the audit log, which only owners may have", () => {
    for (const role of ["developer", "viewer"] as const) {
      expect(verdict(role, ["*", "tenants:*"], "tenants.list")).toBe("permission_denied");
      expect(verdict(role, ["*"], "audit.list")).toBe("permission_denied");
      expect(verdict(role, ["*"], "members.list")).toBe("may");
    }
  });
});

describe("an agent", () => {
  const agentVerdict = (scopes: string[], name: string) => {
    try {
      authorizeAgent({ role: "owner", scopes }, operations.find((each) => each.name === name)!);
      return "may";
    } catch (thrown) {
      return (thrown as { details: { required?: string } }).details.required;
    }
  };

  it("needs a scope of its own for every operation of the operator, and every change of access or money", () => {
    const guarded = operations.filter(needsAgentScope).map(({ name }) => name);
    expect(guarded).toEqual(expect.arrayContaining(["keys.create", "keys.revoke", "tokens.create", "members.add"]));
    expect(guarded).toEqual(expect.arrayContaining(operations.filter(isOperatorOperation).map(({ name }) => name)));
    const all = ["*", "tenants:*", "content:read"];
    for (const name of guarded) expect([name, agentVerdict(all, name)]).toEqual([name, "agents:write"]);
    for (const name of guarded) expect([name, agentVerdict([...all, "agents:write"], name)]).toEqual([name, "may"]);
  });

  it("gets by that scope nothing that its other scopes do not permit", () => {
    expect(agentVerdict(["agents:write", "runs:read"], "keys.create")).toBe("keys:write");
    expect(agentVerdict(["agents:write", "*"], "tenants.create")).toBe("tenants:write");
    expect(agentVerdict(["*"], "images.generate")).toBe("may");
  });
});

it("only operations on tenants and on the whole installation are the operator's", () => {
  const names = operations.filter(isOperatorOperation).map(({ name }) => name.split(".")[0]);
  expect([...new Set(names)]).toEqual(["admin", "system", "tenants"]);
});
