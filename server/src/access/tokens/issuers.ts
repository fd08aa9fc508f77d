// OIDC issuers that the operator trusts. The tenant of a token follows from its issuer and that issuer's settings; a
// claim alone never selects a tenant.
import type { JWTPayload } from "jose";
import { z } from "zod";
import { ROLES } from "../../contract/schemas/access.ts";
import type { Caller, ResourceOwner } from "../../db/access/caller.ts";
import type { ProviderLogout } from "../../db/access/console-sessions.ts";
import {
  findMemberIdentity,
  insertMemberOnFirstUse,
  type MappedRole,
  type MemberIdentity,
  setMappedRole,
  withdrawMappedRole,
} from "../../db/access/members.ts";
import type { Database } from "../../db/connect.ts";
import type { Role } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";
import { createExpiringCache } from "../expiring-cache.ts";
import { isOperatorScope, isScope } from "../scopes.ts";
import { createJwks, type HttpGet, isProtected } from "./jwks.ts";
import { verifyLogoutToken } from "./logout-token.ts";
import { verifyToken } from "./verify-token.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;

const NOT_PROTECTED = "must be an https URL: over http, anyone on the way could replace the signing keys";

const Issuer = z
  .strictObject({
    /** Prefix of the user ids of this issuer: `corp:alice` is a different user than `other:alice`. */
    id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/),
    issuer: z.url().refine(isProtected, NOT_PROTECTED),
    audience: z.string().min(1),
    jwks_uri: z.url().refine(isProtected, NOT_PROTECTED).optional(),
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
    /** A token or sign-in without one of these values for each of these claims is refused. */
    required_claims: z.record(z.string().min(1), z.array(z.string()).min(1)).default({}),
    /** Role of users on their first request; null if only users that were added before are accepted. */
    role: z.enum(ROLES).nullable().default(null),
    /**
     * Roles that claims give, for example by the groups of a person. Every new token and sign-in decides anew; of
     * several roles the one with the most rights counts.
     */
    roles: z
      .array(z.strictObject({ claim: z.string().min(1), values: z.array(z.string()).min(1), role: z.enum(ROLES) }))
      .default([]),
    /** Longest lifetime of API keys that its users create with a token. */
    max_key_days: z.number().positive().max(3650).default(90),
    /** A token is refused as expired this long after it was issued, even if it is valid for longer. */
    max_token_minutes: z
      .number()
      .positive()
      .max(24 * 60)
      .default(60),
    /** The client of the console at this issuer. Without it, its users cannot sign in to the console. */
    console: z
      .strictObject({
        client_id: z.string().min(1),
        /** Absent for a public client, which only PKCE protects. */
        client_secret: z.string().min(1).optional(),
        /** OAuth scope of the sign-in, for claims that `openid` does not include. */
        scope: z
          .string()
          .regex(/^openid( [\x21-\x7e]+)*$/)
          .default("openid"),
        /** Scopes of the sessions of its users. The role of a member limits them. */
        scopes: z.array(z.string().refine(isScope)).default(["*"]),
        /** A session ends this long after the sign-in, however often it is used. */
        session_hours: z
          .number()
          .positive()
          .max(7 * 24)
          .default(7 * 24),
      })
      .optional(),
    /** The public client of `gesso login` at this issuer. Without it, people paste an API key. */
    cli: z
      .strictObject({
        client_id: z.string().min(1),
        /** OAuth scope of the sign-in. */
        scope: z
          .string()
          .regex(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/)
          .default("openid"),
        /** Sent with the authorization and token requests, for example to name the audience. */
        parameters: z.record(z.string().regex(/^[a-z_]{1,64}$/), z.string()).default({}),
      })
      .optional(),
  })
  .refine(
    ({ tenant_id, tenant_claim, tenants }) =>
      (tenant_id === undefined) === (tenant_claim !== undefined && tenants !== undefined),
    "either tenant_id, or tenant_claim with tenants",
  );
export type Issuer = z.output<typeof Issuer>;
/** What `gesso login` needs to know. Every caller may read it. */
export type CliIssuer = { id: string; issuer: string } & NonNullable<Issuer["cli"]>;

export const listCliIssuers = (issuers: readonly Issuer[]): CliIssuer[] =>
  issuers.flatMap(({ id, issuer, cli }) => (cli ? [{ id, issuer, ...cli }] : []));

