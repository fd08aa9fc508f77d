// A worker process: serves the steps of runs and deliveries to the engine, dispatches queued runs and performs its
// share of the background duties. On shutdown it finishes the steps in flight.

import { hostname } from "node:os";
import * as restate from "@restatedev/restate-sdk";
import type { Database } from "../db/connect.ts";
import { releaseLeases } from "../db/leases.ts";
import { runSteps, type StepDependencies } from "../runs/execute/run-steps.ts";
import { longestSynchronousSeconds } from "../runs/offers/provider-registry.ts";
import { SUSPECTS_INTERVAL_MS } from "../runs/ownership/suspect-runs.ts";
import type { WebhookServices } from "../webhooks/webhook-service.ts";
import { startDispatcher } from "./dispatcher.ts";
import { type DutyDependencies, startDuties } from "./duties.ts";
import { createEngineAdmin } from "./engine-admin.ts";
import type { EngineClient } from "./engine-client.ts";
import { createInFlightSteps } from "./in-flight-steps.ts";
import { type Loop, startLoop } from "./loop.ts";
import { engineIncarnationService, runService } from "./run-service.ts";
import { webhookDeliveryService } from "./webhook-delivery-service.ts";
import { startWebhookDuties } from "./webhook-duties.ts";
import { startWorkerControl, type WorkerActivity } from "./worker-control.ts";
import { computeBuildId, startWorkerDeployment } from "./worker-deployment.ts";
import { createWorkerEndpoint } from "./worker-endpoint.ts";

/** Time to store the response of the last provider request. */
const DRAIN_MARGIN_SECONDS = 5;

export type WorkerSettings = {
  version: string;
  host: string;
  port: number;
  url: string;
  adminUrl: string;
  drainSeconds: number;
  identityKeys: string[];
};
export type WorkerDependencies = { steps: StepDependencies; duties: DutyDependencies; webhooks: WebhookServices };
export type EngineWorker = {
  /** False while an operator drains the worker and it takes no new runs. */
  isReady(): boolean;
  stop(): Promise<void>;
};

export async function startWorker(
  { steps, duties: services, webhooks: webhookServices }: WorkerDependencies,
  engineClient: EngineClient,
  settings: WorkerSettings,
): Promise<EngineWorker> {
  // Fails at start, not at the first paid response.
  services.spool.id();
  await services.inFlight.listen();
  const inFlightSteps = createInFlightSteps(services.clock);
  const handler = restate.createEndpointHandler({
    services: [
      runService(runSteps(steps), inFlightSteps, services.tracing),
      webhookDeliveryService(webhookServices, inFlightSteps),
      engineIncarnationService,
    ],
    // Requests without a signature of the engine are refused: their sender would control runs and prices.
    identityKeys: settings.identityKeys,
    logger: (meta, ...parts) => {
      if (meta.level === "error")
        services.log.warn(
          { invocation: meta.context?.invocationId, err: parts.find((part) => part instanceof Error) },
          parts.filter((part) => typeof part === "string").join(" "),
        );
    },
  });
  // Before the engine can send runs: this worker then knows those that have killed others.
  await services.suspects.update().catch((thrown) => services.log.warn({ err: thrown }, "reading suspect runs failed"));
  const suspectLoop = startLoop(services, "suspects", SUSPECTS_INTERVAL_MS, async () => {
    await services.suspects.update();
    return false;
  });
  const buildPath = `/v/${computeBuildId()}`;
  const endpoint = createWorkerEndpoint(settings, buildPath, handler);
  await endpoint.open();

  const admin = createEngineAdmin(settings.adminUrl);
  const uri = `${settings.url.replace(/\/$/, "")}${buildPath}`;
  const deployment = await startWorkerDeployment(services, admin, uri);
  const workerId = services.ids.next();
  const activity = createWorkerActivity(services.database, workerId, async () => [
    await startDispatcher(services, engineClient, workerId),
    startDuties(services, { client: engineClient, admin }, workerId, deployment.register),
    startWebhookDuties(webhookServices, engineClient, workerId),
  ]);
  await activity.start();
  const identity = { worker_id: workerId, host: hostname(), version: settings.version, url: uri };
  const control = await startWorkerControl(services, identity, { activity, deployment, endpoint });

  return {
    isReady: control.isReady,
    async stop() {
      await control
        .stop()
        .catch((thrown) => services.log.warn({ err: thrown }, "removing the worker from the list failed"));
      await activity.stop();
      // A worker that an operator has drained has waited already.
      if (endpoint.isOpen())
        await deployment
          .drain(settings.drainSeconds)
          .catch((thrown) => services.log.warn({ err: thrown }, "waiting for the runs of this version failed"));
      // Stop accepting connections, finish the steps in flight within the longest request timeout, then close.
      endpoint.refuse();
      await inFlightSteps.drain(longestRequestSeconds(services) + DRAIN_MARGIN_SECONDS);
      await endpoint.destroy();
      await deployment.stop().catch(() => {});
      await suspectLoop.stop();
      await services.suspects.close().catch(() => {});
      await services.inFlight.close();
    },
  };
}

/** The loops of a worker, under leases of one holder. A drained worker has none. */
function createWorkerActivity(
  database: Database,
  holder: string,
  startLoops: () => Promise<Pick<Loop, "stop">[]>,
): WorkerActivity {
  let loops: Pick<Loop, "stop">[] = [];
  return {
    async start() {
      if (loops.length === 0) loops = await startLoops();
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      loops = [];
      await releaseLeases(database, holder).catch(() => {});
    },
  };
}

/** Synchronous offers respond only with the finished result. Aborting such a request would waste what it costs. */
const longestRequestSeconds = ({ providers, settings }: Pick<DutyDependencies, "providers" | "settings">) =>
  Math.max(settings.timeouts.submitSeconds, longestSynchronousSeconds(providers));
