// Reports this worker to operators and drains it when they ask: it gives up its duties, then readiness, then its
// connections. Executions in progress end here; the engine sends all others to other workers.

import { deleteSilentWorkers, deleteWorker, reportWorker, type WorkerReport } from "../db/admin/workers.ts";
import type { Database } from "../db/connect.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { DatabaseSteadiness } from "../runs/ownership/database-steadiness.ts";
import { observeDatabase } from "../runs/ownership/observe-database.ts";
import { startLoop } from "./loop.ts";
import type { WorkerDeployment } from "./worker-deployment.ts";
import type { WorkerEndpoint } from "./worker-endpoint.ts";

const REPORT_MS = 1000;
/** Between the loss of readiness and that of connections, so that load balancers choose other workers first. */
const UNREADY_MS = 3000;

export type WorkerControl = {
  isReady(): boolean;
  /** Stops reporting, ends a drain in progress, and removes the worker from the list. */
  stop(): Promise<void>;
};

/** The dispatcher and the duties of a worker. Both functions are idempotent. */
export type WorkerActivity = { start(): Promise<void>; stop(): Promise<void> };
export type WorkerParts = { activity: WorkerActivity; deployment: WorkerDeployment; endpoint: WorkerEndpoint };
type WorkerIdentity = Omit<WorkerReport, "state" | "runs">;

export async function startWorkerControl(
  services: Pick<Runtime, "clock" | "ids" | "log"> & { database: Database; steadiness: DatabaseSteadiness },
  identity: WorkerIdentity,
  { activity, deployment, endpoint }: WorkerParts,
): Promise<WorkerControl> {
  const { database, clock, log } = services;
  let drain: { abort: AbortController; ended: Promise<void> } | undefined;
  let isReady = true;

  const stopServing = async (signal: AbortSignal) => {
    log.info({ worker_id: identity.worker_id }, "an operator drains this worker");
    await activity.stop();
    // The last worker of a version stays ready until its runs have ended: only it can continue them.
    await deployment.drain(Number.POSITIVE_INFINITY, signal);
    signal.throwIfAborted();
    isReady = false;
    await clock.sleep(UNREADY_MS, signal);
    endpoint.refuse();
  };
  const startDrain = () => {
    const abort = new AbortController();
    const ended = stopServing(abort.signal).catch((thrown) => {
      if (abort.signal.aborted) return;
      log.warn({ err: thrown }, "draining this worker failed; it tries again");
      drain = undefined;
    });
    drain = { abort, ended };
  };
  const endDrain = async () => {
    drain?.abort.abort();
    await drain?.ended;
  };
  const serveAgain = async () => {
    await endDrain();
    await endpoint.open();
    await deployment.resume();
    await activity.start();
    isReady = true;
    drain = undefined;
    log.info({ worker_id: identity.worker_id }, "this worker serves again");
  };
  const report = async () => {
    const state = drain === undefined ? "serving" : endpoint.hasEnded() ? "drained" : "draining";
    const sentAt = clock.monotonic();
    const answer = await reportWorker(database, { ...identity, state, runs: endpoint.countRuns() });
    await observeDatabase(services, { ...answer, sentAt });
    if (answer.is_paused && !drain) startDrain();
    if (!answer.is_paused && drain) await serveAgain();
    return false;
  };

  await deleteSilentWorkers(database);
  await report();
  const loop = startLoop({ clock, log }, "worker.control", REPORT_MS, report);
  return {
    isReady: () => isReady,
    async stop() {
      await loop.stop();
      await endDrain();
      await deleteWorker(database, identity.worker_id);
    },
  };
}
