// Renders a run as the API returns it. URLs are signed at each read.

import type { RunResult } from "../../contract/operation.ts";
import type { Attempt, JsonObject, Run, RunOutput } from "../../contract/schemas/run.ts";
import type { AttemptHistoryRow } from "../../db/attempts/attempt-history.ts";
import type { RunRow } from "../../db/runs/runs.ts";
import type { StoredAsset } from "../../db/typed-columns.ts";
import type { AssetStore } from "../../files/storage/asset-store.ts";
import { runOperations } from "../../operations/all-runs.ts";

const THUMBNAIL_TYPE = "image/webp";
const UPLOAD_RUN_TYPES = ["upload", "mask-upload"];

/** What renders a run: the store signs the URLs of its files. */
export type RenderDependencies = { assets: Pick<AssetStore, "signUrl"> };

export const renderAsset = (
  services: RenderDependencies,
  { thumbnails, thumbhash, provenance, ...asset }: StoredAsset,
) => ({
  ...asset,
  url: services.assets.signUrl(asset.asset_id, asset.media_type),
  thumbnails: renderThumbnails(services, thumbnails),
  thumbhash: thumbhash ?? null,
  provenance: provenance ? { manifest_hash: null, ...provenance } : null,
});

export const renderThumbnails = (
  { assets }: RenderDependencies,
  thumbnails: StoredAsset["thumbnails"],
): RunOutput["thumbnails"] =>
  thumbnails
    ? {
        small: assets.signUrl(thumbnails.small, THUMBNAIL_TYPE),
        large: assets.signUrl(thumbnails.large, THUMBNAIL_TYPE),
      }
    : null;

/** The results of every job, for operations with their own response format. */
export function renderRunResult(services: RenderDependencies, row: RunRow): RunResult {
  const jobs = row.result?.jobs ?? (row.result ? [row.result.outputs] : []);
  return {
    jobs: jobs.map((files) => files.map((file) => renderAsset(services, file))),
    data: row.result?.data ?? null,
  };
}

const RESULT_RENDERERS = new Map(
  runOperations.flatMap(({ run_type, renderResult }) => (run_type && renderResult ? [[run_type, renderResult]] : [])),
);

const renderResult = (services: RenderDependencies, row: RunRow): JsonObject | null =>
  RESULT_RENDERERS.get(row.run_type)?.(row.inputs, renderRunResult(services, row)) ?? row.result?.data ?? null;

export const liveStatus = ({ run_type, status }: Pick<RunRow, "run_type" | "status">): Run["live_status"] =>
  UPLOAD_RUN_TYPES.includes(run_type) ? null : status === "queued" ? "pending" : status;

/** The fields that the caller set. `metadata` and whom the run counts for are columns of their own. */
export function selectGiven({ given_fields, inputs, deleted_at, ...row }: RunRow): JsonObject | null {
  if (given_fields === null || deleted_at) return null;
  const { metadata, end_user, customer, cost_tags } = row;
  const values: JsonObject = { ...inputs, metadata, end_user, customer, tags: cost_tags ?? [] };
  return Object.fromEntries(given_fields.filter((field) => field in values).map((field) => [field, values[field]]));
}

export function renderRun(services: RenderDependencies, row: RunRow): Run {
  const outputs = (row.result?.outputs ?? []).map((asset) => renderAsset(services, asset));
  const urls = (kind: string) => outputs.filter((each) => each.media_type.startsWith(kind)).map((each) => each.url);
  const images = urls("image/");
  return {
    run_id: row.run_id,
    user_id: row.user_id,
    end_user: row.end_user,
    customer: row.customer,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    image_url: images[0] ?? null,
    image_urls: images,
    video_url: urls("video/")[0] ?? null,
    outputs,
    result: renderResult(services, row),
    inputs: row.inputs,
    given: selectGiven(row),
    live_status: liveStatus(row),
    status: row.status,
    progress: Math.round(row.progress * 1000) / 1000,
    phase: row.phase,
    queue_position: null,
    operation: row.operation,
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

export const renderAttempt = ({
  request_index,
  attempt_number,
  fault,
  created_at,
  finished_at,
  ...attempt
}: AttemptHistoryRow): Attempt => ({
  ...attempt,
  job: request_index,
  try: attempt_number,
  error: fault,
  created_at: created_at.toISOString(),
  finished_at: finished_at?.toISOString() ?? null,
});

export const isRunOpen = (run: { status: string }) => run.status === "queued" || run.status === "processing";
