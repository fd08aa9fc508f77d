// What the parts of this room work with. It is put together once, in `world.ts`.
import type { KeyObject } from "node:crypto";
import type { Database } from "../db/connect.ts";
import type { WebhookHttpClient } from "../outbound/webhook-http-client.ts";
import type { Logger } from "../runs/services.ts";
import { DAY_SECONDS } from "./retry-schedule.ts";
import type { SecretCipher } from "./secret-cipher.ts";
import type { WebhookSettings } from "./settings.ts";

export type Office = {
  db: Database;
  httpClient: WebhookHttpClient;
  secretCipher: SecretCipher;
  /** The key pair that signs for a tenant. A pair for all would let one tenant's messages pass for another's. */
  signingKey(tenantId: string): KeyObject;
  /** Where the public half of it is found. */
  keysUrl(tenantId: string): string;
  assetUrl(assetId: string, mediaType: string): string;
  newId(): string;
  settings: WebhookSettings;
  log: Logger;
};

const FAILING_DAYS = 5;
/** Seconds of continuous failure after which an endpoint is disabled (5 days); also the time after which an open delivery is given up. */
export const disableAfterSeconds = ({ settings }: Pick<Office, "settings">): number =>
  FAILING_DAYS * DAY_SECONDS * settings.WEBHOOK_TIME_SCALE;

export const deliveryLimits = ({ settings }: Pick<Office, "settings">) => ({
  places: settings.WEBHOOK_CONCURRENCY,
  perSecond: settings.WEBHOOK_PER_SECOND,
});
