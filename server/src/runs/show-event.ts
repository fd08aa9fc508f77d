// An event as callers see it: the run in short, as it stood then. It comes out the same whenever it is told, because it is
// made of what the event holds and of what never changes about its run.
import type { EventRow, EventRun } from "../db/events.ts";
import type { Json, Status } from "../kit/shapes.ts";
import type { Event, RunInShort } from "../kit/shapes-events.ts";
import type { House } from "./house.ts";
import { liveStatus, showFile } from "./show.ts";

const STATUS: Record<string, Status> = {
  "run.queued": "queued",
  "run.processing": "processing",
  "run.progress": "processing",
  "run.completed": "completed",
  "run.failed": "failed",
  "run.canceled": "canceled",
};
/** Where a run stands when it begins, before a provider has said anything. */
const BEGUN = 0.01;

export function showEvent(house: Pick<House, "assetUrl">, event: EventRow, run: EventRun | undefined): Event {
  const status = STATUS[event.type];
  return {
    event_id: `evt_${event.event_id}`,
    type: event.type,
    timestamp: event.created_at.toISOString(),
    data: status && run ? inShort(house, { event, run, status }) : (event.data as Event["data"]),
  };
}

function inShort(
  house: Pick<House, "assetUrl">,
  { event, run, status }: { event: EventRow; run: EventRun; status: Status },
): RunInShort {
  const outputs = event.terminal ? (run.result?.outputs ?? []).map((asset) => showFile(house, asset)) : [];
  const urlOf = (kind: string) => outputs.find(({ media_type }) => media_type.startsWith(kind))?.url ?? null;
  return {
    run_id: run.run_id,
    status,
    live_status: liveStatus({ run_type: run.run_type, status }),
    run_type: run.run_type,
    parent_run_id: run.parent_run_id,
    progress: progressOf(event, run),
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

function progressOf({ type, terminal, data }: EventRow, run: EventRun): number {
  if (terminal) return Math.round(run.progress * 1000) / 1000;
  const told = (data as Json).progress;
  if (typeof told === "number") return Math.round(told * 1000) / 1000;
  return type === "run.queued" ? 0 : BEGUN;
}

/** The end of a run whose events are no longer kept, as if it were told now. */
export const endOf = (run: EventRun & { tenant_id: string; status: Status; finished_at: Date | null }): EventRow => ({
  ...{ xact: 0, seq: 0, event_id: run.run_id, run_id: run.run_id, tenant_id: run.tenant_id },
  ...{ type: `run.${run.status}`, data: {}, terminal: true, created_at: run.finished_at ?? run.created_at },
});
