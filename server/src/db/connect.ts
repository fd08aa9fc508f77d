// The connection pool of PostgreSQL. Statements are prepared by name, so that each is planned once per connection. A
// lost database becomes one fault, after which callers can retry.
import pg from "pg";
import { z } from "zod";
import { Fault } from "../faults.ts";
import { bindParameters, type Statement, statement } from "./statement.ts";
import { prepareTenantScope, tenantScopedQuery } from "./tenant-scoped-query.ts";

export const DatabaseEnv = z.object({
  DATABASE_URL: z.string().describe("PostgreSQL connection URL. Version 15 or newer"),
  MIGRATION_DATABASE_URL: z
    .string()
    .optional()
    .describe("PostgreSQL connection URL of the table owner, for migrations. Default: DATABASE_URL"),
  DATABASE_POOL: z.coerce.number().int().min(2).default(16).describe("Maximum database connections per process"),
});

pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export type DatabaseRow = Record<string, unknown>;
export type Database = {
  /** The same database under row-level security: statements see and change only rows of this tenant. */
  forTenant(tenantId: string): Database;
  /** Runs one statement with its parameters by name. */
  execute<P, R>(statement: Statement<P, R>, ...values: keyof P extends never ? [] : [values: NoInfer<P>]): Promise<R[]>;
  /** Runs SQL that `npm run check` has not verified, with positional parameters. Only for tests. */
  query<R = DatabaseRow>(name: string, text: string, values?: unknown[]): Promise<R[]>;
  /** Receives notifications (LISTEN/NOTIFY) until closed; reconnects after a lost connection. */
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => Promise<void>>;
  /** How long the oldest statement that still waits for a connection has waited, in milliseconds. */
  poolWaitMs(): number;
  /** Throws if the database is unavailable. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

/** SQLSTATE classes and socket errors that mean "the database is not there right now". */
const UNAVAILABLE_CODES = /^(08|57P|53)|^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND)$/;
const isUnavailable = (thrown: unknown) => {
  const { code, message } = thrown as { code?: string; message?: string };
  return (
    UNAVAILABLE_CODES.test(code ?? "") ||
    /terminated|timeout exceeded when trying to connect|not queryable/.test(message ?? "")
  );
};

type ConnectionSettings = Pick<z.output<typeof DatabaseEnv>, "DATABASE_URL" | "DATABASE_POOL">;

const PING = statement("database.ping", "select 1 as ok");

/** Statements without a tenant run as `role`; null before the migration that creates the roles. */
export function connectDatabase(env: ConnectionSettings, role: string | null = "gesso_system"): Database {
  const pool = new pg.Pool({
    connectionString: env.DATABASE_URL,
    max: env.DATABASE_POOL,
    // A burst waits for a connection; a statement that waits longer fails.
    connectionTimeoutMillis: 5000,
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    // Generic plans: every statement selects its partition by a parameter, and planning it each time would cost more
    // than running it. A plan outlives the table sizes it was made for, so sequential scans of tables that are empty
    // at that time are disabled.
    options: `-c plan_cache_mode=force_generic_plan -c enable_seqscan=off${role === null ? "" : ` -c role=${role}`}`,
    ...(role !== null && { onConnect: prepareTenantScope }),
  });
  // Without a listener an idle connection that the server closes would end the process.
  pool.on("error", () => {});

  const pendingQueries = new Set<{ at: number }>();
  const waitMs = () => {
    const waiting = pool.waitingCount;
    if (waiting === 0) return 0;
    const oldest = [...pendingQueries][Math.max(0, pendingQueries.size - waiting)];
    return oldest ? performance.now() - oldest.at : 0;
  };

  const runQuery = async <R>(statement: pg.QueryConfig | pg.Query): Promise<R[]> => {
    const pendingQuery = { at: performance.now() };
    pendingQueries.add(pendingQuery);
    try {
      const result = await (pool.query(statement as pg.QueryConfig) as Promise<pg.QueryResult>);
      return result.rows as R[];
    } catch (thrown) {
      if (isUnavailable(thrown)) throw new Fault("dependency_unavailable", {}, { cause: thrown });
      throw thrown;
    } finally {
      pendingQueries.delete(pendingQuery);
    }
  };
  const database: Database = {
    execute: (statement, ...[values]) =>
      runQuery({ name: statement.name, text: statement.text, values: bindParameters(statement, values) }),
    query: (name, text, values = []) => runQuery({ name, text, values }),
    forTenant: (tenantId) => ({
      ...database,
      execute: (statement, ...[values]) => {
        const { name, text } = statement;
        return runQuery(tenantScopedQuery({ name, text, values: bindParameters(statement, values) }, tenantId));
      },
      query: (name, text, values = []) => runQuery(tenantScopedQuery({ name, text, values }, tenantId)),
    }),
    poolWaitMs: waitMs,
    ping: async () => void (await database.execute(PING)),
    listen: (channel, onNotification) => listen(env.DATABASE_URL, channel, onNotification),
    close: () => pool.end(),
  };
  return database;
}

async function listen(url: string, channel: string, onNotification: (payload: string) => void) {
  let closed = false;
  let client: pg.Client | undefined;

  const open = async (): Promise<void> => {
    const next = new pg.Client({ connectionString: url, keepAlive: true });
    next.on("error", () => {});
    next.on("notification", (message) => onNotification(message.payload ?? ""));
    next.on("end", () => {
      if (!closed) setTimeout(() => void reopen(), 500);
    });
    await next.connect();
    await next.query(`listen ${channel}`);
    client = next;
    // Notifications sent while the connection was down are lost. An empty payload tells the subscriber to read the
    // tables.
    onNotification("");
  };
  const reopen = () =>
    open().catch(() => {
      if (!closed) setTimeout(() => void reopen(), 500);
    });

  await reopen();
  return async () => {
    closed = true;
    await client?.end().catch(() => {});
  };
}
