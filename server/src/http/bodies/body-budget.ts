// Bounds the bytes of bodies that a process holds at a time, of one tenant and of all tenants together: JSON in memory,
// and forms in temporary files. Many large bodies at once are refused one by one instead of exhausting memory or disk.
import { z } from "zod";
import { Fault } from "../../faults/faults.ts";

const MEGABYTE = 1024 * 1024;
const RETRY_SECONDS = 1;

/** The largest body that is accepted, in megabytes: an inline image, and a form of 12 files. */
const [LARGEST_JSON, LARGEST_FORM] = [36, 303];
const megabytes = (least: number, value: number, description: string) =>
  z.coerce.number().min(least).default(value).describe(description);

export const BodyBudgetEnv = z.object({
  BODY_MEGABYTES: megabytes(
    LARGEST_JSON,
    512,
    "JSON bodies in memory at a time, per process, in megabytes; further ones get 429",
  ),
  TENANT_BODY_MEGABYTES: megabytes(
    LARGEST_JSON,
    256,
    "JSON bodies of one tenant in memory at a time, per process, in megabytes",
  ),
  FORM_MEGABYTES: megabytes(
    LARGEST_FORM,
    768,
    "Forms in temporary files at a time, per process, in megabytes; further ones get 429. The temporary folder needs as much space",
  ),
  TENANT_FORM_MEGABYTES: megabytes(
    LARGEST_FORM,
    512,
    "Forms of one tenant in temporary files at a time, per process, in megabytes",
  ),
});

export type BodyReservation = {
  /**
   * Counts bytes that arrived. Returns a fault if they exceed a limit; the reservation is then released. What arrives
   * after a release is discarded by the caller and counts no longer.
   */
  add(bytes: number): Fault | undefined;
  /** Idempotent. */
  release(): void;
};
export type BodyBudget = { reserve(tenantId: string): BodyReservation };

type BudgetLimits = { policy: "body-bytes" | "form-bytes"; ofAll: number; ofTenant: number };

/** The limits are in megabytes. */
export function createBodyBudget({ policy, ofAll, ofTenant }: BudgetLimits): BodyBudget {
  const bytesByTenant = new Map<string, number>();
  let total = 0;
  const change = (tenantId: string, bytes: number) => {
    total += bytes;
    const own = (bytesByTenant.get(tenantId) ?? 0) + bytes;
    if (own === 0) bytesByTenant.delete(tenantId);
    else bytesByTenant.set(tenantId, own);
  };
  return {
    reserve(tenantId) {
      let reserved = 0;
      let isReleased = false;
      const release = () => {
        change(tenantId, -reserved);
        reserved = 0;
        isReleased = true;
      };
      return {
        add(bytes) {
          if (isReleased) return undefined;
          reserved += bytes;
          change(tenantId, bytes);
          const isWithin = total <= ofAll * MEGABYTE && bytesByTenant.get(tenantId)! <= ofTenant * MEGABYTE;
          if (isWithin) return undefined;
          release();
          return new Fault("rate_limited", { policy, retry_after: RETRY_SECONDS });
        },
        release,
      };
    },
  };
}
