// Printed by `npm run generate` from the code; never edited by hand.
import type { Connection } from "../connection.ts";
import { type Audit, auditOf } from "./audit.ts";
import { type Edit, editOf } from "./edit.ts";
import { type Events, eventsOf } from "./events.ts";
import { type Videos, videosOf } from "./videos.ts";
import { type Images, imagesOf } from "./images.ts";
import { type Keys, keysOf } from "./keys.ts";
import { type Members, membersOf } from "./members.ts";
import { type Models, modelsOf } from "./models.ts";
import { type Prompts, promptsOf } from "./prompts.ts";
import { type Runs, runsOf } from "./runs.ts";
import { type Tenants, tenantsOf } from "./tenants.ts";
import { type Tokens, tokensOf } from "./tokens.ts";
import { type Usage, usageOf } from "./usage.ts";
import { type Webhooks, webhooksOf } from "./webhooks.ts";

export type * from "./audit.ts";
export { auditOf } from "./audit.ts";
export type * from "./edit.ts";
export { editOf } from "./edit.ts";
export type * from "./events.ts";
export { eventsOf } from "./events.ts";
export type * from "./videos.ts";
export { videosOf } from "./videos.ts";
export type * from "./images.ts";
export { imagesOf } from "./images.ts";
export type * from "./keys.ts";
export { keysOf } from "./keys.ts";
export type * from "./members.ts";
export { membersOf } from "./members.ts";
export type * from "./models.ts";
export { modelsOf } from "./models.ts";
export type * from "./prompts.ts";
export { promptsOf } from "./prompts.ts";
export type * from "./runs.ts";
export { runsOf } from "./runs.ts";
export type * from "./tenants.ts";
export { tenantsOf } from "./tenants.ts";
export type * from "./tokens.ts";
export { tokensOf } from "./tokens.ts";
export type * from "./usage.ts";
export { usageOf } from "./usage.ts";
export type * from "./webhooks.ts";
export { webhooksOf } from "./webhooks.ts";
export type * from "./shapes.ts";

/** Every operation, under its name in the interface. */
export type Operations = {
  audit: Audit;
  edit: Edit;
  events: Events;
  images: Images;
  keys: Keys;
  members: Members;
  models: Models;
  prompts: Prompts;
  runs: Runs;
  tenants: Tenants;
  tokens: Tokens;
  usage: Usage;
  webhooks: Webhooks;
} & Videos;

/** All groups on one connection. */
export const operationsOf = (connection: Connection): Operations => ({
  audit: auditOf(connection),
  edit: editOf(connection),
  events: eventsOf(connection),
  images: imagesOf(connection),
  keys: keysOf(connection),
  members: membersOf(connection),
  models: modelsOf(connection),
  prompts: promptsOf(connection),
  runs: runsOf(connection),
  tenants: tenantsOf(connection),
  tokens: tokensOf(connection),
  usage: usageOf(connection),
  webhooks: webhooksOf(connection),
  ...videosOf(connection),
});
