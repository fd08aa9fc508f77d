// One Gesso for all test files that know it only by its API and its tables. Each file has a tenant of its own in it, so
// the files are also a test of the isolation between tenants.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { bundlePrograms } from "./bundled-programs.ts";
import { drawScene } from "./scene.ts";
import { SHARED_POSTGRES_VARIABLE } from "./shared-postgres.ts";
import { createTestTenant, type TenantOptions } from "./tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "./test-environment.ts";

/** What a file may do with an installation that others use too: nothing of it can be stopped or restarted. */
export type Installation = Pick<
  TestEnvironment,
  "url" | "key" | "databaseUrl" | "sandboxUrl" | "sandboxKey" | "storageDir" | "query" | "stop"
> & {
  tenantId: string;
  /** The key of the operator, for operations across tenants. */
  operatorKey: string;
  /** An allowed server whose every path is an image; `/missing…` returns 404. */
  imageOrigin: string;
};

type Description = Pick<TestEnvironment, "url" | "databaseUrl" | "sandboxUrl" | "sandboxKey" | "storageDir"> & {
  operatorKey: string;
  imageOrigin: string;
};

/** Each kind is an installation of its own. `console` has prices, and little patience with unknown outcomes. */
const SETTINGS = {
  plain: {},
  console: {
    GESSO_CONFIG: join(import.meta.dirname, "../../../console/test/support/catalogue.yaml"),
    UNKNOWN_SECONDS: "1",
  },
};
export type InstallationKind = keyof typeof SETTINGS;

/** The installation as the process sees it that has started it. */
export type HostInstallation = { describe(): Promise<Description>; stop(): Promise<void> };

export async function startSharedInstallation(
  kind: InstallationKind,
  { followsSources }: { followsSources: boolean },
): Promise<HostInstallation> {
  let sources = await bundlePrograms();
  const images = await serveScene();
  const environment = await startTestEnvironment({ env: { FETCH_ALLOW_ORIGINS: images.origin, ...SETTINGS[kind] } });
  const { url, databaseUrl, sandboxUrl, sandboxKey, storageDir, key: operatorKey } = environment;
  const followSources = async () => {
    const current = await bundlePrograms();
    if (current.server === sources.server) return;
    sources = current;
    await environment.stopGracefully("api");
    await environment.start("api");
  };
  return {
    async describe() {
      if (followsSources) await followSources();
      return { url, databaseUrl, sandboxUrl, sandboxKey, storageDir, operatorKey, imageOrigin: images.origin };
    },
    async stop() {
      images.close();
      await environment.stop();
    },
  };
}

/**
 * Serves the scene as a PNG at every path except those that begin with `/missing`. `/ground-RRGGBB.png` has another
 * ground, so that its bytes are another image.
 */
export async function serveScene(): Promise<{ origin: string; close(): void }> {
  const scene = await drawScene();
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith("/missing")) return response.writeHead(404).end();
    const ground = /^\/ground-([0-9a-f]{6})\.png$/.exec(request.url ?? "")?.[1];
    const bytes = ground ? await drawScene(undefined, undefined, `#${ground}`) : scene;
    response.writeHead(200, { "content-type": "image/png", "content-length": bytes.length });
    response.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The shared installation, with a new tenant for the file that asks. `key` is the key of the tenant's owner. */
export async function openSharedInstallation(
  options: TenantOptions = {},
  kind: InstallationKind = "plain",
): Promise<Installation> {
  const response = await fetch(`${process.env[SHARED_POSTGRES_VARIABLE]}/installations/${kind}`);
  if (!response.ok) throw new Error(`the shared installation: ${await response.text()}`);
  const description = (await response.json()) as Description;
  const pool = new pg.Pool({ connectionString: description.databaseUrl, max: 2 });
  pool.on("error", () => {});
  const query: TestEnvironment["query"] = async (text, values = []) => (await pool.query(text, values)).rows;
  const { key, tenant_id: tenantId } = await createTestTenant({ url: description.url, query }, options);
  return { ...description, key, tenantId, query, stop: () => pool.end() };
}
