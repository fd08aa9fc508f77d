// A real PostgreSQL with our tables in it, for tests of rooms that need nothing else of Gesso.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, startPostgres } from "@gesso/dev/components";
import { connectDatabase, type Database } from "../../src/db/connect.ts";
import { migrate } from "../../src/db/migrate.ts";

export type TestDatabase = {
  db: Database;
  /** Whose the tables are, and whom no wall holds: for what is done by hand. */
  owner: Database;
  url: string;
  stop(): Promise<void>;
};

export async function startTestDatabase(): Promise<TestDatabase> {
  const dir = mkdtempSync(join(tmpdir(), "gesso-database-"));
  const postgres = await startPostgres({ dataDir: dir, port: await freePort() });
  await migrate(postgres.url);
  const db = connectDatabase({ DATABASE_URL: postgres.url, DATABASE_POOL: 8 });
  const owner = connectDatabase({ DATABASE_URL: postgres.url, DATABASE_POOL: 2 }, null);
  return {
    db,
    owner,
    url: postgres.url,
    async stop() {
      await db.close();
      await owner.close();
      await postgres.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
