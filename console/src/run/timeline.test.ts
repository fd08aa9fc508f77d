import type { Attempt, RunEvent, WebhookDelivery } from "@gesso/client";
import { expect, it } from "vitest";
import { phasesOf } from "./phases.ts";
import { timelineOf } from "./timeline.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 16, 8, 0, second)).toISOString();
const attempt = (number: number, from: number, to: number | null) =>
  ({ job: 0, try: number, provider: "fal", created_at: at(from), finished_at: to === null ? null : at(to) }) as Attempt;
const event = (type: string, second: number) =>
  ({ event_id: `evt ${second}`, type, timestamp: at(second) }) as RunEvent;
const run = {
  created_at: at(0),
  started_at: at(2),
  finished_at: at(45),
  attempts: [attempt(1, 2, 31), attempt(2, 31, 44)],
};

it("tells the whole life of a run in order", () => {
  const ledger = {
    attempts: [
      { job: 0, try: 1, provider: "fal", state: "unknown", price: 0.08 },
      { job: 0, try: 2, provider: "bfl", state: "succeeded", price: 0.08 },
    ],
  };
  const delivery = { id: "d", created_at: at(45), finished_at: at(46) } as WebhookDelivery;
  const entries = timelineOf(run, { ledger, deliveries: [delivery] });
  expect(entries.map(({ kind, at: time }) => [kind, time])).toEqual([
    ["accepted", 0],
    ["waited", 2000],
    ["attempt", 31_000],
    ["attempt", 44_000],
    ["ended", 45_000],
    ["delivery", 46_000],
  ]);
  expect(entries[2]?.attempt?.price).toBe(0.08);
});

it("shows an attempt without a known outcome as unknown", () => {
  const lost = { ...attempt(1, 2, 31), state: "failed", error: { code: "provider_outcome_unknown" } } as Attempt;
  const [, , entry] = timelineOf({ ...run, attempts: [lost] }, {});
  expect(entry?.attempt?.state).toBe("unknown");
});

it("shows every event once and in order", () => {
  const events = [
    event("run.queued", 0),
    event("run.processing", 2),
    event("run.progress", 20),
    event("run.progress", 40),
    event("run.completed", 45),
  ];
  const entries = timelineOf(run, { events });
  expect(entries.flatMap((entry) => entry.event ?? [])).toEqual(events);
  expect(entries.map(({ kind }) => kind)).toEqual([
    "accepted",
    "waited",
    "attempt",
    "progress",
    "attempt",
    "progress",
    "ended",
  ]);
});

it("shows an attempt that goes on without an end", () => {
  const open = { created_at: at(0), started_at: null, finished_at: null, attempts: [attempt(1, 1, null)] };
  expect(timelineOf(open, {}).map(({ kind, at: time }) => [kind, time])).toEqual([
    ["accepted", 0],
    ["attempt", null],
  ]);
});

it("divides the time of a run into phases that add up to it", () => {
  expect(phasesOf(run).map(({ milliseconds }) => milliseconds)).toEqual([2000, 42_000, 1000]);
  const canceled = { ...run, started_at: null, attempts: [] };
  expect(phasesOf(canceled).map(({ milliseconds }) => milliseconds)).toEqual([45_000, 0, 0]);
  const unfinished = { ...run, attempts: [attempt(1, 2, null)] };
  expect(phasesOf(unfinished).map(({ milliseconds }) => milliseconds)).toEqual([2000, 43_000, 0]);
  expect(phasesOf({ ...run, finished_at: null })).toEqual([]);
});
