#!/usr/bin/env node
// Starts the requested role: `--role api`, `--role worker`, or both with `--role all`. Any number of processes may run.
// `--role fetcher` starts a process that fetches URLs for all others and has none of their secrets.
// `--role migrate` migrates the database and exits.
// `--role doctor` checks the configuration and the dependencies, prints a report and exits.
// `--role upgrade-check` checks whether this version can replace the one that runs, prints a report and exits.
// `--role config` prints every setting, its value and its source, without secrets.
// `--role reseal` encrypts stored secrets and authenticates the audit log with the current GESSO_SECRET, and exits.
import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs, styleText } from "node:util";
import { createAdaptorServer } from "@hono/node-server";
import { bootstrapFirstKey } from "./access/bootstrap-first-key.ts";
import { isLoopbackInstallation } from "./access/production-secrets.ts";
import { composeSecretStore, composeServices } from "./compose.ts";
import {
  type Config,
  configurationError,
  inspectConfiguration,
  isConfigurationError,
  readConfig,
  readFetcherConfig,
  readMigrationConfig,
  removeSecretsFromEnvironment,
} from "./config.ts";
import { listConfiguration, renderListing } from "./config-listing.ts";
import { directUrlOf } from "./db/connect.ts";
import { describeConnectionProblem } from "./db/connection-problem.ts";
import { repairEventClock } from "./db/event-log.ts";
import { migrate } from "./db/migrate.ts";
import { saveRetentionDays } from "./db/runs/retention.ts";
import { waitForMigrations } from "./db/wait-for-migrations.ts";
import { checkUpgrade } from "./doctor/check-upgrade.ts";
import { diagnose } from "./doctor/doctor.ts";
import { type Colorize, renderReport, renderUpgradeReport } from "./doctor/render-report.ts";
import { type EngineWorker, startWorker } from "./engine/worker.ts";
import { createEventStreams } from "./events/event-streams.ts";
import { allowHeapGrowth } from "./heap-growth.ts";
import { healthRoutes } from "./http/health.ts";
import { respondToMalformedRequests } from "./http/malformed-request.ts";
import { enforceMinimumDownloadRate } from "./http/minimum-download-rate.ts";
import { enforceMinimumUploadRate, SERVER_TIMEOUTS } from "./http/minimum-upload-rate.ts";
import { createClientRequests } from "./idempotency/client-requests.ts";
import { describeIsolationProblem } from "./images/decoder-sandbox.ts";
import type { Clock, Ids } from "./kit/clock.ts";
import { systemClock } from "./kit/system-clock.ts";
import { VERSION } from "./kit/version.ts";
import { createTracing } from "./observe/create-tracing.ts";
import { createLogger } from "./observe/log.ts";
import { startFetcher } from "./outbound/start-fetcher.ts";
import { createRunWaiter } from "./runs/run-waiter.ts";
import { resealSecrets } from "./webhooks/reseal-secrets.ts";

/** Responses in flight get this long to finish. */
const SHUTDOWN_TIMEOUT_MS = 30_000;
const IDLE_SWEEP_MS = 50;
/** Where the console is built. */
const CONSOLE_FOLDER = fileURLToPath(new URL("../../console/dist", import.meta.url));

type ComposedServices = ReturnType<typeof composeServices>;
type Stoppable = { stop(): Promise<void> };

