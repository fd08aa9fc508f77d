// What the URL says about signing in when the page starts: the one-time code of `gesso dev` (#in=…), or why an identity
// provider's sign-in failed. Both are removed from the URL at once.
import { type Session, type SignInRefusal, signIn } from "../api/session.ts";

export type SignInLink = { code?: string; refusal?: SignInRefusal };
export type Startup = { session?: Session; refusal?: SignInRefusal };

export function parseSignInLink({ hash, search }: { hash: string; search: string }): SignInLink {
  const code = /^#in=([\w.~-]+)$/.exec(hash)?.[1];
  if (code) return { code };
  const query = new URLSearchParams(search);
  const error = query.get("sign_in_error");
  if (!error) return {};
  // Only a request ID is shown: a link could carry any other sentence.
  const requestId = /^req_[0-9a-f]+$/.exec(query.get("request_id") ?? "")?.[0];
  return { refusal: { code: error, requestId, retryAfterSeconds: undefined } };
}

export function takeSignInLink(): SignInLink {
  const link = parseSignInLink(location);
  // A code stays out of the history and of copied URLs.
  if (link.code) history.replaceState(null, "", location.pathname + location.search);
  if (link.refusal) history.replaceState(null, "", location.pathname);
  return link;
}

export async function startSession({ code, refusal }: SignInLink): Promise<Startup> {
  if (code) return signIn({ code });
  return refusal ? { refusal } : {};
}
