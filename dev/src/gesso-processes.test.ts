import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freePort, startSandbox } from "./components.ts";

it("the sandbox accepts a key that begins with a dash", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "gesso-programs-"));
  const key = "-starts-with-a-dash";
  const sandbox = await startSandbox({ dataDir, port: await freePort(), key });
  try {
    const response = await fetch(`${sandbox.url}/v1/jobs?reference=none`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(200);
  } finally {
    await sandbox.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