/** A worker serves only its health endpoints, on the port on which an API process serves everything. */
async function startHttp(
  composed: ComposedServices,
  config: Config,
  role: string,
  worker?: EngineWorker,
): Promise<Stoppable> {
  const { services, webhookServices, authenticator, access, admission, cursors, callbackSigner, findClientAddress } =
    composed;
  const { clock } = services;
  const checks = {
    required: { database: () => services.database.ping() },
    // Without storage the API still accepts runs without inline images, and everything that reads only the database.
    degrading: { storage: () => services.assets.storage.maintenance.checkReady() },
  };
  const holder = Math.floor(services.random() * Number.MAX_SAFE_INTEGER);
  const runWaiter = role === "worker" ? undefined : await createRunWaiter(services, holder);
  const streams = createEventStreams(services, config);
  // A worker does not load the code of the API, which takes a third of its start.
  const app = runWaiter
    ? (await import("./http/app.ts")).createApp(
        {
          runs: { ...services, checkInstallation: composed.checkInstallation },
          webhooks: webhookServices,
          access,
          admin: composed.admin,
          authenticator,
          admission,
          cursors,
          runWaiter,
          clientRequests: createClientRequests({ ...services, holder }),
          streams,
          findClientAddress,
          console: composed.console,
          cliIssuers: composed.cliIssuers,
        },
        {
          callbacks: callbackSigner,
          checks,
          corsOrigins: config.CORS_ORIGINS,
          addressDownloads: config.ADDRESS_DOWNLOADS,
          publicUrl: config.PUBLIC_URL,
          mcp: composed.mcp,
          console: config.CONSOLE ? { folder: CONSOLE_FOLDER, isLoopback: isLoopbackInstallation(config) } : undefined,
        },
      )
    : healthRoutes(checks, services.clock, () => worker?.isReady() === false);
  const server = await listen(app.fetch, config, services);
  return {
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      streams.close();
      await runWaiter?.close();
      // Connections become idle shortly after their response or stream has ended; close them repeatedly until all are
      // closed.
      const sweep = clock.every(IDLE_SWEEP_MS, () => server.closeIdleConnections());
      void closed.then(sweep.stop);
      await Promise.race([closed, new Promise<void>((resolve) => clock.after(SHUTDOWN_TIMEOUT_MS, resolve).unref())]);
    },
  };
}

/**
 * New connections that the kernel keeps until the process accepts them. With Node's default of 511, the kernel drops
 * connections while a client opens a thousand at once. The kernel's own limit (somaxconn) applies too.
 */
const LISTEN_BACKLOG = 4096;

function listen(
  fetch: Parameters<typeof createAdaptorServer>[0]["fetch"],
  config: Config,
  runtime: { clock: Clock; ids: Ids },
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createAdaptorServer({ fetch, serverOptions: SERVER_TIMEOUTS }) as Server;
    server.listen({ host: config.HOST, port: config.PORT, backlog: LISTEN_BACKLOG }, () => resolve(server));
    enforceMinimumUploadRate(server, runtime);
    enforceMinimumDownloadRate(server, runtime.clock);
    server.once("error", reject);
    respondToMalformedRequests(server, runtime);
  });
}

const COLOURS = { pass: "green", warn: "yellow", fail: "red", skip: "dim", head: "bold" } as const;
/** Uses no colours if the output is not a terminal, or with NO_COLOR. */
const paint: Colorize = (status, text) => styleText(COLOURS[status], text);

async function runDoctor(isJson: boolean): Promise<number> {
  const report = await diagnose(inspectConfiguration(), systemClock);
  process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : renderReport(report, paint));
  return report.ok ? 0 : 1;
}

async function runUpgradeCheck(isJson: boolean): Promise<number> {
  const { settings, missing } = inspectConfiguration();
  const report = await checkUpgrade(settings, missing, systemClock);
  process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : renderUpgradeReport(report, paint));
  return report.ok ? 0 : 1;
}

/** Exit code 1: the server refuses a value. A missing setting is not an error here. */
function runConfigListing({ json, sources, "dev-settings": devSettings }: Options): number {
  const listing = listConfiguration(devSettings.split(","));
  process.stdout.write(json ? `${JSON.stringify(listing, null, 2)}\n` : renderListing(listing, sources));
  for (const problem of listing.problems) process.stderr.write(`${problem}\n`);
  const hasInvalid = listing.settings.some(({ problem }) => problem !== undefined && problem !== "required");
  return hasInvalid || listing.problems.length > 0 ? 1 : 0;
}

/** Exit code 1: some secrets cannot be read with any accepted secret. */
async function runReseal(config: Config): Promise<number> {
  const store = composeSecretStore(config);
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

async function runMigrations(): Promise<void> {
  const applied = await migrateAsOwner(readMigrationConfig());
  const names = applied.length > 0 ? `: ${applied.join(", ")}` : "";
  process.stdout.write(`${applied.length} migrations applied${names}\n`);
}

/** Migrates, or waits for the process that migrates. */
async function requireSchema(config: Config): Promise<void> {
  if (config.MIGRATE_AT_START) {
    await migrateAsOwner(config);
    return;
  }
  const missing = await explainConnection(config, directUrlOf(config), (url) => waitForMigrations(url, systemClock));
  if (missing.length === 0) return;
  const fix = "Start gesso-server --role migrate, or set MIGRATE_AT_START=true.";
  throw configurationError([`The database lacks migrations of this version: ${missing.join(", ")}.`, fix]);
}

const OPTIONS = {
  role: { type: "string", default: "all" },
  json: { type: "boolean", default: false },
  sources: { type: "boolean", default: false },
  "dev-settings": { type: "string", default: "" },
} as const;
type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];
const ROLES = ["api", "worker", "all", "fetcher", "doctor", "upgrade-check", "config", "reseal", "migrate"];

