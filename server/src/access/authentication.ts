// Authentication. The syntax of a credential is checked before any lookup, so malformed ones cost no database query.
import { z } from "zod";
import type { Caller } from "../db/access/caller.ts";
import { Fault } from "../faults/faults.ts";
import { hashApiKey, hasValidApiKeySyntax } from "./api-key.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import type { UnknownKeyLimit } from "./limits/unknown-key-limit.ts";
import { type AccessTokens, OWN_ISSUER } from "./tokens/access-tokens.ts";
import { type Issuers, IssuersEnv } from "./tokens/issuers.ts";
import { looksLikeJwt, parseUnverifiedToken } from "./tokens/token-syntax.ts";

export const AccessEnv = z.object({
  GESSO_API_KEY: z
    .string()
    .refine(
      hasValidApiKeySyntax,
      "must be an API key (gsk_, 40 random characters and a checksum); npx gesso dev generates one",
    )
    .optional()
    .describe(
      "API key with all scopes that the server registers at start, for development. A server that other machines can " +
        "reach refuses to start with it",
    ),
  CELL: z
    .string()
    .regex(/^([0-9A-Za-z]{2})?$/, "must be two letters or digits")
    .default("")
    .describe(
      "Two letters or digits with which new API keys begin, after gsk_, so that a router in front of several " +
        "installations can tell their keys apart. Default: none",
    ),
  ...IssuersEnv.shape,
});

/** The parts of a request that identify its caller. `address` is the client's, for the limit of unknown keys. */
export type Credentials = { headers: Headers; url: string; address: string };
export type Authenticator = { authenticate(credentials: Credentials): Promise<Caller> };
type CredentialSources = {
  keys: ApiKeyLookup;
  accessTokens: AccessTokens;
  issuers: Issuers;
  unknownKeys: UnknownKeyLimit;
};

export function createAuthenticator(sources: CredentialSources): Authenticator {
  const { keys, accessTokens, issuers, unknownKeys } = sources;
  const authenticateToken = async (token: string, origin: string | null) => {
    const { issuer } = parseUnverifiedToken(token);
    const caller =
      issuer === OWN_ISSUER ? accessTokens.authenticate(token, origin) : issuers.authenticate(issuer, token);
    if (!caller) throw new Fault("invalid_token");
    return caller;
  };
  return {
    async authenticate({ headers, url, address }) {
      rejectCredentialsInUrl(url);
      const { bearer, apiKey } = readCredential(headers);
      if (bearer && looksLikeJwt(bearer)) return authenticateToken(bearer, headers.get("origin"));
      const key = bearer ?? apiKey!;
      if (!hasValidApiKeySyntax(key)) throw new Fault("invalid_api_key");
      const ref = { digest: hashApiKey(key) };
      // Keys in use work at an address that guesses others; a lookup there has to wait.
      const isKnown = keys.isKnown(ref);
      const retry_after = isKnown ? 0 : unknownKeys.secondsUntilAllowed(address);
      if (retry_after > 0) throw new Fault("rate_limited", { policy: "unknown-keys", retry_after });
      const caller = await keys.find(ref);
      if (caller) return caller;
      if (!isKnown) unknownKeys.recordUnknownKey(address);
      throw new Fault("invalid_api_key");
    },
  };
}

/** URLs end up in logs and browser histories, so credentials in them are refused. */
function rejectCredentialsInUrl(url: string): void {
  const at = url.indexOf("?");
  if (at < 0) return;
  const query = new URLSearchParams(url.slice(at));
  const found = ["api_key", "apikey", "access_token", "token", "key"].filter((name) => query.has(name));
  if (found.length === 0) return;
  const message = "Credentials are not allowed in the URL. Send them in the Authorization header.";
  throw new Fault("validation_error", {
    errors: found.map((name) => ({ path: `/${name}`, code: "unknown_field", message })),
  });
}

function readCredential(headers: Headers): { bearer?: string | undefined; apiKey?: string | undefined } {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  const apiKey = headers.get("x-api-key") ?? undefined;
  if (bearer && apiKey && bearer !== apiKey) throw new Fault("ambiguous_credentials");
  if (!bearer && !apiKey) throw new Fault(headers.has("authorization") ? "invalid_api_key" : "authentication_required");
  return { bearer, apiKey };
}
