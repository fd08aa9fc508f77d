// Access tokens issued by this server: short-lived, with at most the rights of the key that requested them, and invalid
// once the key is. Only this server verifies them, so a symmetric signature (HMAC) is enough.
import { type JWTPayload, SignJWT } from "jose";
import type { Token } from "../../contract/schemas/access.ts";
import { TOKEN_SCOPES } from "../../contract/token-scopes.ts";
import type { Caller } from "../../db/access/caller.ts";
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { SecretKeys } from "../../runtime/secret-keys.ts";
import type { ApiKeyLookup } from "../api-key-lookup.ts";
import { intersectScopes, missingScopes } from "../scopes.ts";
import { verifyToken } from "./verify-token.ts";

export const OWN_ISSUER = "urn:gesso";
const AUDIENCE = "urn:gesso:api";
const ALGORITHM = "HS256";
const TOKEN_TYPE = "at+jwt";

export type AccessTokenInput = {
  expires_in: number;
  end_user: string;
  customer?: string | undefined;
  tags?: string[] | undefined;
  scopes: string[];
  origin?: string | undefined;
  max_spend?: number | undefined;
};

export type AccessTokens = {
  issue(caller: Caller, request: AccessTokenInput, tokenId: string): Promise<Token>;
  authenticate(token: string, origin: string | null): Promise<Caller>;
};

type Claims = JWTPayload & {
  key_id?: unknown;
  scope?: unknown;
  origin?: unknown;
  max_spend?: unknown;
  end_user?: unknown;
  customer?: unknown;
  tags?: unknown;
};
export type AccessTokensDependencies = { secrets: SecretKeys; keys: ApiKeyLookup; clock: Pick<Clock, "now"> };

export function createAccessTokens({ secrets, keys, clock }: AccessTokensDependencies): AccessTokens {
  const rules = {
    ...{ issuer: OWN_ISSUER, audience: AUDIENCE, algorithms: [ALGORITHM], types: [TOKEN_TYPE], keys: secrets },
    // Gesso issued and verifies these tokens itself, so a clock tolerance of 5 s is enough (60 s for other issuers).
    skewSeconds: 5,
    required: ["sub", "jti", "key_id", "scope"],
  };
  return {
    async issue(caller, request, token_id) {
      const { key_id } = caller;
      if (caller.token || key_id === null) throw new Fault("permission_denied", { reason: "token" });
      const { scopes } = request;
      const required = [...new Set([caller.scopes, TOKEN_SCOPES].flatMap((own) => missingScopes(own, scopes)))];
      if (required.length > 0) throw new Fault("insufficient_scope", { required });
      const now = Math.floor(clock.now() / 1000);
      const keyExpiry = Math.floor((caller.expires_at?.getTime() ?? Number.POSITIVE_INFINITY) / 1000);
      const exp = Math.min(now + request.expires_in, keyExpiry);
      const { origin, max_spend, end_user, customer, tags } = request;
      const claims = { key_id, scope: scopes.join(" "), origin, max_spend, end_user, customer, tags };
      const access_token = await new SignJWT(claims)
        .setProtectedHeader({ alg: ALGORITHM, typ: TOKEN_TYPE })
        .setIssuer(OWN_ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(caller.user_id)
        .setJti(token_id)
        .setIssuedAt(now)
        .setExpirationTime(exp)
        .sign(secrets[0]);
      return { access_token, token_type: "Bearer", expires_in: exp - now, scope: scopes.join(" ") };
    },

    async authenticate(token, origin) {
      const claims: Claims = await verifyToken(token, rules, clock);
      if (claims.origin !== undefined && claims.origin !== origin)
        throw new Fault("invalid_token", { reason: "origin" });
      const key = await keys.find({ key_id: String(claims.key_id) });
      if (!key) throw new Fault("invalid_token");
      const token_id = String(claims.jti);
      // A token of an earlier version names no end user: it sees what was made with it.
      const end_user = typeof claims.end_user === "string" && claims.end_user !== "" ? claims.end_user : token_id;
      const max_spend = typeof claims.max_spend === "number" ? claims.max_spend : null;
      return {
        ...key,
        // Tokens of earlier versions may have more.
        scopes: intersectScopes(intersectScopes(key.scopes, TOKEN_SCOPES), String(claims.scope).split(" ")),
        expires_at: new Date(claims.exp! * 1000),
        token: { token_id, max_spend, end_user, ...readAttribution(claims) },
      };
    },
  };
}

/** A token of an earlier version names neither. */
const readAttribution = ({ customer, tags }: Claims) => ({
  customer: typeof customer === "string" ? customer : null,
  tags: Array.isArray(tags) ? tags.map(String) : [],
});
