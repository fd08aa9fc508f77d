// Puts this room together, from the settings and what the house has.
import { v7 } from "uuid";
import type { FetchSettings } from "../media/fetch-settings.ts";
import { openPoster } from "../media/post.ts";
import type { Office } from "./office.ts";
import type { WebhookSettings } from "./settings.ts";
import { signingKey } from "./sign.ts";
import { createVault } from "./vault.ts";

type Settings = WebhookSettings & FetchSettings & { PUBLIC_URL: string };
type Parts = Pick<Office, "db" | "assetUrl" | "log"> & { keyFor(purpose: string): Uint8Array };

export const openOffice = (settings: Settings, { keyFor, ...parts }: Parts): Office => ({
  ...parts,
  poster: openPoster(settings, settings.PUBLIC_URL, settings.WEBHOOK_ALLOW_HTTP),
  vault: createVault(keyFor("webhook secrets")),
  signingKey: (tenantId) => signingKey(keyFor(`webhook signatures of ${tenantId}`)),
  keysUrl: (tenantId) => `${settings.PUBLIC_URL}/.well-known/webhook-keys?tenant=${tenantId}`,
  newId: () => v7(),
  settings,
});
