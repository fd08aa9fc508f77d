// Sessions of the console: the third kind of credential, beside API keys and tokens. A session has at most the rights
// of the key or the identity provider that it came from. They are read anew with every request, so a session ends
// within 5 s after its key is revoked or its member is removed.
import type { Caller } from "../../db/access/caller.ts";
import {
  type ConsoleSessionRow,
  deleteConsoleSession,
  deleteProviderSessions,
  insertConsoleCode,
  insertConsoleSession,
  listConsoleSessions,
  MAX_SESSIONS_PER_MEMBER,
  type ProviderLogout,
  type ProviderSession,
  recordSessionUse,
  takeConsoleCode,
} from "../../db/access/console-sessions.ts";
import type { Database } from "../../db/connect.ts";
import type { SignInMethod } from "../../db/typed-columns.ts";
import { Fault } from "../../faults/faults.ts";
import type { Clock, Ids } from "../../runtime/clock.ts";
import type { ApiKeyLookup } from "../api-key-lookup.ts";
import type { Authenticator, Credentials } from "../authentication.ts";
import { recentLoginUntil } from "./recent-login.ts";
import { IDLE_MS, SESSION_SECONDS, type SessionLookup } from "./session-lookup.ts";
import { generateSessionSecret, hashSessionSecret } from "./session-secret.ts";

export const CODE_SECONDS = 60;
const RECORD_INTERVAL_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** The proven identity that a session begins with. */
export type SignIn = Pick<
  ConsoleSessionRow,
  "tenant_id" | "user_id" | "method" | "key_id" | "issuer" | "scopes" | "last_login_at"
> &
  ProviderSession;

/** A session as its member sees it. */
export type ConsoleSession = {
  id: string;
  user_id: string;
  method: SignInMethod;
  key_id: string | null;
  issuer: string | null;
  created_at: string;
  last_login_at: string | null;
  last_seen_at: string;
  expires_at: string;
  /** Until when operations that need a recent login are permitted. */
  recent_login_until: string | null;
  is_current: boolean;
};

export type ConsoleSessions = Authenticator & {
  /** The session of a request and its caller. Throws session_required if it has none that is valid. */
  require(credentials: Credentials): Promise<{ session: ConsoleSession; caller: Caller }>;
  /** Begins a session and ends the one that the same browser had. Returns the secret for its cookie. */
  begin(signIn: SignIn, replacedDigest: Buffer | undefined): Promise<{ session: ConsoleSession; secret: string }>;
  /** Postpones the end of an idle session. */
  recordActivity(caller: Caller): void;
  list(caller: Caller): Promise<ConsoleSession[]>;
  /** Ends one of the member's own sessions. False if there is no such session. */
  end(caller: Caller, sessionId: string): Promise<boolean>;
  /** Ends the sessions that an identity provider names. Throws invalid_token for a token that was used before. */
  endByProvider(logout: ProviderLogout): Promise<void>;
  /** A code that can be exchanged once, within a minute, for a session with the rights of the caller's key. */
  createCode(caller: Caller): Promise<string>;
  /** The sign-in for a code. Throws sign_in_code_invalid if the code was used, has expired or never existed. */
  exchangeCode(code: string): Promise<SignIn>;
};

export type ConsoleSessionsDependencies = {
  database: Database;
  lookup: SessionLookup;
  keys: Pick<ApiKeyLookup, "find">;
  clock: Pick<Clock, "now">;
  ids: Ids;
};

