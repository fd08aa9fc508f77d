// Notifies other processes through LISTEN/NOTIFY. Items are sent in batches and outside any transaction, because a
// notification within every commit would serialize all commits on one lock.
import type { Clock } from "../runtime/clock.ts";
import type { Database } from "./connect.ts";
import { statement } from "./statement.ts";

/** PostgreSQL refuses payloads of 8,000 bytes and more; an item is an id, or an id and the name of a provider. */
const MAX_ITEMS_PER_PAYLOAD = 100;
const BATCH_MS = 10;

export type Notifier = { notify(item: string): void };

type Dependencies = { database: Database; clock: Pick<Clock, "after"> };

const NOTIFY = statement("notify", "select pg_notify(:channel, :payload)");

/** The first item is sent at once; items that follow within `BATCH_MS` are sent together. */
export function createNotifier({ database, clock }: Dependencies, channel: string): Notifier {
  let pending = new Set<string>();
  let isBatching = false;

  const send = () => {
    const batch = [...pending];
    pending = new Set();
    for (let from = 0; from < batch.length; from += MAX_ITEMS_PER_PAYLOAD) {
      const payload = batch.slice(from, from + MAX_ITEMS_PER_PAYLOAD).join(" ");
      // A lost notification only causes a delay: subscribers also poll.
      database.execute(NOTIFY, { channel, payload }).catch(() => {});
    }
    isBatching = batch.length > 0;
    if (isBatching) clock.after(BATCH_MS, send);
  };
  return {
    notify(item) {
      pending.add(item);
      if (!isBatching) send();
    },
  };
}
