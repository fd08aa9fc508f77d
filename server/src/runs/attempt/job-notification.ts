// Handles a notification that a provider pushes over its open connection. It is only a trigger: progress is recorded,
// and a run whose job has ended is woken to read the result from the provider itself.

import { expectResumption, findRequestByTicket } from "../../db/attempts/open-requests.ts";
import { recordProgress } from "../../db/runs/open-runs.ts";
import type { JobNotification } from "../../providers/provider.ts";
import { deriveId } from "../core/ids.ts";
import type { AttemptRecords } from "./attempt-dependencies.ts";

export async function handleJobNotification(
  { database, notifications }: Omit<AttemptRecords, "providers">,
  provider: string,
  notification: JobNotification,
): Promise<void> {
  const request = await findRequestByTicket(database, provider, notification.name, notification.value);
  if (!request) return;
  const { progress } = notification;
  if (progress !== undefined)
    await recordProgress(database, request.run_id, progress, deriveId(request.run_id, "progress", progress));
  if (!notification.ended || !request.wakeup_id) return;
  await notifications.resolveWakeup(request.wakeup_id, "ended");
  await expectResumption(database, request);
}
