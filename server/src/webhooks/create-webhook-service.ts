// Puts this room together, from the settings and what the house has.
import { v7 } from "uuid";
import type { FetchSettings } from "../outbound/fetch-settings.ts";
import { createWebhookHttpClient } from "../outbound/webhook-http-client.ts";
import { createSigningKey } from "./message-signature.ts";
import { createSecretCipher } from "./secret-cipher.ts";
import type { WebhookSettings } from "./settings.ts";
import type { Office } from "./webhook-service.ts";

type Settings = WebhookSettings & FetchSettings & { PUBLIC_URL: string };
type WebhookDependencies = Pick<Office, "db" | "assetUrl" | "log"> & { keyFor(purpose: string): Uint8Array };

export const createWebhookService = (settings: Settings, { keyFor, ...parts }: WebhookDependencies): Office => ({
  ...parts,
  httpClient: createWebhookHttpClient(settings, settings.PUBLIC_URL, settings.WEBHOOK_ALLOW_HTTP),
  secretCipher: createSecretCipher(keyFor("webhook secrets")),
  signingKey: (tenantId) => createSigningKey(keyFor(`webhook signatures of ${tenantId}`)),
  keysUrl: (tenantId) => `${settings.PUBLIC_URL}/.well-known/webhook-keys?tenant=${tenantId}`,
  newId: () => v7(),
  settings,
});
