// Schemas of tenants, members, keys and tokens, and the input fields of their operations.
import { z } from "zod";
import { nonBlankText, textField, timestampField } from "../fields.ts";
import { pageSchema } from "../pagination.ts";

/** From the most to the least rights. */
export const ROLES = ["owner", "developer", "viewer"] as const;
const ROLE_SOURCES = ["gesso", "identity_provider"] as const;

export const keyId = () => z.uuid().describe("ID of the key");
export const keyName = () => nonBlankText("Name of the key, 1 to 200 characters", 200);
export const tenantId = () => z.uuid().describe("ID of the tenant");
export const tenantName = () => nonBlankText("Name of the tenant, 1 to 200 characters", 200);
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
export const archiveAfterDays = () =>
  z
    .int()
    .min(0)
    .max(36_500)
    .nullable()
    .describe(
      "Days after which the tenant's ended runs and audit entries move to the archive. 0: never. null: the installation's default",
    );
export const TenantProvenance = z
  .strictObject({
    mode: z
      .enum(["off", "mark", "sign"])
      .nullable()
      .optional()
      .describe(
        "As the setting PROVENANCE, for this tenant. null: the installation's setting. sign needs a certificate",
      ),
    prompt: z.boolean().optional().describe("Whether C2PA manifests contain the prompt. Default: false"),
  })
  .meta({ id: "TenantProvenance" });
export type TenantProvenance = z.infer<typeof TenantProvenance>;
export const tenantProvenance = () =>
  TenantProvenance.nullable().describe("How outputs say what made them. null: the installation's default");
export const memberName = () => textField("", 200).nullable().describe("Name of the member");
export const memberEmail = () => textField("", 320).nullable().describe("Email address of the member");
export const userId = (description = "ID of the user in your own systems or your identity provider") =>
  z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: "Must have 1 to 255 visible ASCII characters." })
    .describe(description);
export const role = () =>
  z
    .enum(ROLES)
    .describe("owner: full access to the tenant; developer: no member changes and no audit log; viewer: read only");

/** Both audit logs get it: that of the tenant, and that of the operator's own tenant. */
export const disclosureReason = () =>
  nonBlankText(
    "Why you read content of tenants, such as the number of a ticket, 1 to 500 characters. The audit log of the tenant shows it",
    500,
  );

export const scopes = (description: string) =>
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
    .describe(description);
export const SCOPES_DESCRIPTION =
  "Scopes such as `images:write`, `runs:read`, `keys:*` or `*`. Cannot exceed the scopes of the credential that creates it";

export const expiry = () => timestampField("").nullable().describe("Expiry time. null: the key never expires");

const positiveIntegerLimit = (description: string) =>
  z.int().min(1).max(1_000_000_000).nullable().optional().describe(description);
const dollars = (description: string) =>
  z.number().min(0).max(1_000_000_000).nullable().optional().describe(description);

/** A limit that is null or absent does not apply. */
export const AccessLimits = z
  .strictObject({
    requests_per_minute: positiveIntegerLimit("Maximum requests per minute. null: no limit of its own"),
    runs_per_minute: positiveIntegerLimit("Maximum new runs per minute. null: no limit of its own"),
    open_runs: positiveIntegerLimit("Maximum open runs at a time. null: no limit of its own"),
    waiters: positiveIntegerLimit(
      "Concurrent requests that may wait for a run, per process. Further requests return at once",
    ),
    streams: positiveIntegerLimit("Concurrent event streams, per process. Further streams are refused with 429"),
    spend_per_hour: dollars("Maximum cost of the runs of an hour in UTC, in US dollars"),
    spend_per_day: dollars("Maximum cost of the runs of a UTC day, in US dollars"),
    spend_per_month: dollars("Maximum cost of the runs of a UTC month, in US dollars"),
  })
  .meta({ id: "AccessLimits" });
export type AccessLimits = z.infer<typeof AccessLimits>;
export const limitsField = (description: string) => AccessLimits.describe(description);

export const TenantLimits = AccessLimits.extend({
  storage_bytes: z
    .int()
    .min(1)
    .max(1_000_000_000_000_000)
    .nullable()
    .optional()
    .describe("Maximum bytes of stored files. null: the installation's default"),
  stored_files: positiveIntegerLimit("Maximum number of stored files. null: the installation's default"),
}).meta({ id: "TenantLimits" });
export type TenantLimits = z.infer<typeof TenantLimits>;

