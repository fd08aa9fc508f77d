// The credential of a client: an API key, or a token from `getToken`. The token is cached until shortly before it
// expires and requested again when the server rejects it.
import { AuthError } from "./errors.ts";
import type { ResolvedClientOptions } from "./settings.ts";

export type Credential = {
  header(): Promise<Record<string, string>>;
  /** Discards the cached token; false if there is no `getToken` to request a new one. */
  discardToken(): boolean;
};

const REFRESH_MARGIN_MS = 20_000;

export function createCredential({ apiKey, getToken }: ResolvedClientOptions): Credential {
  if (!getToken) {
    const header: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
    return { header: async () => header, discardToken: () => false };
  }
  let pendingToken: Promise<{ token: string | null; until: number }> | undefined;
  const fetchToken = async () => {
    try {
      const token = await getToken();
      return { token, until: token ? readTokenExpiry(token) - REFRESH_MARGIN_MS : 0 };
    } catch (cause) {
      throw new AuthError("getToken failed", { cause });
    }
  };
  return {
    async header() {
      const known = pendingToken;
      let cachedToken = await known?.catch(() => undefined);
      if (!cachedToken || Date.now() >= cachedToken.until) {
        // Concurrent calls share one request for a token.
        if (pendingToken === known || !pendingToken) pendingToken = fetchToken();
        cachedToken = await pendingToken;
      }
      const header: Record<string, string> = cachedToken.token ? { authorization: `Bearer ${cachedToken.token}` } : {};
      return header;
    },
    discardToken() {
      pendingToken = undefined;
      return true;
    },
  };
}

/** The expiry of a JWT; a token without one is cached until the server rejects it. */
function readTokenExpiry(token: string): number {
  try {
    const claims = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(claims)) as { exp?: number };
    return typeof exp === "number" ? exp * 1000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