export function createConsoleSessions(dependencies: ConsoleSessionsDependencies): ConsoleSessions {
  const { database, lookup, clock, ids } = dependencies;
  const renderSession = (row: ConsoleSessionRow, current: { session_id: string } | undefined): ConsoleSession => ({
    ...renderRow(row),
    expires_at: new Date(lookup.findExpiry(row)).toISOString(),
    is_current: row.session_id === current?.session_id,
  });
  return {
    async require(credentials) {
      const { row, caller } = await lookup.require(credentials);
      return { session: renderSession(row, row), caller };
    },
    authenticate: async (credentials) => (await lookup.require(credentials)).caller,
    async begin(signIn, replacedDigest) {
      const secret = generateSessionSecret();
      const row = await insertConsoleSession(database, {
        ...signIn,
        session_id: ids.next(),
        digest: hashSessionSecret(secret),
        replacedDigest,
        created_at: new Date(clock.now()),
      });
      lookup.invalidate();
      return { session: renderSession(row, row), secret };
    },
    recordActivity: createActivityRecorder(dependencies),
    async list(caller) {
      const since = {
        createdAfter: new Date(clock.now() - SESSION_SECONDS * 1000),
        seenAfter: new Date(clock.now() - IDLE_MS),
      };
      const own = await listConsoleSessions(
        database.forTenant(caller.tenant_id),
        caller,
        since,
        MAX_SESSIONS_PER_MEMBER,
      );
      const live = own.filter((row) => lookup.findExpiry(row) > clock.now());
      return live.map((row) => renderSession(row, caller.session));
    },
    async end(caller, sessionId) {
      const isEnded = await deleteConsoleSession(database.forTenant(caller.tenant_id), caller, sessionId);
      lookup.invalidate();
      return isEnded;
    },
    async endByProvider(logout) {
      const isNew = await deleteProviderSessions(database, logout);
      lookup.invalidate();
      if (!isNew) throw new Fault("invalid_token", { reason: "used_before" });
    },
    ...createCodes(dependencies),
  };
}

/** Writes at most once a minute for each session. */
function createActivityRecorder({ database, clock }: ConsoleSessionsDependencies): ConsoleSessions["recordActivity"] {
  const recordedAt = new Map<string, number>();
  return ({ session }) => {
    if (!session) return;
    const { session_id } = session;
    const last = recordedAt.get(session_id);
    if (last !== undefined && clock.now() - last < RECORD_INTERVAL_MS) return;
    recordedAt.delete(session_id);
    recordedAt.set(session_id, clock.now());
    if (recordedAt.size > MAX_REMEMBERED) recordedAt.delete(recordedAt.keys().next().value!);
    recordSessionUse(database, session_id, new Date(clock.now())).catch(() => recordedAt.delete(session_id));
  };
}

function createCodes({
  database,
  keys,
  clock,
}: ConsoleSessionsDependencies): Pick<ConsoleSessions, "createCode" | "exchangeCode"> {
  return {
    async createCode({ tenant_id, key_id, token, session }) {
      if (key_id === null || token || session) throw new Fault("permission_denied", { reason: "not_a_key" });
      const code = generateSessionSecret();
      const expires_at = new Date(clock.now() + CODE_SECONDS * 1000);
      await insertConsoleCode(database, { digest: hashSessionSecret(code), tenant_id, key_id, expires_at });
      return code;
    },
    async exchangeCode(code) {
      const key_id = await takeConsoleCode(database, hashSessionSecret(code), new Date(clock.now()));
      const caller = key_id === undefined ? undefined : await keys.find({ key_id });
      if (!caller) throw new Fault("sign_in_code_invalid");
      return signInWithKey(caller, "code", clock);
    },
  };
}

/** The sign-in of the holder of an API key, who proved now that they have it. */
export function signInWithKey(
  { tenant_id, user_id, key_id, token }: Caller,
  method: "code" | "key",
  clock: Pick<Clock, "now">,
): SignIn {
  if (key_id === null || token) throw new Fault("permission_denied", { reason: "not_a_key" });
  return { tenant_id, user_id, method, key_id, issuer: null, scopes: [], last_login_at: new Date(clock.now()) };
}

const renderRow = ({ session_id, user_id, method, key_id, issuer, ...row }: ConsoleSessionRow) => ({
  ...{ id: session_id, user_id, method, key_id, issuer },
  created_at: row.created_at.toISOString(),
  last_login_at: row.last_login_at?.toISOString() ?? null,
  last_seen_at: row.last_seen_at.toISOString(),
  recent_login_until: recentLoginUntil(row.last_login_at)?.toISOString() ?? null,
});
