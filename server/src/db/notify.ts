// Wakes other processes through the database. Words are gathered for a moment and sent together, outside any transaction:
// a notification inside every commit would make all commits queue for one lock.
import type { Database } from "./connect.ts";

/** PostgreSQL refuses payloads of 8,000 bytes and more; a word is an id, or an id and the name of a provider. */
const MOST_WORDS = 100;
const GATHER_MS = 10;

export type Notifier = { say(word: string): void };

/** The first word goes out at once; those that follow within a moment go together. */
export function createNotifier(db: Database, channel: string): Notifier {
  let words = new Set<string>();
  let isGathering = false;

  const send = () => {
    const batch = [...words];
    words = new Set();
    for (let from = 0; from < batch.length; from += MOST_WORDS) {
      const payload = batch.slice(from, from + MOST_WORDS).join(" ");
      // A lost word only costs time: whoever waits for it also looks by itself.
      db.query("notify", "select pg_notify($1, $2)", [channel, payload]).catch(() => {});
    }
    isGathering = batch.length > 0;
    if (isGathering) setTimeout(send, GATHER_MS);
  };
  return {
    say(word) {
      words.add(word);
      if (!isGathering) send();
    },
  };
}
