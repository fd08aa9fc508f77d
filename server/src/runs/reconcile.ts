// Repairs what the engine or a worker lost: requeues runs whose claim has expired under a new epoch, fails runs past
// their deadline, and performs the items of the outbox.
import { listOverdueRuns, requeueExpiredClaims } from "../db/runs/open-runs.ts";
import { claimOutboxItems, deleteOutboxItem, type OutboxItem } from "../db/runs/outbox.ts";
import { Fault } from "../faults.ts";
import { readProviderFailure } from "../providers/call-provider.ts";
import type { Ticket } from "../providers/provider.ts";
import { endFromOutside } from "./end-from-outside.ts";
import { toAttemptRef } from "./ids.ts";
import { isDatabaseSteady } from "./observe-database.ts";
import { findEnabledProvider } from "./provider-registry.ts";
import type { Services } from "./services.ts";

const BATCH = 500;
/** A run fails itself at its deadline, with a more precise error. The reconciler only acts if the run did not. */
const DEADLINE_GRACE_SECONDS = 20;

type SteadyDependencies = Pick<Services, "database" | "notifications" | "steadiness" | "clock" | "ids" | "log">;

export async function requeueExpiredRuns(services: SteadyDependencies): Promise<number> {
  const { database, notifications, log } = services;
  if (!(await isDatabaseSteady(services))) return 0;
  const requeued = await requeueExpiredClaims(database, BATCH);
  if (requeued.length > 0) {
    log.warn({ runs: requeued.length }, "run claims expired; runs requeued");
    notifications.runQueued();
  }
  return requeued.length;
}

export async function failOverdueRuns(services: SteadyDependencies, signal?: AbortSignal): Promise<number> {
  // After an outage the runs first get what is in spools and at their providers.
  if (!(await isDatabaseSteady(services))) return 0;
  const overdue = await listOverdueRuns(services.database, DEADLINE_GRACE_SECONDS, BATCH);
  for (const run of overdue) {
    signal?.throwIfAborted();
    await endFromOutside(services, run, new Fault("run_timeout"));
  }
  return overdue.length;
}

type OutboxDependencies = Pick<Services, "database" | "assets" | "providers" | "log">;

export async function processOutbox(services: OutboxDependencies, signal?: AbortSignal): Promise<number> {
  const { database, log } = services;
  const items = await claimOutboxItems(database, BATCH);
  for (const item of items) {
    signal?.throwIfAborted();
    await performOutboxItem(services, item).then(
      () => deleteOutboxItem(database, item.outbox_id),
      (thrown) =>
        log.warn(
          { kind: item.kind, attempts: item.attempt_count, err: thrown },
          "outbox item failed; it will be retried",
        ),
    );
  }
  return items.length;
}

async function performOutboxItem(services: OutboxDependencies, { kind, payload }: OutboxItem): Promise<void> {
  if (kind === "delete_files") await services.assets.storage.delete(payload.keys as string[]);
  if (kind === "cancel_job") {
    const enabledProvider = findEnabledProvider(services, String(payload.provider));
    if (!enabledProvider?.provider.cancel) return;
    const attempt = toAttemptRef(String(payload.run_id), Number(payload.request_index), Number(payload.attempt_number));
    const context = services.providers.createContext(enabledProvider, attempt);
    await enabledProvider.provider.cancel(payload.ticket as Ticket, context).catch((thrown) => {
      // The provider refused: the job has ended already, so there is nothing left to cancel.
      if (readProviderFailure(thrown).kind !== "refused") throw thrown;
    });
  }
}