export type ConsoleIssuer = Issuer & { console: NonNullable<Issuer["console"]> };

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
        throw new Error(`two issuers have the same ${name}`);
    }
    return issuers;
  } catch (thrown) {
    const problem = thrown instanceof z.ZodError ? z.prettifyError(thrown) : String((thrown as Error).message);
    context.addIssue({ code: "custom", message: `is not a list of issuers: ${problem}` });
    return z.NEVER;
  }
}

export type Issuers = {
  /** Returns undefined if no such issuer is configured. */
  authenticate(issuer: string, token: string): Promise<Caller> | undefined;
  /** The settings of the issuer with this id, if its users can sign in to the console. */
  findConsoleIssuer(id: string): ConsoleIssuer | undefined;
  /** The member that claims of this issuer, verified just now, identify. A person who is new is added. */
  identify(issuer: Issuer, claims: JWTPayload): Promise<ResourceOwner & { scopes: string[] }>;
  /** Reads the rights of a member anew. Undefined if the issuer is no longer configured for this tenant. */
  findMember(id: string, member: ResourceOwner & { scopes: string[] }): Promise<Caller | undefined>;
  /** Longest lifetime of a session that began at this issuer, in seconds. 0 if its users cannot sign in any more. */
  sessionSeconds(id: string): number;
  /** Verifies a logout token. Undefined if users of this issuer cannot sign in to the console. */
  verifyLogout(id: string, token: string): Promise<ProviderLogout> | undefined;
  /** Clears the cache of members. */
  invalidate(): void;
};

export type IssuersDependencies = { database: Database; get: HttpGet; clock: Pick<Clock, "now"> };

export function createIssuers(settings: Issuer[], { database, get, clock }: IssuersDependencies): Issuers {
  const members = createExpiringCache<MemberIdentity>(clock);
  const issuers = new Map(settings.map((own) => [own.issuer, { own, keys: createJwks(own, get, clock) }]));
  const requireMember = async (
    own: Issuer,
    identity: ResourceOwner,
    scopes: string[],
    claimed?: ClaimedRole,
  ): Promise<Caller> => {
    const cacheKey = JSON.stringify([identity, claimed]);
    const member = await members.get(cacheKey, () => provisionMember(database, own, identity, claimed));
    if (!member) throw new Fault("invalid_token");
    if (member.is_suspended) throw new Fault("tenant_suspended");
    if (member.is_removed || member.role === null) throw new Fault("permission_denied", { reason: "not_a_member" });
    return {
      ...identity,
      ...{ key_id: null, role: member.role, scopes, limits: {}, ancestors: [], expires_at: null, token: null },
      // A token lives for minutes, and its user may leave: a key created with it must expire.
      grants_until: new Date(clock.now() + own.max_key_days * DAY_MS),
      tenant: { weight: member.weight, limits: member.tenant_limits },
    };
  };
  return {
    authenticate(issuer, token) {
      const configured = issuers.get(issuer);
      if (!configured) return undefined;
      const { own, keys } = configured;
      const { audience, algorithms, token_types: types } = own;
      const rules = {
        ...{ issuer, audience, algorithms, types, required: [own.user_claim], keys, skewSeconds: 60 },
        maxAgeSeconds: own.max_token_minutes * 60,
      };
      return verifyToken(token, rules, clock).then((payload) => {
        // Where JWT is an accepted type, only this tells a logout token from an access token.
        if (payload.events !== undefined) throw new Fault("invalid_token");
        assertRequiredClaims(own, payload);
        // A provider whose clock is ahead gains nothing.
        const role = readRole(own, payload, Math.min(payload.iat! * 1000, clock.now()));
        return requireMember(own, readIdentity(own, payload), readScopes(own, payload), role);
      });
    },
    findConsoleIssuer: (id) => settings.find((own): own is ConsoleIssuer => own.id === id && own.console !== undefined),
    async identify(own, claims) {
      assertRequiredClaims(own, claims);
      const scopes = [...new Set([...withoutOperatorScopes(own.console?.scopes ?? []), ...readScopes(own, claims)])];
      const identity = readIdentity(own, claims);
      await requireMember(own, identity, scopes, readRole(own, claims, clock.now()));
      // The session that begins now must not have the role of before the sign-in.
      members.clear();
      return { ...identity, scopes };
    },
    async findMember(id, { tenant_id, user_id, scopes }) {
      const own = settings.find((each) => each.id === id && each.console !== undefined);
      if (!own || ![own.tenant_id, ...Object.values(own.tenants ?? {})].includes(tenant_id)) return undefined;
      return requireMember(own, { tenant_id, user_id }, scopes);
    },
    verifyLogout(id, token) {
      const configured = [...issuers.values()].find(({ own }) => own.id === id && own.console !== undefined);
      return configured && verifyLogoutToken(configured.own as ConsoleIssuer, { token, keys: configured.keys, clock });
    },
    sessionSeconds: (id) => (settings.find((own) => own.id === id)?.console?.session_hours ?? 0) * 3600,
    invalidate: members.clear,
  };
}

