// A delivery on Restate: it sleeps between attempts for as long as it takes. Of an attempt the journal holds how long to
// wait and nothing else.
import * as restate from "@restatedev/restate-sdk";
import type { DeliveryClaim } from "../db/webhooks/delivery-queue.ts";
import { runDelivery } from "../webhooks/deliver.ts";
import { attemptDelivery } from "../webhooks/delivery-attempt.ts";
import type { Office } from "../webhooks/webhook-service.ts";
import type { InFlightSteps } from "./in-flight-steps.ts";

/** What is thrown in a step passes by itself, such as a database that is away. What receivers do is never thrown. */
const RETRY = { initialRetryInterval: 200, maxRetryInterval: 5000, retryIntervalFactor: 2 };

export const webhookDeliveryService = (webhookService: Office, inFlightSteps: InFlightSteps) =>
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
          (each) => attemptDelivery(webhookService, each),
        ),
    },
    options: {
      idempotencyRetention: { hours: 1 },
      journalRetention: { minutes: 10 },
      inactivityTimeout: { seconds: 10 },
      abortTimeout: { minutes: 2 },
      // The engine never gives up by itself: the schedule has an end, and so has what is kept in PostgreSQL.
      retryPolicy: {
        initialInterval: 200,
        maxInterval: 10_000,
        exponentiationFactor: 2,
        onMaxAttempts: "kill",
        maxAttempts: 10_000,
      },
    },
  });
