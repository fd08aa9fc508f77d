// A provider tells its own news of a job over a line that is kept open. It is only a reason to look: progress is noted, and
// a run whose job has ended is woken to read the truth itself.
import { expectResumption, findRunByTicket, recordProgress } from "../db/runs/open-runs.ts";
import type { JobNotification } from "../providers/provider.ts";
import { deriveId } from "./ids.ts";
import type { Services } from "./services.ts";

export async function handleJobNotification(
  services: Services,
  provider: string,
  notification: JobNotification,
): Promise<void> {
  const run = await findRunByTicket(services.db, provider, notification.name, notification.value);
  if (!run) return;
  if (notification.progress !== undefined) {
    await recordProgress(
      services.db,
      run.run_id,
      notification.progress,
      deriveId(run.run_id, "progress", notification.progress),
    );
  }
  if (!notification.ended || !run.wakeup_id) return;
  await services.resolveWakeup(run.wakeup_id, "ended");
  await expectResumption(services.db, run.run_id);
}
