// Bounds the bytes of JSON bodies that are in memory at a time, of one tenant and of all tenants together. Many large
// bodies at once are refused one by one instead of exhausting the memory of the process.
import { z } from "zod";
import { Fault } from "../faults.ts";

const MEGABYTE = 1024 * 1024;
const RETRY_SECONDS = 1;

const megabytes = (value: number, description: string) =>
  z.coerce.number().min(36).default(value).describe(description);

export const BodyBudgetEnv = z.object({
  BODY_MEGABYTES: megabytes(512, "JSON bodies in memory at a time, per process, in megabytes; further ones get 429"),
  TENANT_BODY_MEGABYTES: megabytes(256, "JSON bodies of one tenant in memory at a time, per process, in megabytes"),
});

export type BodyReservation = {
  /** Counts bytes that arrived. Returns a fault if they exceed a limit; the reservation is then released. */
  add(bytes: number): Fault | undefined;
  /** Idempotent. */
  release(): void;
};
export type BodyBudget = { reserve(tenantId: string): BodyReservation };

export function createBodyBudget(env: z.output<typeof BodyBudgetEnv>): BodyBudget {
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
      const release = () => {
        change(tenantId, -reserved);
        reserved = 0;
      };
      return {
        add(bytes) {
          reserved += bytes;
          change(tenantId, bytes);
          const isWithin =
            total <= env.BODY_MEGABYTES * MEGABYTE &&
            bytesByTenant.get(tenantId)! <= env.TENANT_BODY_MEGABYTES * MEGABYTE;
          if (isWithin) return undefined;
          release();
          return new Fault("rate_limited", { policy: "body-bytes", retry_after: RETRY_SECONDS });
        },
        release,
      };
    },
  };
}
