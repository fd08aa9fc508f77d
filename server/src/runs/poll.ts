// Asks one provider about its jobs, in batches: the run itself sleeps, so waiting costs the same however long it lasts.
import {
  claimJobsToPoll,
  expectResumption,
  type PollableJob,
  recordProgress,
  setProviderUnreachable,
} from "../db/runs/open-runs.ts";
import { readProviderFailure } from "../providers/call-provider.ts";
import type { Ticket } from "../providers/provider.ts";
import { deriveId } from "./ids.ts";
import { createProviderContext } from "./provider-context.ts";
import type { EnabledProvider, Services } from "./services.ts";

const BATCH = 200;
const POLL_CONCURRENCY = 16;

/** Answers how many jobs were asked about. */
export async function pollProvider(services: Services, live: EnabledProvider): Promise<number> {
  const batch = await claimJobsToPoll(services.db, live.provider.id, {
    limit: BATCH,
    everySeconds: live.provider.pollSeconds ?? 1,
  });
  const queue = [...batch];
  const worker = async () => {
    for (let next = queue.pop(); next; next = queue.pop()) await pollJob(services, live, next);
  };
  await Promise.all(Array.from({ length: Math.min(POLL_CONCURRENCY, batch.length) }, worker));
  return batch.length;
}

async function pollJob(services: Services, live: EnabledProvider, job: PollableJob): Promise<void> {
  const context = createProviderContext(services, live, job, { unreachableSeconds: job.unreachable_seconds });
  const hasEnded = await live.provider.poll(job.ticket as Ticket, context).then(
    async (progress) => {
      if (job.unreachable_seconds > 0) await setProviderUnreachable(services.db, job.run_id, false);
      if (progress.state === "done") return true;
      const progressValue = progress.progress ?? 0;
      await recordProgress(services.db, job.run_id, progressValue, deriveId(job.run_id, "progress", progressValue));
      return false;
    },
    // Whatever the provider itself said about the job, the run must hear; a question without an answer is asked again.
    async (thrown) => {
      const { kind } = readProviderFailure(thrown);
      if (kind === "unsent") await setProviderUnreachable(services.db, job.run_id, true);
      return kind === "failed" || kind === "refused" || kind === "gone";
    },
  );
  if (!hasEnded) return;
  await services.resolveWakeup(job.wakeup_id, "ended");
  await expectResumption(services.db, job.run_id);
}
