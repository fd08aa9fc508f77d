// The connection pool of PostgreSQL, directly or through a pooler in transaction mode. Statements are prepared by name,
// so that each is planned once per connection. A lost database becomes one fault, after which callers can retry.
import pg from "pg";
import { z } from "zod";
import { Fault } from "../faults/faults.ts";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { createFairTurns } from "./fair-turns.ts";
import { listen } from "./listen.ts";
import { createPooledScopes, createSessionScopes, type TenantScope } from "./query-scopes.ts";
import { rememberResults } from "./remember-results.ts";
import { bindParameters, type Statement, statement } from "./statement.ts";

export const DatabaseEnv = z.object({
  DATABASE_URL: z.string().describe("PostgreSQL connection URL. Version 15 or newer"),
  DIRECT_DATABASE_URL: z
    .string()
    .optional()
    .describe(
      "PostgreSQL connection URL past a pooler, for LISTEN, locks and long reads. Set it if DATABASE_URL leads to a " +
        "pooler in transaction mode. Default: DATABASE_URL",
    ),
  MIGRATION_DATABASE_URL: z
    .string()
    .optional()
    .describe(
      "PostgreSQL connection URL of the table owner, for migrations; not through a pooler. Default: " +
        "DIRECT_DATABASE_URL or DATABASE_URL",
    ),
  MIGRATE_AT_START: z
    .stringbool()
    .default(true)
    .describe("Whether API and workers migrate the database at start. If false, they wait for --role migrate"),
  DATABASE_POOL: z.coerce.number().int().min(2).default(16).describe("Maximum database connections per process"),
  DATABASE_POOL_MIN: z.coerce
    .number()
    .int()
    .min(0)
    .default(16)
    .describe(
      "Database connections that a process keeps open once it has opened them, at most DATABASE_POOL. Others close " +
        "after 10 s without work, and the next burst waits until they are open again",
    ),
});

pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export type DatabaseRow = Record<string, unknown>;
export type Database = {
  /** The clock of its timeouts. */
  clock: Clock;
  /**
   * The same database under row-level security: statements see and change only rows of this tenant. With `endUser`, of
   * its runs they see and change only those of this end user.
   */
  forTenant(tenantId: string, endUser?: string): Database;
  /** The end user whose runs alone are visible; undefined if those of all are. */
  endUser?: string | undefined;
  /**
   * The same database, whose statements without a tenant wait for connections among themselves: a burst of them does
   * not delay the authentication and the rate limits of all tenants.
   */
  withTurnsOf(group: string): Database;
  /** Runs one statement with its parameters by name. */
  execute<P, R>(statement: Statement<P, R>, ...values: keyof P extends never ? [] : [values: NoInfer<P>]): Promise<R[]>;
  /** Runs SQL that `npm run check` has not verified, with positional parameters. Only for tests. */
  query<R = DatabaseRow>(name: string, text: string, values?: unknown[]): Promise<R[]>;
  /**
   * Receives notifications (LISTEN/NOTIFY) until closed; reconnects after a lost connection. The connection holds the
   * advisory lock with this number.
   */
  listen(channel: string, onNotification: (payload: string) => void, lock?: number): Promise<() => Promise<void>>;
  /**
   * How long the oldest statement that still waits for a connection has waited, in milliseconds. With `tenantId`, only
   * those statements count that a request of this tenant needs: its own and those without a tenant.
   */
  poolWaitMs(tenantId?: string): number;
  /** Throws when the database does not respond or cannot be written to. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

/**
 * SQLSTATEs and socket errors that a later attempt may not meet: lost connections (08), shutdown (57P), exhausted
 * resources (53), a read-only standby (25006), a deadlock or serialization failure (40), a statement that was canceled
 * (57014).
 */
const UNAVAILABLE_CODES =
  /^(08|57P|53|40)|^(25006|57014|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|ENETUNREACH)$/;
const isUnavailable = (thrown: unknown) => {
  const { code, message } = thrown as { code?: string; message?: string };
  return (
    UNAVAILABLE_CODES.test(code ?? "") ||
    /terminated|timeout exceeded when trying to connect|not queryable|Query read timeout|client is closed/i.test(
      message ?? "",
    )
  );
};

/** What callers see of an error of PostgreSQL or of its connection: a fault if a later attempt may succeed. */
export const faultOf = (thrown: unknown): unknown =>
  isUnavailable(thrown) ? new Fault("dependency_unavailable", {}, { cause: thrown }) : thrown;

/**
 * SQLSTATEs with which PostgreSQL or a pooler can end a session: lost connections (08), an invalid account (28),
 * timeouts of a transaction (25P03, 25P04), exhausted resources (53), shutdown (57P), errors of the system (58) and
 * internal ones (XX).
 */
const SESSION_END_CODES = /^(08|28|53|57P|58|XX)|^(25P03|25P04)$/;

/**
 * Whether PostgreSQL reported that it rolled the statement back. False if the connection was lost or the session was
 * ended: the statement may have been committed, and its response lost. Decided by the SQLSTATE, because the driver only
 * knows the severity in the language of the server (`lc_messages`).
 */
export function isRolledBack(thrown: unknown): boolean {
  const error = thrown instanceof Fault ? thrown.cause : thrown;
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) return false;
  return !SESSION_END_CODES.test(error.code) && !/^(FATAL|PANIC)$/.test(error.severity ?? "");
}

