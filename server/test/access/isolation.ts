// Calls every operation with another tenant's IDs in every field that takes one, and reports the results.
import { type ServerType, serve } from "@hono/node-server";
import { v7 } from "uuid";
import { isLoopbackInstallation } from "../../src/access/production-secrets.ts";
import { composeServices } from "../../src/compose.ts";
import type { JsonObject } from "../../src/contract/schemas/run.ts";
import type { Database } from "../../src/db/connect.ts";
import { createEventStreams } from "../../src/events/event-streams.ts";
import { createApp } from "../../src/http/app.ts";
import { createClientRequests } from "../../src/idempotency/client-requests.ts";
import { NO_TRACING } from "../../src/observe/tracing.ts";
import { createRunWaiter } from "../../src/runs/show/run-waiter.ts";
import { readConfig } from "../../src/settings/config.ts";
import { type ApiResponse, sendOverHttp } from "../support/api-caller.ts";
import type { TestDatabase } from "../support/test-database.ts";
import { buildInputWithId, type IdField, type IdKind } from "./id-fields.ts";

export type TestApi = { url: string; close(): Promise<void> };

/**
 * The whole HTTP API on a socket with a real database; `wrap` can change statements before they are sent.
 * `consoleFolder` has the files of the console.
 */
export async function startTestApi(
  { url }: TestDatabase,
  env: Record<string, string>,
  wrap: (db: Database) => Database = (db) => db,
  consoleFolder = "/nowhere",
): Promise<TestApi> {
  const config = readConfig({
    ...{ DATABASE_URL: url, GESSO_SECRET: "a secret of tests that is long enough to be one", STORAGE: "disk" },
    ...{ SANDBOX_URL: "http://127.0.0.1:9", SANDBOX_KEY: "x", LOG_LEVEL: "silent", GESSO_CONFIG: "", SHED_MS: "60000" },
    ...{ LOCAL_MODELS_DIR: "/nowhere" },
    ...env,
  });
  const composed = composeServices(config, "api", NO_TRACING);
  const services = { ...composed.runtime, ...composed.api, database: wrap(composed.database) };
  const runWaiter = await createRunWaiter(services);
  const checks = { required: { database: async () => {} }, degrading: { storage: async () => {} } };
  const streams = createEventStreams(services, config);
  const clientRequests = createClientRequests({ ...services, holder: 0 });
  const app = createApp(
    {
      ...composed,
      runs: services,
      webhooks: composed.webhookServices,
      clientRequests,
      progress: { runWaiter, streams },
    },
    {
      ...{ callbacks: composed.callbackSigner, checks, corsOrigins: [], addressDownloads: 0 },
      ...{ publicUrl: config.PUBLIC_URL, mcp: composed.mcp },
      console: config.CONSOLE ? { folder: consoleFolder, isLoopback: isLoopbackInstallation(config) } : undefined,
    },
  );
  const server = await new Promise<ServerType>((resolve) => {
    const opened = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, () => resolve(opened));
  });
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      streams.close();
      await runWaiter.close();
      await composed.close();
    },
  };
}

export type IsolationResult = { place: string; kind: IdKind; credential: string; outcome: string };
export type Credential = { name: string; key: string };
type Ids = (kind: IdKind, position: IdField) => string;

/** Sends a position's request with this id in it. */
async function sendWithId(api: TestApi, key: string, position: IdField, id: string): Promise<ApiResponse> {
  const { operation } = position;
  const { method, path, bodies } = operation.http;
  const input = buildInputWithId(position, id);
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const place = path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(String(input[name])));
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !named.includes(name)));
  const send = sendOverHttp({ url: api.url, key });
  if (bodies?.includes("json")) return send(method, `/api/v1${place}`, { body: rest });
  if (bodies) return send(method, `/api/v1${place}`, { body: formOf(rest) });
  // A list is a repeated name.
  const pairs = Object.entries(rest).flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)]));
  const query = new URLSearchParams(pairs);
  return send(method, `/api/v1${place}?${query}`);
}

