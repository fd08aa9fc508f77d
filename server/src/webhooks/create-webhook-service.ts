// Creates the webhook service from the settings.

import type { FetchSettings } from "../outbound/fetch-settings.ts";
import { createWebhookHttpClient } from "../outbound/webhook-http-client.ts";
import type { Clock } from "../runtime/clock.ts";
import type { SecretKeys } from "../runtime/secret-keys.ts";
import { createSigningKey } from "./message-signature.ts";
import { createSecretCipher } from "./secret-cipher.ts";
import type { WebhookSettings } from "./settings.ts";
import type { WebhookService } from "./webhook-service.ts";

type Settings = WebhookSettings & FetchSettings & { PUBLIC_URL: string };

/** `deriveKeys` returns different 32-byte keys for each purpose. */
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