/** A claim is one value or a list of them, such as the groups of a person. */
function hasClaim(payload: JWTPayload, name: string, accepted: readonly string[]): boolean {
  const values = Object.hasOwn(payload, name) ? [payload[name]].flat() : [];
  return values.some((value) => accepted.some((each) => each === String(value)));
}

function assertRequiredClaims({ required_claims }: Issuer, payload: JWTPayload): void {
  const missing = Object.entries(required_claims).find(([name, accepted]) => !hasClaim(payload, name, accepted));
  if (missing) throw new Fault("permission_denied", { reason: "required_claim", claim: missing[0] });
}

function readIdentity(own: Issuer, payload: JWTPayload): ResourceOwner {
  const user = payload[own.user_claim];
  const tenantName = own.tenant_claim === undefined ? undefined : payload[own.tenant_claim];
  const tenants = new Map(Object.entries(own.tenants ?? {}));
  const tenant_id = own.tenant_id ?? (typeof tenantName === "string" ? tenants.get(tenantName) : undefined);
  const isUserId = typeof user === "string" && /^[\x21-\x7e]{1,200}$/.test(user);
  if (tenant_id === undefined || !isUserId) throw new Fault("invalid_token");
  return { tenant_id, user_id: `${own.id}:${user}` };
}

const withoutOperatorScopes = (scopes: string[]) => scopes.filter((scope) => !isOperatorScope(scope));

/** Ignores scopes of other services. An issuer can never grant the operator's: those of `tenants` and `content`. */
function readScopes(own: Issuer, payload: JWTPayload): string[] {
  const claim = payload[own.scope_claim];
  const names = Array.isArray(claim) ? claim.map(String) : typeof claim === "string" ? claim.split(" ") : [];
  const granted = withoutOperatorScopes(names.filter(isScope));
  return [...new Set([...withoutOperatorScopes(own.scopes), ...granted])];
}

/** What a token or sign-in says about the role of its person. Null: its claims give none. */
type ClaimedRole = Omit<MappedRole, "role"> & { role: Role | null };

/** Undefined if the operator has not mapped claims to roles. */
function readRole({ id, roles }: Issuer, payload: JWTPayload, issuedAt: number): ClaimedRole | undefined {
  if (roles.length === 0) return undefined;
  const given = roles.filter(({ claim, values }) => hasClaim(payload, claim, values));
  const role = ROLES.find((each) => given.some((rule) => rule.role === each)) ?? null;
  return { role, issuer: id, issued_at: new Date(issuedAt) };
}

/**
 * The member as the claims leave it. They decide about a person to whom they give a role, or gave one before; the role
 * of anyone else stays as an owner has set it.
 */
async function provisionMember(
  database: Database,
  { role: defaultRole }: Issuer,
  identity: ResourceOwner,
  claimed: ClaimedRole | undefined,
): Promise<MemberIdentity | undefined> {
  const member = await findMemberIdentity(database, identity.tenant_id, identity.user_id);
  if (!member) return undefined;
  if (claimed && isDecidedBy(claimed, member)) {
    const role = claimed.role ?? defaultRole;
    const decided = role
      ? setMappedRole(database, identity, { ...claimed, role })
      : withdrawMappedRole(database, identity, claimed);
    await decided.catch((thrown) => {
      if (!(thrown instanceof Fault && thrown.code === "conflict")) throw thrown;
      throw new Fault("permission_denied", { reason: "last_owner" }, { cause: thrown });
    });
  } else if (member.role === null && defaultRole !== null)
    await insertMemberOnFirstUse(database, identity, defaultRole);
  else return member;
  return findMemberIdentity(database, identity.tenant_id, identity.user_id);
}

/** Older claims decide nothing, so that a token from before a change of role does not undo it. */
function isDecidedBy({ role, issued_at }: ClaimedRole, member: MemberIdentity): boolean {
  const isNewer = member.role_set_at === null || member.role_set_at < issued_at;
  const isRemovedByOwner = member.is_removed && !member.is_role_mapped;
  return isNewer && !isRemovedByOwner && (role !== null || member.is_role_mapped);
}
