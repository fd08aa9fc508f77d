// Work that must follow a committed change. Taking it moves its next turn into the future, so a process that dies over it
// only delays it; doing it twice must be harmless.
import type { JsonObject } from "../../kit/schemas/run.ts";
import type { Database } from "../connect.ts";

export type OutboxItem = { outbox_id: string; kind: string; payload: JsonObject; tries: number };

export async function insertOutboxItem(
  db: Database,
  item: Pick<OutboxItem, "outbox_id" | "kind" | "payload">,
): Promise<void> {
  await db.query("outbox.add", "insert into outbox (outbox_id, kind, payload) values ($1, $2, $3)", [
    item.outbox_id,
    item.kind,
    item.payload,
  ]);
}

export async function claimOutboxItems(db: Database, limit: number): Promise<OutboxItem[]> {
  return db.query<OutboxItem>(
    "outbox.take",
    `update outbox set tries = tries + 1, due_at = now() + make_interval(secs => least(3600, 5 * power(2, tries)))
     where outbox_id = any (array(
       select outbox_id from outbox where due_at <= now() order by due_at limit $1 for update skip locked))
     returning outbox_id, kind, payload, tries`,
    [limit],
  );
}

export async function deleteOutboxItem(db: Database, outboxId: string): Promise<void> {
  await db.query("outbox.drop", "delete from outbox where outbox_id = $1", [outboxId]);
}
