// The shapes of tenants, people, keys and tokens, with the fields that their operations take.
import { z } from "zod";
import { nonBlankText, textField, timestampField } from "../fields.ts";
import { pageSchema } from "../pagination.ts";

export const ROLES = ["owner", "developer", "viewer"] as const;

export const keyId = () => z.uuid().describe("The key");
export const keyName = () => nonBlankText("What the key is for", 200);
export const tenantId = () => z.uuid().describe("The tenant");
export const tenantName = () => nonBlankText("What the tenant is called", 200);
export const weight = () =>
  z
    .number()
    .min(0.01)
    .max(1000)
    .describe("Scheduling weight. A tenant with weight 2 gets twice the share of a tenant with weight 1 under load");
export const retentionDays = () =>
  z
    .int()
    .min(0)
    .max(36_500)
    .nullable()
    .describe("Days to keep a run's files after it ends. 0: forever. null: the installation's default");
export const memberName = () => textField("", 200).nullable().describe("The person's name");
export const memberEmail = () => textField("", 320).nullable().describe("Email address of the member");
export const userId = (says = "The person, as your own systems or your identity provider know them") =>
  z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: "1 to 255 visible ASCII characters." })
    .describe(says);
export const role = () =>
  z
    .enum(ROLES)
    .describe("owner: full access to the tenant; developer: no member changes and no audit log; viewer: read only");

export const scopes = (says: string) =>
  z
    .array(
      z
        .string()
        .regex(/^(\*|\*:read|[a-z][a-z-]{0,30}:(read|write|\*))$/, {
          error: "Must be a resource with read, write or *, such as images:write; or * for all.",
        })
        .describe("A scope"),
    )
    .min(1)
    .max(64)
    .describe(says);
export const SCOPES_DESCRIPTION =
  "Scopes such as `images:write`, `runs:read`, `keys:*` or `*`. Cannot exceed the scopes of the credential that creates it";

export const expiry = () => timestampField("").nullable().describe("Expiry time; null: never expires");

const positiveIntegerLimit = (says: string) => z.int().min(1).max(1_000_000_000).nullable().optional().describe(says);
const dollars = (says: string) => z.number().min(0).max(1_000_000_000).nullable().optional().describe(says);

/** Null, or left out: not limited here. */
export const AccessLimits = z
  .strictObject({
    requests_per_minute: positiveIntegerLimit("Requests of any kind"),
    runs_per_minute: positiveIntegerLimit("Runs that may be started"),
    open_runs: positiveIntegerLimit("Runs that may be under way at a time"),
    waiters: positiveIntegerLimit(
      "Concurrent requests that may wait for a run, per process. Further requests return at once",
    ),
    streams: positiveIntegerLimit("Concurrent event streams, per process. Further streams are refused with 429"),
    spend_per_day: dollars("US dollars that the runs of a day may cost"),
    spend_per_month: dollars("US dollars that the runs of a month may cost"),
  })
  .meta({ id: "AccessLimits" });
export type AccessLimits = z.infer<typeof AccessLimits>;
export const limitsField = (says: string) => AccessLimits.describe(says);

export const ApiKey = z
  .object({
    id: z.uuid().describe("The key's id"),
    name: z.string(),
    hint: z.string().describe("Four characters of the key, to tell it from others"),
    user_id: z.string().describe("Owner of the key. The key acts with this user's role"),
    scopes: z.array(z.string()),
    limits: AccessLimits,
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable().describe("To the minute"),
    revoked_at: z.iso.datetime().nullable(),
    replaced_by: z.uuid().nullable().describe("The key that took its place when it was rotated"),
  })
  .meta({ id: "Key" });
export type ApiKey = z.infer<typeof ApiKey>;

export const NewApiKey = ApiKey.extend({
  key: z.string().nullable().describe("The API key. Returned only once; null when the request is an idempotent replay"),
}).meta({ id: "NewKey" });
export type NewApiKey = z.infer<typeof NewApiKey>;

export const ApiKeyPage = pageSchema(ApiKey, "KeyPage");
export type ApiKeyPage = z.infer<typeof ApiKeyPage>;

export const Token = z
  .object({
    access_token: z.string().describe("Send it as `Authorization: Bearer`"),
    token_type: z.literal("Bearer"),
    expires_in: z.int().describe("Seconds that it works"),
    scope: z.string().describe("What it may do, separated by spaces"),
  })
  .meta({ id: "Token" });
export type Token = z.infer<typeof Token>;

export const Tenant = z
  .object({
    id: z.uuid().describe("The tenant's id"),
    name: z.string(),
    weight: z.number().describe("Its share of what there is, beside the shares of others"),
    limits: AccessLimits,
    retention_days: z
      .int()
      .nullable()
      .describe("Days that files are kept; 0 for ever, null as the installation is set"),
    suspended: z.boolean().describe("Whether all its credentials are refused"),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "Tenant" });
export type Tenant = z.infer<typeof Tenant>;

export const NewTenant = Tenant.extend({ owner_key: NewApiKey }).meta({ id: "NewTenant" });
export type NewTenant = z.infer<typeof NewTenant>;

export const TenantPage = pageSchema(Tenant, "TenantPage");
export type TenantPage = z.infer<typeof TenantPage>;

export const Member = z
  .object({
    user_id: z.string(),
    role: z.enum(ROLES),
    name: z.string().nullable(),
    email: z.string().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "Member" });
export type Member = z.infer<typeof Member>;

export const MemberPage = pageSchema(Member, "MemberPage");
export type MemberPage = z.infer<typeof MemberPage>;

const AuditEntry = z
  .object({
    entry: z.int().describe("Counts up from 1 without gaps"),
    at: z.iso.datetime(),
    user_id: z.string().describe("Who did it"),
    key_id: z.uuid().nullable().describe("Key used; null if no API key was used"),
    action: z.string().describe("Such as `keys.revoke`"),
    subject: z.string().describe("What it was done to"),
    details: z.record(z.string(), z.unknown()),
    digest: z.string().describe("SHA-256 over this entry and the digest of the one before it"),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditPage = pageSchema(AuditEntry, "AuditPage");
export type AuditPage = z.infer<typeof AuditPage>;
