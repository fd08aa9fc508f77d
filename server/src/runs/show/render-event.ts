// Renders an event as the API returns it, with a summary of its run at the time of the event. Rendering is repeatable:
// it uses only the event and fields of the run that no longer change.

import type { Event, RunSummary } from "../../contract/schemas/events.ts";
import type { JsonObject, RunStatus } from "../../contract/schemas/run.ts";
import type { EventRow } from "../../db/event-log.ts";
import type { EventRunRow } from "../../db/runs/event-runs.ts";
import { liveStatus, type RenderDependencies, renderAsset } from "./render-run.ts";

const STATUS_BY_EVENT_TYPE: Record<string, RunStatus> = {
  "run.queued": "queued",
  "run.processing": "processing",
  "run.progress": "processing",
  "run.completed": "completed",
  "run.failed": "failed",
  "run.canceled": "canceled",
};
/** Progress of a run that has started, before the provider reports any. */
const STARTED_PROGRESS = 0.01;

export function renderEvent(services: RenderDependencies, event: EventRow, run: EventRunRow | undefined): Event {
  const status = STATUS_BY_EVENT_TYPE[event.type];
  return {
    event_id: `evt_${event.event_id}`,
    type: event.type,
    timestamp: event.created_at.toISOString(),
    data: status && run ? renderRunSummary(services, { event, run, status }) : (event.data as Event["data"]),
  };
}

function renderRunSummary(
  services: RenderDependencies,
  { event, run, status }: { event: EventRow; run: EventRunRow; status: RunStatus },
): RunSummary {
  const outputs = event.terminal ? (run.result?.outputs ?? []).map((asset) => renderAsset(services, asset)) : [];
  const urlOf = (kind: string) => outputs.find(({ media_type }) => media_type.startsWith(kind))?.url ?? null;
  return {
    run_id: run.run_id,
    status,
    live_status: liveStatus({ run_type: run.run_type, status }),
    run_type: run.run_type,
    parent_run_id: run.parent_run_id,
    end_user: run.end_user,
    customer: run.customer,
    progress: eventProgress(event, run),
    image_url: urlOf("image/"),
    video_url: urlOf("video/"),
    outputs,
    error: event.terminal ? run.error : null,
    warnings: run.warnings,
    metadata: run.metadata,
    created_at: run.created_at.toISOString(),
    updated_at: event.created_at.toISOString(),
    expires_at: event.terminal ? (run.expires_at?.toISOString() ?? null) : null,
  };
}

function eventProgress({ type, terminal, data }: EventRow, run: EventRunRow): number {
  if (terminal) return Math.round(run.progress * 1000) / 1000;
  const reportedProgress = (data as JsonObject).progress;
  if (typeof reportedProgress === "number") return Math.round(reportedProgress * 1000) / 1000;
  return type === "run.queued" ? 0 : STARTED_PROGRESS;
}

/** Rebuilds the terminal event of a run whose events have been deleted. */
export const buildEndEvent = (
  run: EventRunRow & { tenant_id: string; status: RunStatus; finished_at: Date | null },
): EventRow => ({
  ...{ xact: 0, seq: 0, event_id: run.run_id, run_id: run.run_id, tenant_id: run.tenant_id },
  ...{ type: `run.${run.status}`, data: {}, terminal: true, created_at: run.finished_at ?? run.created_at },
});
