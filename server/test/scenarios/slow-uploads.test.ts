// Uploads at one byte a second are cut off and delay no other request. `npm run slowloris` does the same with a
// thousand uploads.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeSlowUploads, measureSlowUploads, p99 } from "../load/slow-uploads.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const MANY = 150;
let environment: TestEnvironment;
/** Where the service may put what it is still reading. */
const folder = mkdtempSync(join(tmpdir(), "gesso-drafts-"));
beforeAll(async () => {
  environment = await startTestEnvironment({ env: { TMPDIR: folder } });
}, 120_000);
afterAll(async () => {
  await environment?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it("are cut off within 35 s with an error, store nothing, and delay no other request", async () => {
  const crowd = await measureSlowUploads(environment, MANY, 3000);
  console.log(describeSlowUploads(crowd));
  expect(crowd.seconds).toHaveLength(MANY);
  expect(crowd.seconds.at(-1)).toBeLessThan(35);
  expect(crowd.responses).toEqual({ "HTTP/1.1 408": MANY });
  // Twice as long, or below a fixed time: under that, the load of the machine dominates.
  expect(p99(crowd.healthyDuring)).toBeLessThan(Math.max(2 * p99(crowd.healthyAlone), 500));
  const drafts = () => readdirSync(folder).filter((name) => name.startsWith("gesso-form-"));
  await expect.poll(drafts, { timeout: 10_000 }).toEqual([]);
  await expect.poll(() => crowd.leftOpen() < 20, { timeout: 10_000 }).toBe(true);
}, 90_000);
