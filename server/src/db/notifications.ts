// Wakes other processes through the database. Words are gathered for a moment and sent together, outside any transaction:
// a notification inside every commit would make all commits queue for one lock.
import type { Database } from "./connect.ts";

/** PostgreSQL refuses payloads of 8,000 bytes and more; a word is an id, or an id and the name of a provider. */
const MAX_ITEMS_PER_PAYLOAD = 100;
const BATCH_MS = 10;

export type Notifier = { notify(item: string): void };

/** The first word goes out at once; those that follow within a moment go together. */
export function createNotifier(db: Database, channel: string): Notifier {
  let pending = new Set<string>();
  let isBatching = false;

  const send = () => {
    const batch = [...pending];
    pending = new Set();
    for (let from = 0; from < batch.length; from += MAX_ITEMS_PER_PAYLOAD) {
      const payload = batch.slice(from, from + MAX_ITEMS_PER_PAYLOAD).join(" ");
      // A lost word only costs time: whoever waits for it also looks by itself.
      db.query("notify", "select pg_notify($1, $2)", [channel, payload]).catch(() => {});
    }
    isBatching = batch.length > 0;
    if (isBatching) setTimeout(send, BATCH_MS);
  };
  return {
    notify(item) {
      pending.add(item);
      if (!isBatching) send();
    },
  };
}
