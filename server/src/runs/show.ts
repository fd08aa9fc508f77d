// A run as callers see it: the names of the interface, addresses made anew at each read, nothing private.
import type { AttemptHistory } from "../db/attempts.ts";
import type { KeptAsset, RunRow } from "../db/runs.ts";
import type { RunResult } from "../kit/operation.ts";
import type { Attempt, Run } from "../kit/shapes.ts";
import type { House } from "./house.ts";

const UPLOADS = ["upload", "mask-upload"];

type Signer = Pick<House, "assetUrl">;

export const showFile = (house: Signer, asset: KeptAsset) => ({
  ...asset,
  url: house.assetUrl(asset.asset_id, asset.media_type),
});

/** What a run made beyond the Run shape, for operations that answer in a shape of their own. */
export function showResult(house: Signer, row: RunRow): RunResult {
  const jobs = row.result?.jobs ?? (row.result ? [row.result.outputs] : []);
  return { jobs: jobs.map((files) => files.map((file) => showFile(house, file))), data: row.result?.data ?? null };
}

export const liveStatus = ({ run_type, status }: Pick<RunRow, "run_type" | "status">): Run["live_status"] =>
  UPLOADS.includes(run_type) ? null : status === "queued" ? "pending" : status;

export function showRun(house: Signer, row: RunRow): Run {
  const outputs = (row.result?.outputs ?? []).map((asset) => showFile(house, asset));
  const urls = (kind: string) => outputs.filter((each) => each.media_type.startsWith(kind)).map((each) => each.url);
  const images = urls("image/");
  return {
    run_id: row.run_id,
    user_id: row.user_id,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    image_url: images[0] ?? null,
    image_urls: images,
    video_url: urls("video/")[0] ?? null,
    outputs,
    result: row.result?.data ?? null,
    inputs: row.inputs,
    live_status: liveStatus(row),
    status: row.status,
    progress: Math.round(row.progress * 1000) / 1000,
    phase: row.phase,
    queue_position: null,
    run_type: row.run_type,
    parent_run_id: row.parent_run_id,
    model: row.model,
    provider: row.provider,
    cost: row.cost,
    warnings: row.warnings,
    metadata: row.metadata,
    error: row.error,
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
  };
}

export const showAttempt = ({ fault, created_at, finished_at, ...attempt }: AttemptHistory): Attempt => ({
  ...attempt,
  error: fault,
  created_at: created_at.toISOString(),
  finished_at: finished_at?.toISOString() ?? null,
});

export const isOpen = (run: { status: string }) => run.status === "queued" || run.status === "processing";
