// Performs the items of the outbox: deletes files, and cancels jobs at their providers. The cancellations at a provider
// are a lane of their own with a bounded number of requests, so a provider that does not respond delays only them.
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../../db/connect.ts";
import { claimOutboxItems, deleteOutboxItem, type OutboxItem, type OutboxLane } from "../../db/runs/outbox.ts";
import { Fault } from "../../faults/faults.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import type { ObjectStorage } from "../../files/storage/object-storage.ts";
import { readProviderFailure } from "../../providers/call-provider.ts";
import type { Ticket } from "../../providers/provider.ts";
import { toAttemptRef } from "../core/ids.ts";
import type { Runtime } from "../core/runtime.ts";
import { findEnabledProvider, type ProviderRegistry } from "../offers/provider-registry.ts";

/** Items of one lane that are performed at once. No more are claimed, so a lane that hangs holds no others back. */
const LANE_SLOTS = 8;

type OutboxDependencies = Pick<Runtime, "log"> & {
  database: Database;
  assets: Pick<AssetStore, "storage">;
  providers: ProviderRegistry;
};

/** The lanes of the outbox by name. Every item belongs to exactly one of them. */
export function listOutboxLanes({ providers }: { providers: ProviderRegistry }): [name: string, lane: OutboxLane][] {
  const canceling = providers.enabled.filter(({ provider }) => provider.cancel).map(({ provider }) => provider.id);
  return [
    ["outbox", { exceptCancelsAt: canceling }],
    ...canceling.map((id): [string, OutboxLane] => [`outbox/${id}`, { cancelsAt: id }]),
  ];
}

/** Performs some of the items of the lane that are due. Returns the number of those that were tried. */
export async function processOutboxLane(
  services: OutboxDependencies,
  lane: OutboxLane,
  signal?: AbortSignal,
): Promise<number> {
  const { database, log } = services;
  const items = await claimOutboxItems(database, lane, LANE_SLOTS);
  // Items that another process claims now are performed twice at worst, and all of them are idempotent.
  signal?.throwIfAborted();
  await Promise.all(
    items.map((item) =>
      performItem(services, item).then(
        () => deleteOutboxItem(database, item.outbox_id),
        (thrown) =>
          log.warn(
            { kind: item.kind, attempts: item.attempt_count, err: thrown },
            "outbox item failed; it will be retried",
          ),
      ),
    ),
  );
  return items.length;
}

async function performItem(services: OutboxDependencies, { kind, payload }: OutboxItem): Promise<void> {
  if (kind === "delete_files") await deleteFiles(services.assets.storage, payload);
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

const RUN_PREFIX = /^t\/[0-9a-f-]{36}\/r\/[0-9a-f-]{36}\/$/;

/**
 * Deletes stored files, as the outbox asks for it: the listed keys, and everything below the prefix of a deleted run.
 * `run_prefix`: a repeated step can have stored a file again, for example with another signature, and only one of
 * them has a row. The sweep of orphans would leave the other one for a day.
 */
export async function deleteFiles(
  storage: Pick<ObjectStorage, "list" | "delete">,
  { keys, run_prefix }: JsonObject,
): Promise<void> {
  const found = new Set(keys as string[]);
  if (run_prefix !== undefined) {
    if (!RUN_PREFIX.test(String(run_prefix)))
      throw new Fault("internal_error", {}, { cause: "not the prefix of a run" });
    for await (const { key } of storage.list(String(run_prefix))) found.add(key);
  }
  await storage.delete([...found]);
}
