// Streams while parts of the house go away: the database for a while, and the process that holds the streams.
import { createClient } from "@gesso/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callerOf } from "../caller.ts";
import { startWorld, type World } from "../world.ts";
import { openReader } from "./reader.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ roles: "split" });
}, 60_000);
afterAll(() => world?.stop());

const begin = async (prompt: string) =>
  (await callerOf(world).generate({ prompt, width: 64, height: 64 })).body.run_id as string;
const read = (runId: string) => openReader({ url: world.url, key: world.key, path: `/runs/${runId}/events` });

it("a stream outlives the database, and tells what happens after it is back", async () => {
  const runId = await begin("[sandbox:never] x");
  const reader = await read(runId);
  await reader.until(({ type }) => type === "run.processing");
  await world.bounce("postgres", 1500);
  const cancel = () => callerOf(world).post(`/runs/${runId}/cancel`);
  await expect.poll(async () => (await cancel()).status, { timeout: 20_000 }).toBe(202);
  await reader.until(({ type }) => type === "run.canceled", 20_000);
  expect(await reader.ended).toBe("ended");
}, 60_000);

it("a process that is told to stop ends its streams, and the client goes on at the next one", async () => {
  const runId = await begin("[sandbox:delay=6] x");
  const [reader, client] = [await read(runId), createClient({ baseUrl: world.url, apiKey: world.key })];
  const heard: string[] = [];
  const following = (async () => {
    for await (const { id, type } of client.runs.events(runId)) heard.push(`${id} ${type}`);
  })();
  await reader.until(({ type }) => type === "run.processing");
  const beginning = performance.now();
  await world.leave("api");
  expect(await reader.ended).toBe("ended");
  expect(performance.now() - beginning).toBeLessThan(5000);
  await world.start("api");
  await following;
  const whole = await read(runId);
  await whole.ended;
  expect(heard).toEqual(whole.heard.map(({ id, type }) => `${id} ${type}`));
  expect(whole.heard.at(-1)!.type).toBe("run.completed");
}, 60_000);
