// The answer that is the picture itself.
import type { Context } from "hono";
import type { RunRow } from "../db/runs/runs.ts";
import { Fault, type FaultCode, faults } from "../faults.ts";
import { openAsset } from "../library/asset-download.ts";
import { isRunOpen } from "../runs/render-run.ts";
import type { Services } from "../runs/services.ts";
import { FILE_SECURITY_HEADERS } from "./files.ts";

/** Out of time is an error here, because no picture can be answered; the run goes on. */
export async function respondWithImage(context: Context, house: Services, row: RunRow): Promise<Response> {
  if (isRunOpen(row)) throw new Fault("sync_timeout", { run_id: row.run_id });
  const [output] = row.result?.outputs ?? [];
  if (!output) throw row.status === "completed" ? nothingFoundFault(row) : faultOfFailedRun(row);
  const file = await openAsset(house, output.asset_id);
  const headers = {
    "content-type": file.media_type,
    "content-length": String(file.size_bytes),
    etag: file.etag,
    ...FILE_SECURITY_HEADERS,
    "cache-control": "private, no-store",
  };
  return context.body((await file.read()) as ReadableStream, 200, headers);
}

/** A run may well complete without a picture: what the caller asked for is not in the image. */
const nothingFoundFault = (row: RunRow) =>
  new Fault("provider_rejected_input", { reason: "nothing_found", run_id: row.run_id });

/** A failed run as an error: the code it ended with, and which run it was. */
export function faultOfFailedRun(row: RunRow): Fault {
  const code = row.status === "canceled" ? "run_canceled" : row.error?.code;
  const details = { ...row.error?.details, run_id: row.run_id };
  return new Fault(code && code in faults ? (code as FaultCode) : "internal_error", details);
}
