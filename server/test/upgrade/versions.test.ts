import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkWorkers } from "../../src/doctor/check-workers.ts";
import { createEngineAdmin, type Deployment } from "../../src/engine/engine-admin.ts";
import { createProviderHttpClient } from "../../src/outbound/provider-http-client.ts";
import {
  checkAcceptedRuns,
  createDrillClients,
  type DrillClients,
  waitUntilNoneOpen,
} from "../support/drill-clients.ts";
import { createNextVersion } from "../support/next-version.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const directory = mkdtempSync(join(tmpdir(), "gesso-versions-"));
let environment: TestEnvironment;
let clients: DrillClients;
beforeAll(async () => {
  environment = await startTestEnvironment({ roles: "split", env: { SUBMIT_SECONDS: "8" } });
  clients = createDrillClients(environment);
});
afterAll(async () => {
  await environment?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const listDeployments = () => createEngineAdmin(environment.adminUrl).listDeployments();
const latest = async () => (await listDeployments()).find(({ isLatest }) => isLatest)!;
const countRuns = ({ id }: Deployment) => createEngineAdmin(environment.adminUrl).countPinnedInvocations(id, "Run");
const prompts = (count: number, seconds: number) =>
  Array.from({ length: count }, (_, index) => `[sandbox:delay=${seconds}] versions ${index}`);
const diagnoseWorkers = async () => {
  const http = createProviderHttpClient();
  const settings = { DATABASE_URL: environment.databaseUrl, DATABASE_POOL: 2, RESTATE_ADMIN_URL: environment.adminUrl };
  return checkWorkers(settings, http.send).finally(() => http.close());
};
const failures = async () => (await checkAcceptedRuns(environment, clients.accepted)).filter(({ passed }) => !passed);

describe("two versions of the workers", () => {
  it("runs in progress stay with the version that began them, which stops when they have ended; new runs go to the next one", async () => {
    const first = await latest();
    // Longer than the next version takes to start on a busy machine.
    await clients.post(prompts(10, 25), 50);
    await expect.poll(() => countRuns(first)).toBe(10);

    await environment.startVersion({ name: "next", role: "worker", entry: createNextVersion(directory) });
    const next = await latest();
    expect(next.uri).not.toBe(first.uri);
    const healthPort = /\0PORT=(\d+)/.exec(readFileSync(`/proc/${environment.pids().worker}/environ`, "utf8"))![1];
    const stopped = environment.terminate("worker", 60);
    await clients.post(prompts(5, 8), 50);
    await expect.poll(() => countRuns(next)).toBe(5);
    const found = await diagnoseWorkers();
    expect(found).toMatchObject({ name: "workers", status: "pass" });
    expect(found.message).toMatch(new RegExp(`${first.uri}: \\d+ open`));
    expect(found.message).toMatch(new RegExp(`${next.uri} \\(latest\\): [1-9]\\d* open`));
    // Load balancers must go on sending it the requests of the engine.
    expect((await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status).toBe(200);
    await stopped;

    expect(await countRuns(first)).toBe(0);
    await waitUntilNoneOpen(environment, 30);
    expect(await failures()).toEqual([]);
    // The first epoch was enough for all of them.
    const laterEpochs =
      "select id from sys_invocation where target_service_name = 'Run' and idempotency_key not like '%#0'";
    expect(await environment.queryEngine(laterEpochs)).toEqual([]);
    await expect.poll(async () => (await listDeployments()).map(({ uri }) => uri)).toEqual([next.uri]);
  });

  it("runs of a version that lost its workers continue on the other version under a new epoch", async () => {
    const next = await latest();
    await clients.post(prompts(10, 6), 50);
    await expect.poll(() => countRuns(next)).toBe(10);

    await environment.killVersion("next");
    await environment.start("worker");
    await waitUntilNoneOpen(environment, 90);
    expect(await failures()).toEqual([]);
    await expect.poll(listDeployments).toHaveLength(1);
  });
});
