// A run that waits for the engine. The file has an installation of its own, because it stops the engine.
import { expect, vi } from "vitest";
import { it } from "./http-and-client.ts";
import { useOwnSuite } from "./suite.ts";

const suite = useOwnSuite();
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const generate = (prompt: string) => suite.caller.generate({ prompt, width: 64, height: 64 });
const read = async (runId: string) => (await suite.caller.get(`/runs/${runId}`)).body;
const cancel = (runId: string) => suite.caller.post(`/runs/${runId}/cancel`);
const untilProcessing = (runId: string) =>
  vi.waitUntil(async () => (await read(runId)).status === "processing", { timeout: 300_000, interval: 50 });

it("[RUN-010] [RUN-018] [RUN-029] is queued before it starts, can be canceled, and otherwise continues", async () => {
  await suite.environment.kill("restate");
  const [stopped, stored] = [(await generate("x")).body.run_id, (await generate("[sandbox:delay=2] x")).body.run_id];
  expect(await read(stored)).toMatchObject({
    ...{ status: "queued", live_status: "pending", progress: 0, started_at: null, finished_at: null },
  });
  const response = await cancel(stopped);
  expect([response.status >= 200 && response.status < 300, response.body.run_id]).toEqual([true, stopped]);
  expect(await suite.caller.waitUntilEnded(stopped)).toMatchObject({ status: "canceled", image_url: null });

  await suite.environment.start("restate");
  await untilProcessing(stored);
  const during = await read(stored);
  expect(during.progress).toBeGreaterThan(0);
  expect(during.progress).toBeLessThan(1);
  expect(during).toMatchObject({ started_at: expect.stringMatching(ISO), finished_at: null });
  const end = await suite.caller.waitUntilEnded(stored);
  expect(end).toMatchObject({ status: "completed", progress: 1, started_at: during.started_at });
  expect(end.finished_at).toMatch(ISO);
});
