// The roles that run until they are stopped: the API, the worker, both, and the fetcher.
import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { fileURLToPath } from "node:url";
import { createAdaptorServer } from "@hono/node-server";
import { bootstrapFirstKey } from "../access/bootstrap-first-key.ts";
import { isLoopbackInstallation } from "../access/production-secrets.ts";
import { composeServices } from "../compose.ts";
import { repairEventClock } from "../db/event-log.ts";
import { saveRetentionDays } from "../db/files/retention.ts";
import { type EngineWorker, startWorker } from "../engine/worker.ts";
import { createEventStreams } from "../events/event-streams.ts";
import { describeIsolationProblem } from "../files/images/decoder-sandbox.ts";
import { respondToMalformedRequests } from "../http/bodies/malformed-request.ts";
import { enforceMinimumUploadRate, SERVER_TIMEOUTS } from "../http/bodies/minimum-upload-rate.ts";
import { enforceMinimumDownloadRate } from "../http/downloads/minimum-download-rate.ts";
import { healthRoutes } from "../http/health.ts";
import { createClientRequests } from "../idempotency/client-requests.ts";
import { importOwnModels } from "../library/imported-models.ts";
import { createTracing } from "../observe/create-tracing.ts";
import { createLogger } from "../observe/log.ts";
import { startFetcher } from "../outbound/start-fetcher.ts";
import { createRunWaiter } from "../runs/show/run-waiter.ts";
import type { Clock, Ids } from "../runtime/clock.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { VERSION } from "../runtime/version.ts";
import {
  type Config,
  configurationError,
  readConfig,
  readFetcherConfig,
  removeSecretsFromEnvironment,
} from "../settings/config.ts";
import { allowHeapGrowth } from "../settings/heap-growth.ts";
import { requireSchema } from "./database.ts";

/** Responses in flight get this long to finish. */
const SHUTDOWN_TIMEOUT_MS = 30_000;
const IDLE_SWEEP_MS = 50;
/** Where the console is built. */
const CONSOLE_FOLDER = fileURLToPath(new URL("../../../console/dist", import.meta.url));

type ComposedServices = ReturnType<typeof composeServices>;
type Stoppable = { stop(): Promise<void> };

/** `role`: api, worker, or all for both. */
export async function runServer(role: string): Promise<void> {
  const config = readConfig();
  allowHeapGrowth();
  const tracing = await createTracing(config, { role, version: VERSION, instance: randomUUID() }, systemClock);
  const composed = composeServices(config, role, tracing);
  const { database, runtime } = composed;
  if (!removeSecretsFromEnvironment()) runtime.log.warn({}, "the environment of this process still has secrets");
  await requireIsolation(composed, config);
  await requireSchema(config);
  const firstKey = await bootstrapFirstKey(database, config);
  if (firstKey) process.stdout.write(`First API key (shown only once): ${firstKey}\n`);
  await continueEventLog(composed);
  await importOwnModels({ ...composed.api, database, describeModel: composed.queries.describeModel });
  await saveRetentionDays(database, config.RETENTION_DAYS);
  const libraryProblem = await composed.findImageLibraryProblem();
  if (libraryProblem) throw configurationError([libraryProblem]);
  const worker = role === "api" ? undefined : await startWorkerOf(composed, config);
  const components: Stoppable[] = [...(worker ? [worker] : []), await startHttp(composed, config, role, worker)];
  await composed.startMetrics();
  runtime.log.info({ port: config.PORT, providers: config.providers.map(({ provider }) => provider.id) }, "ready");

  stopOnSignal({
    async stop() {
      // A worker that waits for its runs stays healthy: load balancers must send it the requests of the engine.
      if (role === "worker") for (const component of components) await component.stop();
      else await Promise.all(components.map((component) => component.stop()));
      await composed.close();
    },
  });
}

export async function runFetcher(): Promise<void> {
  const config = readFetcherConfig();
  removeSecretsFromEnvironment();
  stopOnSignal(await startFetcher(config, systemClock));
  createLogger(config, "fetcher").info({ listen: config.FETCHER_LISTEN }, "ready");
}

function stopOnSignal(component: Stoppable): void {
  const stop = async () => {
    await component.stop();
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
  process.once("SIGINT", () => void stop());
}

/** A worker serves only its health endpoints, on the port on which an API process serves everything. */
async function startHttp(
  composed: ComposedServices,
  config: Config,
  role: string,
  worker?: EngineWorker,
): Promise<Stoppable> {
  const { runtime, database, assets, webhookServices } = composed;
  const { clock } = runtime;
  const checks = {
    required: { database: () => database.ping() },
    // Without storage the API still accepts runs without inline images, and everything that reads only the database.
    degrading: { storage: () => assets.storage.maintenance.checkReady() },
  };
  const holder = Math.floor(runtime.random() * Number.MAX_SAFE_INTEGER);
  const runWaiter = role === "worker" ? undefined : await createRunWaiter({ database, clock }, holder);
  const streams = createEventStreams({ ...runtime, database, assets }, config);
  // A worker does not load the code of the API, which takes a third of its start.
  const app = runWaiter
    ? (await import("../http/app.ts")).createApp(
        {
          runs: composed.api,
          webhooks: webhookServices,
          queries: composed.queries,
          callers: composed.callers,
          cursors: composed.cursors,
          clientRequests: createClientRequests({ ...runtime, database, holder }),
          progress: { runWaiter, streams },
          signIn: composed.signIn,
        },
        {
          callbacks: composed.callbackSigner,
          checks,
          corsOrigins: config.CORS_ORIGINS,
          addressDownloads: config.ADDRESS_DOWNLOADS,
          publicUrl: config.PUBLIC_URL,
          mcp: composed.mcp,
          console: config.CONSOLE ? { folder: CONSOLE_FOLDER, isLoopback: isLoopbackInstallation(config) } : undefined,
        },
      )
    : healthRoutes(checks, clock, () => worker?.isReady() === false);
  const server = await listen(app.fetch, config, runtime);
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

const startWorkerOf = (composed: ComposedServices, config: Config): Promise<EngineWorker> =>
  startWorker(composed.worker, composed.engineClient, {
    version: VERSION,
    host: config.WORKER_HOST,
    port: config.WORKER_PORT,
    url: config.WORKER_URL,
    adminUrl: config.RESTATE_ADMIN_URL,
    identityKeys: config.RESTATE_IDENTITY_KEYS,
    drainSeconds: config.WORKER_DRAIN_SECONDS,
  });

async function continueEventLog({ database, runtime }: ComposedServices): Promise<void> {
  if (await repairEventClock(database))
    runtime.log.warn({}, "the database was restored or failed over: event readers of the lost period must start over");
}

/** Refuses to start if a malicious image could reach the secrets of this process. */
async function requireIsolation({ sandboxStatus }: ComposedServices, config: Config): Promise<void> {
  const problem = describeIsolationProblem(await sandboxStatus());
  if (!problem || config.ALLOW_WEAK_ISOLATION) return;
  const fix = "See Isolation in docs/guide/security.md, or set ALLOW_WEAK_ISOLATION=true to start anyway.";
  throw configurationError([problem, fix]);
}
