// Streams during outages: of the database, and of the process that serves the streams.
import { createClient } from "@gesso/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { openSseReader } from "./sse-reader.ts";

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await startTestEnvironment({ roles: "split" });
});
afterAll(() => environment?.stop());

const begin = async (prompt: string) =>
  (await createHttpCaller(environment).generate({ prompt, width: 64, height: 64 })).body.run_id as string;
const read = (runId: string) =>
  openSseReader({ url: environment.url, key: environment.key, path: `/runs/${runId}/events` });

it("a stream survives an outage of the database and continues with the events after it", async () => {
  const runId = await begin("[sandbox:never] x");
  const reader = await read(runId);
  await reader.until(({ type }) => type === "run.processing");
  await environment.killAndRestart("postgres", 1500);
  const caller = createHttpCaller(environment);
  // Before the cancellation, so that the outage does not take its response.
  await expect.poll(async () => (await caller.get(`/runs/${runId}`)).status).toBe(200);
  expect((await caller.post(`/runs/${runId}/cancel`)).status).toBe(202);
  await reader.until(({ type }) => type === "run.canceled");
  expect(await reader.ended).toBe("ended");
});

it("a process that is stopped ends its streams, and the client continues at the next one", async () => {
  const runId = await begin("[sandbox:delay=6] x");
  const [reader, client] = [await read(runId), createClient({ baseUrl: environment.url, apiKey: environment.key })];
  const received: string[] = [];
  const following = (async () => {
    for await (const { id, type } of client.runs.events(runId)) received.push(`${id} ${type}`);
  })();
  await reader.until(({ type }) => type === "run.processing");
  // Without a first event, the client would take the server for unreachable.
  await expect.poll(() => received.length).toBeGreaterThan(0);
  await environment.stopGracefully("api");
  expect(await reader.ended).toBe("ended");
  await environment.start("api");
  await following;
  const whole = await read(runId);
  await whole.ended;
  expect(received).toEqual(whole.heard.map(({ id, type }) => `${id} ${type}`));
  expect(whole.heard.at(-1)!.type).toBe("run.completed");
});
