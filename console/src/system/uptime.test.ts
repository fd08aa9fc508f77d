import { expect, it } from "vitest";
import { formatUptime } from "./uptime.ts";

it("names the largest unit", () => {
  const hour = 3_600_000;
  expect([0, 5 * 60_000, 3.9 * hour, 24 * hour, 300 * hour].map(formatUptime)).toEqual([
    ...["0 min", "5 min", "3 h", "1 day", "12 days"],
  ]);
});
