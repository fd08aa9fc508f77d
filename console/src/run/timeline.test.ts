import type { Attempt } from "@gesso/client";
import { expect, it } from "vitest";
import { timelineOf } from "./timeline.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 16, 8, 0, second)).toISOString();
const attempt = (number: number, from: number, to: number | null) =>
  ({ job: 0, try: number, provider: "fal", created_at: at(from), finished_at: to === null ? null : at(to) }) as Attempt;

it("tells the whole life of a run in order", () => {
  const run = {
    created_at: at(0),
    started_at: at(2),
    finished_at: at(45),
    attempts: [attempt(1, 2, 31), attempt(2, 31, 44)],
  };
  const ledger = {
    attempts: [
      { job: 0, try: 1, provider: "fal", state: "unknown", price: 0.08 },
      { job: 0, try: 2, provider: "bfl", state: "succeeded", price: 0.08 },
    ],
  };
  const entries = timelineOf(run, ledger);
  expect(entries.map(({ kind, at: time }) => [kind, time])).toEqual([
    ["accepted", 0],
    ["waited", 2000],
    ["attempt", 31_000],
    ["attempt", 44_000],
    ["ended", 45_000],
  ]);
  expect(entries[2]?.attempt?.price).toBe(0.08);
});

it("shows an attempt that goes on without an end", () => {
  const entries = timelineOf(
    { created_at: at(0), started_at: null, finished_at: null, attempts: [attempt(1, 1, null)] },
    undefined,
  );
  expect(entries.map(({ kind, at: time }) => [kind, time])).toEqual([
    ["accepted", 0],
    ["attempt", null],
  ]);
});