/**
 * PostgreSQL ends a statement after `statementMs`; this process gives up waiting `marginMs` later. A connection above
 * the minimum closes when it is idle for `idleMs`.
 */
type ConnectionTiming = { statementMs: number; marginMs: number; idleMs: number };
const DEFAULT_TIMING: ConnectionTiming = { statementMs: 10_000, marginMs: 2000, idleMs: 10_000 };

/** A burst waits for a connection; a statement that waits longer fails. */
const CONNECT_MS = 5000;
/**
 * How long a connection is idle before TCP checks it. Idle connections stay open, so the check notices a server that
 * vanished before a statement does, and a firewall on the way does not forget the connection.
 */
const KEEP_ALIVE_MS = 30_000;
/** A tenant with many statements gets only its share of the connections, so its own may wait longer. */
const TURN_MS = 10_000;
/** Statements without a tenant share the turns of one. */
const SYSTEM = "system";

export type DatabaseUrls = Pick<z.output<typeof DatabaseEnv>, "DATABASE_URL" | "DIRECT_DATABASE_URL">;
export type ConnectionSettings = DatabaseUrls &
  Pick<z.output<typeof DatabaseEnv>, "DATABASE_POOL"> &
  Partial<Pick<z.output<typeof DatabaseEnv>, "DATABASE_POOL_MIN">>;

/** For what needs a session of its own: LISTEN, advisory locks, transactions of several statements. */
export const directUrlOf = ({ DATABASE_URL, DIRECT_DATABASE_URL = DATABASE_URL }: DatabaseUrls): string =>
  DIRECT_DATABASE_URL;

/** A standby responds too, and cannot accept a run. */
const PING = statement(
  "database.ping",
  "select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only",
);

/**
 * Requests of a tenant, or of one of its end users, get the same object while it is remembered, and so can share
 * statements (`gather`).
 */
const REMEMBERED_SCOPES = 1000;

