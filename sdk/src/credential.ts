// Who we say we are: an API key as it is, or a token that is asked for once, kept until shortly before it expires, and
// asked for again when the server no longer takes it.
import { AuthError } from "./errors.ts";
import type { ResolvedClientOptions } from "./settings.ts";

export type Credential = {
  header(): Promise<Record<string, string>>;
  /** Forgets the token; false when a new one cannot be had. */
  renew(): boolean;
};

const REFRESH_MARGIN_MS = 20_000;

export function createCredential({ apiKey, getToken }: ResolvedClientOptions): Credential {
  if (!getToken) {
    const header: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
    return { header: async () => header, renew: () => false };
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
        // The first who notices asks; calls that start together share the question.
        if (pendingToken === known || !pendingToken) pendingToken = fetchToken();
        cachedToken = await pendingToken;
      }
      const header: Record<string, string> = cachedToken.token ? { authorization: `Bearer ${cachedToken.token}` } : {};
      return header;
    },
    renew() {
      pendingToken = undefined;
      return true;
    },
  };
}

/** When a JWT says that it ends; a token that does not say is kept until it is refused. */
function readTokenExpiry(token: string): number {
  try {
    const claims = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(claims)) as { exp?: number };
    return typeof exp === "number" ? exp * 1000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
