import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Operation } from "../../contract/operation.ts";
import { operations } from "../../operations/all.ts";
import { isOperatorOperation } from "../scopes.ts";
import { assertRecentLogin, needsRecentLogin } from "./recent-login.ts";

const MINUTE_MS = 60_000;
const clock = { now: () => 100 * MINUTE_MS };
const session = (last_login_at: Date | null) => ({
  session: { session_id: "s", method: "key" as const, last_login_at },
});
const loggedIn = (minutesAgo: number) => session(new Date((100 - minutesAgo) * MINUTE_MS));
const find = (name: string): Operation => operations.find((each) => each.name === name)!;
const namesOf = (list: Operation[]) => list.map(({ name }) => name);
const isWrite = ({ http }: Pick<Operation, "http">) => http.method !== "GET";

it("a session whose login is 10 minutes old or unknown creates no credential, and a younger one does", () => {
  const create = find("keys.create");
  expect(() => assertRecentLogin(loggedIn(9.9), create, clock)).not.toThrow();
  for (const old of [loggedIn(10), loggedIn(60), session(null)])
    expect(() => assertRecentLogin(old, create, clock)).toThrow(expect.objectContaining({ code: "login_too_old" }));
});

it("a session whose login is old reads no content of tenants", () => {
  const reading = operations.filter(({ returnsContent }) => returnsContent);
  expect(reading.map(({ http }) => http.method).sort()).toEqual(["GET", "POST"]);
  for (const operation of reading) {
    expect(() => assertRecentLogin(loggedIn(11), operation, clock)).toThrow();
    expect(() => assertRecentLogin(loggedIn(1), operation, clock)).not.toThrow();
  }
});

it("other operations, and keys and tokens, need no recent login", () => {
  expect(() => assertRecentLogin(loggedIn(600), find("keys.revoke"), clock)).not.toThrow();
  expect(() => assertRecentLogin(loggedIn(600), find("images.generate"), clock)).not.toThrow();
  expect(() => assertRecentLogin(loggedIn(600), find("admin.pauses"), clock)).not.toThrow();
  expect(() => assertRecentLogin({}, find("keys.create"), clock)).not.toThrow();
  expect(() => assertRecentLogin({}, find("admin.rebuild"), clock)).not.toThrow();
});

it("a session whose login is old sends no results to another receiver", () => {
  expect(() => assertRecentLogin(loggedIn(600), find("webhooks.update"), clock)).toThrow();
  expect(() => assertRecentLogin(loggedIn(1), find("webhooks.update"), clock)).not.toThrow();
});

describe("an operation of the operator that writes", () => {
  const writes = operations.filter((each) => isOperatorOperation(each) && isWrite(each));

  it("declares what it changes, and needs a recent login", () => {
    expect(writes.length).toBeGreaterThanOrEqual(13);
    expect(namesOf(writes.filter(({ changes }) => changes === undefined))).toEqual([]);
    expect(namesOf(writes.filter((each) => !needsRecentLogin(each)))).toEqual([]);
  });

  it("needs a recent login even without a declaration", () => {
    const forgotten = { name: "admin.forgotten", http: { method: "POST" } };
    expect(() => assertRecentLogin(loggedIn(120), forgotten, clock)).toThrow();
    expect(() => assertRecentLogin(loggedIn(1), forgotten, clock)).not.toThrow();
  });
});

it("an operation that only reads declares no change", () => {
  expect(namesOf(operations.filter((each) => each.changes !== undefined && !isWrite(each)))).toEqual([]);
});

it("revoking a key is the only change that must not wait for a login", () => {
  expect(namesOf(operations.filter(({ isUrgent }) => isUrgent))).toEqual(["keys.revoke"]);
});

it("the page of the console lists every operation that needs a recent login by what it changes", () => {
  const page = readFileSync("docs/guide/console.md", "utf8");
  const listed = (change: string) =>
    [...new RegExp(`^\\| ${change} \\| (.*) \\|$`, "m").exec(page)![1]!.matchAll(/`([\w.]+)`/g)].map(
      ([, name]) => name!,
    );
  for (const [head, change] of Object.entries({ Access: "access", Money: "money", Installation: "installation" })) {
    const guarded = operations.filter((each) => each.changes === change && needsRecentLogin(each));
    expect(listed(head).sort()).toEqual(namesOf(guarded).sort());
  }
});

it("every operation whose response contains a secret, and every change of members and credit, needs a recent login", () => {
  const returnsSecret = operations.filter(({ output }) =>
    /"(key|secret|access_token|owner_key)":/.test(JSON.stringify(z.toJSONSchema(output, { unrepresentable: "any" }))),
  );
  const changes = operations.filter((each) => /^(members|tenants)\./.test(each.name) && isWrite(each));
  // `key` of a provider in system.get says whether its key is set and accepted.
  const needed = [...returnsSecret, ...changes].filter(({ name }) => name !== "system.get");
  expect(needed.length).toBeGreaterThan(10);
  expect(namesOf(needed.filter((each) => !needsRecentLogin(each)))).toEqual([]);
});
