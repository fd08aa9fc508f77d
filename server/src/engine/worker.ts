// A worker: the engine calls it for every step of every run, and it does its share of the duties around them.
import { createServer } from "node:http2";
import * as restate from "@restatedev/restate-sdk";
import { dropLeases } from "../db/leases.ts";
import { handsOf } from "../runs/hands.ts";
import type { House } from "../runs/house.ts";
import type { Office } from "../webhooks/office.ts";
import { createActivity } from "./activity.ts";
import { startDispatcher } from "./dispatcher.ts";
import { startDuties } from "./duties.ts";
import { type Ingress, register } from "./ingress.ts";
import { markService, runService } from "./run-service.ts";
import { startWebhookDuties } from "./webhook-duties.ts";
import { webhookService } from "./webhook-service.ts";

/** A moment to write down what the provider answered. */
const LEAVE_MARGIN_SECONDS = 5;

export type WorkerSettings = { host: string; port: number; url: string; adminUrl: string; office: Office };
export type Worker = { stop(): Promise<void> };

export async function startWorker(house: House, ingress: Ingress, settings: WorkerSettings): Promise<Worker> {
  const activity = createActivity();
  const handler = restate.createEndpointHandler({
    services: [runService(handsOf(house), activity), webhookService(settings.office, activity), markService],
    logger: (meta, ...words) => {
      if (meta.level === "error")
        house.log.warn({ invocation: meta.context?.invocationId }, words.map(String).join(" "));
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

  const registerAgain = () => register(settings.adminUrl, settings.url);
  await registerAgain().catch((thrown) => house.log.warn({ err: thrown }, "the engine is not there yet"));
  const holder = house.newId();
  const dispatcher = await startDispatcher(house, ingress, holder);
  const duties = startDuties(house, ingress, holder, registerAgain);
  const webhooks = startWebhookDuties(settings.office, ingress, holder);

  return {
    async stop() {
      await Promise.all([dispatcher.stop(), duties.stop(), webhooks.stop()]);
      await dropLeases(house.db, holder).catch(() => {});
      // Nothing new comes in, what was begun is finished within the time that a submission may take, and then it is over.
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      await activity.leave(longestRequest(house) + LEAVE_MARGIN_SECONDS);
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}

/** A provider that answers only when the picture is there is waited for: going away would waste what was paid. */
const longestRequest = (house: House) =>
  house.providers
    .flatMap(({ provider }) => provider.offers)
    .reduce((longest, { blocksSeconds = 0 }) => Math.max(longest, blocksSeconds), house.limits.submitSeconds);
