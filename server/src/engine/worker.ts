// A worker: the engine calls it for every step of every run, and it does its share of the duties around them.
import { createServer } from "node:http2";
import * as restate from "@restatedev/restate-sdk";
import { releaseLeases } from "../db/leases.ts";
import { runSteps } from "../runs/run-steps.ts";
import type { Services } from "../runs/services.ts";
import type { Office } from "../webhooks/webhook-service.ts";
import { startDispatcher } from "./dispatcher.ts";
import { startDuties } from "./duties.ts";
import { type EngineClient, registerDeployment } from "./engine-client.ts";
import { createInFlightSteps } from "./in-flight-steps.ts";
import { engineIncarnationService, runService } from "./run-service.ts";
import { webhookDeliveryService } from "./webhook-delivery-service.ts";
import { startWebhookDuties } from "./webhook-duties.ts";

/** A moment to write down what the provider answered. */
const DRAIN_MARGIN_SECONDS = 5;

export type WorkerSettings = { host: string; port: number; url: string; adminUrl: string; office: Office };
export type EngineWorker = { stop(): Promise<void> };

export async function startWorker(
  services: Services,
  ingress: EngineClient,
  settings: WorkerSettings,
): Promise<EngineWorker> {
  const inFlightSteps = createInFlightSteps();
  const handler = restate.createEndpointHandler({
    services: [
      runService(runSteps(services), inFlightSteps),
      webhookDeliveryService(settings.office, inFlightSteps),
      engineIncarnationService,
    ],
    logger: (meta, ...words) => {
      if (meta.level === "error")
        services.log.warn({ invocation: meta.context?.invocationId }, words.map(String).join(" "));
    },
  });
  const server = createServer(handler);
  const sessions = new Set<{ close(): void; destroy(): void }>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  // Several workers of one machine may share the port; the engine's connections are spread over them.
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: settings.host, port: settings.port, reusePort: process.platform === "linux" }, resolve);
  });

  const registerWorker = () => registerDeployment(settings.adminUrl, settings.url);
  await registerWorker().catch((thrown) =>
    services.log.warn({ err: thrown }, "registering the worker failed: the engine is unavailable"),
  );
  const holder = services.newId();
  const dispatcher = await startDispatcher(services, ingress, holder);
  const duties = startDuties(services, ingress, holder, registerWorker);
  const webhooks = startWebhookDuties(settings.office, ingress, holder);

  return {
    async stop() {
      await Promise.all([dispatcher.stop(), duties.stop(), webhooks.stop()]);
      await releaseLeases(services.db, holder).catch(() => {});
      // Nothing new comes in, what was begun is finished within the time that a submission may take, and then it is over.
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      await inFlightSteps.drain(longestRequestSeconds(services) + DRAIN_MARGIN_SECONDS);
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

/** A provider that answers only when the picture is there is waited for: going away would waste what was paid. */
const longestRequestSeconds = (services: Services) =>
  services.providers
    .flatMap(({ provider }) => provider.offers)
    .reduce(
      (longest, { synchronousSeconds = 0 }) => Math.max(longest, synchronousSeconds),
      services.limits.submitSeconds,
    );
