// Sessions of the console, and the one-time codes that begin one. Only digests are stored. The beginning and the end
// of a session are recorded in the audit log by the statement that makes the change.
import type { Database } from "../connect.ts";
import { statement } from "../statement.ts";
import type { SignInMethod } from "../typed-columns.ts";
import { type Actor, actorParameters } from "./audit-log.ts";

export type ConsoleSessionRow = {
  session_id: string;
  tenant_id: string;
  user_id: string;
  method: SignInMethod;
  key_id: string | null;
  issuer: string | null;
  scopes: string[];
  last_login_at: Date | null;
  last_seen_at: Date;
  created_at: Date;
};
const SESSION_COLUMNS =
  "session_id, tenant_id, user_id, method, key_id, issuer, scopes, last_login_at, last_seen_at, created_at";

/** The person and the session at the identity provider, `sub` and `sid` of the ID token. */
export type ProviderSession = { provider_subject?: string | undefined; provider_session?: string | undefined };

export type NewConsoleSession = Omit<ConsoleSessionRow, "last_seen_at"> &
  ProviderSession & {
    digest: Buffer;
    /** The session that the same browser had before; it ends. */
    replacedDigest: Buffer | undefined;
  };

/** The oldest sessions beyond it end, so that a member's sessions need a limited amount of storage. */
export const MAX_SESSIONS_PER_MEMBER = 100;

const INSERT = statement(
  "console_sessions.insert",
  `with replaced as (
     delete from console_sessions where digest = :replaced_digest?::bytea
   ), surplus as (
     delete from console_sessions where session_id in (
       select session_id from console_sessions where tenant_id = :tenant_id and user_id = :user_id
       order by session_id desc offset :max_others
     )
   ), inserted as (
     insert into console_sessions (session_id, tenant_id, user_id, digest, method, key_id, issuer, scopes,
       last_login_at, last_seen_at, created_at, provider_subject, provider_session)
     values (:session_id, :tenant_id, :user_id, :digest, :method, :key_id?, :issuer?, :scopes, :last_login_at?,
       :created_at, :created_at, :provider_subject?, :provider_session?)
     returning ${SESSION_COLUMNS}
   ), audit_entry as (
     insert into audit_log (tenant_id, user_id, key_id, action, subject, details)
     select tenant_id, user_id, key_id, 'sessions.create', session_id::text,
       jsonb_build_object('method', method, 'issuer', issuer)
     from inserted
   )
   select ${SESSION_COLUMNS} from inserted`,
);

export async function insertConsoleSession(
  db: Database,
  { digest, replacedDigest, provider_subject, provider_session, ...session }: NewConsoleSession,
): Promise<ConsoleSessionRow> {
  const limits = { replaced_digest: replacedDigest, max_others: MAX_SESSIONS_PER_MEMBER - 1 };
  const [row] = await db.execute(INSERT, { ...session, digest, provider_subject, provider_session, ...limits });
  return row!;
}

const FIND = statement(
  "console_sessions.find",
  `select ${SESSION_COLUMNS} from console_sessions where digest = :digest`,
);

/** The session of any tenant with this digest, also if it has expired. */
export async function findConsoleSession(db: Database, digest: Buffer): Promise<ConsoleSessionRow | undefined> {
  const [row] = await db.execute(FIND, { digest });
  return row;
}

const RECORD_USE = statement(
  "console_sessions.record_use",
  "update console_sessions set last_seen_at = greatest(last_seen_at, :at) where session_id = :session_id",
);

export async function recordSessionUse(db: Database, sessionId: string, at: Date): Promise<void> {
  await db.execute(RECORD_USE, { session_id: sessionId, at });
}

const LIST = statement(
  "console_sessions.list",
  `select ${SESSION_COLUMNS} from console_sessions
   where tenant_id = :tenant_id and user_id = :user_id and created_at > :created_after and last_seen_at > :seen_after
   order by session_id desc limit :limit`,
);

export type LiveSince = { createdAfter: Date; seenAfter: Date };

/** The sessions of one member, newest first. */
export async function listConsoleSessions(
  db: Database,
  { tenant_id, user_id }: Pick<Actor, "tenant_id" | "user_id">,
  { createdAfter, seenAfter }: LiveSince,
  limit: number,
): Promise<ConsoleSessionRow[]> {
  return db.execute(LIST, { tenant_id, user_id, created_after: createdAfter, seen_after: seenAfter, limit });
}

const END = statement(
  "console_sessions.end",
  `with ended as (
     delete from console_sessions
     where tenant_id = :tenant_id and user_id = :actor_user_id and session_id = :session_id
     returning session_id
   )
   insert into audit_log (tenant_id, user_id, key_id, action, subject)
   select :tenant_id, :actor_user_id, :actor_key_id?::uuid, 'sessions.end', session_id::text from ended
   returning subject`,
);

/** Ends one of the member's own sessions. False if there is no such session. */
export async function deleteConsoleSession(db: Database, actor: Actor, sessionId: string): Promise<boolean> {
  const parameters = { tenant_id: actor.tenant_id, ...actorParameters(actor), session_id: sessionId };
  return (await db.execute(END, parameters)).length > 0;
}

const END_BY_PROVIDER = statement(
  "console_sessions.end_by_provider",
  `with used as (
     insert into used_logout_tokens (issuer, token_id, expires_at) values (:issuer, :token_id, :expires_at)
     on conflict do nothing returning issuer
   ), ended as (
     delete from console_sessions using used
     where console_sessions.issuer = used.issuer
       and (:provider_subject?::text is null or provider_subject = :provider_subject?)
       and (:provider_session?::text is null or provider_session = :provider_session?)
       and coalesce(:provider_subject?::text, :provider_session?) is not null
     returning session_id, tenant_id, user_id
   ), audit_entries as (
     insert into audit_log (tenant_id, user_id, action, subject, details)
     select tenant_id, user_id, 'sessions.end', session_id::text, jsonb_build_object('issuer', :issuer::text)
     from ended order by tenant_id
   )
   select issuer from used`,
);

/** A verified logout token. `issuer` is the id of the issuer's settings. */
export type ProviderLogout = ProviderSession & { issuer: string; token_id: string; expires_at: Date };

/**
 * Ends the sessions of the person, or the one session, that the identity provider names. False if it has sent this
 * token before.
 */
export async function deleteProviderSessions(
  db: Database,
  { provider_subject, provider_session, ...token }: ProviderLogout,
): Promise<boolean> {
  return (await db.execute(END_BY_PROVIDER, { ...token, provider_subject, provider_session })).length > 0;
}

const INSERT_CODE = statement(
  "console_codes.insert",
  `insert into console_codes (digest, tenant_id, key_id, expires_at) values (:digest, :tenant_id, :key_id, :expires_at)`,
);

export type NewConsoleCode = { digest: Buffer; tenant_id: string; key_id: string; expires_at: Date };

export async function insertConsoleCode(db: Database, code: NewConsoleCode): Promise<void> {
  await db.execute(INSERT_CODE, code);
}

const TAKE_CODE = statement(
  "console_codes.take",
  "delete from console_codes where digest = :digest and expires_at > :now returning key_id",
);

/** Deletes the code, so that it works once. Returns its key, or undefined if it does not exist or has expired. */
export async function takeConsoleCode(db: Database, digest: Buffer, now: Date): Promise<string | undefined> {
  const [row] = await db.execute(TAKE_CODE, { digest, now });
  return row?.key_id;
}
