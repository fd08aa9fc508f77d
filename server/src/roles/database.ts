// The roles that change the database and exit: migrate, create a key for an operator, and seal secrets again. A server
// waits for the schema here.
import { v7, validate } from "uuid";
import { createOwnerKey, type OwnerKey } from "../access/create-owner-key.ts";
import { composeSecretStore } from "../compose.ts";
import { connectDatabase, directUrlOf } from "../db/connect.ts";
import { describeConnectionProblem } from "../db/connection-problem.ts";
import { migrate, waitForMigrations } from "../db/migrations/migrate.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { type Config, configurationError, readConfig, readDatabaseConfig } from "../settings/config.ts";
import { resealSecrets } from "../webhooks/reseal-secrets.ts";

type DatabaseAccounts = Pick<Config, "DATABASE_URL" | "DIRECT_DATABASE_URL" | "MIGRATION_DATABASE_URL">;
const migrateAsOwner = (config: DatabaseAccounts) =>
  explainConnection(config, config.MIGRATION_DATABASE_URL ?? directUrlOf(config), (url) =>
    migrate(url, config.DATABASE_URL, { clock: systemClock }),
  );

/** A database that cannot be used at the start is an error of the operator, without a stack trace. */
async function explainConnection<T>(
  config: DatabaseAccounts,
  url: string,
  connect: (url: string) => Promise<T>,
): Promise<T> {
  const names = ["MIGRATION_DATABASE_URL", "DIRECT_DATABASE_URL", "DATABASE_URL"] as const;
  const setting = names.find((name) => config[name] === url) ?? "DATABASE_URL";
  return connect(url).catch((thrown) => {
    const problem = describeConnectionProblem(thrown, url, setting);
    throw problem === undefined ? thrown : configurationError([problem]);
  });
}

export async function runMigrations(): Promise<void> {
  const applied = await migrateAsOwner(readDatabaseConfig());
  const names = applied.length > 0 ? `: ${applied.join(", ")}` : "";
  process.stdout.write(`${applied.length} migrations applied${names}\n`);
}

/** Default of `tenant`: the first one. */
type NewKey = { name: string; tenant?: string | undefined; json: boolean };

/** The table or the role is missing: no server has migrated this database, or another one of its cluster. */
const NEVER_MIGRATED = ["42P01", "22023"];

/** Exit code 1: there is no such tenant. */
export async function runKeyCreation({ name, tenant, json }: NewKey): Promise<number> {
  if (tenant !== undefined && !validate(tenant))
    throw configurationError([`--tenant ${tenant} is not the ID of a tenant. gesso tenants list prints the IDs.`]);
  const config = readDatabaseConfig();
  const database = connectDatabase({ ...config, DATABASE_POOL: 2 }, "gesso_system", { clock: systemClock });
  try {
    const create = () =>
      createOwnerKey({ database, ids: { next: () => v7() }, cell: config.CELL }, { name, tenant_id: tenant });
    const created = await explainConnection(config, config.DATABASE_URL, create).catch((thrown: { code?: string }) => {
      if (!NEVER_MIGRATED.includes(thrown.code ?? "")) throw thrown;
      const { pathname } = new URL(config.DATABASE_URL);
      throw configurationError([
        `The database ${decodeURIComponent(pathname.slice(1))} has no tables of Gesso. Correct DATABASE_URL, or start the server ` +
          "once: its first start prints a key.",
      ]);
    });
    if (!created) {
      const reason = tenant === undefined ? "Start the server once: its first start prints a key." : "Check its ID.";
      throw configurationError([
        `The database has no tenant with an owner${tenant ? ` and the ID ${tenant}` : ""}. ${reason}`,
      ]);
    }
    process.stdout.write(json ? `${JSON.stringify(created)}\n` : renderOwnerKey(created));
    return 0;
  } finally {
    await database.close();
  }
}

const renderOwnerKey = ({ key, id, tenant_id, user_id, scopes }: OwnerKey): string =>
  `API key (shown only once): ${key}

  ID      ${id}
  Tenant  ${tenant_id}
  Owner   ${user_id}
  Scopes  ${scopes.join(", ")}

The audit log of the tenant has an entry: gesso audit list
The lost key still works. Find it with gesso keys list, and end it with
gesso keys revoke ID.
`;

/** Migrates, or waits for the process that migrates. */
export async function requireSchema(config: Config): Promise<void> {
  if (config.MIGRATE_AT_START) {
    await migrateAsOwner(config);
    return;
  }
  const missing = await explainConnection(config, directUrlOf(config), (url) => waitForMigrations(url, systemClock));
  if (missing.length === 0) return;
  const fix = "Start gesso-server --role migrate, or set MIGRATE_AT_START=true.";
  throw configurationError([`The database lacks migrations of this version: ${missing.join(", ")}.`, fix]);
}

/** Exit code 1: some secrets cannot be read with any accepted secret. */
export async function runReseal(): Promise<number> {
  const store = composeSecretStore(readConfig());
  try {
    const { resealed, unreadable } = await resealSecrets(store);
    await store.audit.sealNewEntries();
    process.stdout.write(
      `${resealed} stored secrets encrypted with the current GESSO_SECRET, ${unreadable} unreadable\n`,
    );
    return unreadable === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}
