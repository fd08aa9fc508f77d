// Runs `gesso doctor` without any configuration, with an invalid gesso.yaml, and beside a running `gesso dev`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { startDevelopmentGesso } from "../../../server/test/support/development-gesso.ts";

const BIN = fileURLToPath(new URL("../../bin/gesso.js", import.meta.url));

type Check = { name: string; status: string; message: string; key?: string; unasked?: number };
type Report = { ok: boolean; checks: Check[]; providers: Check[]; unoffered: { model: string }[] };

const scratch = () => {
  const folder = mkdtempSync(join(tmpdir(), "gesso-doctor-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

async function doctor(cwd: string, parameters: string[] = [], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [BIN, "doctor", ...parameters], {
    cwd,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}
const doctorReport = async (...parameters: Parameters<typeof doctor>) => {
  const [cwd, flags = [], env] = parameters;
  const { code, stdout } = await doctor(cwd, [...flags, "--json"], env);
  return { code, report: JSON.parse(stdout) as Report };
};
const findCheck = (checks: Check[], name: string) => checks.find((check) => check.name === name);

it("passes without any configuration and lists the settings that enable each provider", async () => {
  const { code, stdout, stderr } = await doctor(scratch());
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("– sandbox       off         set SANDBOX_URL and SANDBOX_KEY");
  expect(stdout).toContain("– vendorc                             add an entry in gesso.yaml");
  expect(stdout).not.toContain("\u001b");
});

it("fails with the line and column of an error in the gesso.yaml of the current directory", async () => {
  const folder = scratch();
  writeFileSync(join(folder, "gesso.yaml"), "providers:\n  sandbax: off\n");
  const { code, report } = await doctorReport(folder);
  expect(code).toBe(1);
  expect(report.ok).toBe(false);
  expect(findCheck(report.checks, "catalogue")).toMatchObject({
    status: "fail",
    message: expect.stringMatching(/gesso\.yaml:2:3 unknown provider sandbax; did you mean sandbox\?$/),
  });
});

it("fails when an enabled provider cannot be reached", async () => {
  const env = { SANDBOX_URL: "http://127.0.0.1:1", SANDBOX_KEY: "key" };
  const { code, stdout } = await doctor(scratch(), [], env);
  expect(code).toBe(1);
  expect(stdout).toMatch(/✗ sandbox +unknown +not reachable \(ECONNREFUSED\)/);
  expect(stdout).toContain("1 check failed.");
});

it("checks the dependencies of the gesso dev that runs on the data directory", async () => {
  const data = join(scratch(), "data");
  const gesso = await startDevelopmentGesso({ dataDir: data });
  onTestFinished(() => gesso.stop());
  const { code, report } = await doctorReport(scratch(), ["--data", data]);
  expect(report.checks.map(({ name, status }) => `${name} ${status}`)).toEqual([
    ...["settings pass", "catalogue skip", "postgresql pass", "restate pass", "storage pass"],
    ...["isolation pass", "standby skip", "workers pass", "ledger pass", "storage usage pass", "audit log pass"],
    ...["webhooks pass", "imported models pass"],
  ]);
  expect(findCheck(report.providers, "sandbox")).toMatchObject({ status: "pass", key: "works" });
  expect(report.unoffered.map(({ model }) => model)).toEqual(["vendorc"]);
  expect(code).toBe(0);

  const wrong = await doctor(scratch(), ["--data", data], { FAL_KEY: "", GESSO_CONFIG: "nowhere.yaml" });
  expect(wrong.code).toBe(1);
  expect(wrong.stdout).toContain("not found");
});
