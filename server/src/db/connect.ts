// The way to PostgreSQL. Statements are prepared by name, so that the hot ones are planned once per connection, and a
// lost database becomes one fault that callers can wait out.
import pg from "pg";
import { z } from "zod";
import { Fault } from "../faults.ts";

export const DatabaseEnv = z.object({
  DATABASE_URL: z.string().describe("PostgreSQL, version 15 or newer"),
  DATABASE_POOL: z.coerce.number().int().min(2).default(16).describe("Connections that one process may hold"),
});

pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export type Row = Record<string, unknown>;
export type Database = {
  /** Runs one statement, prepared under `name`. */
  query<R = Row>(name: string, text: string, values?: unknown[]): Promise<R[]>;
  /** Hears of notifications until closed; comes back by itself after a lost connection. */
  listen(channel: string, heard: (payload: string) => void): Promise<() => Promise<void>>;
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

export function connect(env: z.output<typeof DatabaseEnv>): Database {
  const pool = new pg.Pool({
    connectionString: env.DATABASE_URL,
    max: env.DATABASE_POOL,
    // A burst waits its turn for a connection; only what waits longer is turned away.
    connectionTimeoutMillis: 5000,
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    // Every statement names its partition by a parameter: planning it anew each time would cost more than running it.
    options: "-c plan_cache_mode=force_generic_plan",
  });
  // Without a listener an idle connection that the server closes would end the process.
  pool.on("error", () => {});

  const query = async <R>(name: string, text: string, values: unknown[] = []) => {
    try {
      const result = await pool.query({ name, text, values });
      return result.rows as R[];
    } catch (thrown) {
      if (isAbsent(thrown)) throw new Fault("dependency_unavailable", {}, { cause: thrown });
      throw thrown;
    }
  };
  return {
    query,
    ping: async () => void (await query("ping", "select 1")),
    listen: (channel, heard) => listen(env.DATABASE_URL, channel, heard),
    close: () => pool.end(),
  };
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
