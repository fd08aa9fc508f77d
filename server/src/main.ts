#!/usr/bin/env node
// Starts the requested role: `--role api`, `--role worker`, or both with `--role all`. Any number of processes may run.
// `--role fetcher` starts a process that fetches URLs for all others and has none of their secrets.
// `--role migrate` migrates the database and exits.
// `--role doctor` checks the configuration and the dependencies, prints a report and exits.
// `--role upgrade-check` checks whether this version can replace the one that runs, prints a report and exits.
// `--role config` prints every setting, its value and its source, without secrets.
// `--role create-key` creates an API key for an operator who has lost all others, and exits.
// `--role reseal` encrypts stored secrets and authenticates the audit log with the current GESSO_SECRET, and exits.
import { parseArgs } from "node:util";
import { runKeyCreation, runMigrations, runReseal } from "./roles/database.ts";
import { runConfigListing, runDoctor, runUpgradeCheck } from "./roles/reports.ts";
import { runFetcher, runServer } from "./roles/server.ts";
import { isConfigurationError } from "./settings/config.ts";

const OPTIONS = {
  role: { type: "string", default: "all" },
  json: { type: "boolean", default: false },
  live: { type: "boolean", default: false },
  sources: { type: "boolean", default: false },
  "dev-settings": { type: "string", default: "" },
  name: { type: "string", default: "Created at the database" },
  tenant: { type: "string" },
} as const;
type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

/** Each returns the exit code of a role that ends by itself. */
const ROLES: Record<string, (options: Options) => Promise<number> | Promise<void> | number> = {
  api: () => runServer("api"),
  worker: () => runServer("worker"),
  all: () => runServer("all"),
  fetcher: runFetcher,
  doctor: runDoctor,
  "upgrade-check": ({ json }) => runUpgradeCheck(json),
  config: runConfigListing,
  reseal: runReseal,
  migrate: runMigrations,
  "create-key": runKeyCreation,
};

async function main(): Promise<void> {
  const options = parseArgs({ options: OPTIONS }).values;
  const start = Object.hasOwn(ROLES, options.role) ? ROLES[options.role] : undefined;
  if (!start) throw new Error(`Unknown role ${options.role}. Roles: ${Object.keys(ROLES).join(", ")}.`);
  const code = await start(options);
  if (typeof code === "number") process.exitCode = code;
}

await main().catch((thrown) => {
  if (!isConfigurationError(thrown)) throw thrown;
  process.stderr.write(`${thrown.message}\n`);
  process.exit(1);
});
