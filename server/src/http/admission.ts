// What stands between a caller who is known and the operation: how much they may ask for, and whether there is room for new
// work at all. Everything here is decided before the body is read.
import type { Context } from "hono";
import type { z } from "zod";
import { type ConnectionLimiter, createConnectionLimiter } from "../access/connection-limit.ts";
import { createRateLimiter, type RateLimitEnv, type RateLimiter } from "../access/rate-limit.ts";
import type { Database } from "../db/connect.ts";
import type { Caller, OpenRunLimits } from "../db/runs/runs.ts";
import type { Operation } from "../kit/operation.ts";
import { createLoadShedder, type LoadShedder, type LoadSheddingEnv } from "./load-shedding.ts";

export type Admission = {
  rateLimiter: RateLimiter;
  waiters: ConnectionLimiter;
  streams: ConnectionLimiter;
  loadShedder: LoadShedder;
};

type Env = z.output<typeof RateLimitEnv> & z.output<typeof LoadSheddingEnv>;

export const createAdmission = (db: Database, env: Env): Admission => ({
  rateLimiter: createRateLimiter(db, env),
  waiters: createConnectionLimiter({ ofAll: env.WAITERS, ofTenant: env.TENANT_WAITERS }),
  streams: createConnectionLimiter({ ofAll: env.STREAMS, ofTenant: env.TENANT_STREAMS, limitName: "streams" }),
  loadShedder: createLoadShedder(env.SHED_MS, db.poolWaitMs),
});

/** A request that was let in. */
export type AdmittedRequest = {
  openRunLimits: OpenRunLimits;
  consumeRunRateLimit(): Promise<void>;
  /** No run was made of it. */
  refundRunRateLimit(): void;
  /** It was a replay: nothing of it counts. */
  refundRequestRateLimit(): void;
  /** Marks the request as no longer in flight for load shedding: from here on it only waits for its run. */
  endAdmission(): void;
  /** A place to wait in, or nothing where all are taken. */
  acquireWaitSlot(): (() => void) | undefined;
  /** A place to hold a stream open in, or nothing where all are taken. */
  acquireStreamSlot(): (() => void) | undefined;
};

export async function admitRequest(
  { rateLimiter: rates, waiters, streams, loadShedder: pressure }: Admission,
  { caller, operation }: { caller: Caller; operation: Operation },
  context: Context,
): Promise<AdmittedRequest> {
  const tell = () => setRateLimitHeaders(context, rates, caller);
  const nothing = () => {};
  let uncountRun = nothing;
  tell();
  // Only requests with a body count as new work for load shedding. Reads, cancels and deletes are always admitted.
  const leave = operation.http.bodies === undefined ? nothing : pressure.begin(caller.tenant_id);
  const uncountRequest = await rates.consume(caller, "requests").catch((thrown) => {
    leave();
    tell();
    throw thrown;
  });
  tell();
  return {
    openRunLimits: rates.openRunLimits(caller),
    async consumeRunRateLimit() {
      uncountRun = await rates.consume(caller, "runs").finally(tell);
    },
    refundRunRateLimit: () => {
      uncountRun();
      tell();
    },
    refundRequestRateLimit: () => {
      uncountRequest();
      tell();
    },
    endAdmission: leave,
    acquireWaitSlot: () => waiters.acquire(caller),
    acquireStreamSlot: () => streams.acquire(caller),
  };
}

function setRateLimitHeaders(context: Context, rates: RateLimiter, caller: Caller): void {
  const headers = rates.headers(caller);
  if (!headers) return;
  context.header("ratelimit-policy", headers.policy);
  if (headers.left) context.header("ratelimit", headers.left);
}
