// The load of `npm run bench -- streams` in small: no event is lost or sent twice. The bench measures how soon they
// come.
import { expect, it } from "vitest";
import { runStreamLoad } from "./stream-load.ts";

it("sends every reader each event of its run once, also after reconnects", async () => {
  const { events, resumed, latencyMs, wrong } = await runStreamLoad({
    clients: 100,
    perSecond: 50,
    seconds: 8,
    disconnects: 30,
  });
  expect([events, resumed, wrong]).toEqual([500, 30, []]);
  expect(latencyMs.length).toBeGreaterThan(400);
});
