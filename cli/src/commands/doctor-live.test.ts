// `gesso doctor --live --spend`: an ordinary run at a fake fal, with its price, its limit and its callback.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { FakeVendor } from "../../../server/test/fake-vendors/fake-vendor.ts";
import { fakeFal } from "../../../server/test/fake-vendors/fal.ts";
import { startTestEnvironment, type TestEnvironment } from "../../../server/test/support/test-environment.ts";

const BIN = fileURLToPath(new URL("../../bin/gesso.js", import.meta.url));
const metricsPort = await findFreePort();

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let fal: FakeVendor;
let environment: TestEnvironment;
const folder = mkdtempSync(join(tmpdir(), "gesso-doctor-live-"));

beforeAll(async () => {
  fal = await fakeFal.start();
  environment = await startTestEnvironment({
    env: { ...fakeFal.env(fal), SANDBOX_URL: "", PUBLIC_URL_IS_REACHABLE: "true", FETCH_ALLOW_ORIGINS: "" },
    processEnv: async (name): Promise<Record<string, string>> =>
      name === "api" ? { METRICS_PORT: String(metricsPort) } : {},
  });
});
afterAll(async () => {
  await environment?.stop();
  await fal?.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  fal.ledger.length = 0;
  Object.assign(fal.switches, { callbacks: "once", outcome: "done" });
});

async function doctor(...parameters: string[]) {
  const child = spawn(process.execPath, [BIN, "doctor", ...parameters], {
    cwd: folder,
    env: {
      ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      ...{ GESSO_URL: environment.url, GESSO_API_KEY: environment.key },
      ...fakeFal.env(fal),
    },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}
const metrics = ["--metrics", `http://127.0.0.1:${metricsPort}/metrics`];

it("makes the cheapest image within the amount, and says that its callback arrived", async () => {
  const { code, stdout, stderr } = await doctor("--live", "--spend", "0.10", ...metrics);
  expect(stderr).toBe("");
  expect(stdout).toMatch(/✓ fal:fal-ai\/flux\/dev +listed +not readable/);
  expect(stdout).toMatch(/✓ fal +fal-ai\/qwen-image made it in [\d.]+ s for \$0\.02/);
  expect(stdout).toMatch(/✓ fal +its callback arrived/);
  expect(stdout).toContain("$0.02 spent.");
  expect(stdout).not.toContain(fakeFal.env(fal).FAL_KEY);
  expect(stdout).not.toContain(environment.key);
  expect(fal.ledger.map(({ model }) => model)).toEqual(["fal-ai/qwen-image"]);
  expect(code).toBe(0);
});

it("says that a callback is blocked, and what to do", async () => {
  fal.switches.callbacks = "none";
  const { code, stdout } = await doctor("--live", "--spend", "0.10", ...metrics);
  expect(stdout).toMatch(/✗ fal +no callback arrived within 10 s after the end/);
  expect(stdout).toContain("→ let the provider reach PUBLIC_URL/callbacks from the internet; until then Gesso polls");
  expect(code).toBe(1);
});

it("makes nothing that costs more than the amount", async () => {
  const { stdout } = await doctor("--live", "--spend", "0.01");
  expect(stdout).toMatch(/– fal +its cheapest request costs up to \$0\.02, and \$0\.01 are left/);
  expect(stdout).toContain("$0.00 spent.");
  expect(fal.ledger).toEqual([]);
});

it("names a run that failed, with its error", async () => {
  fal.switches.outcome = "failed";
  const { code, stdout } = await doctor("--live", "--spend", "0.10");
  expect(stdout).toMatch(/✗ fal +fal-ai\/qwen-image: The run [\w-]+ failed: The provider failed to process the job/);
  expect(code).toBe(1);
});

it.each([
  ["--spend", "0.10"],
  ["--live", "--spend", "much"],
  ["--live", "--json", "--spend", "1"],
])("refuses %s %s %s before it asks anything", async (...parameters) => {
  const { code, stdout, stderr } = await doctor(...parameters.filter((each) => each !== undefined));
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("--spend needs --live and an amount above 0");
});
