// One table of behaviour for all clients: sdk/test/behaviour.json. The client in TypeScript and both in Python make the
// calls of every row against one scripted server; outcomes and requests must be those of the table.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, GessoError, type Run } from "../../sdk/src/index.ts";
import { type BehaviourServer, RUN_ID, type Script, startBehaviourServer } from "./behaviour-server.ts";
import { openPythonSources, type PythonSources } from "./python-package.ts";

const KEY = "gsk_0123456789abcdefghijklmnopqrstuvwxyzABCD123456";
const CLIENTS = ["typescript", "python", "python-async"] as const;

type Row = {
  name: string;
  call: "create" | "get" | "update" | "list" | "image" | "wait" | "events";
  script: Script;
  options?: { max_retries?: number; timeout_seconds?: number; idempotency_key?: string };
  wait?: { timeout_seconds?: number; progress?: true; abort?: true; cancel_on_abort?: false };
  /** Null: any. */
  outcome: Record<string, unknown> | null;
  ignores?: string[];
  requests?: string[];
  gaps?: number[];
  key?: string;
  /** The request without a credential. */
  keyless?: string;
  /** Requests that are not sent. */
  never?: string;
  prefer?: string;
  last_event_ids?: (string | null)[];
};

const { rows } = JSON.parse(readFileSync("sdk/test/behaviour.json", "utf8").replaceAll('"{id}"', `"${RUN_ID}"`)) as {
  rows: Row[];
};
const pathOf = (client: string, index: number) => `${client}-${index}`;

let server: BehaviourServer;
let python: PythonSources;
let outcomes: Map<string, Record<string, unknown>>;

beforeAll(async () => {
  [server, python] = await Promise.all([startBehaviourServer(), openPythonSources()]);
  const urls = Object.fromEntries(
    CLIENTS.map((client) => [client, rows.map(({ script }, index) => server.open(pathOf(client, index), script))]),
  );
  const given = JSON.stringify({ rows, key: KEY, run_id: RUN_ID, urls });
  const [inTypeScript, inPython] = await Promise.all([
    Promise.all(rows.map((row, index) => callInTypeScript(row, urls.typescript![index]!))),
    python.run(["test/behaviour.py"], { BEHAVIOUR: given }),
  ]);
  const all = { typescript: inTypeScript, ...JSON.parse(inPython.trim().split("\n").at(-1)!) };
  outcomes = new Map(CLIENTS.flatMap((client) => rows.map((_, index) => [pathOf(client, index), all[client][index]])));
});

afterAll(() => {
  server?.close();
});

describe.each(CLIENTS)("%s", (client) => {
  it.each(rows.map((row, index) => [row.name, row, pathOf(client, index)] as const))("%s", (_, row, path) => {
    const known = Object.entries(outcomes.get(path)!).filter(([fact]) => !row.ignores?.includes(fact));
    if (row.outcome) expect(Object.fromEntries(known)).toEqual(row.outcome);
    const seen = server.seen(path);
    const routes = seen.map(({ route }) => route);
    if (row.requests) expect(routes).toEqual(row.requests.map((route) => route.replace(RUN_ID, "{id}")));
    if (row.never) expect(routes).not.toContain(row.never);
    const creates = seen.filter(({ route }) => route.startsWith("POST /api/v1/runs/generate"));
    const keys = new Set(creates.map(({ headers }) => headers["idempotency-key"]));
    if (creates.length > 0) expect([...keys]).toEqual([row.key ?? expect.stringMatching(/^gesso-[\da-f-]{36}$/)]);
    const gaps = seen.slice(1).map(({ at }, index) => at - seen[index]!.at);
    for (const [index, least] of (row.gaps ?? []).entries()) expect(gaps[index]).toBeGreaterThanOrEqual(least);
    for (const { route, headers } of seen) {
      expect([route, headers.authorization]).toEqual([route, route === row.keyless ? undefined : `Bearer ${KEY}`]);
    }
    const polls = seen.filter(({ route }) => route === "GET /api/v1/runs/{id}");
    if (row.prefer) expect(polls.map(({ headers }) => headers.prefer)).toContain(row.prefer);
    const streams = seen.filter(({ route }) => route.endsWith("/events"));
    if (row.last_event_ids)
      expect(streams.map(({ headers }) => headers["last-event-id"] ?? null)).toEqual(row.last_event_ids);
  });
});

it("no request to another host has a key", () => {
  // The client in TypeScript follows the redirect.
  expect(server.elsewhere.length).toBeGreaterThan(0);
  expect(server.elsewhere.map(({ authorization }) => authorization).filter(Boolean)).toEqual([]);
});

async function callInTypeScript(row: Row, baseUrl: string): Promise<Record<string, unknown>> {
  const silent = { error() {}, warn() {}, info() {}, debug() {} };
  const client = createClient({ baseUrl, apiKey: KEY, logger: silent });
  const { max_retries, timeout_seconds, idempotency_key } = row.options ?? {};
  const options = {
    ...(max_retries !== undefined && { maxRetries: max_retries }),
    ...(timeout_seconds !== undefined && { timeout: timeout_seconds * 1000 }),
    ...(idempotency_key !== undefined && { idempotencyKey: idempotency_key }),
  };
  const create = () => client.images.generate({ prompt: "a boat" }, options);
  const describeRun = ({ run_id, status }: Run) => ({ run_id, status });
  const calls: Record<Row["call"], () => Promise<Record<string, unknown>>> = {
    create: async () => ({ run_id: (await create()).run_id }),
    get: async () => describeRun(await client.runs.get(RUN_ID)),
    update: async () => describeRun(await client.runs.update(RUN_ID, { starred: true })),
    list: async () => ({ ids: (await client.runs.list().toArray({ limit: 10 })).map(({ run_id }) => run_id) }),
    image: async () => ({ bytes: Buffer.from(await (await create().wait()).image.bytes()).toString() }),
    events: async () => {
      const types: string[] = [];
      for await (const { type } of client.runs.events(RUN_ID)) types.push(type);
      return { types };
    },
    wait: async () => {
      const { timeout_seconds: seconds, progress, abort, cancel_on_abort } = row.wait ?? {};
      const stop = new AbortController();
      const states: string[] = [];
      const onProgress = ({ status }: Run) => {
        states.push(status);
        if (abort) stop.abort();
      };
      const run = await create().wait({
        ...(seconds !== undefined && { timeout: seconds * 1000 }),
        ...((progress || abort) && { onProgress }),
        ...(abort && { signal: stop.signal }),
        ...(cancel_on_abort === false && { cancelOnAbort: false }),
      });
      return { ...describeRun(run), ...(progress && { progress: states }) };
    },
  };
  try {
    return await calls[row.call]();
  } catch (thrown) {
    if (!(thrown instanceof GessoError)) throw thrown;
    // The run is canceled after the call has ended.
    if (thrown.name === "AbortedError") await new Promise((resolve) => setTimeout(resolve, 1000));
    return describeError(thrown);
  }
}

function describeError({ name, code, status, requestId, runId }: GessoError): Record<string, unknown> {
  if (name === "AbortedError") return { error: "aborted" };
  const facts = { code, status, request_id: requestId, error_run_id: runId };
  return { error: name, ...Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) };
}
