// Responds with the image of a run instead of JSON.

import type { Context } from "hono";
import type { RunRow } from "../../db/runs/runs.ts";
import { Fault, type FaultCode, faults } from "../../faults/faults.ts";
import { type DownloadDependencies, openAsset } from "../../library/asset-download.ts";
import { isRunOpen } from "../../runs/show/render-run.ts";
import { FILE_SECURITY_HEADERS } from "./files.ts";

/** Throws sync_timeout if the run is still open, because there is no image to return; the run continues. */
export async function respondWithImage(
  context: Context,
  services: DownloadDependencies,
  row: RunRow,
): Promise<Response> {
  if (isRunOpen(row)) throw new Fault("sync_timeout", { run_id: row.run_id });
  const [output] = row.result?.outputs ?? [];
  if (!output) throw row.status === "completed" ? nothingFoundFault(row) : faultOfFailedRun(row);
  const file = await openAsset(services, output.asset_id);
  const headers = {
    "content-type": file.media_type,
    "content-length": String(file.size_bytes),
    etag: file.etag,
    ...FILE_SECURITY_HEADERS,
  };
  return context.body((await file.read()) as ReadableStream, 200, headers);
}

/** A run completes without an image if the requested object is not in the source image. */
const nothingFoundFault = (row: RunRow) =>
  new Fault("provider_rejected_input", { reason: "nothing_found", run_id: row.run_id });

/** The error of a failed run, with its run_id in the details. */
export function faultOfFailedRun(row: RunRow): Fault {
  const code = row.status === "canceled" ? "run_canceled" : row.error?.code;
  const details = { ...row.error?.details, run_id: row.run_id };
  return new Fault(code && code in faults ? (code as FaultCode) : "internal_error", details);
}
