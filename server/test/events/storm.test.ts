// The measurement of `npm run bench:streams` in small: what must hold on any machine, however busy.
import { expect, it } from "vitest";
import { percentile } from "../bench/whole.ts";
import { weather } from "./storm.ts";

it("tells every reader of its run each event once and soon, also those that are cut off and come back", async () => {
  const { events, resumed, latencyMs, wrong } = await weather({ clients: 100, perSecond: 50, seconds: 8, cuts: 30 });
  expect([events, resumed, wrong]).toEqual([500, 30, []]);
  expect(latencyMs.length).toBeGreaterThan(400);
  expect(percentile(latencyMs, 0.5)).toBeLessThan(500);
}, 90_000);
