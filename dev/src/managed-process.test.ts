import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { killAfterTest, temporaryDirectory } from "../test/scratch.ts";
import { type ProcessSpec, startProcess } from "./managed-process.ts";
import { isAlive } from "./process-info.ts";

function planFor(script: string): ProcessSpec {
  const directory = temporaryDirectory();
  return {
    name: "thing",
    url: "",
    command: ["/bin/sh", "-c", script],
    log: join(directory, "logs", "thing.log"),
    environment: { PATH: process.env.PATH ?? "" },
    directory,
    probe: async () => true,
  };
}

it("runs the program itself, without a shell around it, and kill ends it", async () => {
  const component = killAfterTest(await startProcess(planFor("exec sleep 60")));
  expect(isAlive(component.pid)).toBe(true);
  await component.kill();
  expect(isAlive(component.pid)).toBe(false);
  expect(await component.exited).toBeNull();
});

it("reports the last lines of the log when a process exits before it is ready", async () => {
  const plan = planFor("echo old; echo the disk is on fire >&2; exit 3");
  const start = startProcess({ ...plan, probe: async () => false });
  await expect(start).rejects.toThrow(
    /thing exited \(code 3\) before it was ready.*thing\.log:\nold\nthe disk is on fire/s,
  );
});

it("kills a process that is not ready before the timeout and reports it", async () => {
  const plan = planFor("echo thinking; exec sleep 60");
  const start = startProcess({ ...plan, probe: async () => false, readySeconds: 0.3 });
  await expect(start).rejects.toThrow(/thing was not ready after 0.3 s.*\nthinking/s);
});

it("names the program that does not exist", async () => {
  const plan = planFor("");
  const start = startProcess({ ...plan, command: ["/nowhere/to-be-found"], probe: async () => false });
  await expect(start).rejects.toThrow(/nowhere\/to-be-found.*not found/s);
});

it("sends SIGTERM before SIGKILL", async () => {
  const plan = planFor("trap 'exit 7' TERM; touch trapped; while :; do sleep 0.05; done");
  const component = await startProcess({ ...plan, probe: async () => existsSync(join(plan.directory!, "trapped")) });
  await component.stop();
  expect(await component.exited).toBe(7);
});
