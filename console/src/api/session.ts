// Sign-in and sign-out at the server side of the console. The page holds no secret: a key or a one-time code is
// exchanged for a cookie that scripts cannot read.
import { CONSOLE_HEADERS } from "./console-headers.ts";

export type SignInMethods = { code: boolean; key: boolean; oidc: { id: string; url: string }[] };
export type ConsoleConfig = { version: string; public_url: string; sign_in_methods: SignInMethods };
export type Session = {
  id: string;
  user_id: string;
  method: "code" | "key" | "oidc";
  key_id: string | null;
  issuer: string | null;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  recent_login_until: string | null;
  is_current: boolean;
};
export type SignInCredential = { code: string } | { key: string };

/** A refused sign-in, with what the page needs to explain it. */
export type SignInRefusal = { code: string; requestId: string | undefined; retryAfterSeconds: number | undefined };
export type SignInResult = { session: Session } | { refusal: SignInRefusal };

const SESSION_URL = "/console/session";
const NO_RESPONSE: SignInRefusal = { code: "no_response", requestId: undefined, retryAfterSeconds: undefined };

export async function fetchConfig(): Promise<ConsoleConfig> {
  const response = await fetch("/console/config.json");
  if (!response.ok) throw new Error(`config.json returned HTTP ${response.status}`);
  return response.json();
}

/** The current session, or null without one. Throws if the server does not respond, which says nothing about it. */
export async function fetchSession(): Promise<Session | null> {
  const response = await fetch(SESSION_URL, { headers: CONSOLE_HEADERS });
  if (response.status === 401) return null;
  if (!response.ok) throw new Error(`The session returned HTTP ${response.status}`);
  return response.json();
}

export async function signIn(credential: SignInCredential): Promise<SignInResult> {
  const response = await fetch(SESSION_URL, {
    method: "POST",
    headers: { ...CONSOLE_HEADERS, "content-type": "application/json" },
    body: JSON.stringify(credential),
  }).catch(() => undefined);
  if (!response) return { refusal: NO_RESPONSE };
  const body = await response.json().catch(() => ({}));
  return response.ok ? { session: body } : { refusal: parseRefusal(response, body) };
}

type ErrorBody = { code?: string; details?: { request_id?: string; retry_after?: number } };

export function parseRefusal({ headers }: Pick<Response, "headers">, { code, details }: ErrorBody): SignInRefusal {
  const seconds = Number(headers.get("retry-after") ?? details?.retry_after ?? Number.NaN);
  return {
    code: code ?? "internal_error",
    requestId: headers.get("x-request-id") ?? details?.request_id,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
  };
}

/** Drafts in the browser's storage belong to the session. */
const DRAFT_PREFIX = "gesso.draft";

export async function signOut(): Promise<void> {
  for (const key of Object.keys(localStorage)) if (key.startsWith(DRAFT_PREFIX)) localStorage.removeItem(key);
  await fetch(SESSION_URL, { method: "DELETE", headers: CONSOLE_HEADERS });
}

/** All sessions of the signed-in member, newest first. */
export async function fetchSessions(): Promise<Session[]> {
  const response = await fetch("/console/sessions", { headers: CONSOLE_HEADERS });
  if (!response.ok) throw new Error(`The sessions returned HTTP ${response.status}`);
  const { data } = (await response.json()) as { data: Session[] };
  return data;
}

/** Ends a session of the signed-in member. A session that has ended already is no error. */
export async function endSession(id: string): Promise<void> {
  const response = await fetch(`/console/sessions/${id}`, { method: "DELETE", headers: CONSOLE_HEADERS });
  if (!response.ok && response.status !== 404) throw new Error(`Ending the session returned HTTP ${response.status}`);
}

/** The URL that starts a sign-in at an identity provider and comes back to the page `returnTo`. */
export const oidcUrl = (url: string, returnTo: string): string =>
  `${url}?return_to=${encodeURIComponent(returnTo.startsWith("/console") ? returnTo : "/console/")}`;