function formOf(fields: JsonObject): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  form.set("file", new Blob([PIXELS], { type: "image/png" }), "a.png");
  return form;
}
/** Not reached: a foreign parent is rejected before. */
const PIXELS = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const plain = ({ status, body, headers }: ApiResponse, id: string) =>
  JSON.stringify([status, headers.get("content-type"), body])
    .replaceAll(String(body?.details?.request_id ?? ""), "")
    .replaceAll(id, "(id)");

const NOT_FOUND_CODES: Record<Exclude<IdKind, "cursor" | "tenant">, string> = {
  ...{ run: "run_not_found", key: "route_not_found", prompt: "prompt_not_found", model: "model_not_found" },
  ...{ member: "route_not_found", webhook: "route_not_found", delivery: "route_not_found" },
  ...{ listener: "route_not_found", budget: "route_not_found" },
};

/** Passes if the response for another tenant's id equals, byte for byte, the response for an id that does not exist. */
export async function checkIsolation(
  api: TestApi,
  credentials: Credential[],
  positions: IdField[],
  foreign: Ids,
): Promise<IsolationResult[]> {
  const cells: IsolationResult[] = [];
  for (const position of positions) {
    const { kind, operation, isFilter } = position;
    const [theirs, nobodys] = [foreign(kind, position), kind === "member" ? `nobody-${v7()}` : v7()];
    for (const { name, key } of credentials) {
      const response = await sendWithId(api, key, position, theirs);
      const unknown = await sendWithId(api, key, position, nobodys);
      const isAlike = plain(response, theirs) === plain(unknown, nobodys);
      const reported = `${response.status} ${response.body?.code ?? (response.body?.data?.length === 0 ? "nothing" : "something")}`;
      // A token cannot have the scopes for keys or members, so it is rejected before the ID is looked up.
      const expected = [...expectedOf(kind, isFilter), ...(name === "token" ? ["403 insufficient_scope"] : [])];
      const verdict =
        expected.includes(reported) && isAlike ? "good" : `${reported}${isAlike ? "" : ", unlike an unknown id"}`;
      cells.push({ place: `${operation.name} ${position.path.join(".")}`, kind, credential: name, outcome: verdict });
    }
  }
  return cells;
}

function expectedOf(kind: IdKind, isFilter: boolean): string[] {
  if (kind === "cursor") return ["400 invalid_cursor"];
  if (kind === "tenant") return ["403 insufficient_scope"];
  return isFilter ? ["200 nothing"] : [`404 ${NOT_FOUND_CODES[kind]}`];
}

/** Removes the tenant conditions from all SQL statements, so that only row-level security isolates tenants. */
export function withoutTenantFilters(db: Database, count: { rewritten: number }): Database {
  const rewrite = (text: string) =>
    text.replace(/(?:\w+\.)?tenant_id = (\$\d+)/g, (_, place) => {
      count.rewritten++;
      return `(${place}::uuid is not null)`;
    });
  const over = (inner: Database): Database => ({
    ...inner,
    execute: (statement, ...values) =>
      inner.execute({ ...statement, name: `${statement.name}~`, text: rewrite(statement.text) }, ...values),
    query: (name, text, values) => inner.query(`${name}~`, rewrite(text), values),
    forTenant: (tenantId, endUser) => over(inner.forTenant(tenantId, endUser)),
  });
  return over(db);
}

/** Removes the conditions of end users from all SQL statements, so that only row-level security isolates them. */
export function withoutEndUserFilters(db: Database, count: { rewritten: number }): Database {
  const rewrite = (text: string) =>
    text.replace(/(?:\w+\.)?end_user = (\$\d+)/g, (_, place) => {
      count.rewritten++;
      return `(${place}::text is not null or true)`;
    });
  const over = (inner: Database): Database => ({
    ...inner,
    execute: (statement, ...values) =>
      inner.execute({ ...statement, name: `${statement.name}~`, text: rewrite(statement.text) }, ...values),
    forTenant: (tenantId, endUser) => over(inner.forTenant(tenantId, endUser)),
  });
  return over(db);
}

/** Statements of end users under the row-level security of the tenant: only their own conditions isolate them. */
export const withoutEndUserPolicies = (db: Database): Database => ({
  ...db,
  forTenant: (tenantId, endUser) => ({ ...db.forTenant(tenantId), endUser }),
});
