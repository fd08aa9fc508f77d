// Handles a notification that a provider pushes over its open connection. It is only a trigger: progress is recorded,
// and a run whose job has ended is woken to read the result from the provider itself.
import { expectResumption, findRunByTicket, recordProgress } from "../db/runs/open-runs.ts";
import type { JobNotification } from "../providers/provider.ts";
import { deriveId } from "./ids.ts";
import type { Services } from "./services.ts";

export async function handleJobNotification(
  { database, notifications }: Pick<Services, "database" | "notifications">,
  provider: string,
  notification: JobNotification,
): Promise<void> {
  const run = await findRunByTicket(database, provider, notification.name, notification.value);
  if (!run) return;
  const { progress } = notification;
  if (progress !== undefined)
    await recordProgress(database, run.run_id, progress, deriveId(run.run_id, "progress", progress));
  if (!notification.ended || !run.wakeup_id) return;
  await notifications.resolveWakeup(run.wakeup_id, "ended");
  await expectResumption(database, run.run_id);
}
