// What all test files of a run share, each started when the first file asks for it: a PostgreSQL with a migrated
// template, a migrated data directory, complete installations, and the Python packages. Files ask over HTTP, because
// each runs in its own process. `npm run lab` keeps all of it running between test runs.
import { rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { findLab } from "./lab.ts";
import { createPythonEnvironment } from "./python.ts";
import { type HostInstallation, type InstallationKind, startSharedInstallation } from "./shared-installation.ts";
import {
  createMigratedData,
  SHARED_POSTGRES_VARIABLE,
  startPostgresForTests,
  type TestPostgres,
} from "./shared-postgres.ts";

export type SharedServices = { url: string; stop(): Promise<void> };

/** `followsSources`: the server of the installation is restarted when its sources have changed. */
export async function startSharedServices({ followsSources = false } = {}): Promise<SharedServices> {
  let postgres: Promise<TestPostgres> | undefined;
  let migratedData: Promise<string> | undefined;
  let python: Promise<string> | undefined;
  const installations = new Map<string, Promise<HostInstallation>>();
  // One database at a time: a template must not be copied twice at once.
  let previous: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<string>): Promise<string> => {
    const result = previous.then(work);
    previous = result.catch(() => {});
    return result;
  };
  const respond = async ({ method, url: path = "" }: IncomingMessage): Promise<string> => {
    if (method === "HEAD") return "";
    if (path === "/migrated-data") {
      migratedData ??= createMigratedData();
      return migratedData;
    }
    if (path === "/python") {
      python ??= createPythonEnvironment();
      return python;
    }
    const kind = /^\/installations\/(\w+)$/.exec(path)?.[1] as InstallationKind | undefined;
    if (kind) {
      const installation = installations.get(kind) ?? startSharedInstallation(kind, { followsSources });
      installations.set(kind, installation);
      return JSON.stringify(await (await installation).describe());
    }
    postgres ??= startPostgresForTests();
    const shared = await postgres;
    return inTurn(async () => {
      if (method === "POST") return shared.createDatabase();
      await shared.dropDatabase(path.slice(1));
      return "";
    });
  };
  const server = createServer((request, response) => {
    respond(request).then(
      (text) => response.end(text),
      (thrown) => response.writeHead(500).end(String(thrown)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.env[SHARED_POSTGRES_VARIABLE] = url;
  return {
    url,
    async stop() {
      server.close();
      await previous;
      await Promise.all([...installations.values()].map(async (each) => (await each).stop()));
      await postgres?.then((each) => each.stop());
      if (migratedData) rmSync(await migratedData, { recursive: true, force: true });
    },
  };
}

/** Vitest global setup. */
export async function setup(): Promise<() => Promise<void>> {
  const lab = await findLab();
  if (lab) {
    process.env[SHARED_POSTGRES_VARIABLE] = lab.url;
    return async () => {};
  }
  const services = await startSharedServices();
  return () => services.stop();
}
