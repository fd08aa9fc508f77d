// Asks one provider about its jobs, in batches: the run itself sleeps, so waiting costs the same however long it lasts.
import { expectSoon, noteProgress, noteSilence, takeToPoll, type Waiting } from "../db/open-runs.ts";
import { failureOf } from "../providers/http.ts";
import type { Ticket } from "../providers/provider.ts";
import type { House, LiveProvider } from "./house.ts";
import { idWithin } from "./ids.ts";
import { providerContext } from "./provider-context.ts";

const BATCH = 200;
const AT_ONCE = 16;

/** Answers how many jobs were asked about. */
export async function pollProvider(house: House, live: LiveProvider): Promise<number> {
  const batch = await takeToPoll(house.db, live.provider.id, {
    limit: BATCH,
    everySeconds: live.provider.pollSeconds ?? 1,
  });
  const queue = [...batch];
  const worker = async () => {
    for (let next = queue.pop(); next; next = queue.pop()) await pollOne(house, live, next);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, batch.length) }, worker));
  return batch.length;
}

async function pollOne(house: House, live: LiveProvider, waiting: Waiting): Promise<void> {
  const context = providerContext(house, live, waiting, { silentSeconds: waiting.silent_for });
  const hasEnded = await live.provider.check(waiting.ticket as Ticket, context).then(
    async (progress) => {
      if (waiting.silent_for > 0) await noteSilence(house.db, waiting.run_id, false);
      if (progress.state === "done") return true;
      const at = progress.progress ?? 0;
      await noteProgress(house.db, waiting.run_id, at, idWithin(waiting.run_id, "progress", at));
      return false;
    },
    // Whatever the provider itself said about the job, the run must hear; a question without an answer is asked again.
    async (thrown) => {
      const { kind } = failureOf(thrown);
      if (kind === "unsent") await noteSilence(house.db, waiting.run_id, true);
      return kind === "failed" || kind === "refused" || kind === "gone";
    },
  );
  if (!hasEnded) return;
  await house.ring(waiting.wake_id, "ended");
  await expectSoon(house.db, waiting.run_id);
}
