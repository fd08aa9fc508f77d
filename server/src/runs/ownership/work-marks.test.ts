// Marks outlive the process that wrote them, and each dead process is handed to one other. The processes that die are
// real ones.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createProcessSockets, type ProcessSockets } from "../../outbound/process-sockets.ts";
import { systemClock } from "../../runtime/system-clock.ts";
import { createWorkMarks } from "./work-marks.ts";

let directory: string;
let opened: ProcessSockets[];
let children: ChildProcess[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "gesso-marks-"));
  [opened, children] = [[], []];
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(opened.map((sockets) => sockets.close()));
  rmSync(directory, { recursive: true, force: true });
});

/** The marks of a process that lives until its sockets are closed. */
const open = async () => {
  const sockets = createProcessSockets(directory, { clock: systemClock, ids: { next: v7 } });
  await sockets.listen(() => "yes");
  opened.push(sockets);
  return { ...createWorkMarks({ SPOOL_DIR: directory }, sockets), die: sockets.close };
};

/** Another process that works on these runs. */
const startWith = async (...runIds: string[]): Promise<ChildProcess> => {
  const moduleOf = (path: string) => JSON.stringify(import.meta.resolve(path));
  const program = `
    import { systemClock } from ${moduleOf("../../runtime/system-clock.ts")};
    import { createProcessSockets } from ${moduleOf("../../outbound/process-sockets.ts")};
    import { createWorkMarks } from ${moduleOf("./work-marks.ts")};
    const ids = { next: () => "${v7()}" };
    const sockets = createProcessSockets(${JSON.stringify(directory)}, { clock: systemClock, ids });
    await sockets.listen(() => "yes");
    const marks = createWorkMarks({ SPOOL_DIR: ${JSON.stringify(directory)} }, sockets);
    for (const run_id of ${JSON.stringify(runIds)}) await marks.add({ run_id, isApart: false });
    console.log("working");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  await once(child.stdout!, "data");
  return child;
};
const kill = async (child: ChildProcess) => {
  child.kill("SIGKILL");
  await once(child, "exit");
};

it("a process that is killed leaves the marks of the runs that it worked on", async () => {
  const [first, second] = [v7(), v7()];
  const child = await startWith(first, second);
  const marks = await open();
  expect([await marks.isMarkedElsewhere(first), await marks.isMarkedElsewhere(v7())]).toEqual([true, false]);
  expect(await marks.takeDead()).toEqual([]);
  await kill(child);
  const [dead, ...others] = await marks.takeDead();
  expect(dead!.marks.map(({ run_id }) => run_id).sort()).toEqual([first, second].sort());
  expect(others).toEqual([]);
  expect(await marks.isMarkedElsewhere(first)).toBe(true);
  await marks.forget(dead!.name);
  expect(await marks.isMarkedElsewhere(first)).toBe(false);
});

it("a process that is suspended is not taken for dead", async () => {
  const child = await startWith(v7());
  const marks = await open();
  child.kill("SIGSTOP");
  expect(await marks.takeDead()).toEqual([]);
  child.kill("SIGCONT");
});

it("a dead process is handed to one of several that look, and to the next if that one dies too", async () => {
  const runId = v7();
  await kill(await startWith(runId));
  const lookers = await Promise.all([open(), open(), open()]);
  const look = async () => Promise.all(lookers.map((marks) => marks.takeDead()));
  const first = await look();
  expect(first.flat()).toMatchObject([{ marks: [{ run_id: runId, isApart: false }] }]);
  expect((await look()).flat()).toEqual([]);
  // The one that took it dies before it has forgotten it.
  await lookers
    .splice(
      first.findIndex(({ length }) => length > 0),
      1,
    )[0]!
    .die();
  expect((await look()).flat()).toMatchObject([{ marks: [{ run_id: runId }] }]);
});

it("a process that stops in order leaves nothing behind", async () => {
  const [stopped, other] = [await open(), await open()];
  await stopped.add({ run_id: v7(), isApart: false });
  await stopped.close();
  await stopped.die();
  expect(await other.takeDead()).toEqual([]);
});

it("a process that others cannot ask marks nothing", async () => {
  const unheard = createProcessSockets(directory, { clock: systemClock, ids: { next: v7 } });
  await createWorkMarks({ SPOOL_DIR: directory }, unheard).add({ run_id: v7(), isApart: false });
  expect(await (await open()).takeDead()).toEqual([]);
});

it("a directory that cannot be used is an error that the caller decides about", async () => {
  writeFileSync(join(directory, "file"), "");
  const living = { name: v7(), isAlive: async () => true };
  const marks = createWorkMarks({ SPOOL_DIR: join(directory, "file") }, living);
  await expect(marks.add({ run_id: v7(), isApart: false })).rejects.toThrow();
});
