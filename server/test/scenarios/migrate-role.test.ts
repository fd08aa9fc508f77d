// `--role migrate` with the owner's account, and server processes that start after it with an account that cannot
// migrate.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, startPostgres } from "@gesso/dev/components";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createHttpCaller } from "../support/api-caller.ts";
import { bundlePrograms } from "../support/bundled-programs.ts";
import { startTestEnvironment } from "../support/test-environment.ts";

const { server: SERVER } = await bundlePrograms();
const dataDir = mkdtempSync(join(tmpdir(), "gesso-migrate-role-"));
let postgres: Awaited<ReturnType<typeof startPostgres>>;
let applicationUrl: string;

beforeAll(async () => {
  postgres = await startPostgres({ dataDir, port: await freePort(), settings: { fsync: "off" } });
  applicationUrl = Object.assign(new URL(postgres.url), { username: "application", password: "application" }).href;
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query("create role application login password 'application'");
  await client.end();
});
afterAll(async () => {
  await postgres?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const migrateOnce = async () => {
  const env = { PATH: process.env.PATH, DATABASE_URL: applicationUrl, MIGRATION_DATABASE_URL: postgres.url };
  return (await promisify(execFile)(process.execPath, [SERVER, "--role", "migrate"], { env })).stdout;
};

it("says in one line that PostgreSQL does not respond, refuses the account or lacks the database", async () => {
  const fails = (url: string) =>
    promisify(execFile)(process.execPath, [SERVER, "--role", "migrate"], {
      env: { PATH: process.env.PATH, DATABASE_URL: url },
    }).then(
      () => "it started",
      ({ code, stderr }: { code: number; stderr: string }) => `${code} ${stderr}`,
    );
  const change = (parts: Partial<URL>) => Object.assign(new URL(postgres.url), parts).href;
  const closed = await freePort();
  const { port } = new URL(postgres.url);
  expect(await fails(change({ port: String(closed) }))).toBe(
    `1 PostgreSQL at 127.0.0.1:${closed} does not respond (ECONNREFUSED). Start it, or correct DATABASE_URL.\n`,
  );
  expect(await fails(change({ password: "wrong" }))).toBe(
    `1 PostgreSQL at 127.0.0.1:${port} refuses the account (28P01). Correct the user and the password in DATABASE_URL.\n`,
  );
  expect(await fails(change({ pathname: "/nowhere" }))).toBe(
    `1 PostgreSQL at 127.0.0.1:${port} has no database nowhere. Create it, or correct DATABASE_URL.\n`,
  );
});

it("migrates without other settings, ends, can be repeated, and API and worker start after it", async () => {
  expect(await migrateOnce()).toMatch(/^[1-9]\d* migrations applied: 0001_\S+\.sql, .*\n$/);
  expect(await migrateOnce()).toBe("0 migrations applied\n");

  const env = { MIGRATE_AT_START: "false" };
  const environment = await startTestEnvironment({ roles: "split", databaseUrl: applicationUrl, env });
  try {
    const { body } = await createHttpCaller(environment).generate({
      prompt: "a boat",
      width: 64,
      height: 64,
      sync: true,
    });
    expect(body).toMatchObject({ status: "completed" });
  } finally {
    await environment.stop();
  }
});

it("says which settings are missing", async () => {
  const failed = promisify(execFile)(process.execPath, [SERVER, "--role", "migrate"], {
    env: { PATH: process.env.PATH },
  });
  await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("DATABASE_URL is not set") });
});
