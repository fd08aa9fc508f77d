// A migrated database of its own for a test file, in the PostgreSQL that all files of a Vitest run share.
import { connectDatabase, type Database } from "../../src/db/connect.ts";
import { SHARED_POSTGRES_VARIABLE, startPostgresForTests } from "./shared-postgres.ts";

export type TestDatabase = {
  db: Database;
  /** Connects as the owner of the tables, so row-level security does not apply. */
  owner: Database;
  url: string;
  stop(): Promise<void>;
};

/**
 * `hasOwnServer`: for tests of the event log, whose readers wait for open transactions of all databases of a server.
 */
export async function startTestDatabase({ hasOwnServer = false } = {}): Promise<TestDatabase> {
  const { url, drop } = await (hasOwnServer ? startOwnServer() : createSharedDatabase());
  const db = connectDatabase({ DATABASE_URL: url, DATABASE_POOL: 8 });
  const owner = connectDatabase({ DATABASE_URL: url, DATABASE_POOL: 2 }, null);
  return {
    db,
    owner,
    url,
    async stop() {
      await db.close();
      await owner.close();
      await drop();
    },
  };
}

async function startOwnServer() {
  const postgres = await startPostgresForTests();
  return { url: await postgres.createDatabase(), drop: postgres.stop };
}

async function createSharedDatabase() {
  const shared = process.env[SHARED_POSTGRES_VARIABLE]!;
  const request = async (path: string, method: "POST" | "DELETE") => {
    // A test that waits for a program blocks its process, which then does not see that an idle connection was closed.
    const response = await fetch(`${shared}${path}`, { method, headers: { connection: "close" } });
    const text = await response.text();
    if (!response.ok) throw new Error(`the shared PostgreSQL: ${text}`);
    return text;
  };
  const url = await request("/", "POST");
  return { url, drop: () => request(new URL(url).pathname, "DELETE") };
}
