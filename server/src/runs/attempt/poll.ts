// Polls one provider for its jobs, in batches. The runs themselves are suspended, so waiting occupies no worker however
// long a job takes.

import {
  claimJobsToPoll,
  expectResumption,
  type PollableJob,
  setProviderUnreachable,
} from "../../db/attempts/open-requests.ts";
import { recordProgress } from "../../db/runs/open-runs.ts";
import { readProviderFailure } from "../../providers/call-provider.ts";
import type { Ticket } from "../../providers/provider.ts";
import { deriveId } from "../core/ids.ts";
import type { EnabledProvider } from "../offers/provider-registry.ts";
import type { AttemptRecords } from "./attempt-dependencies.ts";

const BATCH = 200;
const POLL_CONCURRENCY = 16;

/** Returns the number of jobs that were polled. An aborted poll leaves the rest of its batch to the next poll. */
export async function pollProvider(
  services: AttemptRecords,
  enabledProvider: EnabledProvider,
  signal?: AbortSignal,
): Promise<number> {
  const batch = await claimJobsToPoll(services.database, enabledProvider.provider.id, {
    limit: BATCH,
    everySeconds: enabledProvider.provider.pollSeconds ?? 1,
  });
  const queue = [...batch];
  const worker = async () => {
    for (let next = queue.pop(); next; next = queue.pop()) {
      signal?.throwIfAborted();
      await pollJob(services, enabledProvider, next);
    }
  };
  await Promise.all(Array.from({ length: Math.min(POLL_CONCURRENCY, batch.length) }, worker));
  return batch.length;
}

async function pollJob(
  { database, providers, notifications }: AttemptRecords,
  enabledProvider: EnabledProvider,
  job: PollableJob,
): Promise<void> {
  const context = providers.createContext(enabledProvider, job, {
    unreachableSeconds: job.unreachable_seconds,
    submittedSeconds: job.submitted_seconds,
  });
  const hasEnded = await enabledProvider.provider.poll(job.ticket as Ticket, context).then(
    async (state) => {
      if (job.unreachable_seconds > 0) await setProviderUnreachable(database, job, false);
      if (state.state === "done") return true;
      const progress = state.progress ?? 0;
      await recordProgress(database, job.run_id, progress, deriveId(job.run_id, "progress", progress));
      return false;
    },
    // A failure that the provider reported ends the job, so the run must read it. A failed request is polled again.
    async (thrown) => {
      const { kind } = readProviderFailure(thrown);
      if (kind === "unsent") await setProviderUnreachable(database, job, true);
      return kind === "failed" || kind === "refused" || kind === "gone";
    },
  );
  if (!hasEnded) return;
  await notifications.resolveWakeup(job.wakeup_id, "ended");
  await expectResumption(database, job);
}
