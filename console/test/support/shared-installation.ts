// Vitest global setup: one Gesso for all test files of the console that need no setting of their own and kill nothing.
// It starts when the first file asks for it. Each file has a tenant of its own in it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createTestTenant } from "../../../server/test/support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../../../server/test/support/test-environment.ts";

/** Where test files ask for the installation; unset outside Vitest. */
const ADDRESS_VARIABLE = "GESSO_TEST_CONSOLE";
const SETTINGS = {
  GESSO_CONFIG: fileURLToPath(new URL("catalogue.yaml", import.meta.url)),
  UNKNOWN_SECONDS: "1",
};

type Description = Pick<TestEnvironment, "url" | "databaseUrl"> & { operatorKey: string };

/** What a file may do with an installation that others use too. `key` is the key of its tenant's owner. */
export type Installation = Pick<TestEnvironment, "url" | "key" | "query" | "stop"> & {
  /** For operations across tenants; its own tenant is the first one. */
  operatorKey: string;
};

export async function setup(): Promise<() => Promise<void>> {
  let started: Promise<TestEnvironment> | undefined;
  const describe = async (): Promise<Description> => {
    started ??= startTestEnvironment({ env: SETTINGS });
    const { url, databaseUrl, key: operatorKey } = await started;
    return { url, databaseUrl, operatorKey };
  };
  const server = createServer((_request, response) => {
    describe().then(
      (description) => response.end(JSON.stringify(description)),
      (thrown) => response.writeHead(500).end(String(thrown)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env[ADDRESS_VARIABLE] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async () => {
    server.close();
    await (await started)?.stop();
  };
}

/** The shared installation, with a new tenant. */
export async function openSharedInstallation(): Promise<Installation> {
  const response = await fetch(process.env[ADDRESS_VARIABLE]!);
  if (!response.ok) throw new Error(`the installation of the console's tests: ${await response.text()}`);
  const { url, databaseUrl, operatorKey } = (await response.json()) as Description;
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  pool.on("error", () => {});
  const query: TestEnvironment["query"] = async (text, values = []) => (await pool.query(text, values)).rows;
  const { key } = await createTestTenant({ url, query });
  return { url, key, operatorKey, query, stop: () => pool.end() };
}