export const ApiKey = z
  .object({
    id: z.uuid().describe("ID of the key"),
    name: z.string(),
    hint: z.string().describe("Four characters of the key, to identify it"),
    user_id: z.string().describe("Owner of the key. The key acts with this user's role"),
    scopes: z.array(z.string()),
    limits: AccessLimits,
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable().describe("Last use, to the minute. null: never used"),
    revoked_at: z.iso.datetime().nullable(),
    replaced_by: z.uuid().nullable().describe("ID of the key that replaced it at rotation. null: not rotated"),
    parent_key_id: z
      .uuid()
      .nullable()
      .describe("Key that created this one. Its limits count this key, too. null: no key above it"),
    descendants: z.int().describe("Keys in force that were created with this key, and with those. Revoked with it"),
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
    access_token: z.string().describe("Access token. Send it as `Authorization: Bearer <token>`"),
    token_type: z.literal("Bearer"),
    expires_in: z.int().describe("Seconds until the token expires"),
    scope: z.string().describe("Scopes of the token, separated by spaces"),
  })
  .meta({ id: "Token" });
export type Token = z.infer<typeof Token>;

export const Tenant = z
  .object({
    id: z.uuid().describe("ID of the tenant"),
    name: z.string(),
    weight: z.number().describe("Scheduling weight of the tenant under load"),
    limits: TenantLimits,
    retention_days: z
      .int()
      .nullable()
      .describe("Days to keep a run's files after it ends. 0: forever. null: the installation's default"),
    archive_after_days: archiveAfterDays(),
    provenance: tenantProvenance(),
    suspended: z
      .boolean()
      .describe("Whether Gesso refuses all credentials of the tenant and holds its runs and webhooks"),
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
    role_source: z
      .enum(ROLE_SOURCES)
      .describe(
        "What decides the role: an owner or the default for new members (`gesso`), or the claims of each new sign-in " +
          "(`identity_provider`), which replace a role that an owner has set in the meantime",
      ),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: "Member" });
export type Member = z.infer<typeof Member>;

export const MemberPage = pageSchema(Member, "MemberPage");
export type MemberPage = z.infer<typeof MemberPage>;

export const Identity = z
  .object({
    user_id: z.string().describe("User that the credential acts for"),
    role: z.enum(ROLES).describe("Role of the user in the tenant"),
    tenant: Tenant.pick({ id: true, name: true, limits: true, retention_days: true }),
    credential: z.object({
      kind: z
        .enum(["key", "token", "external_token", "session"])
        .describe(
          "key: an API key; token: an access token of a key; external_token: a token of an identity provider; session: a " +
            "session of the console",
        ),
      key_id: z
        .uuid()
        .nullable()
        .describe("Key of the credential. null for a token or session of an identity provider"),
      scopes: z.array(z.string()).describe("Scopes of the credential. The role can deny some of them"),
      limits: AccessLimits.describe("Limits of the key"),
      expires_at: z.iso.datetime().nullable().describe("Expiry time. null: the credential does not expire"),
      max_spend: z.number().nullable().describe("Maximum total cost of the runs of a token. null: no such limit"),
      end_user: z.string().nullable().describe("End user of a token, whose runs alone it sees. null: no token"),
      customer: z.string().nullable().describe("Customer whom the runs of a token count for. null: none"),
      tags: z.array(z.string()).describe("What else the cost of the runs of a token counts for"),
    }),
  })
  .meta({ id: "Identity" });
export type Identity = z.infer<typeof Identity>;

const AuditEntry = z
  .object({
    entry: z.int().describe("Number of the entry, from 1 without gaps"),
    at: z.iso.datetime(),
    user_id: z.string().describe("User who performed the action"),
    key_id: z.uuid().nullable().describe("Key used; null if no API key was used"),
    action: z.string().describe("Name of the action, such as `keys.revoke`"),
    subject: z.string().describe("ID of the changed resource"),
    details: z.record(z.string(), z.unknown()),
    digest: z.string().describe("SHA-256 of this entry and of the digest of the previous entry"),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditPage = pageSchema(AuditEntry, "AuditPage");
export type AuditPage = z.infer<typeof AuditPage>;
