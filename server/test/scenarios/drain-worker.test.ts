// Two workers on one port, as real processes: an operator drains one of them under load and resumes it.
import { createClient } from "@gesso/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSandboxLedger } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const SMALL = { width: 64, height: 64 };
let environment: TestEnvironment;
let healthPorts: [number, number];
beforeAll(async () => {
  environment = await startTestEnvironment({
    roles: "split",
    secondWorker: true,
    env: { LOG_LEVEL: "warn" },
    processEnv: async (_name, { workerHealthPorts }) => {
      healthPorts = workerHealthPorts;
      return {};
    },
  });
});
afterAll(() => environment?.stop());

const client = () => createClient({ baseUrl: environment.url, apiKey: environment.key });
const listWorkers = async () => (await client().admin.workers()).data;
const findWorker = async (id: string) => (await listWorkers()).find(({ worker_id }) => worker_id === id)!;
const readinessOf = async (port: number) => {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return { status: response.status, body: (await response.json()) as { status: string } };
};
const countUnready = async () => {
  const both = await Promise.all(healthPorts.map(readinessOf));
  return both.filter(({ status, body }) => status === 503 && body.status === "draining").length;
};
const holdersOfLeases = async (workerId: string) =>
  environment.query("select name from leases where holder = $1 and until > now()", [workerId]);

/** Posts runs of half a second, several each second, until it is stopped. Returns their IDs. */
function startLoad() {
  const ids: string[] = [];
  let isRunning = true;
  const done = (async () => {
    for (let number = 0; isRunning; number++) {
      const run = await client().images.generate({ prompt: `[sandbox:delay=0.5] load ${number}`, ...SMALL });
      ids.push(run.run_id);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  })();
  return {
    async stop() {
      isRunning = false;
      await done;
      return ids;
    },
  };
}

/** The largest number of runs that the worker had at once in these seconds. */
async function mostRuns(workerId: string, seconds: number): Promise<number> {
  let most = 0;
  for (const until = Date.now() + seconds * 1000; Date.now() < until; ) {
    most = Math.max(most, (await findWorker(workerId)).runs);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return most;
}

describe("a worker that an operator drains", () => {
  it("takes no more runs, ends those that it has, and serves again when it is resumed", async () => {
    await expect.poll(listWorkers).toHaveLength(2);
    expect((await listWorkers()).map(({ state, draining_since }) => [state, draining_since])).toEqual([
      ["serving", null],
      ["serving", null],
    ]);
    const load = startLoad();
    // The engine uses the worker that it has a connection to: drain that one.
    await expect.poll(async () => (await listWorkers()).some(({ runs }) => runs > 0)).toBe(true);
    const [busy, idle] = (await listWorkers()).sort((a, b) => b.runs - a.runs);
    const { worker_id } = busy!;

    await client().admin.pause({ worker_id });
    await expect.poll(countUnready).toBe(1);
    await expect.poll(async () => (await findWorker(worker_id)).state).toBe("drained");
    expect((await findWorker(worker_id)).draining_since).not.toBeNull();
    expect(await holdersOfLeases(worker_id)).toEqual([]);
    expect(await mostRuns(worker_id, 4)).toBe(0);
    expect(await mostRuns(idle!.worker_id, 4)).toBeGreaterThan(0);

    await expect(client().admin.pause({ worker_id: idle!.worker_id })).rejects.toMatchObject({
      code: "conflict",
      details: { reason: "last_worker" },
    });

    await client().admin.resume({ worker_id });
    await expect.poll(async () => (await findWorker(worker_id)).state).toBe("serving");
    expect(await countUnready()).toBe(0);
    // The other one drains now, so all further runs are of the resumed one.
    await client().admin.pause({ worker_id: idle!.worker_id });
    await expect.poll(async () => (await findWorker(idle!.worker_id)).state).toBe("drained");
    expect(await mostRuns(worker_id, 4)).toBeGreaterThan(0);

    const ids = await load.stop();
    const ended = () =>
      environment.query<{ status: string; count: number }>(
        "select status, count(*)::int as count from runs where run_id = any($1::uuid[]) group by status",
        [ids],
      );
    await expect.poll(ended).toEqual([{ status: "completed", count: ids.length }]);
    const unknownOutcomes = await environment.query(
      `select run_id, send_count, unknown_since from attempts where run_id = any($1::uuid[])
       and (send_count > 1 or unknown_since is not null)`,
      [ids],
    );
    expect(unknownOutcomes).toEqual([]);
    const jobs = await readSandboxLedger(environment);
    expect(jobs).toHaveLength(ids.length);
    const epochs = await environment.queryEngine(
      "select idempotency_key from sys_invocation where target_service_name = 'Run' and idempotency_key not like '%#0'",
    );
    expect(epochs).toEqual([]);
  });

  it("leaves the list and takes its pause with it when it is stopped", async () => {
    const [drained] = (await listWorkers()).filter(({ state }) => state === "drained");
    const isSecond = (await readinessOf(healthPorts[1])).status === 503;
    await environment.stopGracefully(isSecond ? "worker2" : "worker");
    expect((await listWorkers()).map(({ worker_id }) => worker_id)).not.toContain(drained!.worker_id);
    expect((await client().admin.pauses()).data).toEqual([]);
  });

  it("is refused for an ID that no worker has", async () => {
    const worker_id = "00000000-0000-7000-8000-0000000000ff";
    await expect(client().admin.pause({ worker_id })).rejects.toMatchObject({ code: "route_not_found" });
  });
});
