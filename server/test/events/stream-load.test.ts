// The measurement of `npm run bench:streams` in small: what must hold on any machine, however busy.
import { expect, it } from "vitest";
import { percentile } from "../bench/full-service.ts";
import { runStreamLoad } from "./stream-load.ts";

it("sends every reader each event of its run once and promptly, also after reconnects", async () => {
  const { events, resumed, latencyMs, wrong } = await runStreamLoad({
    clients: 100,
    perSecond: 50,
    seconds: 8,
    disconnects: 30,
  });
  expect([events, resumed, wrong]).toEqual([500, 30, []]);
  expect(latencyMs.length).toBeGreaterThan(400);
  expect(percentile(latencyMs, 0.5)).toBeLessThan(500);
});
