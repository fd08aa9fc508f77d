// The secret of a console session: 256 random bits in a cookie that scripts cannot read, that is sent over TLS or to
// this machine only, and never with a request that another site caused. Only its digest is stored.
import { createHash, randomBytes } from "node:crypto";

/** The prefix makes browsers refuse the cookie from another host, from a subdomain, and without Secure and Path=/. */
const NAME = "__Host-gesso";
const ATTRIBUTES = "Path=/; HttpOnly; Secure; SameSite=Strict";
const SECRET = /^[A-Za-z0-9_-]{43}$/;

export const generateSessionSecret = (): string => randomBytes(32).toString("base64url");

export const hashSessionSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

export const sessionCookie = (secret: string, maxAgeSeconds: number): string =>
  `${NAME}=${secret}; ${ATTRIBUTES}; Max-Age=${maxAgeSeconds}`;

/** Removes the cookie from the browser. */
export const expiredSessionCookie = (): string => sessionCookie("", 0);

/** Undefined if the request has no session cookie, a malformed one, or more than one. */
export function readSessionSecret(headers: Headers): string | undefined {
  const values = readCookies(headers, NAME);
  return values.length === 1 && SECRET.test(values[0]!) ? values[0] : undefined;
}

/** The digest of the session that the browser of this request has. */
export function readSessionDigest(headers: Headers): Buffer | undefined {
  const secret = readSessionSecret(headers);
  return secret === undefined ? undefined : hashSessionSecret(secret);
}

/** The values of every cookie with this name. */
export const readCookies = (headers: Headers, name: string): string[] =>
  (headers.get("cookie") ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
