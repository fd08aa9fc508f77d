import { expect, it } from "vitest";
import { z } from "zod";
import { operations } from "../operations/all.ts";
import { assertRecentLogin, OPERATIONS_WITH_RECENT_LOGIN } from "./recent-login.ts";

const MINUTE_MS = 60_000;
const clock = { now: () => 100 * MINUTE_MS };
const session = (last_login_at: Date | null) => ({
  session: { session_id: "s", method: "key" as const, last_login_at },
});
const loggedIn = (minutesAgo: number) => session(new Date((100 - minutesAgo) * MINUTE_MS));

it("a session whose login is 10 minutes old or unknown creates no credential, and a younger one does", () => {
  const create = { name: "keys.create" };
  expect(() => assertRecentLogin(loggedIn(9.9), create, clock)).not.toThrow();
  for (const old of [loggedIn(10), loggedIn(60), session(null)])
    expect(() => assertRecentLogin(old, create, clock)).toThrow(expect.objectContaining({ code: "login_too_old" }));
});

it("other operations, and keys and tokens, need no recent login", () => {
  expect(() => assertRecentLogin(loggedIn(600), { name: "keys.revoke" }, clock)).not.toThrow();
  expect(() => assertRecentLogin(loggedIn(600), { name: "images.generate" }, clock)).not.toThrow();
  expect(() => assertRecentLogin({}, { name: "keys.create" }, clock)).not.toThrow();
});

it("a session whose login is old sends no results to another receiver", () => {
  const update = { name: "webhooks.update" };
  expect(() => assertRecentLogin(loggedIn(600), update, clock)).toThrow();
  expect(() => assertRecentLogin(loggedIn(1), update, clock)).not.toThrow();
});

it("every operation of the list exists", () => {
  const names = operations.map(({ name }) => name);
  expect(OPERATIONS_WITH_RECENT_LOGIN.filter((name) => !names.includes(name))).toEqual([]);
});

it("every operation whose response contains a secret, and every change of members and credit, is in the list", () => {
  const returnsSecret = operations.filter(({ output }) =>
    /"(key|secret|access_token|owner_key)":/.test(JSON.stringify(z.toJSONSchema(output, { unrepresentable: "any" }))),
  );
  const changes = operations.filter(({ name, http }) => /^(members|tenants)\./.test(name) && http.method !== "GET");
  // `key` of a provider in system.get says whether its key is set and accepted.
  const needed = [...returnsSecret, ...changes].map(({ name }) => name).filter((name) => name !== "system.get");
  expect(needed.length).toBeGreaterThan(10);
  expect(needed.filter((name) => !OPERATIONS_WITH_RECENT_LOGIN.includes(name))).toEqual([]);
});
