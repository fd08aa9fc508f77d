// The key of an operator who has lost all others, created by the program of the server with nothing but the database.
import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundlePrograms } from "../../test/support/bundled-programs.ts";
import { startTestDatabase, type TestDatabase } from "../../test/support/test-database.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { hashApiKey } from "./api-key.ts";
import { createApiKeyLookup } from "./api-key-lookup.ts";
import { bootstrapFirstKey } from "./bootstrap-first-key.ts";

let program: string;
let database: TestDatabase;
beforeAll(async () => {
  program = (await bundlePrograms()).server;
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

const createKeyAt = (url: string, ...flags: string[]) =>
  spawnSync(process.execPath, [program, "--role", "create-key", ...flags], {
    env: { PATH: process.env.PATH, DATABASE_URL: url },
    encoding: "utf8",
  });
const createKey = (...flags: string[]) => createKeyAt(database.url, ...flags);

it("creates no key in a database that was never started", () => {
  const { status, stdout, stderr } = createKey();
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("Start the server once");
});

it("creates a key with all rights of the operator, needs only the database, and is in the audit log", async () => {
  await bootstrapFirstKey(database.db, {});
  const { status, stdout, stderr } = createKey("--name", "After the loss", "--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const created = JSON.parse(stdout) as { key: string; id: string };
  const holder = await createApiKeyLookup(database.db, systemClock).find({ digest: hashApiKey(created.key) });
  expect(holder).toMatchObject({ key_id: created.id, role: "owner", user_id: "owner", scopes: ["*", "tenants:*"] });

  const [entry] = await database.owner.query(
    "test.last_entry",
    "select user_id, action, subject, details from audit_log order by entry desc limit 1",
  );
  const details = { source: "command_line", name: "After the loss", database_account: expect.any(String) };
  expect(entry).toEqual({ user_id: "owner", action: "keys.create", subject: created.id, details });
});

it("prints the key once and says how to end the lost one", () => {
  const { status, stdout } = createKey();
  expect(status).toBe(0);
  expect(stdout.match(/gsk_[0-9A-Za-z]{46}/g)).toHaveLength(1);
  expect(stdout).toContain("gesso keys revoke");
});

it("refuses a database without tables of Gesso and an ID that is none, each in one line", () => {
  const elsewhere = new URL(database.url);
  elsewhere.pathname = "/postgres";
  const lines = [createKeyAt(elsewhere.href), createKey("--tenant", "acme")].map(({ status, stderr }) => {
    expect(status).toBe(1);
    return stderr.trim();
  });
  expect(lines).toEqual([
    expect.stringMatching(/^The database postgres has no tables of Gesso\. .*$/),
    "--tenant acme is not the ID of a tenant. gesso tenants list prints the IDs.",
  ]);
});

it("refuses a tenant that does not exist, and without a database names the setting", () => {
  expect(createKey("--tenant", "00000000-0000-7000-8000-00000000dead")).toMatchObject({ status: 1, stdout: "" });
  const env = { PATH: process.env.PATH };
  const withoutDatabase = spawnSync(process.execPath, [program, "--role", "create-key"], { env, encoding: "utf8" });
  expect(withoutDatabase.status).toBe(1);
  expect(withoutDatabase.stderr).toContain("DATABASE_URL is not set");
});
