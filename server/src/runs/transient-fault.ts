// Faults that a later try may not meet: a dependency is unavailable, or something failed that no request caused.
import { Fault, type FaultCode } from "../faults.ts";

const TRANSIENT_FAULTS: readonly FaultCode[] = [
  "dependency_unavailable",
  "asset_unavailable",
  "storage_failed",
  "internal_error",
];

/** Any thrown value that is no fault counts as transient. */
export const isTransient = (thrown: unknown): boolean =>
  !(thrown instanceof Fault) || TRANSIENT_FAULTS.includes(thrown.code);
