// Admission of authenticated requests: rate limits, connection limits and load shedding. Decided before the body is
// read.
import type { Context } from "hono";
import type { z } from "zod";
import { type ConnectionLimiter, createConnectionLimiter } from "../access/limits/connection-limit.ts";
import { createRateLimiter, type RateLimitEnv, type RateLimiter } from "../access/limits/rate-limit.ts";
import { resolveStorageLimits, type StorageQuotaEnv } from "../access/limits/storage-quota.ts";
import type { Operation } from "../contract/operation.ts";
import type { Caller } from "../db/access/caller.ts";
import type { Database } from "../db/connect.ts";
import type { StorageLimits } from "../db/files/storage-usage.ts";
import type { OpenRunLimits } from "../db/runs/insert-run.ts";
import type { Clock, Random } from "../runtime/clock.ts";
import { type BodyBudget, type BodyBudgetEnv, type BodyReservation, createBodyBudget } from "./bodies/body-budget.ts";
import { createParseTurns, MIN_PACED_BYTES, type ParseTurns } from "./bodies/parse-turns.ts";
import { createLoadShedder, type LoadShedder, type LoadSheddingEnv } from "./load-shedding.ts";

export type Admission = {
  clock: Clock;
  rateLimiter: RateLimiter;
  resolveStorageLimits(caller: Caller): StorageLimits;
  waitLimiter: ConnectionLimiter;
  streamLimiter: ConnectionLimiter;
  loadShedder: LoadShedder;
  bodyBudget: BodyBudget;
  formBudget: BodyBudget;
  parseTurns: ParseTurns;
};

type Env = z.output<typeof RateLimitEnv> &
  z.output<typeof StorageQuotaEnv> &
  z.output<typeof LoadSheddingEnv> &
  z.output<typeof BodyBudgetEnv>;

export const createAdmission = (
  dependencies: { database: Database; clock: Clock; random: Random },
  env: Env,
): Admission => ({
  clock: dependencies.clock,
  rateLimiter: createRateLimiter(dependencies, env),
  resolveStorageLimits: (caller) => resolveStorageLimits(env, caller),
  waitLimiter: createConnectionLimiter({ ofAll: env.WAITERS, ofTenant: env.TENANT_WAITERS }),
  streamLimiter: createConnectionLimiter({ ofAll: env.STREAMS, ofTenant: env.TENANT_STREAMS, limitName: "streams" }),
  loadShedder: createLoadShedder(env.SHED_MS, dependencies.database.poolWaitMs, dependencies),
  bodyBudget: createBodyBudget({
    policy: "body-bytes",
    ofAll: env.BODY_MEGABYTES,
    ofTenant: env.TENANT_BODY_MEGABYTES,
  }),
  formBudget: createBodyBudget({
    policy: "form-bytes",
    ofAll: env.FORM_MEGABYTES,
    ofTenant: env.TENANT_FORM_MEGABYTES,
  }),
  parseTurns: createParseTurns(dependencies.clock),
});

/** What reading a body needs from admission. */
export type BodyAdmission = Pick<BodyReservation, "add"> & {
  clock: Pick<Clock, "after">;
  /** Counts the bytes of a form until its temporary files are deleted. */
  reserveForm(): BodyReservation;
  /** Resolves when a body of this size may be parsed. The turn lasts until `endParsing` or `endAdmission`. */
  beginParsing(bytes: number): Promise<void>;
};

/** An admitted request, with what it may consume and refund. */
export type AdmittedRequest = {
  openRunLimits: OpenRunLimits;
  consumeRunRateLimit(): Promise<void>;
  /** The request created no run. */
  refundRunRateLimit(): void;
  /** The request was a replay, which is not counted. */
  refundRequestRateLimit(): void;
  /** Counts the bytes of the body until `endAdmission`. */
  body: BodyAdmission;
  /** The body is parsed and validated. */
  endParsing(): void;
  /** Marks the request as no longer in flight for load shedding: from here on it only waits for its run. */
  endAdmission(): void;
  /** Returns a function that releases the slot, or undefined if the limit of waiting requests is reached. */
  acquireWaitSlot(): (() => void) | undefined;
  /** Returns a function that releases the slot, or undefined if the limit of open streams is reached. */
  acquireStreamSlot(): (() => void) | undefined;
};

export async function admitRequest(
  { clock, rateLimiter, waitLimiter, streamLimiter, loadShedder, bodyBudget, formBudget, parseTurns }: Admission,
  { caller, operation }: { caller: Caller; operation: Pick<Operation, "http"> },
  context: Context,
): Promise<AdmittedRequest> {
  const setHeaders = () => setRateLimitHeaders(context, rateLimiter, caller);
  const noop = () => {};
  let refundRun = noop;
  setHeaders();
  // Only requests with a body count as new work for load shedding. Reads, cancels and deletes are always admitted.
  const endLoad = operation.http.bodies === undefined ? noop : loadShedder.begin(caller.tenant_id);
  const body = bodyBudget.reserve(caller.tenant_id);
  parseTurns.recordActivity(caller.tenant_id);
  let endParsing = noop;
  const endAdmission = () => {
    endLoad();
    endParsing();
    body.release();
  };
  const refundRequest = await rateLimiter.consume(caller, "requests").catch((thrown) => {
    endAdmission();
    setHeaders();
    throw thrown;
  });
  setHeaders();
  return {
    openRunLimits: rateLimiter.openRunLimits(caller),
    async consumeRunRateLimit() {
      refundRun = await rateLimiter.consume(caller, "runs").finally(setHeaders);
    },
    refundRunRateLimit: () => {
      refundRun();
      setHeaders();
    },
    refundRequestRateLimit: () => {
      refundRequest();
      setHeaders();
    },
    body: {
      clock,
      add: body.add,
      reserveForm: () => formBudget.reserve(caller.tenant_id),
      async beginParsing(bytes) {
        if (bytes >= MIN_PACED_BYTES) endParsing = await parseTurns.begin(caller.tenant_id);
      },
    },
    endParsing: () => endParsing(),
    endAdmission,
    acquireWaitSlot: () => waitLimiter.acquire(caller),
    acquireStreamSlot: () => streamLimiter.acquire(caller),
  };
}

function setRateLimitHeaders(context: Context, rateLimiter: RateLimiter, caller: Caller): void {
  const headers = rateLimiter.headers(caller);
  if (!headers) return;
  context.header("ratelimit-policy", headers.policy);
  if (headers.left) context.header("ratelimit", headers.left);
}
