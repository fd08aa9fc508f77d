// Uploads at one byte a second are cut off, and others are served meanwhile. `npm run proof -- slowloris` does the same
// with a thousand uploads and measures how much they delay.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeSlowUploads, measureSlowUploads } from "../load/slow-uploads.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const MANY = 150;
let environment: TestEnvironment;
/** Where the service may put what it is still reading. */
const folder = mkdtempSync(join(tmpdir(), "gesso-drafts-"));
beforeAll(async () => {
  environment = await startTestEnvironment({ env: { TMPDIR: folder } });
});
afterAll(async () => {
  await environment?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it("are cut off with an error, store nothing, and let other requests through", async () => {
  const crowd = await measureSlowUploads(environment, MANY, 3000);
  console.log(describeSlowUploads(crowd));
  expect(crowd.seconds).toHaveLength(MANY);
  expect(crowd.responses).toEqual({ "HTTP/1.1 408": MANY });
  expect(crowd.healthyDuring.length).toBeGreaterThan(0);
  const drafts = () => readdirSync(folder).filter((name) => name.startsWith("gesso-form-"));
  await expect.poll(drafts).toEqual([]);
  await expect.poll(() => crowd.leftOpen() < 20).toBe(true);
});