/** Statements without a tenant run as `role`; null before the migration that creates the roles. */
export function connectDatabase(
  env: ConnectionSettings,
  role: string | null = "gesso_system",
  { clock = systemClock, ...changed }: Partial<ConnectionTiming> & { clock?: Clock } = {},
): Database {
  const timing = { ...DEFAULT_TIMING, ...changed };
  const isPooled = env.DIRECT_DATABASE_URL !== undefined;
  const scopes = isPooled && role !== null ? createPooledScopes(role, timing.statementMs) : createSessionScopes();
  const pool = new pg.Pool({
    connectionString: env.DATABASE_URL,
    max: env.DATABASE_POOL,
    min: Math.min(env.DATABASE_POOL_MIN ?? 0, env.DATABASE_POOL),
    idleTimeoutMillis: timing.idleMs,
    connectionTimeoutMillis: CONNECT_MS,
    // A server that vanished without closing its connections answers nothing: without a timeout of our own, such a
    // connection would be used until TCP gives up, about 15 minutes later.
    query_timeout: timing.statementMs + timing.marginMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    // A pooler refuses parameters of a session that it does not know.
    ...(!isPooled && sessionParameters(role, timing)),
    ...(role !== null && { onConnect: scopes.prepare }),
  });
  // Without a listener an idle connection that the server closes would end the process.
  pool.on("error", () => {});

  const turns = createFairTurns(env.DATABASE_POOL, TURN_MS, clock);
  const runQuery = async <R>(statement: pg.QueryConfig | pg.Query, holder: string): Promise<R[]> => {
    let hasTurn = false;
    try {
      await turns.begin(holder);
      hasTurn = true;
      const result = await (pool.query(statement as pg.QueryConfig) as Promise<pg.QueryResult>);
      return result.rows as R[];
    } catch (thrown) {
      throw faultOf(thrown);
    } finally {
      if (hasTurn) turns.end();
    }
  };
  const withoutTenant = (holder: string): Pick<Database, "execute" | "query"> => ({
    execute: (statement, ...[values]) => {
      const { name, text } = statement;
      return runQuery(scopes.withoutTenant({ name, text, values: bindParameters(statement, values) }), holder);
    },
    query: (name, text, values = []) => runQuery(scopes.withoutTenant({ name, text, values }), holder),
  });
  const createScope = (scope: TenantScope): Database => ({
    ...database,
    endUser: scope.endUser,
    execute: (statement, ...[values]) => {
      const { name, text } = statement;
      const query = scopes.forTenant({ name, text, values: bindParameters(statement, values) }, scope);
      return runQuery(query, scope.tenantId);
    },
    query: (name, text, values = []) => runQuery(scopes.forTenant({ name, text, values }, scope), scope.tenantId),
  });
  const scopeToTenant = rememberResults((tenantId) => createScope({ tenantId }), REMEMBERED_SCOPES);
  const scopeToEndUser = rememberResults((key) => createScope(JSON.parse(key)), REMEMBERED_SCOPES);
  const database: Database = {
    clock,
    ...withoutTenant(SYSTEM),
    withTurnsOf: (group) => ({ ...database, ...withoutTenant(group) }),
    forTenant: (tenantId, endUser) =>
      endUser === undefined ? scopeToTenant(tenantId) : scopeToEndUser(JSON.stringify({ tenantId, endUser })),
    poolWaitMs: (tenantId) => turns.waitMs(tenantId === undefined ? undefined : [tenantId, SYSTEM]),
    ping: async () => {
      const [row] = await database.execute(PING);
      if (row!.is_read_only) throw new Fault("dependency_unavailable", {}, { cause: "the database is read-only" });
    },
    listen: (channel, onNotification, lock) =>
      listen({ url: directUrlOf(env), channel, onNotification, lock, clock, random: Math.random }),
    close: () => pool.end(),
  };
  return database;
}

const sessionParameters = (role: string | null, { statementMs }: ConnectionTiming): pg.PoolConfig => ({
  statement_timeout: statementMs,
  idle_in_transaction_session_timeout: 10_000,
  // Generic plans: planning a statement each time would cost more than running it. A plan outlives the table sizes it
  // was made for, so sequential scans of tables that are empty at that time are disabled. A generic plan assumes that
  // a limit is a tenth of all rows, so by its cost PostgreSQL would compile it (JIT), which takes longer than running
  // it.
  options: `-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off${role === null ? "" : ` -c role=${role}`}`,
});
