// Who we say we are: an API key as it is, or a token that is asked for once, kept until shortly before it expires, and
// asked for again when the server no longer takes it.
import { AuthError } from "./errors.ts";
import type { Settings } from "./settings.ts";

export type Credential = {
  header(): Promise<Record<string, string>>;
  /** Forgets the token; false when a new one cannot be had. */
  renew(): boolean;
};

const EARLY_MS = 20_000;

export function credentialOf({ apiKey, getToken }: Settings): Credential {
  if (!getToken) {
    const header: Record<string, string> = apiKey ? { authorization: `Bearer ${apiKey}` } : {};
    return { header: async () => header, renew: () => false };
  }
  let asked: Promise<{ token: string | null; until: number }> | undefined;
  const ask = async () => {
    try {
      const token = await getToken();
      return { token, until: token ? expiryOf(token) - EARLY_MS : 0 };
    } catch (cause) {
      throw new AuthError("getToken gave no token", { cause });
    }
  };
  return {
    async header() {
      const known = asked;
      let held = await known?.catch(() => undefined);
      if (!held || Date.now() >= held.until) {
        // The first who notices asks; calls that start together share the question.
        if (asked === known || !asked) asked = ask();
        held = await asked;
      }
      const header: Record<string, string> = held.token ? { authorization: `Bearer ${held.token}` } : {};
      return header;
    },
    renew() {
      asked = undefined;
      return true;
    },
  };
}

/** When a JWT says that it ends; a token that does not say is kept until it is refused. */
function expiryOf(token: string): number {
  try {
    const claims = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(claims)) as { exp?: number };
    return typeof exp === "number" ? exp * 1000 : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
