// The failover drill: the primary is killed under load and the synchronous standby is promoted. Processes reach the
// database through a proxy, as through a virtual IP address. No accepted run is lost, none is submitted twice, and the
// service is back without a restart.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CampaignReport, CheckResult, Log } from "../support/campaign.ts";
import {
  checkAcceptedRuns,
  createDrillClients,
  type DrillClients,
  waitUntilNoneOpen,
} from "../support/drill-clients.ts";
import { restartCheck, serverPids } from "../support/server-processes.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { startTestEnvironment } from "../support/test-environment.ts";
import { startPostgresPair } from "./postgres-pair.ts";

export type FailoverSize = {
  perSecond: number;
  /** Seconds of load before the kill, and after the promotion. */
  before: number;
  after: number;
  /** Seconds until a failover manager has noticed that the primary is gone. */
  detection: number;
};

export async function databaseFailover(size: FailoverSize, log: Log): Promise<CampaignReport> {
  const directory = mkdtempSync(join(tmpdir(), "gesso-failover-"));
  const pair = await startPostgresPair(directory);
  const proxy = await startTcpProxy(pair.primaryPort);
  const url = new URL(pair.primary.url);
  url.port = String(proxy.port);
  const environment = await startTestEnvironment({ roles: "split", databaseUrl: url.href });
  const clients = createDrillClients(environment);
  try {
    const pids = serverPids(environment);
    const total = size.perSecond * (size.before + size.detection + size.after);
    const prompts = Array.from({ length: total }, (_, index) => `[sandbox:delay=1] failover ${index}`);
    const posted = clients.post(prompts, size.perSecond);
    await sleep(size.before * 1000);
    const acceptedBefore = clients.accepted.length;
    const killedAt = Date.now();
    await pair.primary.kill("SIGKILL");
    log(`primary killed with ${acceptedBefore} accepted runs`);
    await sleep(size.detection * 1000);
    await pair.promote();
    proxy.retarget(pair.standbyPort);
    proxy.cut();
    const promotedAt = Date.now();
    log(`standby promoted after ${seconds(promotedAt - killedAt)} s`);
    await posted;
    log(`${clients.accepted.length} runs accepted`);
    await waitUntilNoneOpen(environment, 240);
    return {
      name: `failover under ${size.perSecond} runs/s, ${clients.accepted.length} runs`,
      results: [
        ...(await checkAcceptedRuns(environment, clients.accepted)),
        recoveryCheck(clients, promotedAt),
        restartCheck(environment, pids),
      ],
      notes: [describeRefusals(clients, killedAt, promotedAt)],
    };
  } finally {
    await environment.stop();
    await proxy.close();
    await pair.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

const seconds = (ms: number) => (ms / 1000).toFixed(1);

/** The promise of the connection pool: back within 15 s. */
const RECOVERY_SECONDS = 15;

/** The time around the kill in which no run was accepted. */
function findOutage({ acceptedAt }: DrillClients, promotedAt: number): { from: number; to: number } {
  return {
    from: Math.max(...acceptedAt.filter((at) => at < promotedAt)),
    to: Math.min(...acceptedAt.filter((at) => at >= promotedAt)),
  };
}

function recoveryCheck(clients: DrillClients, promotedAt: number): CheckResult {
  const { to } = findOutage(clients, promotedAt);
  return {
    invariant: `runs are accepted again within ${RECOVERY_SECONDS} s of the promotion`,
    passed: clients.refusals.length > 0 && to - promotedAt <= RECOVERY_SECONDS * 1000,
    observed: `${seconds(to - promotedAt)} s after it`,
  };
}

function describeRefusals(clients: DrillClients, killedAt: number, promotedAt: number): string {
  const { from, to } = findOutage(clients, promotedAt);
  const counts = Object.entries(Object.groupBy(clients.refusals, ({ status }) => status)).map(
    ([status, all]) => `${all?.length} × ${status}`,
  );
  return (
    `no run accepted for ${seconds(to - from)} s; promoted ${seconds(promotedAt - killedAt)} s after the kill; ` +
    `refused requests: ${counts.join(", ")}`
  );
}
