// Two cells, each a complete installation, behind the router of deploy/proxy/cells.cfg: requests, files, callbacks,
// cursors, streams and webhooks reach the cell of their key or host, and the loss of a cell does not reach the other.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, type ManagedProcess } from "@gesso/dev/components";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/access/api-key.ts";
import { openSseReader } from "../events/sse-reader.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";
import { type ReceivedMessage, startWebhookReceiver, type WebhookReceiver, webhookEnv } from "../webhooks/receiver.ts";
import { startCellRouter } from "./proxy-processes.ts";

/** Addresses that stand for the hosts of the cells. */
const CELLS = [
  { cell: "aa", host: "127.0.0.2" },
  { cell: "bb", host: "127.0.0.3" },
] as const;
const directory = mkdtempSync(join(tmpdir(), "gesso-cells-"));
type Cell = { cell: string; host: string; key: string; environment: TestEnvironment; caller: ApiCaller };
const cells: Cell[] = [];
let router: ManagedProcess;
let receiver: WebhookReceiver;
let port: number;

beforeAll(async () => {
  port = await freePort();
  receiver = await startWebhookReceiver();
  const starting = CELLS.map(async ({ cell, host }) => {
    const key = generateApiKey(cell);
    const own = { CELL: cell, GESSO_API_KEY: key, PUBLIC_URL: `http://${host}:${port}` };
    const environment = await startTestEnvironment({ env: { ...webhookEnv(receiver), ...own } });
    const caller = createHttpCaller({ url: `http://127.0.0.1:${port}`, key });
    return { cell, host, key, environment, caller };
  });
  cells.push(...(await Promise.all(starting)));
  const apis = cells.map(({ environment }) => new URL(environment.url).host);
  router = await startCellRouter({ directory, port, hosts: CELLS.map(({ host }) => host), apis });
});
afterAll(async () => {
  await Promise.all(cells.map(({ environment }) => environment.stop()));
  await router?.stop();
  await receiver?.close();
  rmSync(directory, { recursive: true, force: true });
});

const makeImage = async ({ caller }: Cell, prompt: string) => {
  const { status, body } = await caller.generate({ prompt, width: 64, height: 64 }, { prefer: "wait=30" });
  expect([status, body.status]).toEqual([200, "completed"]);
  return body as { run_id: string; outputs: { url: string }[] };
};

describe.each([0, 1])("cell %s", (index) => {
  const other = 1 - index;

  it("makes the runs of its keys, and only its keys see them", async () => {
    const { run_id } = await makeImage(cells[index]!, "a canal");
    expect((await cells[index]!.caller.get(`/runs/${run_id}`)).status).toBe(200);
    expect((await cells[other]!.caller.get(`/runs/${run_id}`)).body.code).toBe("run_not_found");
    const rows = await Promise.all(
      cells.map(({ environment }) =>
        environment.query<{ count: number }>("select count(*)::int from runs where run_id = $1", [run_id]),
      ),
    );
    expect(rows.map(([row]) => row!.count)).toEqual(index === 0 ? [1, 0] : [0, 1]);
  });

  it("gives files URLs of its own host, which need no key", async () => {
    const { outputs } = await makeImage(cells[index]!, "a lock");
    const { url } = outputs[0]!;
    expect(new URL(url).host).toBe(`${cells[index]!.host}:${port}`);
    const response = await fetch(url);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect((await fetch(url.replace(cells[index]!.host, cells[other]!.host))).status).toBe(404);
  });

  it("continues lists and streams of its key", async () => {
    for (const prompt of ["one", "two"]) await makeImage(cells[index]!, prompt);
    const first = (await cells[index]!.caller.get("/runs?limit=1")).body;
    const second = (await cells[index]!.caller.get(`/runs?limit=1&cursor=${first.next_cursor}`)).body;
    expect(second.data[0].run_id < first.data[0].run_id).toBe(true);
    const path = `/runs/${first.data[0].run_id}/events`;
    const stream = await openSseReader({ url: `http://127.0.0.1:${port}`, key: cells[index]!.key, path });
    expect(await stream.ended).toBe("ended");
    expect(stream.heard.at(-1)!.type).toBe("run.completed");
  });

  it("puts itself into new keys", async () => {
    const { cell, caller } = cells[index]!;
    const { body: made } = await caller.post("/keys", { name: "shop", scopes: ["runs:read"] });
    const { body: tenant } = await caller.post("/tenants", { name: "Shop" });
    expect([made.key, tenant.owner_key.key].map((key) => key.slice(0, 6))).toEqual([`gsk_${cell}`, `gsk_${cell}`]);
    const shop = createHttpCaller({ url: `http://127.0.0.1:${port}`, key: tenant.owner_key.key });
    expect((await shop.get("/runs")).body.data).toEqual([]);
    const asHeader = { "x-api-key": tenant.owner_key.key };
    expect((await fetch(`http://127.0.0.1:${port}/api/v1/runs`, { headers: asHeader })).status).toBe(200);
  });

  it("sends its webhooks itself", async () => {
    const { cell, caller } = cells[index]!;
    expect((await caller.post("/webhooks", { url: `${receiver.url}/${cell}` })).status).toBe(201);
    const { run_id } = await makeImage(cells[index]!, "a weir");
    const isEnd = ({ event }: ReceivedMessage) => event.type === "run.completed" && event.data.run_id === run_id;
    const [message] = await receiver.got(1, isEnd);
    expect(message!.path).toBe(`/${cell}`);
  });
});

it("refuses a key of no cell in the standard form", async () => {
  const unknownKey = createHttpCaller({ url: `http://127.0.0.1:${port}`, key: generateApiKey("zz") });
  expect((await unknownKey.get("/runs")).body.code).toBe("invalid_api_key");
});

it("continues in one cell while the other is lost", async () => {
  await cells[1]!.environment.kill("api");
  await expect.poll(async () => (await cells[1]!.caller.get("/runs")).status, { interval: 200 }).toBe(503);
  await makeImage(cells[0]!, "a sluice");
});
