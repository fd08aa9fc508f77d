// Kills components with -9 at random times and restarts them, never two at once, until stopped.
import { setTimeout as pause } from "node:timers/promises";
import { createHttpCaller } from "../support/api-caller.ts";
import { random } from "../support/campaign.ts";
import type { ProcessName } from "../support/test-environment.ts";
import type { ChaosEnvironment } from "./chaos-environment.ts";

export type KillCounts = Record<ProcessName, number>;

/** Draws from a list in which important components appear more often. */
const TARGETS: ProcessName[] = ["worker", "worker", "worker2", "worker2", "api", "api", "restate", "postgres"];

export async function killRandomly(
  environment: ChaosEnvironment,
  isDone: (kills: KillCounts) => boolean,
  log: (line: string) => void,
): Promise<KillCounts> {
  const kills: KillCounts = { postgres: 0, restate: 0, api: 0, worker: 0, worker2: 0 };
  while (!isDone(kills)) {
    await pause(300 + random(1200));
    const target = TARGETS[random(TARGETS.length)]!;
    kills[target]++;
    const start = Date.now();
    const downMs = random(2) === 0 ? 0 : random(1000);
    if (target === "restate" && environment.cluster) await killEngineNode(environment, downMs);
    else await environment.killAndRestart(target, downMs);
    log(`kill ${sumKills(kills)}: ${target}, back after ${((Date.now() - start) / 1000).toFixed(1)} s`);
  }
  return kills;
}

const killEngineNode = (environment: ChaosEnvironment, downMs: number) =>
  environment.faults.during("kill engine node", async () => {
    const index = random(environment.cluster!.nodes.length);
    await environment.cluster!.nodes[index]!.kill("SIGKILL");
    await pause(downMs);
    await environment.cluster!.start(index);
  });

/**
 * Kills every few seconds can hit the storing of the same run three times, as if the run killed its workers. It is then
 * in quarantine until an operator retries it, as here. Returns how many deaths were counted for each.
 */
export async function retryQuarantinedRuns(environment: ChaosEnvironment): Promise<number[]> {
  const rows = await environment.query<{ run_id: string; deaths: number }>(
    `select subject as run_id, (details ->> 'deaths')::int as deaths from audit_log
     join open_runs on open_runs.run_id::text = subject
     where action = 'admin.quarantine' and details ->> 'reason' = 'worker_died'`,
  );
  for (const { run_id } of rows) await createHttpCaller(environment).post(`/admin/runs/${run_id}/retry`, {});
  return rows.map(({ deaths }) => deaths);
}

export const sumKills = (kills: KillCounts) => Object.values(kills).reduce((sum, each) => sum + each, 0);
