// Vitest global setup: one PostgreSQL for all test files of a run. It starts when the first file asks for a database,
// is migrated once as a template, and every file gets a copy of the template under its own name.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, startPostgres } from "@gesso/dev/components";
import pg from "pg";
import { migrate } from "../../src/db/migrate.ts";

/** Where test files ask for databases; unset outside Vitest. */
export const SHARED_POSTGRES_VARIABLE = "GESSO_TEST_POSTGRES";

/** Nothing in this cluster outlives the run, so nothing waits for the disk. */
const SETTINGS = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" };

export type TestPostgres = {
  createDatabase(): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
};

export async function startPostgresForTests(): Promise<TestPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), "gesso-shared-postgres-"));
  const postgres = await startPostgres({ dataDir, port: await freePort(), database: "template", settings: SETTINGS });
  await migrate(postgres.url);
  const urlOf = (database: string) => Object.assign(new URL(postgres.url), { pathname: `/${database}` }).href;
  const admin = new pg.Pool({ connectionString: urlOf("postgres"), max: 2 });
  // PostgreSQL may stop before the pool has closed its sockets; an error event without a listener would end the
  // process.
  admin.on("error", () => {});
  let count = 0;
  return {
    async createDatabase() {
      const name = `test_${++count}`;
      await admin.query(`create database ${name} template template strategy file_copy`);
      return urlOf(name);
    },
    async dropDatabase(name) {
      await admin.query(`drop database ${pg.escapeIdentifier(name)} with (force)`);
    },
    async stop() {
      await admin.end();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export async function setup(): Promise<() => Promise<void>> {
  let shared: Promise<TestPostgres> | undefined;
  // One request at a time: a template must not be copied twice at once.
  let previous: Promise<unknown> = Promise.resolve();
  const respond = async (method: string, path: string) => {
    shared ??= startPostgresForTests();
    if (method === "POST") return (await shared).createDatabase();
    await (await shared).dropDatabase(path.slice(1));
    return "";
  };
  const server = createServer((request, response) => {
    previous = previous
      .then(() => respond(request.method!, request.url!))
      .then(
        (text) => response.end(text),
        (thrown) => response.writeHead(500).end(String(thrown)),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env[SHARED_POSTGRES_VARIABLE] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    server.close();
    await previous;
    await shared?.then((postgres) => postgres.stop());
  };
}
