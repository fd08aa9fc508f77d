// Access tokens of our own: short-lived, and never worth more than the key that minted them. They are signed with a secret
// that only this service has and only this service needs, so HMAC does; a token dies with its key.
import { type JWTPayload, SignJWT } from "jose";
import type { Caller } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import type { TokenWish } from "../kit/access.ts";
import type { Token } from "../kit/shapes-access.ts";
import type { KeyRing } from "./key-ring.ts";
import { commonScopes, missingFrom } from "./scopes.ts";
import { verifyToken } from "./verify.ts";

export const OWN_ISSUER = "urn:gesso";
const AUDIENCE = "urn:gesso:api";
const ALGORITHM = "HS256";
const KIND = "at+jwt";

export type Minted = {
  mint(caller: Caller, wish: TokenWish, tokenId: string): Promise<Token>;
  callerOf(token: string, origin: string | null): Promise<Caller>;
};

type Claims = JWTPayload & { key_id?: unknown; scope?: unknown; origin?: unknown; max_spend?: unknown };
export type MintedWorld = { secret: Uint8Array; keys: KeyRing; clock: () => number };

export function createMinted({ secret, keys, clock }: MintedWorld): Minted {
  const rules = {
    ...{ issuer: OWN_ISSUER, audience: AUDIENCE, algorithms: [ALGORITHM], types: [KIND], keys: secret },
    // Our own hosts keep better time than strangers do.
    skewSeconds: 5,
    required: ["sub", "jti", "key_id", "scope"],
  };
  return {
    async mint(caller, wish, token_id) {
      const { key_id } = caller;
      if (caller.token || key_id === null) throw new Fault("permission_denied", { reason: "token" });
      const scopes = wish.scopes ?? caller.scopes.filter((scope) => !scope.startsWith("tenants:"));
      const required = missingFrom(caller.scopes, scopes);
      if (required.length > 0) throw new Fault("insufficient_scope", { required });
      const now = Math.floor(clock() / 1000);
      const ends = Math.floor((caller.expires_at?.getTime() ?? Number.POSITIVE_INFINITY) / 1000);
      const exp = Math.min(now + wish.expires_in, ends);
      const { origin, max_spend } = wish;
      const access_token = await new SignJWT({ key_id, scope: scopes.join(" "), origin, max_spend })
        .setProtectedHeader({ alg: ALGORITHM, typ: KIND })
        .setIssuer(OWN_ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(caller.user_id)
        .setJti(token_id)
        .setIssuedAt(now)
        .setExpirationTime(exp)
        .sign(secret);
      return { access_token, token_type: "Bearer", expires_in: exp - now, scope: scopes.join(" ") };
    },

    async callerOf(token, origin) {
      const claims: Claims = await verifyToken(token, rules, clock);
      if (claims.origin !== undefined && claims.origin !== origin)
        throw new Fault("invalid_token", { reason: "origin" });
      const key = await keys.find({ key_id: String(claims.key_id) });
      if (!key) throw new Fault("invalid_token");
      const max_spend = typeof claims.max_spend === "number" ? claims.max_spend : null;
      return {
        ...key,
        scopes: commonScopes(key.scopes, String(claims.scope).split(" ")),
        expires_at: new Date(claims.exp! * 1000),
        token: { token_id: String(claims.jti), max_spend },
      };
    },
  };
}
