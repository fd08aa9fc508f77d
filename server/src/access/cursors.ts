// Pagination cursors: signed, bound to one list, tenant and filter, and valid for one day.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { Fault } from "../faults/faults.ts";
import type { Clock } from "../runtime/clock.ts";
import type { SecretKeys } from "../runtime/secret-keys.ts";

/** How long a signed cursor is accepted. */
export const SIGNATURE_VALID_MS = 24 * 60 * 60 * 1000;

export type CursorSigner = {
  sign(scope: string, lastId: string): string;
  /** Throws invalid_cursor for anything that this signer did not sign for this scope within a day. */
  verify(scope: string, cursor: string): string;
};

/** Hashes what a cursor is bound to, such as the list, the tenant and the filter. */
export const cursorScope = (...parts: unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex");

export function createCursorSigner(secrets: SecretKeys, clock: Pick<Clock, "now">): CursorSigner {
  const sign = (scope: string, lastId: string, signedAt: number, secret: Uint8Array) => {
    const body = `${lastId}.${signedAt.toString(36)}`;
    const signature = createHmac("sha256", secret).update(`${scope} ${body}`).digest("base64url").slice(0, 22);
    return Buffer.from(`${body}.${signature}`).toString("base64url");
  };
  return {
    sign: (scope, lastId) => sign(scope, lastId, clock.now(), secrets[0]),
    verify(scope, cursor) {
      const [lastId = "", time = ""] = Buffer.from(cursor, "base64url").toString().split(".");
      const signedAt = Number.parseInt(time, 36);
      // Compared as text: base64 has spare bits, so several texts decode to the same bytes.
      const received = Buffer.from(cursor);
      const isValid = secrets.some((secret) => {
        const expected = Buffer.from(sign(scope, lastId, signedAt, secret));
        return received.length === expected.length && timingSafeEqual(received, expected);
      });
      if (!isValid || clock.now() - signedAt > SIGNATURE_VALID_MS) throw new Fault("invalid_cursor");
      return lastId;
    },
  };
}
