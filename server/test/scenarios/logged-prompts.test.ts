// The log of a running Gesso with its default settings contains no prompt, whatever happens to the run.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const CANARY = "Quixotina";
const PROMPTS = [
  ...["delay=0", "fail", "refuse", "reject", "busy=1", "unavailable=1", "error=1", "drop", "drop_before", "garbage"],
  ...["truncated", "gone", "no_callback", "callback_first", "delay=1", "accept_delay=1", "fail,no_callback"],
].map((directive) => `a harbour of ${CANARY} [sandbox:${directive}]`);
/** Refused before they become a run: a wrong field, a wrong value, and broken JSON. */
const INVALID = [
  { prompt: `${CANARY}`, width: `${CANARY}` },
  { prompt: `${CANARY}`, [CANARY]: 1 },
  `{"prompt": "${CANARY}`,
];

let environment: TestEnvironment;
let caller: ApiCaller;
beforeAll(async () => {
  environment = await startTestEnvironment({ env: { RUN_DEADLINE_SECONDS: "60", UNKNOWN_SECONDS: "2" } });
  caller = createHttpCaller(environment);
});
afterAll(() => environment?.stop());

it("contains nothing of 20 prompts that succeed, fail, are refused or are invalid", async () => {
  expect(PROMPTS.length + INVALID.length).toBe(20);
  for (const body of INVALID)
    expect((await caller.send("POST", "/api/v1/runs/generate", { body })).status).toBeLessThan(500);
  const runs = await Promise.all(
    PROMPTS.map(async (prompt) => (await caller.generate({ prompt, width: 64, height: 64 })).body.run_id as string),
  );
  const ended = await Promise.all(runs.map((runId) => caller.waitUntilEnded(runId)));
  const statuses = new Set(ended.map(({ status }) => status));
  expect([...statuses].sort()).toEqual(["completed", "failed"]);
  const log = readFileSync(join(dirname(environment.storageDir), "api", "api.log"), "utf8");
  expect(log).toContain("submission failed");
  expect(log.split("\n").filter((line) => line.includes(CANARY))).toEqual([]);
});
