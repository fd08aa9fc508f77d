import { expect, it } from "vitest";
import { groupUsage } from "./group-usage.ts";

const row = (day: string, model: string | null, runs: number, amount: number) => ({
  ...{ day, model, runs, amount, completed: runs, failed: 0, canceled: 0, unpriced: 0 },
});
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

it("ranks groups by cost and gives all after the fourth one colour", () => {
  const rows = ["a", "b", "c", "d", "e", "f"].map((model, index) => row("2026-11-01", model, 1, 0.01 * (index + 1)));
  const { groups } = groupUsage(rows, "model", ["2026-11-01"]);
  expect(groups.map(({ id, members, isOthers }) => [id, members, isOthers])).toEqual([
    ...[
      ["f", 1, false],
      ["e", 1, false],
      ["d", 1, false],
      ["c", 1, false],
      [null, 2, true],
    ],
  ]);
});

it("has the same sums in groups, in buckets and in the report, to the micro-dollar", () => {
  const rows = [row("2026-11-01", "a", 2, 0.1), row("2026-11-01", null, 1, 0.2), row("2026-11-02", "a", 3, 0.000001)];
  const { groups, buckets } = groupUsage(rows, "model", ["2026-11-01", "2026-11-02"]);
  expect(sum(groups.map(({ micros }) => micros))).toBe(300_001);
  expect(sum(buckets.flatMap(({ micros }) => micros))).toBe(300_001);
  expect(buckets.map(({ runs }) => sum(runs))).toEqual([3, 3]);
});

it("has a bucket for a day without runs, and months instead of days in a year", () => {
  const days = Array.from({ length: 100 }, (_, index) =>
    new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10),
  );
  expect(groupUsage([], "model", days.slice(0, 3)).buckets).toHaveLength(3);
  expect(groupUsage([row("2026-02-03", "a", 1, 1)], "model", days).buckets.map(({ start }) => start)).toEqual([
    ...["2026-01", "2026-02", "2026-03", "2026-04"],
  ]);
});
