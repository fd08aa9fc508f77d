// What stands between a caller who is known and the operation: how much they may ask for, and whether there is room for new
// work at all. Everything here is decided before the body is read.
import type { Context } from "hono";
import type { z } from "zod";
import { createRates, type Rates, type RatesEnv } from "../access/limits.ts";
import { createWaiters, type Waiters } from "../access/limits-waiters.ts";
import type { Database } from "../db/connect.ts";
import type { Caller, MostOpen } from "../db/runs.ts";
import type { Operation } from "../kit/operation.ts";
import { createPressure, type Pressure, type PressureEnv } from "./pressure.ts";

export type Admission = { rates: Rates; waiters: Waiters; streams: Waiters; pressure: Pressure };

type Env = z.output<typeof RatesEnv> & z.output<typeof PressureEnv>;

export const createAdmission = (db: Database, env: Env): Admission => ({
  rates: createRates(db, env),
  waiters: createWaiters({ ofAll: env.WAITERS, ofTenant: env.TENANT_WAITERS }),
  streams: createWaiters({ ofAll: env.STREAMS, ofTenant: env.TENANT_STREAMS, figure: "streams" }),
  pressure: createPressure(env.SHED_MS, db.waitMs),
});

/** A request that was let in. */
export type Entry = {
  mostOpen: MostOpen;
  countRun(): Promise<void>;
  /** No run was made of it. */
  uncountRun(): void;
  /** It was a replay: nothing of it counts. */
  uncount(): void;
  /** It has been taken in; what may follow is only waiting. */
  leave(): void;
  /** A place to wait in, or nothing where all are taken. */
  mayWait(): (() => void) | undefined;
  /** A place to hold a stream open in, or nothing where all are taken. */
  mayStream(): (() => void) | undefined;
};

export async function enter(
  { rates, waiters, streams, pressure }: Admission,
  { caller, operation }: { caller: Caller; operation: Operation },
  context: Context,
): Promise<Entry> {
  const tell = () => tellRates(context, rates, caller);
  const nothing = () => {};
  let uncountRun = nothing;
  tell();
  // Who brings a body brings work. Reading, canceling and deleting go on under any pressure.
  const leave = operation.http.bodies === undefined ? nothing : pressure.enter(caller.tenant_id);
  const uncountRequest = await rates.take(caller, "requests").catch((thrown) => {
    leave();
    tell();
    throw thrown;
  });
  tell();
  return {
    mostOpen: rates.openRunsOf(caller),
    async countRun() {
      uncountRun = await rates.take(caller, "runs").finally(tell);
    },
    uncountRun: () => {
      uncountRun();
      tell();
    },
    uncount: () => {
      uncountRequest();
      tell();
    },
    leave,
    mayWait: () => waiters.enter(caller),
    mayStream: () => streams.enter(caller),
  };
}

function tellRates(context: Context, rates: Rates, caller: Caller): void {
  const headers = rates.headers(caller);
  if (!headers) return;
  context.header("ratelimit-policy", headers.policy);
  if (headers.left) context.header("ratelimit", headers.left);
}
