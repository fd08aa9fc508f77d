// Idempotent work that follows a committed change. Claiming an item moves its due time into the future, so that an
// item of a process that died is only delayed.
import type { JsonObject } from "../../kit/schemas/run.ts";
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";

export type OutboxItem = { outbox_id: string; kind: string; payload: JsonObject; attempt_count: number };

const INSERT = statement(
  "outbox.insert",
  "insert into outbox (outbox_id, kind, payload) values (:outbox_id, :kind, :payload)",
);

export async function insertOutboxItem(
  db: Database,
  { outbox_id, kind, payload }: Pick<OutboxItem, "outbox_id" | "kind" | "payload">,
): Promise<void> {
  await db.execute(INSERT, { outbox_id, kind, payload });
}

const CLAIM = statement(
  "outbox.claim",
  `update outbox set attempt_count = attempt_count + 1,
     due_at = now() + make_interval(secs => least(3600, 5 * power(2, attempt_count)))
   where outbox_id = any (array(
     select outbox_id from outbox where due_at <= now() order by due_at limit :limit for update skip locked))
   returning outbox_id, kind, payload, attempt_count`,
);

export async function claimOutboxItems(db: Database, limit: number): Promise<OutboxItem[]> {
  return db.execute(CLAIM, { limit });
}

const DELETE = statement("outbox.delete", "delete from outbox where outbox_id = :outbox_id");

export async function deleteOutboxItem(db: Database, outboxId: string): Promise<void> {
  await db.execute(DELETE, { outbox_id: outboxId });
}
