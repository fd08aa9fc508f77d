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
const tries = (count: number, address = "192.0.2.1") =>
  Array.from({ length: count }, () => codeOf(() => limit.begin(address)));

it("refuses the sixth failed attempt of an address within a minute, and no other address", () => {
  expect(tries(6)).toEqual([...Array(5).fill("accepted"), "rate_limited"]);
  expect(tries(1, "192.0.2.2")).toEqual(["accepted"]);
});

it("names the seconds until the next attempt, also if the attempts were spread over the minute", () => {
  for (const _ of Array(5).keys()) {
    limit.begin("192.0.2.1");
    now += 11_000;
  }
  // 55 s after the first attempt.
  expect(() => limit.begin("192.0.2.1")).toThrow(
    expect.objectContaining({ code: "rate_limited", details: { policy: "sign-in", retry_after: 5 } }),
  );
  now += 5000;
  expect(tries(2)).toEqual(["accepted", "rate_limited"]);
});

it("does not count a sign-in that succeeded", () => {
  for (const _ of Array(20).keys()) limit.begin("192.0.2.1")();
  expect(tries(6)).toEqual([...Array(5).fill("accepted"), "rate_limited"]);
});

it("refuses the 61st attempt within a minute, also if all before it succeeded", () => {
  for (const _ of Array(60).keys()) limit.begin("192.0.2.1")();
  expect(tries(1)).toEqual(["rate_limited"]);
  now += 60_000;
  expect(tries(1)).toEqual(["accepted"]);
});

it("counts attempts in progress, so that concurrent guesses are limited too", () => {
  const first = limit.begin("192.0.2.1");
  expect(tries(5).filter((code) => code === "accepted")).toHaveLength(4);
  first();
  expect(tries(2)).toEqual(["accepted", "rate_limited"]);
});
