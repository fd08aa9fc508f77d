#!/usr/bin/env node
// Starts the roles asked for: `--role api`, `--role worker`, or both with `--role all`. Any number of each may run.
// `--role fetcher` starts the one that fetches for all others, and knows nothing of theirs.
// `--role doctor` starts nothing: it looks whether everything is as it should be, and says so.
import type { Server } from "node:http";
import { parseArgs, styleText } from "node:util";
import { type ServerType, serve } from "@hono/node-server";
import { openDoor } from "./access/first-start.ts";
import { type Config, isSettingsError, readConfig, readFetcherConfig, readFindings } from "./config.ts";
import { mendEventClock } from "./db/events.ts";
import { migrate } from "./db/migrate.ts";
import { setRetention } from "./db/retention.ts";
import { examine } from "./doctor/doctor.ts";
import { type Paint, printScreen } from "./doctor/screen.ts";
import { startWorker } from "./engine/worker.ts";
import { createStreams } from "./events/streams.ts";
import { createApp } from "./http/app.ts";
import { answerBroken } from "./http/broken.ts";
import { healthRoutes } from "./http/health.ts";
import { keepPace, SERVER_TIMES } from "./http/pace.ts";
import { startFetcher } from "./media/start-fetcher.ts";
import { createLog } from "./observe/log.ts";
import { createSettled } from "./runs/settled.ts";
import { createWorld } from "./world.ts";

/** Answers that are on their way get this long. */
const STOP_MS = 30_000;
const SWEEP_MS = 50;

type World = ReturnType<typeof createWorld>;
type Part = { stop(): Promise<void> };

/** A worker answers for its health at the same port at which the API answers everything. */
async function startHttp(world: World, config: Config, role: string): Promise<Part> {
  const { house, office, credentials, access, admission, cursors, callbacks } = world;
  const desk = { house, office, credentials, access, admission, cursors, corsOrigins: config.CORS_ORIGINS };
  const checks = {
    database: () => house.db.ping(),
    storage: () => house.storage.ready(),
  };
  const settled = role === "worker" ? undefined : await createSettled(house.db);
  const streams = createStreams(house, config);
  const app = settled ? createApp({ ...desk, settled, streams }, callbacks, checks) : healthRoutes(checks);
  const server = await listen(app.fetch, config);
  return {
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      streams.close();
      await settled?.close();
      // Who is answered now, or whose stream has just ended, is idle a moment later.
      const sweep = setInterval(() => (server as Server).closeIdleConnections(), SWEEP_MS);
      void closed.then(() => clearInterval(sweep));
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
    },
  };
}

function listen(fetch: Parameters<typeof serve>[0]["fetch"], config: Config): Promise<ServerType> {
  return new Promise((resolve, reject) => {
    const address = { hostname: config.HOST, port: config.PORT };
    const server = serve({ fetch, ...address, serverOptions: SERVER_TIMES }, () => resolve(server));
    keepPace(server as Server);
    server.once("error", reject);
    server.on("clientError", answerBroken);
  });
}

const COLOURS = { pass: "green", warn: "yellow", fail: "red", skip: "dim", head: "bold" } as const;
/** Plain where nobody looks, or where somebody asked for it with NO_COLOR. */
const paint: Paint = (status, text) => styleText(COLOURS[status], text);

async function consult(isJson: boolean): Promise<number> {
  const report = await examine(readFindings());
  process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : printScreen(report, paint));
  return report.ok ? 0 : 1;
}

const OPTIONS = { role: { type: "string", default: "all" }, json: { type: "boolean", default: false } } as const;
const ROLES = ["api", "worker", "all", "fetcher", "doctor"];

async function main(): Promise<void> {
  const { role, json } = parseArgs({ options: OPTIONS }).values;
  if (!ROLES.includes(role)) throw new Error(`There is no role ${role}: ${ROLES.join(", ")}.`);
  if (role === "doctor") {
    process.exitCode = await consult(json);
    return;
  }
  if (role === "fetcher") {
    const config = readFetcherConfig();
    stopWhenTold(await startFetcher(config));
    createLog(config, role).info({ listen: config.FETCHER_LISTEN }, "ready");
    return;
  }
  const config = readConfig();
  await migrate(config.MIGRATION_DATABASE_URL ?? config.DATABASE_URL, config.DATABASE_URL);
  const world = createWorld(config, role);
  const firstKey = await openDoor(world.house.db, config);
  if (firstKey) process.stdout.write(`The first key, shown this once: ${firstKey}\n`);
  await mendEventClock(world.house.db);
  await setRetention(world.house.db, config.RETENTION_DAYS);
  const worker = {
    host: config.WORKER_HOST,
    port: config.WORKER_PORT,
    url: config.WORKER_URL,
    adminUrl: config.RESTATE_ADMIN_URL,
    office: world.office,
  };

  const parts: Part[] = [];
  if (role !== "api") parts.push(await startWorker(world.house, world.ingress, worker));
  parts.push(await startHttp(world, config, role));
  world.house.log.info({ port: config.PORT, providers: config.providers.map(({ provider }) => provider.id) }, "ready");

  stopWhenTold({
    async stop() {
      await Promise.all(parts.map((part) => part.stop()));
      await world.close();
    },
  });
}

function stopWhenTold(part: Part): void {
  const stop = async () => {
    await part.stop();
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
  process.once("SIGINT", () => void stop());
}

await main().catch((thrown) => {
  if (!isSettingsError(thrown)) throw thrown;
  process.stderr.write(`${thrown.message}\n`);
  process.exit(1);
});
