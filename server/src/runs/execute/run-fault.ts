// Error codes that a run may end with. The list is short and closed, so that clients can branch on it; the original
// code is in details.reason.
import { Fault, type FaultCode } from "../../faults/faults.ts";

const RUN_FAULT_CODES: ReadonlySet<FaultCode> = new Set<FaultCode>([
  ...(["provider_error", "provider_rejected_input", "provider_timeout", "provider_output_invalid"] as const),
  ...(["provider_outcome_unknown", "storage_failed", "run_timeout", "canceled_by_user"] as const),
  ...(["source_fetch_failed", "source_too_large", "content_refused", "model_not_found"] as const),
]);

/** Source images that cannot be used or may not be fetched. */
const SOURCE_FAULT_CODES: ReadonlySet<FaultCode> = new Set<FaultCode>([
  ...(["url_not_allowed", "unsupported_image_format", "image_undecodable", "image_too_small"] as const),
  ...([
    "image_too_many_pixels",
    "image_animated_not_supported",
    "source_run_failed",
    "run_deleted",
    "asset_expired",
  ] as const),
]);

/** Converts any fault to one that a run may end with. */
export function toRunFault(fault: Fault): Fault {
  if (RUN_FAULT_CODES.has(fault.code)) return fault;
  const details = { ...fault.details, retryable: false, reason: fault.code };
  if (SOURCE_FAULT_CODES.has(fault.code)) return new Fault("source_fetch_failed", details, { cause: fault });
  if (fault.code === "mask_mismatch") return new Fault("provider_rejected_input", details, { cause: fault });
  return new Fault("provider_error", {}, { cause: fault });
}
