// Finds what was lost, from outside the engine: runs that went silent start anew under a new epoch, runs past their
// deadline are ended, and work that must follow a change is done.
import { endRun, listOverdueRuns, requeueExpiredClaims } from "../db/runs/open-runs.ts";
import { claimOutboxItems, deleteOutboxItem, insertOutboxItem, type OutboxItem } from "../db/runs/outbox.ts";
import { Fault } from "../faults.ts";
import { readProviderFailure } from "../providers/call-provider.ts";
import type { Ticket } from "../providers/provider.ts";
import { deriveId } from "./ids.ts";
import { createProviderContext } from "./provider-context.ts";
import type { Services } from "./services.ts";

const BATCH = 500;
/** The run itself gives up at its deadline and knows more about why; the watchdog only follows. */
const DEADLINE_GRACE_SECONDS = 20;

export async function requeueExpiredRuns(services: Services): Promise<number> {
  const requeued = await requeueExpiredClaims(services.db, BATCH);
  if (requeued.length > 0) {
    services.log.warn({ runs: requeued.length }, "run claims expired; runs requeued");
    services.queued.notify("queued");
  }
  return requeued.length;
}

export async function failOverdueRuns(services: Services): Promise<number> {
  const overdue = await listOverdueRuns(services.db, DEADLINE_GRACE_SECONDS, BATCH);
  for (const { run_id, provider, ticket } of overdue) {
    const error = new Fault("run_timeout").body();
    const ended = await endRun(services.db, { run_id }, { status: "failed", error }, deriveId(run_id, "end"));
    if (!ended) continue;
    services.ended.notify(run_id);
    if (provider && ticket) {
      await insertOutboxItem(services.db, {
        outbox_id: services.newId(),
        kind: "cancel_job",
        payload: { run_id, provider, ticket },
      });
    }
  }
  return overdue.length;
}

export async function processOutbox(services: Services): Promise<number> {
  const items = await claimOutboxItems(services.db, BATCH);
  for (const item of items) {
    await performOutboxItem(services, item).then(
      () => deleteOutboxItem(services.db, item.outbox_id),
      (thrown) =>
        services.log.warn(
          { kind: item.kind, tries: item.attempt_count, err: thrown },
          "outbox item failed; it will be retried",
        ),
    );
  }
  return items.length;
}

async function performOutboxItem(services: Services, { kind, payload }: OutboxItem): Promise<void> {
  if (kind === "delete_files") await services.storage.delete(payload.keys as string[]);
  if (kind === "cancel_job") {
    const live = services.providers.find(({ provider }) => provider.id === payload.provider);
    if (!live?.provider.cancel) return;
    const context = createProviderContext(services, live, {
      run_id: String(payload.run_id),
      request_index: 0,
      attempt_number: 1,
    });
    await live.provider.cancel(payload.ticket as Ticket, context).catch((thrown) => {
      // A provider that says no has nothing left to cancel.
      if (readProviderFailure(thrown).kind !== "refused") throw thrown;
    });
  }
}
