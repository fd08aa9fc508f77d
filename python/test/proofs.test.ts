// What must hold when the program or the machine does not cooperate: a process that is killed while it waits, and many
// runs in one process. GATHERED_RUNS=1000 makes more.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Installation, openSharedInstallation } from "../../server/test/support/shared-installation.ts";
import { openPythonSources, type PythonSources } from "./python-package.ts";

const RUNS = Number(process.env.GATHERED_RUNS ?? 100);
const MAX_MEMORY_BYTES = 120 * 1024 * 1024;

let environment: Installation;
let python: PythonSources;

beforeAll(async () => {
  [environment, python] = await Promise.all([openSharedInstallation(), openPythonSources()]);
});

afterAll(async () => {
  await environment?.stop();
});

const variables = () => ({ GESSO_URL: environment.url, GESSO_API_KEY: environment.key, PYTHONPATH: python.folder });
const measure = async (program: string) => {
  const output = await python.run(["-c", program], variables());
  console.log(output.trim());
  return JSON.parse(output.trim().split("\n").at(-1)!) as Record<string, number>;
};
const countRuns = async (prompt: string) => {
  const rows = await environment.query<{ run_id: string }>(
    "select run_id from runs where tenant_id = $1 and inputs->>'prompt' like $2",
    [environment.tenantId, prompt],
  );
  return rows.map(({ run_id }) => run_id);
};

it("a program that is killed while it waits finds its run when it starts again", async () => {
  const program = `
import sys
from gesso import Gesso
call = Gesso().images.generate(prompt="killed [sandbox:delay=4]", width=64, height=64, idempotency_key="after-a-crash")
print(call.run_id, flush=True)
print(call.wait().run_id, flush=True)`;
  const first = spawn(python.interpreter, ["-c", program], { env: { ...process.env, ...variables() } });
  const [line] = (await once(first.stdout, "data")) as [Buffer];
  first.kill("SIGKILL");
  await once(first, "exit");
  const again = await python.run(["-c", program], variables());
  const runId = line.toString().trim();
  expect(again.trim().split("\n")).toEqual([runId, runId]);
  expect(await countRuns("killed%")).toEqual([runId]);
});

const FIGURES = `
import json, resource, threading
def figures(ids, tasks):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"runs": len(set(ids)), "peak": peak, "threads": threading.active_count(), "tasks": tasks}))`;

it(`${RUNS} runs in tasks, 32 at a time, need little memory and leave no task`, async () => {
  const { runs, peak, threads, tasks } = await measure(`${FIGURES}
import asyncio
from gesso import AsyncGesso
async def main():
    async with AsyncGesso() as client:
        calls = (client.images.generate(prompt=f"task {n}", width=64, height=64) for n in range(${RUNS}))
        figures([run.run_id for run in await client.gather(*calls, limit=32)], len(asyncio.all_tasks()))
asyncio.run(main())`);
  expect([runs, threads, tasks]).toEqual([RUNS, 1, 1]);
  expect(peak).toBeLessThan(MAX_MEMORY_BYTES);
  expect(await countRuns("task %")).toHaveLength(RUNS);
});

it(`${RUNS} runs in threads, 32 at a time, need little memory and leave no thread`, async () => {
  const { runs, peak, threads } = await measure(`${FIGURES}
from gesso import Gesso
with Gesso() as client:
    calls = [lambda n=n: client.images.generate(prompt=f"thread {n}", width=64, height=64) for n in range(${RUNS})]
    figures([run.run_id for run in client.gather(*calls, limit=32)], 0)`);
  expect([runs, threads]).toEqual([RUNS, 1]);
  expect(peak).toBeLessThan(MAX_MEMORY_BYTES);
  expect(await countRuns("thread %")).toHaveLength(RUNS);
});
