// A worker process: serves the steps of runs and deliveries to the engine, dispatches queued runs and performs its
// share of the background duties. On shutdown it finishes the steps in flight.
import { createServer } from "node:http2";
import * as restate from "@restatedev/restate-sdk";
import { releaseLeases } from "../db/leases.ts";
import { type RunStepServices, runSteps } from "../runs/run-steps.ts";
import type { WebhookServices } from "../webhooks/webhook-service.ts";
import { startDispatcher } from "./dispatcher.ts";
import { type DutyServices, startDuties } from "./duties.ts";
import { type EngineClient, registerDeployment } from "./engine-client.ts";
import { createInFlightSteps } from "./in-flight-steps.ts";
import { engineIncarnationService, runService } from "./run-service.ts";
import { webhookDeliveryService } from "./webhook-delivery-service.ts";
import { startWebhookDuties } from "./webhook-duties.ts";

/** Time to store the response of the last provider request. */
const DRAIN_MARGIN_SECONDS = 5;

export type WorkerSettings = { host: string; port: number; url: string; adminUrl: string };
export type WorkerServices = { runs: RunStepServices & DutyServices; webhooks: WebhookServices };
export type EngineWorker = { stop(): Promise<void> };

export async function startWorker(
  { runs: services, webhooks: webhookServices }: WorkerServices,
  engineClient: EngineClient,
  settings: WorkerSettings,
): Promise<EngineWorker> {
  const inFlightSteps = createInFlightSteps();
  const handler = restate.createEndpointHandler({
    services: [
      runService(runSteps(services), inFlightSteps),
      webhookDeliveryService(webhookServices, inFlightSteps),
      engineIncarnationService,
    ],
    logger: (meta, ...parts) => {
      if (meta.level === "error")
        services.log.warn({ invocation: meta.context?.invocationId }, parts.map(String).join(" "));
    },
  });
  const server = createServer(handler);
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

  const registerWorker = () => registerDeployment(settings.adminUrl, settings.url);
  await registerWorker().catch((thrown) =>
    services.log.warn({ err: thrown }, "registering the worker failed: the engine is unavailable"),
  );
  const holder = services.ids.next();
  const dispatcher = await startDispatcher(services, engineClient, holder);
  const duties = startDuties(services, engineClient, holder, registerWorker);
  const webhookDuties = startWebhookDuties(webhookServices, engineClient, holder);

  return {
    async stop() {
      await Promise.all([dispatcher.stop(), duties.stop(), webhookDuties.stop()]);
      await releaseLeases(services.database, holder).catch(() => {});
      // Stop accepting connections, finish the steps in flight within the longest request timeout, then close.
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      await inFlightSteps.drain(longestRequestSeconds(services) + DRAIN_MARGIN_SECONDS);
      for (const session of sessions) session.destroy();
      await closed;
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
