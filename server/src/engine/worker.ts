// A worker process: serves the steps of runs and deliveries to the engine, dispatches queued runs and performs its
// share of the background duties. On shutdown it finishes the steps in flight.
import { createServer } from "node:http2";
import * as restate from "@restatedev/restate-sdk";
import { releaseLeases } from "../db/leases.ts";
import { type RunStepServices, runSteps } from "../runs/run-steps.ts";
import type { WebhookServices } from "../webhooks/webhook-service.ts";
import { computeBuildId } from "./build-id.ts";
import { startDispatcher } from "./dispatcher.ts";
import { type DutyServices, startDuties } from "./duties.ts";
import { createEngineAdmin } from "./engine-admin.ts";
import type { EngineClient } from "./engine-client.ts";
import { createInFlightSteps } from "./in-flight-steps.ts";
import { engineIncarnationService, runService } from "./run-service.ts";
import { webhookDeliveryService } from "./webhook-delivery-service.ts";
import { startWebhookDuties } from "./webhook-duties.ts";
import { startWorkerDeployment } from "./worker-deployment.ts";

/** Time to store the response of the last provider request. */
const DRAIN_MARGIN_SECONDS = 5;

export type WorkerSettings = {
  host: string;
  port: number;
  url: string;
  adminUrl: string;
  drainSeconds: number;
  identityKeys: string[];
};
export type WorkerServices = { runs: RunStepServices & DutyServices; webhooks: WebhookServices };
export type EngineWorker = { stop(): Promise<void> };

export async function startWorker(
  { runs: services, webhooks: webhookServices }: WorkerServices,
  engineClient: EngineClient,
  settings: WorkerSettings,
): Promise<EngineWorker> {
  // Fails at start, not at the first paid response.
  services.spool.id();
  const inFlightSteps = createInFlightSteps();
  const handler = restate.createEndpointHandler({
    services: [
      runService(runSteps(services), inFlightSteps, services.tracing),
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
  const buildPath = `/v/${computeBuildId()}`;
  const server = createServer((request, response) => {
    // Another version must not continue a journal of this one, nor this one a journal of another.
    if (request.url.startsWith(`${buildPath}/`)) return handler(request, response);
    response.writeHead(404).end();
  });
  const sessions = new Set<{ close(): void; destroy(): void }>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  // Several workers on one machine may share the port; the kernel spreads the engine's connections over them.
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: settings.host, port: settings.port, reusePort: process.platform === "linux" }, resolve);
  });

  const admin = createEngineAdmin(settings.adminUrl);
  const uri = `${settings.url.replace(/\/$/, "")}${buildPath}`;
  const deployment = await startWorkerDeployment(services, admin, uri);
  const holder = services.ids.next();
  const dispatcher = await startDispatcher(services, engineClient, holder);
  const duties = startDuties(services, { client: engineClient, admin }, holder, deployment.register);
  const webhookDuties = startWebhookDuties(webhookServices, engineClient, holder);

  return {
    async stop() {
      await Promise.all([dispatcher.stop(), duties.stop(), webhookDuties.stop()]);
      await releaseLeases(services.database, holder).catch(() => {});
      await deployment
        .drain(settings.drainSeconds)
        .catch((thrown) => services.log.warn({ err: thrown }, "waiting for the runs of this version failed"));
      // Stop accepting connections, finish the steps in flight within the longest request timeout, then close.
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      await inFlightSteps.drain(longestRequestSeconds(services) + DRAIN_MARGIN_SECONDS);
      for (const session of sessions) session.destroy();
      await closed;
      await deployment.stop().catch(() => {});
    },
  };
}

/** Synchronous offers respond only with the finished result. Aborting such a request would waste what it costs. */
const longestRequestSeconds = ({ providers, settings }: Pick<DutyServices, "providers" | "settings">) =>
  providers.enabled
    .flatMap(({ provider }) => provider.offers)
    .reduce(
      (longest, { synchronousSeconds = 0 }) => Math.max(longest, synchronousSeconds),
      settings.timeouts.submitSeconds,
    );
