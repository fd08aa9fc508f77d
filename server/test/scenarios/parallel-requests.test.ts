// A provider that makes one image per request: the requests of one run are sent side by side, within the provider's
// concurrency limit.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeBfl } from "../fake-vendors/bfl.ts";
import type { FakeVendor, VendorJob } from "../fake-vendors/fake-vendor.ts";
import { createTestTenant, type TestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const WORK_MS = 2000;
const CONCURRENT = 4;
const IMAGE = { prompt: "a hill", model_type: "flux-dev", width: 256, height: 256 };

const folder = mkdtempSync(join(tmpdir(), "gesso-parallel-"));
let vendor: FakeVendor;
let environment: TestEnvironment;
let tenant: TestTenant;
beforeAll(async () => {
  vendor = await fakeBfl.start();
  vendor.switches.workMs = WORK_MS;
  const GESSO_CONFIG = join(folder, "gesso.yaml");
  writeFileSync(GESSO_CONFIG, `providers:\n  bfl: { concurrent: ${CONCURRENT} }\n`);
  environment = await startTestEnvironment({ env: { ...fakeBfl.env(vendor), GESSO_CONFIG } });
  tenant = await createTestTenant(environment);
});
afterAll(async () => {
  await environment?.stop();
  await vendor?.close();
  rmSync(folder, { recursive: true, force: true });
});

const generateFour = async () => (await tenant.caller.generate({ ...IMAGE, batch_size: 4, sync: true })).body;

/** The most jobs that the vendor had at one time. */
const countAtOnce = (jobs: VendorJob[]) =>
  Math.max(
    ...jobs.map(
      ({ acceptedAt }) => jobs.filter((job) => job.acceptedAt <= acceptedAt && acceptedAt < job.endsAt).length,
    ),
  );

describe("a run with four images from a provider that makes one per request", () => {
  it("has its jobs at the provider at the same time", async () => {
    const before = vendor.ledger.length;
    const run = await generateFour();
    expect(run.status).toBe("completed");
    expect(new Set(run.image_urls).size).toBe(4);
    const jobs = vendor.ledger.slice(before);
    expect(jobs).toHaveLength(4);
    expect(countAtOnce(jobs)).toBeGreaterThan(1);
  });

  it("never has more jobs at the provider than its concurrency limit, however many runs wait", async () => {
    const before = vendor.ledger.length;
    const runs = await Promise.all(Array.from({ length: 3 }, generateFour));
    expect(runs.map((run) => run.status)).toEqual(["completed", "completed", "completed"]);
    const jobs = vendor.ledger.slice(before);
    expect(jobs).toHaveLength(12);
    expect(countAtOnce(jobs)).toBe(CONCURRENT);
  });
});
