// Walks every operation with another tenant's ids in every place that takes one, and says what came of it.
import { type ServerType, serve } from "@hono/node-server";
import { v7 } from "uuid";
import { readConfig } from "../../src/config.ts";
import type { Database } from "../../src/db/connect.ts";
import { createStreams } from "../../src/events/streams.ts";
import { createApp } from "../../src/http/app.ts";
import type { Json } from "../../src/kit/shapes.ts";
import { createSettled } from "../../src/runs/settled.ts";
import { createWorld } from "../../src/world.ts";
import { type Answer, overHttp } from "../caller.ts";
import type { TestDatabase } from "../database.ts";
import { inputWith, type Kind, type Position } from "./positions.ts";

export type Api = { url: string; close(): Promise<void> };

/** The whole web face on a socket, on a real database; `wrap` may change what statements say before they are sent. */
export async function startApi(
  { url }: TestDatabase,
  env: Record<string, string>,
  wrap: (db: Database) => Database = (db) => db,
): Promise<Api> {
  const config = readConfig({
    ...{ DATABASE_URL: url, GESSO_SECRET: "a secret of tests that is long enough to be one", STORAGE: "disk" },
    ...{ SANDBOX_URL: "http://127.0.0.1:9", SANDBOX_KEY: "x", LOG_LEVEL: "silent", GESSO_CONFIG: "", SHED_MS: "60000" },
    ...{ LOCAL_MODELS_DIR: "/nowhere" },
    ...env,
  });
  const world = createWorld(config, "api");
  const house = { ...world.house, db: wrap(world.house.db) };
  const settled = await createSettled(house.db);
  const checks = { database: async () => {}, storage: async () => {} };
  const streams = createStreams(house, config);
  const app = createApp({ ...world, house, settled, streams, corsOrigins: [] }, world.callbacks, checks);
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
      await settled.close();
      await world.close();
    },
  };
}

export type Cell = { place: string; kind: Kind; credential: string; verdict: string };
export type Credential = { name: string; key: string };
type Ids = (kind: Kind, position: Position) => string;

/** Sends a position's request with this id in it. */
async function ask(api: Api, key: string, position: Position, id: string): Promise<Answer> {
  const { operation } = position;
  const { method, path, bodies } = operation.http;
  const input = inputWith(position, id);
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const place = path.replace(/:(\w+)/g, (_, name) => encodeURIComponent(String(input[name])));
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !named.includes(name)));
  const send = overHttp({ url: api.url, key });
  if (bodies?.includes("json")) return send(method, `/api/v1${place}`, { body: rest });
  if (bodies) return send(method, `/api/v1${place}`, { body: formOf(rest) });
  const query = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)]));
  return send(method, `/api/v1${place}?${query}`);
}

function formOf(fields: Json): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  form.set("file", new Blob([PIXELS], { type: "image/png" }), "a.png");
  return form;
}
/** Not looked at: whoever names a foreign parent is refused before. */
const PIXELS = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const plain = ({ status, body, headers }: Answer, id: string) =>
  JSON.stringify([status, headers.get("content-type"), body])
    .replaceAll(String(body?.details?.request_id ?? ""), "")
    .replaceAll(id, "(id)");

const REFUSALS: Record<Exclude<Kind, "cursor" | "tenant">, string> = {
  ...{ run: "run_not_found", key: "route_not_found", prompt: "prompt_not_found", model: "model_not_found" },
  ...{ member: "route_not_found", webhook: "route_not_found", delivery: "route_not_found" },
  listener: "route_not_found",
};

/** Good is: refused as the kind is refused, in the very bytes that an id of nobody gets. */
export async function walk(api: Api, credentials: Credential[], positions: Position[], foreign: Ids): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const position of positions) {
    const { kind, operation, isFilter } = position;
    const [theirs, nobodys] = [foreign(kind, position), kind === "member" ? `nobody-${v7()}` : v7()];
    for (const { name, key } of credentials) {
      const answer = await ask(api, key, position, theirs);
      const unknown = await ask(api, key, position, nobodys);
      const isAlike = plain(answer, theirs) === plain(unknown, nobodys);
      const told = `${answer.status} ${answer.body?.code ?? (answer.body?.data?.length === 0 ? "nothing" : "something")}`;
      // A token manages neither keys nor people, so it does not get as far as the id.
      const expected = [...expectedOf(kind, isFilter), ...(name === "token" ? ["403 permission_denied"] : [])];
      const verdict = expected.includes(told) && isAlike ? "good" : `${told}${isAlike ? "" : ", unlike an unknown id"}`;
      cells.push({ place: `${operation.name} ${position.path.join(".")}`, kind, credential: name, verdict });
    }
  }
  return cells;
}

function expectedOf(kind: Kind, isFilter: boolean): string[] {
  if (kind === "cursor") return ["400 invalid_cursor"];
  if (kind === "tenant") return ["403 insufficient_scope"];
  return isFilter ? ["200 nothing"] : [`404 ${REFUSALS[kind]}`];
}

/** The application's own wall taken down: every condition on the tenant holds for all. */
export function withoutFilters(db: Database, count: { rewritten: number }): Database {
  const rewrite = (text: string) =>
    text.replace(/(?:\w+\.)?tenant_id = (\$\d+)/g, (_, place) => {
      count.rewritten++;
      return `(${place}::uuid is not null)`;
    });
  const over = (inner: Database): Database => ({
    ...inner,
    query: (name, text, values) => inner.query(`${name}~`, rewrite(text), values),
    as: (tenantId) => over(inner.as(tenantId)),
  });
  return over(db);
}
