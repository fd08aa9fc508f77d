// Finds the session of a request and the rights it has now. Rows are cached for 4 s, as keys and members are, so an
// ended session is refused within 5 s by every process.
import type { Caller } from "../../db/access/caller.ts";
import { type ConsoleSessionRow, findConsoleSession } from "../../db/access/console-sessions.ts";
import type { Database } from "../../db/connect.ts";
import { Fault } from "../../faults/faults.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ApiKeyLookup } from "../api-key-lookup.ts";
import type { Credentials } from "../authentication.ts";
import { createExpiringCache } from "../expiring-cache.ts";
import type { UnknownKeyLimit } from "../limits/unknown-key-limit.ts";
import type { Issuers } from "../tokens/issuers.ts";
import { hashSessionSecret, readSessionSecret } from "./session-secret.ts";

/**
 * A session ends after this time without a request, and at the latest `SESSION_SECONDS` after it began. Its issuer can
 * have a shorter lifetime.
 */
export const IDLE_MS = 12 * 60 * 60 * 1000;
export const SESSION_SECONDS = 7 * 24 * 60 * 60;
const MAX_REMEMBERED = 10_000;

export type SessionLookup = {
  /** The session of a request and its caller. Throws session_required if it has none that is valid. */
  require(credentials: Credentials): Promise<{ row: ConsoleSessionRow; caller: Caller }>;
  /** When the session ends unless it is used, in milliseconds since 1970. */
  findExpiry(row: SessionTimes): number;
  /** Clears the cache. */
  invalidate(): void;
};
type SessionTimes = Pick<ConsoleSessionRow, "created_at" | "last_seen_at" | "issuer">;

export type SessionLookupDependencies = {
  database: Database;
  keys: ApiKeyLookup;
  issuers: Pick<Issuers, "findMember" | "sessionSeconds">;
  unknownKeys: UnknownKeyLimit;
  clock: Pick<Clock, "now">;
};

export function createSessionLookup(dependencies: SessionLookupDependencies): SessionLookup {
  const { database, issuers, unknownKeys, clock } = dependencies;
  const rows = createExpiringCache<ConsoleSessionRow>(clock, { isMissingCached: true });
  /** Sessions that existed at their last lookup: they work at an address that guesses others. */
  const knownSessions = new Set<string>();

  const findRow = async (secret: string, address: string): Promise<ConsoleSessionRow | undefined> => {
    const digest = hashSessionSecret(secret);
    const cacheKey = digest.toString("base64");
    const isKnown = knownSessions.has(cacheKey) || rows.has(cacheKey);
    const retry_after = isKnown ? 0 : unknownKeys.secondsUntilAllowed(address);
    if (retry_after > 0) throw new Fault("rate_limited", { policy: "unknown-keys", retry_after });
    const row = await rows.get(cacheKey, () => findConsoleSession(database, digest));
    knownSessions.delete(cacheKey);
    if (row) knownSessions.add(cacheKey);
    else if (!isKnown) unknownKeys.recordUnknownKey(address);
    if (knownSessions.size > MAX_REMEMBERED) knownSessions.delete(knownSessions.values().next().value!);
    return row && findExpiry(row) > clock.now() ? row : undefined;
  };
  const findExpiry = ({ created_at, last_seen_at, issuer }: SessionTimes): number => {
    const seconds = issuer === null ? SESSION_SECONDS : issuers.sessionSeconds(issuer);
    return Math.min(created_at.getTime() + seconds * 1000, last_seen_at.getTime() + IDLE_MS);
  };

  return {
    async require({ headers, address }) {
      // One request has one credential: a key beside the cookie could act for another person.
      if (headers.has("authorization") || headers.has("x-api-key")) throw new Fault("ambiguous_credentials");
      const secret = readSessionSecret(headers);
      const row = secret === undefined ? undefined : await findRow(secret, address);
      const rights = row && (await findRights(dependencies, row));
      if (!row || !rights) throw new Fault("session_required");
      const { session_id, method, last_login_at } = row;
      const expiry = Math.min(findExpiry(row), rights.expires_at?.getTime() ?? Number.POSITIVE_INFINITY);
      const session = { session_id, method, last_login_at };
      return { row, caller: { ...rights, expires_at: new Date(expiry), session } };
    },
    findExpiry,
    invalidate: rows.clear,
  };
}

/** The member was removed, or its tenant deleted. */
const GONE = ["permission_denied", "invalid_token"];

/** The rights of the key or the member now; undefined if the key is revoked or the member is gone. */
async function findRights(
  { keys, issuers }: SessionLookupDependencies,
  row: ConsoleSessionRow,
): Promise<Caller | undefined> {
  if (row.key_id !== null) return keys.find({ key_id: row.key_id });
  return issuers.findMember(row.issuer!, row).catch((thrown) => {
    if (thrown instanceof Fault && GONE.includes(thrown.code)) return undefined;
    throw thrown;
  });
}
