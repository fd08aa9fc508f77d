// Executes webhook deliveries on Restate. A delivery sleeps between its attempts; the journal contains only the delays.
import * as restate from "@restatedev/restate-sdk";
import type { DeliveryClaim } from "../db/webhooks/delivery-queue.ts";
import { attemptDelivery, runDelivery } from "../webhooks/delivery-attempt.ts";
import type { WebhookServices } from "../webhooks/webhook-service.ts";
import type { InFlightSteps } from "./in-flight-steps.ts";

/** An attempt throws only for failures of this server, such as an unavailable database. Receiver errors are results. */
const RETRY = { initialRetryInterval: 200, maxRetryInterval: 5000, retryIntervalFactor: 2 };

export const webhookDeliveryService = (services: WebhookServices, inFlightSteps: InFlightSteps) =>
  restate.service({
    name: "Webhook",
    handlers: {
      deliver: (context: restate.Context, claim: DeliveryClaim) =>
        runDelivery(
          claim,
          {
            step: (name, work) => context.run(name, () => inFlightSteps.track(work), RETRY),
            sleep: (seconds) => context.sleep(Math.ceil(seconds * 1000)),
          },
          (each) => attemptDelivery(services, each),
        ),
    },
    options: {
      idempotencyRetention: { hours: 1 },
      journalRetention: { minutes: 10 },
      inactivityTimeout: { seconds: 10 },
      abortTimeout: { minutes: 2 },
      // The engine practically never gives up: the retry schedule ends by itself.
      retryPolicy: {
        initialInterval: 200,
        maxInterval: 10_000,
        exponentiationFactor: 2,
        onMaxAttempts: "kill",
        maxAttempts: 10_000,
      },
    },
  });
