import { expect, it } from "vitest";
import { fromLocalInput, toLocalInput } from "./local-time.ts";

it("returns the minute that it was given, whatever the time zone", () => {
  const iso = "2026-11-16T12:30:00.000Z";
  expect(fromLocalInput(toLocalInput(iso))).toBe(iso);
});

it("has no value for an empty or damaged time", () => {
  expect([fromLocalInput(""), fromLocalInput("soon"), toLocalInput(undefined), toLocalInput("x")]).toEqual([
    ...[undefined, undefined],
    ...["", ""],
  ]);
});
