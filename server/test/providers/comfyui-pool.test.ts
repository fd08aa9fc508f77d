// A pool of self-hosted servers: work goes to the least busy one, progress is reported live, and a server that dies or
// loses its memory loses no run.
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { poolEnv, startFakePool } from "../fake-vendors/comfyui.ts";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const ASKED = { prompt: "a harbour", model_type: "qwen-image-edit", width: 256, height: 256 };
const LONG_MS = 600_000;

let environment: TestEnvironment;
let caller: ApiCaller;
let pool: FakeVendor[];

beforeAll(async () => {
  pool = await startFakePool(2);
  environment = await startTestEnvironment({ env: { ...poolEnv(pool), SANDBOX_URL: "" } });
  caller = createHttpCaller(environment);
});
afterAll(async () => {
  await environment?.stop();
  for (const server of pool ?? []) await server.close();
});
beforeEach(() => {
  for (const server of pool) Object.assign(server.switches, { workMs: 100, responseMs: 0 });
});

const counts = () => pool.map(({ ledger }) => ledger.length);
const jobsSince = (before: number[]) => counts().map((count, n) => count - before[n]!);
const until = async (holds: () => boolean | Promise<boolean>, seconds = 20) => {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await new Promise((go) => setTimeout(go, 50))) {
    if (await holds()) return;
  }
  throw new Error("it did not come to pass");
};

it("shares the work between its servers", async () => {
  const before = counts();
  for (const server of pool) server.switches.workMs = 4000;
  const runs = [];
  for (let n = 0; n < 4; n++) {
    runs.push((await caller.generate(ASKED)).body.run_id);
    // The least busy server is chosen from what was sent before, without requests in flight.
    await until(() => jobsSince(before).reduce((sum, jobs) => sum + jobs) === n + 1);
  }
  for (const run of runs) expect((await caller.waitUntilEnded(run, 40)).status).toBe("completed");
  expect(jobsSince(before)).toEqual([2, 2]);
});

it("reports its progress while it works", async () => {
  for (const server of pool) server.switches.workMs = 4000;
  const { body } = await caller.generate(ASKED);
  const seen: number[] = [];
  await until(async () => {
    const run = (await caller.get(`/runs/${body.run_id}`)).body;
    seen.push(run.progress);
    return run.status === "completed";
  });
  expect(new Set(seen.filter((progress) => progress > 0.05 && progress < 1)).size).toBeGreaterThanOrEqual(2);
});

it("sends a job elsewhere when its server has died, once", async () => {
  const before = counts();
  for (const server of pool) server.switches.workMs = LONG_MS;
  const { body } = await caller.generate(ASKED);
  await until(() => jobsSince(before).some((jobs) => jobs === 1));
  const dead = jobsSince(before)[0] === 1 ? 0 : 1;
  for (const server of pool) server.switches.workMs = 100;
  await pool[dead]!.stopListening();
  const run = await caller.waitUntilEnded(body.run_id, 80);
  await pool[dead]!.startListening();
  expect([run.status, run.error]).toEqual(["completed", null]);
  expect(jobsSince(before)[1 - dead]).toBe(1);
  expect(run.attempts.map(({ state }: { state: string }) => state)).toEqual(["failed", "succeeded"]);
});

it("sends a job anew when its server was started again and has forgotten it", async () => {
  const before = counts();
  for (const server of pool) server.switches.workMs = LONG_MS;
  const { body } = await caller.generate(ASKED);
  await until(() => jobsSince(before).some((jobs) => jobs === 1));
  for (const server of pool) server.switches.workMs = 100;
  for (const server of pool) server.forgetJobs();
  const run = await caller.waitUntilEnded(body.run_id, 60);
  expect([run.status, run.error]).toEqual(["completed", null]);
  expect(jobsSince(before)[0]! + jobsSince(before)[1]!).toBe(2);
});
