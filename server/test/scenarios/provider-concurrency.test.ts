// A provider with a concurrency of two, and a tenant with forty runs: other tenants wait no longer than necessary, and
// runs for other providers do not wait at all.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestTenant } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-lanes-"));
let environment: TestEnvironment;
beforeAll(async () => {
  const file = join(folder, "gesso.yaml");
  writeFileSync(file, "providers:\n  sandbox: { concurrent: 2 }\n");
  environment = await startTestEnvironment({ env: { GESSO_CONFIG: file } });
});
afterAll(async () => {
  await environment?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const SLOW = { prompt: "[sandbox:delay=1] one of many", width: 64, height: 64 };

const standing = async (tenantId: string) => {
  const [row] = await environment.query<{ queued: number; gated: number }>(
    `select (select count(*)::int from open_runs where tenant_id = $1 and dispatched_at is null) as queued,
       (select count(*)::int from open_requests where tenant_id = $1 and activity = 'waiting_for_slot') as gated`,
    [tenantId],
  );
  return row!;
};

async function combined({ caller }: Awaited<ReturnType<typeof createTestTenant>>) {
  const image = await sharp({ create: { width: 32, height: 32, channels: 3, background: "#204060" } })
    .png()
    .toBuffer();
  const form = new FormData();
  for (const name of ["a.png", "b.png"])
    form.append("images", new Blob([new Uint8Array(image)], { type: "image/png" }), name);
  form.append("sync", "true");
  return caller.post("/combine", form);
}

describe("a provider with few slots", () => {
  it("is shared, and delays only runs that need it", async () => {
    const [loud, quiet] = [await createTestTenant(environment), await createTestTenant(environment)];
    for (let n = 0; n < 40; n++) await loud.caller.generate(SLOW);
    const { body } = await quiet.caller.generate(SLOW);

    expect((await combined(quiet)).body.status).toBe("completed");
    const during = await standing(loud.tenant_id);
    expect(during.queued).toBeGreaterThan(20);
    // Few runs wait for a provider slot: later runs can still overtake the others.
    expect(during.gated).toBeLessThanOrEqual(8);

    expect((await quiet.caller.waitUntilEnded(body.run_id)).status).toBe("completed");
    expect((await standing(loud.tenant_id)).queued).toBeGreaterThan(0);
  });
});
