// The way to PostgreSQL. Statements are prepared by name, so that the hot ones are planned once per connection, and a
// lost database becomes one fault that callers can wait out.
import pg from "pg";
import { z } from "zod";
import { Fault } from "../faults.ts";
import { prepareScope, scopedQuery } from "./scoped-query.ts";

export const DatabaseEnv = z.object({
  DATABASE_URL: z.string().describe("PostgreSQL, version 15 or newer"),
  MIGRATION_DATABASE_URL: z
    .string()
    .optional()
    .describe("PostgreSQL as the owner of the tables, where DATABASE_URL is to be somebody who may not change them"),
  DATABASE_POOL: z.coerce.number().int().min(2).default(16).describe("Connections that one process may hold"),
});

pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export type Row = Record<string, unknown>;
export type Database = {
  /** The same, in the name of one tenant: the database shows it nothing of any other. */
  as(tenantId: string): Database;
  /** Runs one statement, prepared under `name`. */
  query<R = Row>(name: string, text: string, values?: unknown[]): Promise<R[]>;
  /** Hears of notifications until closed; comes back by itself after a lost connection. */
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>;
  /** How long the oldest question that still waits for a connection has waited, in milliseconds. */
  waitMs(): number;
  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

/** SQLSTATE classes and socket errors that mean "the database is not there right now". */
const ABSENT = /^(08|57P|53)|^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND)$/;
const isAbsent = (thrown: unknown) => {
  const { code, message } = thrown as { code?: string; message?: string };
  return (
    ABSENT.test(code ?? "") || /terminated|timeout exceeded when trying to connect|not queryable/.test(message ?? "")
  );
};

type Connection = Pick<z.output<typeof DatabaseEnv>, "DATABASE_URL" | "DATABASE_POOL">;

/** `role` is what statements that name no tenant are run as; null for whoever looks before there are roles. */
export function connect(env: Connection, role: string | null = "gesso_system"): Database {
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
    ...(role !== null && { onConnect: prepareScope }),
  });
  // Without a listener an idle connection that the server closes would end the process.
  pool.on("error", () => {});

  const asked = new Set<{ at: number }>();
  const waitMs = () => {
    const waiting = pool.waitingCount;
    if (waiting === 0) return 0;
    const oldest = [...asked][Math.max(0, asked.size - waiting)];
    return oldest ? performance.now() - oldest.at : 0;
  };

  const ask = async <R>(statement: pg.QueryConfig | pg.Query): Promise<R[]> => {
    const question = { at: performance.now() };
    asked.add(question);
    try {
      const result = await (pool.query(statement as pg.QueryConfig) as Promise<pg.QueryResult>);
      return result.rows as R[];
    } catch (thrown) {
      if (isAbsent(thrown)) throw new Fault("dependency_unavailable", {}, { cause: thrown });
      throw thrown;
    } finally {
      asked.delete(question);
    }
  };
  const database: Database = {
    query: (name, text, values = []) => ask({ name, text, values }),
    as: (tenantId) => ({
      ...database,
      query: (name, text, values = []) => ask(scopedQuery({ name, text, values }, tenantId)),
    }),
    waitMs,
    ping: async () => void (await database.query("ping", "select 1")),
    listen: (channel, heard) => listen(env.DATABASE_URL, channel, heard),
    close: () => pool.end(),
  };
  return database;
}

async function listen(url: string, channel: string, heard: (payload: string) => void) {
  let closed = false;
  let client: pg.Client | undefined;

  const open = async (): Promise<void> => {
    const next = new pg.Client({ connectionString: url, keepAlive: true });
    next.on("error", () => {});
    next.on("notification", (message) => heard(message.payload ?? ""));
    next.on("end", () => {
      if (!closed) setTimeout(() => void reopen(), 500);
    });
    await next.connect();
    await next.query(`listen ${channel}`);
    client = next;
    // What was said while nobody listened is made up for by one wake without words.
    heard("");
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
