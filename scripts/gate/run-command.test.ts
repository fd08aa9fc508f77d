// Commands of the gate in real processes: their exit codes, and what is left of them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { until } from "../../server/test/support/until.ts";
import { runCommand } from "./run-command.ts";

/** A zombie has exited; its parent has only not asked for its exit code. */
const isAlive = (pid: number) => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};
/** A process of another session writes its ID and ignores SIGTERM, as a daemon does. */
const daemon = (file: string) => `setsid bash -c 'trap "" TERM; echo $$ > ${file}; while :; do sleep 0.1; done' &`;
const readPid = (file: string) => {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return 0;
  }
};

it("returns the exit code, and stops what the command has left behind", async () => {
  const file = join(await mkdtemp(join(tmpdir(), "gesso-gate-")), "pid");
  const script = `${daemon(file)} until [ -s ${file} ]; do sleep 0.05; done; exit 3`;
  const { code } = await runCommand({ name: "leaves", command: ["bash", "-c", script], limitSeconds: 60 });
  expect([code, readPid(file) > 0, isAlive(readPid(file))]).toEqual([3, true, false]);
});

it("stops a command at its limit", async () => {
  const { code } = await runCommand({ name: "hangs", command: ["sleep", "600"], limitSeconds: 1 });
  expect(code).not.toBe(0);
});

it("starts nothing more after SIGTERM, and leaves no process", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gesso-gate-"));
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  const program = `
    import { runCommand, stopEverything } from ${JSON.stringify(new URL("./run-command.ts", import.meta.url).href)};
    process.once("SIGTERM", () => void stopEverything().then(() => process.exit(1)));
    const run = (script) => runCommand({ name: "step", command: ["bash", "-c", script], limitSeconds: 600 });
    await run(${JSON.stringify(`${daemon(first)} sleep 600`)});
    await run(${JSON.stringify(`${daemon(second)} sleep 600`)});
  `;
  const gate = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
  await until(() => readPid(first) > 0);
  gate.kill("SIGTERM");
  expect(await once(gate, "exit")).toEqual([1, null]);
  expect([isAlive(readPid(first)), readPid(second)]).toEqual([false, 0]);
});
