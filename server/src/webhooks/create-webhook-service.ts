// Creates the webhook service from the settings.
import type { FetchSettings } from "../outbound/fetch-settings.ts";
import { createWebhookHttpClient } from "../outbound/webhook-http-client.ts";
import { createSigningKey } from "./message-signature.ts";
import { createSecretCipher } from "./secret-cipher.ts";
import type { WebhookSettings } from "./settings.ts";
import type { WebhookService } from "./webhook-service.ts";

type Settings = WebhookSettings & FetchSettings & { PUBLIC_URL: string };

/** `deriveKey` returns a different 32-byte key for each purpose. */
export const createWebhookService = (
  settings: Settings,
  deriveKey: (purpose: string) => Uint8Array,
): WebhookService => ({
  httpClient: createWebhookHttpClient(settings, settings.PUBLIC_URL, settings.WEBHOOK_ALLOW_HTTP),
  secretCipher: createSecretCipher(deriveKey("webhook secrets")),
  signingKey: (tenantId) => createSigningKey(deriveKey(`webhook signatures of ${tenantId}`)),
  keysUrl: (tenantId) => `${settings.PUBLIC_URL}/.well-known/webhook-keys?tenant=${tenantId}`,
  webhookSettings: settings,
});
