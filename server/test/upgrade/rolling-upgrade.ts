// The upgrade drill: runs in progress on the previous version, a rolling upgrade to the next one, a restart of the
// previous version in the middle, and a rollback on the new schema. All runs complete, none is submitted twice, and no
// run needs a second epoch.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CampaignReport, CheckResult, Log } from "../support/campaign.ts";
import {
  checkAcceptedRuns,
  createDrillClients,
  type DrillClients,
  waitUntilNoneOpen,
} from "../support/drill-clients.ts";
import { createNextVersion } from "../support/next-version.ts";
import { checkOutProgram, resolvePreviousVersion } from "../support/program-copies.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import previousVersion from "./previous-version.json" with { type: "json" };

const EXIT_SECONDS = 90;

type DrillSize = { runs: number; seconds: number };

const prompts = (count: number, seconds: number) =>
  Array.from({ length: count }, (_, index) => `[sandbox:delay=${(seconds * (1 + (index % 4))) / 4}] upgrade ${index}`);

export async function rollingUpgrade(size: DrillSize, log: Log): Promise<CampaignReport> {
  const directory = mkdtempSync(join(tmpdir(), "gesso-upgrade-"));
  try {
    return await upgradeAndRollBack(directory, size, log);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function upgradeAndRollBack(directory: string, { runs, seconds }: DrillSize, log: Log): Promise<CampaignReport> {
  const commit = resolvePreviousVersion(previousVersion.revision);
  const previous = checkOutProgram(commit, join(directory, "previous"));
  const next = createNextVersion(directory);
  const environment = await startTestEnvironment({ roles: "split", entry: previous, env: { SUBMIT_SECONDS: "8" } });
  const clients = createDrillClients(environment);
  try {
    const step = async (what: string, work: () => Promise<unknown>) => {
      const startedAt = performance.now();
      await work();
      log(`${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    };
    await step(`${runs} runs in progress on ${commit.slice(0, 8)}`, () =>
      startRuns(environment, clients, runs, seconds),
    );
    await step("the next version starts", () => startBoth(environment, clients, "next", next));
    await step("a killed worker of the previous version restarts on the new schema", () =>
      environment.killAndRestart("worker"),
    );
    // The version that started last gets the new runs: these begin on the previous version and the new schema.
    await step("more runs in progress", () => startRuns(environment, clients, runs / 5, seconds));
    const beforeUpgrade = await countOpen(environment);
    const duringUpgrade = clients.post(prompts(runs / 5, seconds), 20);
    await step(`the previous version stops with ${beforeUpgrade} open runs`, () =>
      stopBoth(environment, clients, ["api", "worker"]),
    );
    await duringUpgrade;
    const schema = await environment.query("select name from schema_migrations where name like '9000%'");
    await step(`${runs / 2} runs on the next version while the previous one starts on the new schema`, () =>
      Promise.all([
        startRuns(environment, clients, runs / 2, 2 * seconds),
        startBoth(environment, clients, "back", previous),
      ]),
    );
    const beforeRollback = await countOpen(environment);
    const duringRollback = clients.post(prompts(runs / 5, seconds), 20);
    await step(`the next version stops with ${beforeRollback} open runs`, () =>
      stopBoth(environment, clients, ["api-next", "worker-next"]),
    );
    await duringRollback;
    await step("all runs end", () => waitUntilNoneOpen(environment, 60));
    return {
      name: `rolling upgrade and rollback, ${clients.accepted.length} runs`,
      results: [
        {
          invariant: "runs were in progress at both times",
          passed: beforeUpgrade > 0 && beforeRollback > 0,
          observed: `${beforeUpgrade} and ${beforeRollback}`,
        },
        { invariant: "the schema was expanded", passed: schema.length === 1, observed: JSON.stringify(schema) },
        ...(await checkAcceptedRuns(environment, clients.accepted)),
        await checkEpochs(environment),
        refusalCheck(clients),
      ],
      notes: [],
    };
  } finally {
    await environment.stop();
  }
}

/** Posts runs and waits until the provider has all of them. */
async function startRuns(environment: TestEnvironment, clients: DrillClients, count: number, seconds: number) {
  const ids = await clients.post(prompts(count, seconds), 100);
  const until = Date.now() + 30_000;
  for (;;) {
    const [row] = await environment.query<{ submitted: number }>(
      "select count(*)::int as submitted from attempts where run_id = any($1::uuid[]) and state <> 'intent'",
      [ids],
    );
    if (row!.submitted >= ids.length) return;
    if (Date.now() > until) throw new Error(`only ${row!.submitted} of ${ids.length} runs were submitted`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function countOpen(environment: TestEnvironment): Promise<number> {
  const [row] = await environment.query<{ open: number }>("select count(*)::int as open from open_runs");
  return row!.open;
}

async function startBoth(environment: TestEnvironment, clients: DrillClients, name: string, entry: string) {
  const [api] = await Promise.all([
    environment.startVersion({ name: `api-${name}`, role: "api", entry }),
    environment.startVersion({ name: `worker-${name}`, role: "worker", entry }),
  ]);
  clients.urls.push(api.url);
}

/** As a balancer does: clients go to the other API first, then both processes get SIGTERM. */
async function stopBoth(environment: TestEnvironment, clients: DrillClients, [api, worker]: [string, string]) {
  clients.urls.shift();
  await Promise.all([environment.terminate(api, EXIT_SECONDS), environment.terminate(worker, EXIT_SECONDS)]);
}

/** A run that the other version had to take over has a later epoch than 0 in its idempotency key. */
async function checkEpochs(environment: TestEnvironment): Promise<CheckResult> {
  const rows = await environment.queryEngine(
    "select idempotency_key from sys_invocation where target_service_name = 'Run' and idempotency_key not like '%#0'",
  );
  return { invariant: "no run needed a second epoch", passed: rows.length === 0, observed: `${rows.length} did` };
}

const refusalCheck = ({ refusals }: DrillClients): CheckResult => ({
  invariant: "no request was refused",
  passed: refusals.length === 0,
  observed: `${refusals.length} refused ${JSON.stringify(refusals.slice(0, 3).map(({ status }) => status))}`,
});
