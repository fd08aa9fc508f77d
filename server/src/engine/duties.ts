// Background duties, each executed by one process at a time under a lease: poll providers, requeue lost runs, enforce
// deadlines, expire files, archive history, delete tenants, delete images of requests that never became a run, report
// low balances and spending limits that are used up, process the outbox, index runs for lists, sum up usage, retire
// deployments of earlier versions, and detect that the engine has lost its journal.

import type { AuditSeal } from "../db/access/audit-seal.ts";
import { readEngineIncarnation, saveEngineIncarnation } from "../db/engine-incarnation.ts";
import { runMaintenance } from "../db/maintenance.ts";
import { insertBudgetAlerts } from "../db/money/attributed-budgets.ts";
import { insertLowCreditsEvent } from "../db/money/ledger.ts";
import { requeueAllRuns } from "../db/runs/open-runs.ts";
import { requeueAllDeliveries } from "../db/webhooks/delivery-queue.ts";
import { pollProvider } from "../runs/attempt/poll.ts";
import { type RecoveryDependencies, recoverSpooledResponses } from "../runs/attempt/recover-spool.ts";
import { sweepStagedRuns } from "../runs/sources/stage-inline-files.ts";
import { type ArchiveDependencies, archiveHistory } from "../runs/upkeep/archive.ts";
import { advanceTenantDeletions, type TenantDeletionDependencies } from "../runs/upkeep/delete-tenant.ts";
import { indexRuns } from "../runs/upkeep/index-runs.ts";
import { listOutboxLanes, processOutboxLane } from "../runs/upkeep/process-outbox.ts";
import { failOverdueRuns, requeueExpiredRuns } from "../runs/upkeep/reconcile.ts";
import { expireRunFiles, sweepOrphans } from "../runs/upkeep/retention.ts";
import { sumUsageOfEndedRuns } from "../runs/upkeep/sum-usage.ts";
import { startDuty } from "./duty.ts";
import type { EngineAdmin } from "./engine-admin.ts";
import type { EngineClient } from "./engine-client.ts";
import { type JobNotificationDependencies, startJobNotifications } from "./job-notifications.ts";
import { type Loop, startLoop } from "./loop.ts";
import { createDeploymentRetirement } from "./retire-deployments.ts";

/** Every provider has a lane, and most are empty most of the time. */
const OUTBOX_MS = 2000;
/** Events about spending limits that one statement inserts. */
const ALERTS_AT_ONCE = 50;

export type DutyDependencies = RecoveryDependencies &
  ArchiveDependencies &
  JobNotificationDependencies &
  Omit<TenantDeletionDependencies, "purgeInvocations"> & { audit: AuditSeal };

export function startDuties(
  services: DutyDependencies,
  engine: { client: EngineClient; admin: EngineAdmin },
  holder: string,
  registerWorker: () => Promise<void>,
): Loop {
  const retireDeployments = createDeploymentRetirement(services, engine.admin, registerWorker);
  const duty = (name: string, intervalMs: number, work: (signal: AbortSignal) => Promise<boolean>) =>
    startDuty({ ...services, holder }, { name: `duty/${name}`, intervalMs, work });

  const loops = [
    // Without a lease: the spool is a directory of this machine.
    startLoop(services, "spool", 5000, async () => (await recoverSpooledResponses(services)) > 0),
    duty("expired-claims", 2000, async () => (await requeueExpiredRuns(services)) > 0),
    duty("overdue", 5000, async (signal) => (await failOverdueRuns(services, signal)) > 0),
    ...listOutboxLanes(services).map(([name, lane]) =>
      duty(name, OUTBOX_MS, async (signal) => (await processOutboxLane(services, lane, signal)) > 0),
    ),
    duty("engine-incarnation", 2000, async () => {
      await checkEngineIncarnation(services, engine.client, registerWorker);
      return false;
    }),
    duty("deployments", 3000, async (signal) => {
      await retireDeployments(signal);
      return false;
    }),
    duty("credits", 5000, async () => {
      const isLow = await insertLowCreditsEvent(services.database, services.ids.next());
      const ids = Array.from({ length: ALERTS_AT_ONCE }, () => services.ids.next());
      return (await insertBudgetAlerts(services.database, ids)) > 0 || isLow;
    }),
    duty("run-index", 1000, () => indexRuns(services)),
    duty("usage", 1000, () => sumUsageOfEndedRuns(services)),
    duty("expiry", 5000, async () => (await expireRunFiles(services)) > 0),
    duty("tenant-deletions", 2000, (signal) =>
      advanceTenantDeletions({ ...services, purgeInvocations: engine.admin.purgeInvocations }, signal),
    ),
    duty("staged-runs", 60_000, async () => (await sweepStagedRuns(services)) > 0),
    duty("sweep", 6 * 60 * 60 * 1000, async (signal) => {
      await sweepOrphans(services, { signal });
      return false;
    }),
    duty("archive", 60 * 60 * 1000, async (signal) => {
      await archiveHistory(services, signal);
      return false;
    }),
    duty("maintenance", 10 * 60 * 1000, () => runMaintenance(services.database, services.settings.eventRetentionDays)),
    duty("audit", 24 * 60 * 60 * 1000, async () => {
      await services.audit.markUncoveredEntries();
      for (const found of await services.audit.check())
        services.log.error(found, "the audit log does not match its checkpoints");
      return false;
    }),
    duty("audit-seal", 5000, () => services.audit.sealNewEntries()),
    ...services.providers.enabled.map((enabledProvider) =>
      duty(
        `poll/${enabledProvider.provider.id}`,
        500,
        async (signal) => (await pollProvider(services, enabledProvider, signal)) > 0,
      ),
    ),
    ...services.providers.enabled
      .filter(({ provider }) => provider.watch)
      .map((enabledProvider) => startJobNotifications(services, enabledProvider, holder)),
  ];
  return {
    wake: () => {},
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/**
 * An engine without the stored incarnation has lost its journal. All dispatched runs are requeued under a new epoch;
 * jobs that were already submitted are adopted by their tickets.
 */
async function checkEngineIncarnation(
  { database, notifications, ids, log }: DutyDependencies,
  engineClient: EngineClient,
  registerWorker: () => Promise<void>,
): Promise<void> {
  const engineIncarnation = await engineClient.readIncarnation();
  if (engineIncarnation === undefined) {
    await registerWorker();
    return;
  }
  const storedIncarnation = await readEngineIncarnation(database);
  if (engineIncarnation === storedIncarnation) return;
  const incarnation = ids.next();
  const runs = await requeueAllRuns(database);
  await requeueAllDeliveries(database);
  if (runs > 0) log.warn({ runs }, "the engine lost its journal; all dispatched runs requeued");
  await saveEngineIncarnation(database, incarnation);
  await engineClient.writeIncarnation(incarnation);
  notifications.runQueued();
}
