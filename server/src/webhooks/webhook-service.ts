// What sends webhook messages: HTTP client, secrets, signing keys and settings. It is created once per process.

import type { KeyObject } from "node:crypto";
import type { Database } from "../db/connect.ts";
import type { WebhookHttpClient } from "../outbound/webhook-http-client.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { RenderDependencies } from "../runs/show/render-run.ts";
import { DAY_SECONDS } from "./retry-schedule.ts";
import type { SecretCipher } from "./secret-cipher.ts";
import type { WebhookSettings } from "./settings.ts";

export type WebhookService = {
  httpClient: WebhookHttpClient;
  secretCipher: SecretCipher;
  /**
   * The key pairs that sign messages of a tenant: one for each accepted secret of the server, so that receivers with a
   * cached key accept messages during a rotation. Each tenant has its own pairs: none can forge another's messages.
   */
  signingKeys(tenantId: string): KeyObject[];
  /** URL of the tenant's public key. */
  keysUrl(tenantId: string): string;
  webhookSettings: WebhookSettings;
};

/** What background work on webhooks uses. `database` is not scoped to a tenant. */
export type WebhookServices = WebhookService &
  RenderDependencies &
  Pick<Runtime, "ids" | "clock" | "log" | "tracing"> & { database: Database };

const FAILING_DAYS = 5;
/**
 * Seconds of continuous failure after which an endpoint is disabled (5 days); also the time after which an open
 * delivery is given up.
 */
export const disableAfterSeconds = ({ webhookSettings }: Pick<WebhookService, "webhookSettings">): number =>
  FAILING_DAYS * DAY_SECONDS * webhookSettings.WEBHOOK_TIME_SCALE;

export const deliveryLimits = ({ webhookSettings }: Pick<WebhookService, "webhookSettings">) => ({
  concurrency: webhookSettings.WEBHOOK_CONCURRENCY,
  perSecond: webhookSettings.WEBHOOK_PER_SECOND,
});
