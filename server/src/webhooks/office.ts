// What the parts of this room work with. It is put together once, in `world.ts`.
import type { KeyObject } from "node:crypto";
import type { Database } from "../db/connect.ts";
import type { Poster } from "../media/post.ts";
import type { Log } from "../runs/house.ts";
import { DAY } from "./schedule.ts";
import type { WebhookSettings } from "./settings.ts";
import type { Vault } from "./vault.ts";

export type Office = {
  db: Database;
  poster: Poster;
  vault: Vault;
  /** The key pair that signs for a tenant. A pair for all would let one tenant's messages pass for another's. */
  signingKey(tenantId: string): KeyObject;
  /** Where the public half of it is found. */
  keysUrl(tenantId: string): string;
  assetUrl(assetId: string, mediaType: string): string;
  newId(): string;
  settings: WebhookSettings;
  log: Log;
};

const FAILING_DAYS = 5;
/** How long a webhook may fail before it is switched off, and how long anything waits before a door that stays shut. */
export const failingSeconds = ({ settings }: Pick<Office, "settings">): number =>
  FAILING_DAYS * DAY * settings.WEBHOOK_TIME_SCALE;

export const paceOf = ({ settings }: Pick<Office, "settings">) => ({
  places: settings.WEBHOOK_CONCURRENCY,
  perSecond: settings.WEBHOOK_PER_SECOND,
});
