// What must be done beside the runs themselves, each by one process at a time: poll providers, find lost runs, hold
// deadlines, end the keeping of files, tell of low balances, work the outbox, and notice when the engine has lost its memory.
import { randomUUID } from "node:crypto";
import { findTamperedAuditEntries } from "../db/access/audit-log.ts";
import { readEngineIncarnation, saveEngineIncarnation } from "../db/engine-incarnation.ts";
import { dropEventPartitions } from "../db/event-log.ts";
import { acquireLeases } from "../db/leases.ts";
import { runMaintenance } from "../db/maintenance.ts";
import { insertLowCreditsEvent } from "../db/money/ledger.ts";
import { requeueAllRuns } from "../db/runs/open-runs.ts";
import { requeueAllDeliveries } from "../db/webhooks/delivery-queue.ts";
import { pollProvider } from "../runs/poll.ts";
import { failOverdueRuns, processOutbox, requeueExpiredRuns } from "../runs/reconcile.ts";
import { expireRunFiles, sweepOrphans } from "../runs/retention.ts";
import type { Services } from "../runs/services.ts";
import type { EngineClient } from "./engine-client.ts";
import { startJobNotifications } from "./job-notifications.ts";
import { type Loop, startLoop } from "./loop.ts";

const LEASE_SECONDS = 15;

export function startDuties(
  services: Services,
  ingress: EngineClient,
  holder: string,
  registerWorker: () => Promise<void>,
): Loop {
  const duty = (name: string, everyMs: number, work: () => Promise<boolean>) =>
    startLoop(
      name,
      everyMs,
      async () => {
        const [heldLease] = await acquireLeases(services.db, holder, [`duty/${name}`], LEASE_SECONDS);
        return heldLease ? work() : false;
      },
      services.log,
    );

  const loops = [
    duty("expired-claims", 2000, async () => (await requeueExpiredRuns(services)) > 0),
    duty("overdue", 5000, async () => (await failOverdueRuns(services)) > 0),
    duty("outbox", 1000, async () => (await processOutbox(services)) > 0),
    duty("engine-incarnation", 2000, async () => {
      await checkEngineIncarnation(services, ingress, registerWorker);
      return false;
    }),
    duty("credits", 5000, () => insertLowCreditsEvent(services.db, services.newId())),
    duty("expiry", 5000, async () => (await expireRunFiles(services)) > 0),
    duty("sweep", 6 * 60 * 60 * 1000, async () => {
      await sweepOrphans(services);
      return false;
    }),
    duty("maintenance", 10 * 60 * 1000, async () => {
      await runMaintenance(services.db);
      await dropEventPartitions(services.db, services.eventDays);
      return false;
    }),
    duty("audit", 24 * 60 * 60 * 1000, async () => {
      for (const broken of await findTamperedAuditEntries(services.db))
        services.log.error(broken, "audit log entry does not match its digest chain");
      return false;
    }),
    ...services.providers.map((live) =>
      duty(`poll/${live.provider.id}`, 500, async () => (await pollProvider(services, live)) > 0),
    ),
    ...services.providers
      .filter(({ provider }) => provider.watch)
      .map((live) => startJobNotifications(services, live, holder)),
  ];
  return {
    wake: () => {},
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/** An engine without our mark has lost every run it held: they all start anew, and the paid ones are adopted. */
async function checkEngineIncarnation(
  services: Services,
  ingress: EngineClient,
  registerWorker: () => Promise<void>,
): Promise<void> {
  const engineIncarnation = await ingress.readIncarnation();
  if (engineIncarnation === undefined) {
    await registerWorker();
    return;
  }
  const storedIncarnation = await readEngineIncarnation(services.db);
  if (engineIncarnation === storedIncarnation) return;
  const incarnation = randomUUID();
  const runs = await requeueAllRuns(services.db);
  await requeueAllDeliveries(services.db);
  if (runs > 0) services.log.warn({ runs }, "the engine lost its journal; all dispatched runs requeued");
  await saveEngineIncarnation(services.db, incarnation);
  await ingress.writeIncarnation(incarnation);
  services.queued.notify("queued");
}
