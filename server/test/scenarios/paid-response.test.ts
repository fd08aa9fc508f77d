// A provider that sends its image once, in the response to the paid request, and a worker that is killed with that
// response in its memory.
import { createHash } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { createClient } from "@gesso/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { fakeOpenai } from "../fake-vendors/openai.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

let vendor: FakeVendor;
let environment: TestEnvironment;
beforeAll(async () => {
  vendor = await fakeOpenai.start();
  // A lease lasts 8 s.
  const env = { ...fakeOpenai.env(vendor), SUBMIT_SECONDS: "3" };
  environment = await startTestEnvironment({ roles: "split", env });
});
afterAll(async () => {
  await environment?.stop();
  await vendor?.close();
});

const generate = (prompt: string) =>
  createClient({ baseUrl: environment.url, apiKey: environment.key }).images.generate({
    prompt,
    model_type: "vendora",
  });
const jobsOf = (prompt: string) => vendor.ledger.filter(({ request }) => JSON.stringify(request).includes(prompt));

/** The run completes with the bytes that its row describes, from one paid request. */
async function expectOneResult(call: ReturnType<typeof generate>, prompt: string) {
  const run = await call.wait({ timeout: 90_000 });
  expect([run.status, run.error]).toEqual(["completed", null]);
  const bytes = Buffer.from(await (await fetch(run.image_url!)).arrayBuffer());
  const [asset] = await environment.query("select sha256 from assets where run_id = $1", [run.run_id]);
  expect(asset).toEqual({ sha256: createHash("sha256").update(bytes).digest("hex") });
  expect(jobsOf(prompt)).toHaveLength(1);
}

describe("the paid response of a worker", () => {
  it.each(["response_spooled", "file_stored"])(
    "that is killed at %s is the result of the run",
    async (at) => {
      await environment.stopGracefully("worker");
      await environment.start("worker", { CRASH_AT: at });
      const prompt = `killed at ${at}`;
      const call = generate(prompt);
      await call;
      await environment.waitForExit("worker");
      expect(jobsOf(prompt)).toHaveLength(1);
      await environment.start("worker");
      await expectOneResult(call, prompt);
    },
    120_000,
  );

  it("waits for the storage, longer than a lease", async () => {
    const { storageDir } = environment;
    renameSync(storageDir, `${storageDir}.away`);
    writeFileSync(storageDir, "not a directory");
    const prompt = "storage is away";
    const call = generate(prompt);
    await call;
    await expect.poll(() => jobsOf(prompt).length).toBe(1);
    await pause(10_000);
    rmSync(storageDir);
    renameSync(`${storageDir}.away`, storageDir);
    await expectOneResult(call, prompt);
    const attempts = await environment.query("select state, send_count from attempts where run_id = $1", [
      (await call).run_id,
    ]);
    expect(attempts).toEqual([{ state: "succeeded", send_count: 1 }]);
  });
});
