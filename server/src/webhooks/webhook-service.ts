// What sends webhook messages: HTTP client, secrets, signing keys and settings. It is created once per process.
import type { KeyObject } from "node:crypto";
import type { Database } from "../db/connect.ts";
import type { FetchSettings } from "../outbound/fetch-settings.ts";
import { createWebhookHttpClient, type WebhookHttpClient } from "../outbound/webhook-http-client.ts";
import type { Runtime } from "../runs/core/runtime.ts";
import type { RenderDependencies } from "../runs/show/render-run.ts";
import type { Clock } from "../runtime/clock.ts";
import type { SecretKeys } from "../runtime/secret-keys.ts";
import { createSigningKey } from "./message-signature.ts";
import { DAY_SECONDS } from "./retry-schedule.ts";
import { createSecretCipher, type SecretCipher } from "./secret-cipher.ts";
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

type Settings = WebhookSettings & FetchSettings & { PUBLIC_URL: string };

/** Creates the webhook service from the settings. `deriveKeys` returns different 32-byte keys for each purpose. */
export const createWebhookService = (
  settings: Settings,
  deriveKeys: (purpose: string) => SecretKeys,
  clock: Pick<Clock, "after">,
): WebhookService => ({
  httpClient: createWebhookHttpClient(
    settings,
    {
      ownUrl: settings.PUBLIC_URL,
      allowHttp: settings.WEBHOOK_ALLOW_HTTP,
      allowRanges: settings.WEBHOOK_ALLOW_CIDRS,
      allowLoopback: settings.WEBHOOK_ALLOW_LOOPBACK,
    },
    clock,
  ),
  secretCipher: createSecretCipher(deriveKeys("webhook secrets")),
  signingKeys: (tenantId) => deriveKeys(`webhook signatures of ${tenantId}`).map(createSigningKey),
  keysUrl: (tenantId) => `${settings.PUBLIC_URL}/.well-known/webhook-keys?tenant=${tenantId}`,
  webhookSettings: settings,
});
