// The way to PostgreSQL. Statements are prepared by name, so that the hot ones are planned once per connection, and a
// lost database becomes one fault that callers can wait out.
import pg from "pg";
import { z } from "zod";
import { Fault } from "../faults.ts";
import { prepareTenantScope, tenantScopedQuery } from "./tenant-scoped-query.ts";

export const DatabaseEnv = z.object({
  DATABASE_URL: z.string().describe("PostgreSQL, version 15 or newer"),
  MIGRATION_DATABASE_URL: z
    .string()
    .optional()
    .describe("PostgreSQL as the owner of the tables, where DATABASE_URL is to be somebody who may not change them"),
  DATABASE_POOL: z.coerce.number().int().min(2).default(16).describe("Connections that one process may hold"),
});

pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export type DatabaseRow = Record<string, unknown>;
export type Database = {
  /** The same, in the name of one tenant: the database shows it nothing of any other. */
  forTenant(tenantId: string): Database;
  /** Runs one statement, prepared under `name`. */
  query<R = DatabaseRow>(name: string, text: string, values?: unknown[]): Promise<R[]>;
  /** Hears of notifications until closed; comes back by itself after a lost connection. */
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => Promise<void>>;
  /** How long the oldest question that still waits for a connection has waited, in milliseconds. */
  poolWaitMs(): number;
  /** Throws when the database does not answer. */
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

/** `role` is what statements that name no tenant are run as; null for whoever looks before there are roles. */
export function connectDatabase(env: ConnectionSettings, role: string | null = "gesso_system"): Database {
  const pool = new pg.Pool({
    connectionString: env.DATABASE_URL,
    max: env.DATABASE_POOL,
    // A burst waits its turn for a connection; only what waits longer is turned away.
    connectionTimeoutMillis: 5000,
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    // Every statement names its partition by a parameter: planning it anew each time would cost more than running it. A
    // plan outlives the moment that it was made in, so tables that are empty now must not seduce it to read them whole.
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
    query: (name, text, values = []) => runQuery({ name, text, values }),
    forTenant: (tenantId) => ({
      ...database,
      query: (name, text, values = []) => runQuery(tenantScopedQuery({ name, text, values }, tenantId)),
    }),
    poolWaitMs: waitMs,
    ping: async () => void (await database.query("ping", "select 1")),
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
    // Notifications sent while the connection was down are lost. An empty payload tells the subscriber to look for itself.
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
