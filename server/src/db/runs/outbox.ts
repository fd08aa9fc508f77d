// Idempotent work that follows a committed change; the statement of the change inserts it. Claiming an item moves its
// due time into the future, so that an item of a process that died is only delayed.
import type { JsonObject } from "../../contract/schemas/run.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

export type OutboxItem = { outbox_id: string; kind: string; payload: JsonObject; attempt_count: number };

/**
 * Which items a claim takes: the jobs to cancel at one provider, or all items except the jobs to cancel at these
 * providers.
 */
export type OutboxLane = { cancelsAt: string } | { exceptCancelsAt: string[] };

const CLAIM = statement(
  "outbox.claim",
  `update outbox set attempt_count = attempt_count + 1,
     due_at = now() + make_interval(secs => least(3600, 5 * power(2, attempt_count)))
   where outbox_id = any (array(
     select outbox_id from outbox
     where due_at <= now()
       and coalesce(kind = 'cancel_job' and payload ->> 'provider' = any (:providers::text[]), false) = :is_included
     order by due_at limit :limit for update skip locked))
   returning outbox_id, kind, payload, attempt_count`,
);

export async function claimOutboxItems(db: Database, lane: OutboxLane, limit: number): Promise<OutboxItem[]> {
  const isIncluded = "cancelsAt" in lane;
  const providers = isIncluded ? [lane.cancelsAt] : lane.exceptCancelsAt;
  return db.execute(CLAIM, { providers, is_included: isIncluded, limit });
}

const DELETE = statement("outbox.delete", "delete from outbox where outbox_id = :outbox_id");

export async function deleteOutboxItem(db: Database, outboxId: string): Promise<void> {
  await db.execute(DELETE, { outbox_id: outboxId });
}