async function main(): Promise<void> {
  const options = parseArgs({ options: OPTIONS }).values;
  const { role, json } = options;
  if (!ROLES.includes(role)) throw new Error(`Unknown role ${role}. Roles: ${ROLES.join(", ")}.`);
  if (role === "doctor") {
    process.exitCode = await runDoctor(json);
    return;
  }
  if (role === "upgrade-check") {
    process.exitCode = await runUpgradeCheck(json);
    return;
  }
  if (role === "config") {
    process.exitCode = runConfigListing(options);
    return;
  }
  if (role === "fetcher") {
    const config = readFetcherConfig();
    removeSecretsFromEnvironment();
    stopOnSignal(await startFetcher(config, systemClock));
    createLogger(config, role).info({ listen: config.FETCHER_LISTEN }, "ready");
    return;
  }
  if (role === "migrate") {
    await runMigrations();
    return;
  }
  const config = readConfig();
  if (role === "reseal") {
    process.exitCode = await runReseal(config);
    return;
  }
  allowHeapGrowth();
  const tracing = await createTracing(config, { role, version: VERSION, instance: randomUUID() }, systemClock);
  const composed = composeServices(config, role, tracing);
  const { services } = composed;
  if (!removeSecretsFromEnvironment()) services.log.warn({}, "the environment of this process still has secrets");
  await requireIsolation(composed, config);
  await requireSchema(config);
  const firstKey = await bootstrapFirstKey(services.database, config);
  if (firstKey) process.stdout.write(`First API key (shown only once): ${firstKey}\n`);
  await continueEventLog(services);
  await saveRetentionDays(services.database, config.RETENTION_DAYS);
  const libraryProblem = await composed.findImageLibraryProblem();
  if (libraryProblem) throw configurationError([libraryProblem]);
  const worker = role === "api" ? undefined : await startWorkerOf(composed, config);
  const components: Stoppable[] = [...(worker ? [worker] : []), await startHttp(composed, config, role, worker)];
  await composed.startMetrics();
  services.log.info({ port: config.PORT, providers: config.providers.map(({ provider }) => provider.id) }, "ready");

  stopOnSignal({
    async stop() {
      // A worker that waits for its runs stays healthy: load balancers must send it the requests of the engine.
      if (role === "worker") for (const component of components) await component.stop();
      else await Promise.all(components.map((component) => component.stop()));
      await composed.close();
    },
  });
}

const startWorkerOf = (composed: ComposedServices, config: Config): Promise<EngineWorker> =>
  startWorker(
    { runs: { ...composed.services, audit: composed.audit }, webhooks: composed.webhookServices },
    composed.engineClient,
    {
      version: VERSION,
      host: config.WORKER_HOST,
      port: config.WORKER_PORT,
      url: config.WORKER_URL,
      adminUrl: config.RESTATE_ADMIN_URL,
      identityKeys: config.RESTATE_IDENTITY_KEYS,
      drainSeconds: config.WORKER_DRAIN_SECONDS,
    },
  );

async function continueEventLog({ database, log }: ComposedServices["services"]): Promise<void> {
  if (await repairEventClock(database))
    log.warn({}, "the database was restored or failed over: event readers of the lost period must start over");
}

/** Refuses to start if a malicious image could reach the secrets of this process. */
async function requireIsolation({ sandboxStatus }: ComposedServices, config: Config): Promise<void> {
  const problem = describeIsolationProblem(await sandboxStatus());
  if (!problem || config.ALLOW_WEAK_ISOLATION) return;
  const fix = "See Isolation in docs/guide/security.md, or set ALLOW_WEAK_ISOLATION=true to start anyway.";
  throw configurationError([problem, fix]);
}

function stopOnSignal(component: Stoppable): void {
  const stop = async () => {
    await component.stop();
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
  process.once("SIGINT", () => void stop());
}

await main().catch((thrown) => {
  if (!isConfigurationError(thrown)) throw thrown;
  process.stderr.write(`${thrown.message}\n`);
  process.exit(1);
});
