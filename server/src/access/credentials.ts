// Who is calling. A credential is looked at before anything is looked up: what is not even well-formed costs no question
// to the database.
import { z } from "zod";
import type { Caller } from "../db/runs.ts";
import { Fault } from "../faults.ts";
import { digestOf, isApiKey } from "./api-key.ts";
import { type Issuers, IssuersEnv } from "./issuers.ts";
import type { KeyRing } from "./key-ring.ts";
import { type Minted, OWN_ISSUER } from "./minted.ts";
import { looksLikeToken, readToken } from "./token-form.ts";

export const AccessEnv = z.object({
  GESSO_DEV_KEY: z
    .string()
    .refine(isApiKey, "is no API key: gsk_, 40 random characters and a checksum; npx gesso dev makes one")
    .optional()
    .describe("An API key with every right, for a development installation"),
  ...IssuersEnv.shape,
});

export type Credentials = { callerOf(headers: Headers, url: string): Promise<Caller> };
type Books = { keys: KeyRing; minted: Minted; issuers: Issuers };

export function createCredentials({ keys, minted, issuers }: Books): Credentials {
  const ofToken = async (token: string, origin: string | null) => {
    const { issuer } = readToken(token);
    const caller = issuer === OWN_ISSUER ? minted.callerOf(token, origin) : issuers.callerOf(issuer, token);
    if (!caller) throw new Fault("invalid_token");
    return caller;
  };
  return {
    async callerOf(headers, url) {
      refuseInAddress(url);
      const { bearer, apiKey } = readCredential(headers);
      if (bearer && looksLikeToken(bearer)) return ofToken(bearer, headers.get("origin"));
      const key = bearer ?? apiKey!;
      const caller = isApiKey(key) ? await keys.find({ digest: digestOf(key) }) : undefined;
      if (!caller) throw new Fault("invalid_api_key");
      return caller;
    },
  };
}

/** Addresses end up in logs and histories. */
function refuseInAddress(url: string): void {
  const at = url.indexOf("?");
  if (at < 0) return;
  const asked = new URLSearchParams(url.slice(at));
  const found = ["api_key", "apikey", "access_token", "token", "key"].filter((name) => asked.has(name));
  if (found.length === 0) return;
  const message = "A credential never stands in an address; send it as a header.";
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
