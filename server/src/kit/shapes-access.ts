// The shapes of tenants, people, keys and tokens, with the fields that their operations take.
import { z } from "zod";
import { moment, visible, words } from "./fields.ts";
import { pageOf } from "./pages.ts";

export const ROLES = ["owner", "developer", "viewer"] as const;

export const keyId = () => z.uuid().describe("The key");
export const keyName = () => visible("What the key is for", 200);
export const tenantId = () => z.uuid().describe("The tenant");
export const tenantName = () => visible("What the tenant is called", 200);
export const weight = () =>
  z.number().min(0.01).max(1000).describe("Its share of what there is: with 2 it gets twice as much as with 1");
export const retentionDays = () =>
  z
    .int()
    .min(0)
    .max(36_500)
    .nullable()
    .describe("Days after its end that a run's files are kept; 0 for ever, null as the installation is set");
export const personName = () => words("", 200).nullable().describe("The person's name");
export const personEmail = () => words("", 320).nullable().describe("Where the person can be reached");
export const userId = (says = "The person, as your own systems or your identity provider know them") =>
  z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: "1 to 255 visible ASCII characters." })
    .describe(says);
export const role = () =>
  z
    .enum(ROLES)
    .describe("owner: everything in the tenant; developer: everything but its people and its log; viewer: only reads");

export const scopes = (says: string) =>
  z
    .array(
      z
        .string()
        .regex(/^(\*|\*:read|[a-z][a-z-]{0,30}:(read|write|\*))$/, {
          error: "A family and read, write or *, such as images:write; or * for all.",
        })
        .describe("A scope"),
    )
    .min(1)
    .max(64)
    .describe(says);
export const SCOPES_SAY =
  "What it may do: `images:write`, `runs:read`, `keys:*`, … or `*`. Never more than the credential that asks";

export const expiry = () => moment("").nullable().describe("When it stops working by itself; null for never");

const figure = (says: string) => z.int().min(1).max(1_000_000_000).nullable().optional().describe(says);
const dollars = (says: string) => z.number().min(0).max(1_000_000_000).nullable().optional().describe(says);

/** Null, or left out: not limited here. */
export const Limits = z
  .strictObject({
    requests_per_minute: figure("Requests of any kind"),
    runs_per_minute: figure("Runs that may be started"),
    open_runs: figure("Runs that may be under way at a time"),
    waiters: figure("Callers that one process lets wait for their runs; others are answered at once"),
    streams: figure("Streams of events that one process holds open; others are refused"),
    spend_per_day: dollars("US dollars that the runs of a day may cost"),
    spend_per_month: dollars("US dollars that the runs of a month may cost"),
  })
  .meta({ id: "AccessLimits" });
export type Limits = z.infer<typeof Limits>;
export const limits = (says: string) => Limits.describe(says);

export const Key = z
  .object({
    id: z.uuid().describe("The key's id"),
    name: z.string(),
    hint: z.string().describe("Four characters of the key, to tell it from others"),
    user_id: z.string().describe("Whose key it is: what it does, it does in their name and with their role"),
    scopes: z.array(z.string()),
    limits: Limits,
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable().describe("To the minute"),
    revoked_at: z.iso.datetime().nullable(),
    replaced_by: z.uuid().nullable().describe("The key that took its place when it was rotated"),
  })
  .meta({ id: "Key" });
export type Key = z.infer<typeof Key>;

export const NewKey = Key.extend({
  key: z.string().nullable().describe("The key itself, shown this once; null where the request was only repeated"),
}).meta({ id: "NewKey" });
export type NewKey = z.infer<typeof NewKey>;

export const KeyPage = pageOf(Key, "KeyPage");
export type KeyPage = z.infer<typeof KeyPage>;

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
    limits: Limits,
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

export const NewTenant = Tenant.extend({ owner_key: NewKey }).meta({ id: "NewTenant" });
export type NewTenant = z.infer<typeof NewTenant>;

export const TenantPage = pageOf(Tenant, "TenantPage");
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

export const MemberPage = pageOf(Member, "MemberPage");
export type MemberPage = z.infer<typeof MemberPage>;

const AuditEntry = z
  .object({
    entry: z.int().describe("Counts up from 1 without gaps"),
    at: z.iso.datetime(),
    user_id: z.string().describe("Who did it"),
    key_id: z.uuid().nullable().describe("With which key; null where no key stood behind it"),
    action: z.string().describe("Such as `keys.revoke`"),
    subject: z.string().describe("What it was done to"),
    details: z.record(z.string(), z.unknown()),
    digest: z.string().describe("SHA-256 over this entry and the digest of the one before it"),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditPage = pageOf(AuditEntry, "AuditPage");
export type AuditPage = z.infer<typeof AuditPage>;
