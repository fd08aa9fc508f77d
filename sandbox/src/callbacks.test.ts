// Callbacks are signed, retried, and survive a restart.
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { startCallbackReceiver, startSandboxHarness, TEST_KEY, waitUntil } from "../test/sandbox-harness.ts";

test("the callback contains the job and is signed with the key", async () => {
  const rig = await startSandboxHarness();
  const ear = await startCallbackReceiver();
  const { body } = await rig.post({ callback_url: ear.url, prompt: "[sandbox:delay=0] a hill" });
  const { headers, text, job } = await waitUntil(() => ear.heard[0]);
  expect(job).toEqual(await rig.waitUntilEnded(body.id));
  const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers["sandbox-signature"])) ?? [];
  expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(5);
  expect(signature).toBe(createHmac("sha256", TEST_KEY).update(`${time}.${text}`).digest("hex"));
  expect(headers["content-type"]).toBe("application/json");
  await waitUntil(async () => (await rig.ledger())[0]!.callback_attempts === 1);
});

test("a callback that is not accepted is retried after a pause", async () => {
  const rig = await startSandboxHarness();
  const ear = await startCallbackReceiver([500, 302]);
  await rig.post({ callback_url: ear.url, prompt: "[sandbox:delay=0] a hill" });
  await waitUntil(async () => (await rig.ledger())[0]!.callback_attempts === 3);
  const [first, second, third] = ear.heard.map(({ at }) => at) as [number, number, number];
  expect(second - first).toBeGreaterThanOrEqual(190);
  expect(third - second).toBeGreaterThanOrEqual(990);
});

test("no_callback sends no callback", async () => {
  const rig = await startSandboxHarness();
  const ear = await startCallbackReceiver();
  const { body } = await rig.post({ callback_url: ear.url, prompt: "[sandbox:delay=0,no_callback] a hill" });
  await rig.waitUntilEnded(body.id);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(ear.heard).toEqual([]);
});

test("after a restart an undelivered callback is sent again, and a delivered one is not", async () => {
  const rig = await startSandboxHarness();
  const ear = await startCallbackReceiver([204, 500]);
  const taken = await rig.post({ callback_url: ear.url, prompt: "[sandbox:delay=0] a hill" });
  await waitUntil(async () => (await rig.ledger())[0]!.callback_attempts === 1);
  const missed = await rig.post({ callback_url: ear.url, prompt: "[sandbox:delay=0] a dale" });
  await waitUntil(async () => (await rig.ledger())[1]!.callback_attempts === 1);
  await rig.restart();
  await waitUntil(() => ear.heard.length === 3);
  expect(ear.heard.map(({ job }) => job.id)).toEqual([taken.body.id, missed.body.id, missed.body.id]);
});
