// OIDC issuers that the operator trusts. The tenant of a token follows from its issuer and that issuer's settings; a claim alone
// never selects a tenant.
import type { JWTPayload } from "jose";
import { z } from "zod";
import { findMemberIdentity, insertMemberOnFirstUse, type MemberIdentity } from "../db/access/members.ts";
import type { Database } from "../db/connect.ts";
import type { Caller } from "../db/runs/runs.ts";
import { Fault } from "../faults.ts";
import { ROLES } from "../kit/schemas/access.ts";
import { createExpiringCache } from "./expiring-cache.ts";
import { createJwks, type HttpGet } from "./jwks.ts";
import { isScope, splitScope } from "./scopes.ts";
import { verifyToken } from "./verify-token.ts";

const ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;

const Issuer = z
  .strictObject({
    /** Stands before the ids of its people: `corp:alice` is nobody else's alice. */
    id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/),
    issuer: z.url(),
    audience: z.string().min(1),
    jwks_uri: z.url().optional(),
    algorithms: z
      .array(z.enum(ALGORITHMS))
      .min(1)
      .default([...ALGORITHMS]),
    token_types: z
      .array(z.enum(["at+jwt", "JWT"]))
      .min(1)
      .default(["at+jwt"]),
    tenant_id: z.uuid().optional(),
    tenant_claim: z.string().optional(),
    tenants: z.record(z.string(), z.uuid()).optional(),
    user_claim: z.string().default("sub"),
    scope_claim: z.string().default("scope"),
    scopes: z.array(z.string().refine(isScope)).default([]),
    /** What newcomers are; null: nobody comes in who was not added before. */
    role: z.enum(ROLES).nullable().default("developer"),
  })
  .refine(
    ({ tenant_id, tenant_claim, tenants }) =>
      (tenant_id === undefined) === (tenant_claim !== undefined && tenants !== undefined),
    "either tenant_id, or tenant_claim with tenants",
  );
export type Issuer = z.output<typeof Issuer>;

export const IssuersEnv = z.object({
  OIDC_ISSUERS: z
    .string()
    .default("[]")
    .transform(parseIssuers)
    .describe(
      "Identity providers whose access tokens Gesso accepts, as a JSON array. See the guide on identity providers",
    ),
});

function parseIssuers(text: string, context: z.RefinementCtx): Issuer[] {
  try {
    const issuers = z.array(Issuer).parse(JSON.parse(text));
    for (const name of ["id", "issuer"] as const) {
      if (new Set(issuers.map((each) => each[name])).size < issuers.length)
        throw new Error(`two have the same ${name}`);
    }
    return issuers;
  } catch (thrown) {
    const says = thrown instanceof z.ZodError ? z.prettifyError(thrown) : String((thrown as Error).message);
    context.addIssue({ code: "custom", message: `is no list of issuers: ${says}` });
    return z.NEVER;
  }
}

export type Issuers = {
  /** Undefined: no issuer of this name. */
  authenticate(issuer: string, token: string): Promise<Caller> | undefined;
  forget(): void;
};

export type IssuersDependencies = { db: Database; get: HttpGet; clock: () => number };

export function createIssuers(settings: Issuer[], { db, get, clock }: IssuersDependencies): Issuers {
  const people = createExpiringCache<MemberIdentity>(clock);
  const known = new Map(settings.map((own) => [own.issuer, { own, keys: createJwks(own, get, clock) }]));
  return {
    authenticate(issuer, token) {
      const found = known.get(issuer);
      if (!found) return undefined;
      const { own, keys } = found;
      const { audience, algorithms, token_types: types } = own;
      const rules = { issuer, audience, algorithms, types, required: [own.user_claim], keys, skewSeconds: 60 };
      return verifyToken(token, rules, clock).then(async (payload) => {
        const who = identityOf(own, payload);
        const person = await people.get(JSON.stringify(who), () => provisionMember(db, own, who));
        if (!person) throw new Fault("invalid_token");
        if (person.is_suspended) throw new Fault("tenant_suspended");
        if (person.is_removed || person.role === null) throw new Fault("permission_denied", { reason: "not_a_member" });
        return {
          ...who,
          ...{
            key_id: null,
            role: person.role,
            scopes: scopesOf(own, payload),
            limits: {},
            expires_at: null,
            token: null,
          },
          tenant: { weight: person.weight, limits: person.tenant_limits },
        };
      });
    },
    forget: people.forget,
  };
}

type Identity = { tenant_id: string; user_id: string };

function identityOf(own: Issuer, payload: JWTPayload): Identity {
  const user = payload[own.user_claim];
  const word = own.tenant_claim === undefined ? undefined : payload[own.tenant_claim];
  const tenants = new Map(Object.entries(own.tenants ?? {}));
  const tenant_id = own.tenant_id ?? (typeof word === "string" ? tenants.get(word) : undefined);
  const isName = typeof user === "string" && /^[\x21-\x7e]{1,200}$/.test(user);
  if (tenant_id === undefined || !isName) throw new Fault("invalid_token");
  return { tenant_id, user_id: `${own.id}:${user}` };
}

/** Words that are no scopes of ours are other services' business; the operator's right is never an issuer's to give. */
function scopesOf(own: Issuer, payload: JWTPayload): string[] {
  const claim = payload[own.scope_claim];
  const words = Array.isArray(claim) ? claim.map(String) : typeof claim === "string" ? claim.split(" ") : [];
  const given = words.filter((word) => isScope(word) && splitScope(word)[0] !== "tenants");
  return [...new Set([...own.scopes, ...given])];
}

async function provisionMember(db: Database, { role }: Issuer, who: Identity): Promise<MemberIdentity | undefined> {
  const person = await findMemberIdentity(db, who.tenant_id, who.user_id);
  if (!person || person.role !== null || role === null) return person;
  await insertMemberOnFirstUse(db, who, role);
  return findMemberIdentity(db, who.tenant_id, who.user_id);
}
