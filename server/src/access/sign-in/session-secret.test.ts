import { expect, it } from "vitest";
import {
  expiredSessionCookie,
  generateSessionSecret,
  hashSessionSecret,
  readSessionSecret,
  sessionCookie,
} from "./session-secret.ts";

const read = (cookie: string) => readSessionSecret(new Headers({ cookie }));

it("a session cookie has the prefix, HttpOnly, Secure and SameSite=Strict, and 256 random bits", () => {
  const secret = generateSessionSecret();
  expect(Buffer.from(secret, "base64url")).toHaveLength(32);
  expect(generateSessionSecret()).not.toBe(secret);
  expect(sessionCookie(secret, 604_800)).toBe(
    `__Host-gesso=${secret}; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=604800`,
  );
  expect(expiredSessionCookie()).toBe("__Host-gesso=; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=0");
  expect(hashSessionSecret(secret)).toHaveLength(32);
});

it("reads one well-formed session cookie among others, and nothing else", () => {
  const secret = generateSessionSecret();
  expect(read(`theme=dark; __Host-gesso=${secret}; a=b`)).toBe(secret);
  for (const cookie of [
    ...["", "__Host-gesso=", `gesso=${secret}`, `x__Host-gesso=${secret}`, `__Host-gesso=${secret}x`],
    ...[`__Host-gesso="${secret}"`, `__Host-gesso=${secret}; __Host-gesso=${generateSessionSecret()}`],
    ...[`__Host-gesso=${secret.slice(1)}`, `__host-gesso=${secret}`],
  ])
    expect([cookie, read(cookie)]).toEqual([cookie, undefined]);
  expect(readSessionSecret(new Headers())).toBeUndefined();
});
