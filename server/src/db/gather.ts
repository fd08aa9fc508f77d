// Gathers calls of one kind into statements over many rows. A call that arrives while no statement of its kind is under
// way is sent at once; those that arrive meanwhile go together with the next. Most of what a small statement costs is
// starting it, so under load this divides the cost of a call, and without load nothing waits.
import { type Database, isRolledBack } from "./connect.ts";

/** Bounds the size of a statement, and so how long its row locks last. */
const MAX_BATCH = 64;
/** A statement that takes longer, for example because it waits for a row lock, holds up no later calls. */
const SLOW_MS = 20;

export type Gathering<Item, Result> = {
  /** The row that the call changes. Two calls with the same key are never in one statement. */
  keyOf(item: Item): string;
  /** Only calls of the same group share a statement. Default: all do. */
  groupOf?(item: Item): string;
  /** One statement for all items. Returns the results in the order of the items. */
  execute(db: Database, items: Item[]): Promise<Result[]>;
};

type Call<Item, Result> = { item: Item; resolve(result: Result): void; reject(thrown: unknown): void };

/** The function has one queue for each `Database` that it is called with. */
export function gather<Item, Result>(
  gathering: Gathering<Item, Result>,
): (db: Database, item: Item) => Promise<Result> {
  const queues = new WeakMap<Database, (call: Call<Item, Result>) => void>();
  return (db, item) =>
    new Promise((resolve, reject) => {
      const add = queues.get(db) ?? createQueue(db, gathering);
      queues.set(db, add);
      add({ item, resolve, reject });
    });
}

function createQueue<Item, Result>(db: Database, { keyOf, groupOf, execute }: Gathering<Item, Result>) {
  let waiting: Call<Item, Result>[] = [];
  /** Statements under way that are not slow. */
  let prompt = 0;

  const sendNext = () => {
    if (prompt > 0 || waiting.length === 0) return;
    prompt++;
    let isPrompt = true;
    const leave = () => {
      if (!isPrompt) return;
      isPrompt = false;
      prompt--;
      sendNext();
    };
    const timer = db.clock.after(SLOW_MS, leave);
    void send(takeBatch()).finally(() => {
      timer.stop();
      leave();
    });
  };

  /** In the order of the keys, so that statements lock rows in the same order and do not deadlock. */
  const takeBatch = (): Call<Item, Result>[] => {
    const batch = new Map<string, Call<Item, Result>>();
    const left: Call<Item, Result>[] = [];
    const group = groupOf?.(waiting[0]!.item);
    for (const call of waiting) {
      const key = keyOf(call.item);
      const fits = batch.size < MAX_BATCH && !batch.has(key) && groupOf?.(call.item) === group;
      if (fits) batch.set(key, call);
      else left.push(call);
    }
    waiting = left;
    return [...batch].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, call]) => call);
  };

  const send = async (calls: Call<Item, Result>[]): Promise<void> => {
    try {
      const results = await execute(
        db,
        calls.map(({ item }) => item),
      );
      for (const [index, { resolve }] of calls.entries()) resolve(results[index]!);
    } catch (thrown) {
      // One row that PostgreSQL refuses must not fail the others: nothing was changed, so each is sent alone.
      if (calls.length > 1 && isRolledBack(thrown)) await Promise.all(calls.map((call) => send([call])));
      else for (const { reject } of calls) reject(thrown);
    }
  };

  return (call: Call<Item, Result>) => {
    waiting.push(call);
    // After the current turn of the event loop, so that calls that become due together go together.
    if (waiting.length === 1) setImmediate(sendNext);
  };
}
