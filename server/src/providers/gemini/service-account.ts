// Access tokens of a Google service account: a statement that its key signs is exchanged for a token of one hour. A
// token is used again until shortly before its end.
import { importPKCS8, SignJWT } from "jose";
import { z } from "zod";
import { callProvider, modelUnavailable, providerFault } from "../call-provider.ts";
import type { ProviderContext } from "../provider.ts";

const ServiceAccount = z.object({
  type: z.literal("service_account"),
  project_id: z.string().regex(/^[a-z0-9.:-]+$/),
  client_email: z.string().min(1),
  private_key: z.string().includes("BEGIN PRIVATE KEY"),
  token_uri: z.url().default("https://oauth2.googleapis.com/token"),
});
export type ServiceAccount = z.output<typeof ServiceAccount>;
const TokenReply = z.object({ access_token: z.string(), expires_in: z.number().default(3600) });

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const LIFETIME_SECONDS = 3600;
/** A token is not used in its last minutes: a request may take that long. */
const RESERVE_MS = 10 * 60 * 1000;

/** Undefined if the text is another kind of key. */
export function readServiceAccount(key: string): ServiceAccount | undefined {
  if (!key.trimStart().startsWith("{")) return undefined;
  try {
    return ServiceAccount.parse(JSON.parse(key));
  } catch {
    return undefined;
  }
}

const tokens = new Map<string, { token: string; until: number }>();

export async function fetchAccessToken(account: ServiceAccount, context: ProviderContext<unknown>): Promise<string> {
  const key = `${account.token_uri} ${account.client_email} ${account.private_key}`;
  const known = tokens.get(key);
  if (known && known.until > context.now()) return known.token;
  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: await signAssertion(account, context.now()),
  });
  const { access_token, expires_in } = await callProvider(context, {
    origin: account.token_uri,
    url: account.token_uri,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new TextEncoder().encode(form.toString()),
    // Google refuses a wrong key, a clock that is wrong, and a deleted account with 400.
    classify: (status, body) => (status === 400 ? modelUnavailable(body.slice(0, 500), 401) : undefined),
    hasNoSideEffects: true,
    reply: TokenReply,
  });
  tokens.set(key, { token: access_token, until: context.now() + expires_in * 1000 - RESERVE_MS });
  return access_token;
}

async function signAssertion({ private_key, client_email, token_uri }: ServiceAccount, now: number): Promise<string> {
  const issued = Math.floor(now / 1000);
  const key = await importPKCS8(private_key, "RS256").catch((cause: unknown) => {
    throw providerFault("model_unavailable", { kind: "refused", status: 401, cause });
  });
  return new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: "RS256", typ: "JWT" })
    .setIssuer(client_email)
    .setAudience(token_uri)
    .setIssuedAt(issued)
    .setExpirationTime(issued + LIFETIME_SECONDS)
    .sign(key);
}
