// Liveness, readiness and version endpoints. Readiness performs a real operation on each dependency. Only a dependency
// without which no request can be served makes a process unready: a load balancer would otherwise remove every process
// at once.
import { Hono } from "hono";
import type { Clock } from "../runtime/clock.ts";
import { VERSION } from "../runtime/version.ts";

type HealthCheck = () => Promise<void>;
/** `degrading`: dependencies that some requests need, such as storage. Their failure is only reported. */
export type HealthChecks = { required: Record<string, HealthCheck>; degrading: Record<string, HealthCheck> };

type CheckResult = "ok" | "failed" | "timed_out";

const REQUIRED_TIMEOUT_MS = 3000;
/** Below the usual timeout of a load balancer's probe, 1 s, because the result does not decide readiness. */
const DEGRADING_TIMEOUT_MS = 800;
/** The endpoint needs no authentication, so its calls share the operations on the dependencies. */
const CACHE_MS = 1000;

/** `isDraining`: an operator takes the process out of service. Its dependencies may all work. */
export function healthRoutes({ required, degrading }: HealthChecks, clock: Clock, isDraining = () => false): Hono {
  const app = new Hono();
  const runRequired = cacheChecks(required, clock, REQUIRED_TIMEOUT_MS);
  const runDegrading = cacheChecks(degrading, clock, DEGRADING_TIMEOUT_MS);
  app.get("/version", (context) => context.json({ version: VERSION }));
  app.get("/livez", (context) => context.json({ status: "ok" }));
  app.get("/readyz", async (context) => {
    const [requiredResults, degradingResults] = await Promise.all([runRequired(), runDegrading()]);
    const ready = isEachOk(degradingResults) ? "ok" : "degraded";
    const unready = isEachOk(requiredResults) ? "draining" : "unavailable";
    const isReady = isEachOk(requiredResults) && !isDraining();
    const checks = { ...requiredResults, ...degradingResults };
    return context.json({ status: isReady ? ready : unready, checks }, isReady ? 200 : 503);
  });
  return app;
}

const isEachOk = (results: Record<string, CheckResult>) => Object.values(results).every((result) => result === "ok");

function cacheChecks(checks: Record<string, HealthCheck>, clock: Clock, timeoutMs: number) {
  const cached = Object.entries(checks).map(([name, check]) => ({ name, run: cacheCheck(check, clock, timeoutMs) }));
  return async (): Promise<Record<string, CheckResult>> =>
    Object.fromEntries(await Promise.all(cached.map(async ({ name, run }) => [name, await run()] as const)));
}

/** Runs the check at most once at a time and once per CACHE_MS. A check that hangs is not started again beside it. */
function cacheCheck(check: HealthCheck, clock: Clock, timeoutMs: number): () => Promise<CheckResult> {
  let latest: { at: number; result: CheckResult } | undefined;
  let pending: Promise<CheckResult> | undefined;
  const start = async (): Promise<CheckResult> => {
    const result = await check().then(
      () => "ok" as const,
      () => "failed" as const,
    );
    latest = { at: clock.monotonic(), result };
    pending = undefined;
    return result;
  };
  return async () => {
    if (latest && clock.monotonic() - latest.at < CACHE_MS) return latest.result;
    pending ??= start();
    const { promise: timeout, resolve } = Promise.withResolvers<CheckResult>();
    const timer = clock.after(timeoutMs, () => resolve("timed_out")).unref();
    return Promise.race([pending, timeout]).finally(timer.stop);
  };
}
