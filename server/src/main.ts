#!/usr/bin/env node
// Starts the roles asked for: `--role api`, `--role worker`, or both with `--role all`. Any number of each may run.
import { parseArgs } from "node:util";
import { type ServerType, serve } from "@hono/node-server";
import { type Config, readConfig } from "./config.ts";
import { migrate } from "./db/migrate.ts";
import { startWorker } from "./engine/worker.ts";
import { createApp } from "./http/app.ts";
import { answerBroken } from "./http/broken.ts";
import { healthRoutes } from "./http/health.ts";
import { createSettled } from "./runs/settled.ts";
import { createWorld } from "./world.ts";

/** Answers that are on their way get this long. */
const STOP_MS = 30_000;

type World = ReturnType<typeof createWorld>;
type Part = { stop(): Promise<void> };

/** A worker answers for its health at the same port at which the API answers everything. */
async function startHttp(world: World, config: Config, role: string): Promise<Part> {
  const { house, credentials, cursors, callbacks } = world;
  const checks = {
    database: () => house.db.ping(),
    storage: () => house.storage.ready(),
  };
  const settled = role === "worker" ? undefined : await createSettled(house.db);
  const app = settled ? createApp({ house, credentials, cursors, settled }, callbacks, checks) : healthRoutes(checks);
  const server = await listen(app.fetch, config);
  return {
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await settled?.close();
      if ("closeIdleConnections" in server) server.closeIdleConnections();
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, STOP_MS).unref())]);
    },
  };
}

function listen(fetch: Parameters<typeof serve>[0]["fetch"], config: Config): Promise<ServerType> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch, hostname: config.HOST, port: config.PORT }, () => resolve(server));
    server.once("error", reject);
    server.on("clientError", answerBroken);
  });
}

async function main(): Promise<void> {
  const { role } = parseArgs({ options: { role: { type: "string", default: "all" } } }).values;
  if (!["api", "worker", "all"].includes(role)) throw new Error(`There is no role ${role}: api, worker or all.`);
  const config = readConfig();
  await migrate(config.DATABASE_URL);
  const world = createWorld(config, role);
  const worker = {
    host: config.WORKER_HOST,
    port: config.WORKER_PORT,
    url: config.WORKER_URL,
    adminUrl: config.RESTATE_ADMIN_URL,
  };

  const parts: Part[] = [];
  if (role !== "api") parts.push(await startWorker(world.house, world.ingress, worker));
  parts.push(await startHttp(world, config, role));
  world.house.log.info({ port: config.PORT, providers: config.providers.map(({ provider }) => provider.id) }, "ready");

  const stop = async () => {
    await Promise.all(parts.map((part) => part.stop()));
    await world.close();
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
  process.once("SIGINT", () => void stop());
}

await main();
