import { beforeEach, expect, it } from "vitest";
import { createSignInLimit, type SignInLimit } from "./sign-in-limit.ts";

let now = 0;
let limit: SignInLimit;
beforeEach(() => {
  now = 1_000_000;
  limit = createSignInLimit({ monotonic: () => now });
});
const codeOf = (attempt: () => unknown) => {
  try {
    attempt();
    return "accepted";
  } catch (thrown) {
    return (thrown as { code: string; details: object }).code;
  }
};
const failures = (count: number, address = "192.0.2.1") =>
  Array.from({ length: count }, () => codeOf(() => limit.countFailure(address)));
const signIns = (count: number, user_id = "ada") =>
  Array.from({ length: count }, () => codeOf(() => limit.countSignIn({ tenant_id: "studio", user_id })));

it("refuses the sixth failed attempt of an address within a minute, and no other address", () => {
  expect(failures(6)).toEqual([...Array(5).fill("accepted"), "rate_limited"]);
  expect(failures(1, "192.0.2.2")).toEqual(["accepted"]);
});

it("names the seconds until the next attempt, also if the attempts were spread over the minute", () => {
  for (const _ of Array(5).keys()) {
    limit.countFailure("192.0.2.1");
    now += 11_000;
  }
  // 55 s after the first attempt.
  expect(() => limit.countFailure("192.0.2.1")).toThrow(
    expect.objectContaining({ code: "rate_limited", details: { policy: "sign-in", retry_after: 5 } }),
  );
  now += 5000;
  expect(failures(2)).toEqual(["accepted", "rate_limited"]);
});

it("does not count a failure that was taken back", () => {
  for (const _ of Array(20).keys()) limit.countFailure("192.0.2.1")();
  expect(failures(6)).toEqual([...Array(5).fill("accepted"), "rate_limited"]);
});

it("refuses the 61st sign-in of a member within a minute, and no other member", () => {
  expect(signIns(61)).toEqual([...Array(60).fill("accepted"), "rate_limited"]);
  expect(signIns(1, "grace")).toEqual(["accepted"]);
  now += 60_000;
  expect(signIns(1)).toEqual(["accepted"]);
});

it("counts attempts in progress, so that concurrent guesses are limited too", () => {
  const takeBack = limit.countFailure("192.0.2.1");
  expect(failures(5).filter((code) => code === "accepted")).toHaveLength(4);
  takeBack();
  expect(failures(2)).toEqual(["accepted", "rate_limited"]);
});
