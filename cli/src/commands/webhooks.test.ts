// Runs `gesso webhooks` beside a real `gesso dev`: forwarded messages equal those of a webhook endpoint, once and in
// order, even when the machine sleeps or the server restarts.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Client, createClient } from "@gesso/client";
import { unwrap } from "@gesso/client/webhooks";
import { freePort, startServer } from "@gesso/dev/components";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type DevelopmentGesso, startDevelopmentGesso } from "../../../server/test/support/development-gesso.ts";
import { waitUntil } from "../../test/support/cli-environment.ts";

const BIN = fileURLToPath(new URL("../../bin/gesso.js", import.meta.url));
/** `npm run proof -- listen-sleep` sets 60 s. */
const ASLEEP_SECONDS = Number(process.env.LISTEN_SLEEP_SECONDS ?? 8);
const RECEIVER_HOST = "127.0.0.50";

type Message = { path: string; headers: IncomingHttpHeaders; body: string; runId: string };

const folder = mkdtempSync(join(tmpdir(), "gesso-webhooks-"));
const data = join(folder, "data");
const received: Message[] = [];
let respondWith: (message: Message) => { status: number; body?: string } = () => ({ status: 204 });
let receiver: Server;
let port: number;
let gesso: DevelopmentGesso;
let client: Client;
const children: ChildProcess[] = [];

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = { path: request.url ?? "", headers: request.headers, body, runId: JSON.parse(body).data.run_id };
    received.push(message);
    const { status, body: text } = respondWith(message);
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => receiver.listen(0, RECEIVER_HOST, resolve));
  port = (receiver.address() as AddressInfo).port;
  const env = { WEBHOOK_ALLOW_HTTP: "true", WEBHOOK_ALLOW_CIDRS: `${RECEIVER_HOST}/32`, FETCH_PORTS: String(port) };
  Object.assign(process.env, env);
  gesso = await startDevelopmentGesso({ dataDir: data, port: await freePort() });
  client = createClient({ baseUrl: gesso.url, apiKey: gesso.key });
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  received.splice(0);
  respondWith = () => ({ status: 204 });
});

afterAll(async () => {
  await gesso?.stop();
  receiver?.close();
  rmSync(folder, { recursive: true, force: true });
});

type Run = { child: ChildProcess; stdout: () => string; stderr: () => string; closed: Promise<number | null> };

function start(parameters: string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [BIN, "webhooks", ...parameters], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
  });
  children.push(child);
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const closed = once(child, "close").then(([code]) => code as number | null);
  return { child, stdout: () => stdout, stderr: () => stderr, closed };
}

async function finish(parameters: string[], env: Record<string, string> = {}) {
  const run = start(parameters, env);
  const code = await run.closed;
  return { code, stdout: run.stdout(), stderr: run.stderr() };
}

const waitForMessages = (count: number) =>
  waitUntil(
    () => [...received],
    ({ length }) => length >= count,
  );

async function listen(...flags: string[]) {
  const run = start(["listen", "--data", data, "--forward-to", `${RECEIVER_HOST}:${port}/local`, ...flags]);
  const output = () => run.stderr() + run.stdout();
  await waitUntil(output, (text) => /Ready\.|"ready"/.test(text)).catch(() => {
    throw new Error(`listen did not start: ${output()}`);
  });
  const secret = /whsec_[A-Za-z0-9+/=]+/.exec(output())?.[0] ?? "";
  return { ...run, secret };
}

const generateImage = async (metadata: Record<string, unknown> = {}) =>
  (await client.images.generate({ prompt: "a boat", width: 64, height: 64, metadata }).wait()).run_id;

const deliveryOf = async (eventId: string, url: string) => {
  const { data: page } = await client.webhooks.deliveries.list({ limit: 100 });
  return page.find((delivery) => delivery.event_id === eventId && delivery.url === url);
};

it("forwards the same bytes under the same ID as a webhook endpoint gets", async () => {
  const hook = await client.webhooks.create({ url: `http://${RECEIVER_HOST}:${port}/hook` });
  const { secret, stderr } = await listen();
  for (const text of ["short", "long ".repeat(3_000)])
    await generateImage({ text, quote: '"\u2028é', 10: "ten", 9: "nine" });
  const messages = await waitForMessages(4);
  await client.webhooks.delete(hook.id);
  const [hooked, local] = ["/hook", "/local"].map((path) => messages.filter((each) => each.path === path));
  const shown = ({ body, headers }: Message) => [headers["webhook-id"], headers["user-agent"], body];
  expect(local!.map(shown).sort()).toEqual(hooked!.map(shown).sort());
  expect(local).toHaveLength(2);
  const own = /^(content-type|user-agent|x-webhook-attempt|webhook-.*)$/;
  const namesOf = ({ headers }: Message) => Object.keys(headers).filter((name) => own.test(name));
  expect(namesOf(local![0]!)).toEqual(namesOf(hooked![0]!));
  for (const { body, headers } of local!) {
    expect(await unwrap(body, headers, secret)).toMatchObject({ type: "run.completed" });
    await expect(unwrap(body, headers, hook.secret!)).rejects.toThrow();
  }
  expect(stderr()).toMatch(new RegExp(`\\d\\d:\\d\\d:\\d\\d  run\\.completed   ${local![0]!.runId} +204  \\d+ ms`));
  expect(stderr()).not.toContain("\u001b");
});

it("forwards a hundred signed messages in order", async () => {
  const { secret, child, closed, stderr } = await listen("--events", "run.failed");
  const ids: string[] = [];
  for (let n = 0; n < 100; n++)
    ids.push((await client.webhooks.trigger({ type: "run.failed", metadata: { n } })).event_id);
  const messages = await waitForMessages(100);
  expect(messages.map(({ headers }) => headers["webhook-id"])).toEqual(ids);
  for (const [n, { body, headers }] of messages.entries()) {
    const event = await unwrap<{ metadata: unknown }>(body, headers, secret);
    expect(event).toMatchObject({ type: "run.failed", data: { metadata: { n, test: true } } });
  }
  child.kill("SIGINT");
  expect(await closed).toBe(0);
  expect(stderr()).toContain("Stopped. 100 messages delivered.");
});

it(`forwards all missed events once and in order after being asleep for ${ASLEEP_SECONDS} s`, async () => {
  const { child, stderr } = await listen();
  const first = await generateImage();
  await waitForMessages(1);
  child.kill("SIGSTOP");
  const asleepSince = Date.now();
  const missed: string[] = [];
  for (let n = 0; n < 5; n++) missed.push(await generateImage());
  await sleep(ASLEEP_SECONDS * 1000 - (Date.now() - asleepSince));
  expect(received).toHaveLength(1);
  child.kill("SIGCONT");
  await waitForMessages(6);
  const last = await generateImage();
  await waitForMessages(7);
  await waitUntil(stderr, (text) => /Resumed after \d+(\.\d)? s: 5 missed events forwarded\./.test(text));
  expect(received.map(({ runId }) => runId)).toEqual([first, ...missed, last]);
});

it("continues where it stopped after the server is killed and restarted", async () => {
  const { stderr } = await listen();
  const first = await generateImage();
  await waitForMessages(1);
  const server = gesso.components.findIndex(({ name }) => name === "server");
  await gesso.components[server]!.kill();
  await waitUntil(stderr, (text) => text.includes("Connection to Gesso lost."));
  const environment = JSON.parse(readFileSync(join(data, "environment.json"), "utf8"));
  gesso.components[server] = await startServer({
    ...{ dataDir: join(data, "server"), url: gesso.url, environment },
    entry: gesso.programs.server,
  });
  const second = await generateImage();
  await waitForMessages(2);
  await waitUntil(stderr, (text) => /Resumed after .*: (no missed events|1 missed event forwarded)\./.test(text));
  expect(received.map(({ runId }) => runId)).toEqual([first, second]);
});

it("retries after a 503 and appears in the delivery log with every response", async () => {
  respondWith = ({ headers }) =>
    headers["x-webhook-attempt"] === "1" ? { status: 503, body: "just\nstarting" } : { status: 200 };
  const { stdout } = await listen("--json");
  const runId = await generateImage();
  const [, again] = await waitForMessages(2);
  const destination = `cli:${hostname()}`;
  const eventId = String(again!.headers["webhook-id"]);
  const found = await waitUntil(
    () => deliveryOf(eventId, destination),
    (row) => row?.status === "delivered",
  );
  expect(await client.webhooks.deliveries.get(found!.id)).toMatchObject({
    ...{ url: destination, run_id: runId, type: "run.completed", status: "delivered", attempts: 2, body: again!.body },
    log: [
      { attempt: 1, status: 503, response: "just\nstarting" },
      { attempt: 2, status: 200 },
    ],
  });
  const lines = stdout()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([
    { kind: "ready", destination, secret: expect.stringMatching(/^whsec_/) },
    { kind: "response", attempt: 1, status: 503, run_id: runId, event_id: eventId },
    { kind: "response", attempt: 2, status: 200 },
  ]);

  await client.webhooks.deliveries.redeliver(found!.id);
  const third = (await waitForMessages(3))[2]!;
  expect([third.headers["webhook-id"], third.body]).toEqual([eventId, again!.body]);
  expect(third.headers["x-webhook-attempt"]).toBe("3");
  await waitUntil(
    () => deliveryOf(eventId, destination),
    (row) => row?.attempts === 3,
  );
});

it("shows the body of a 400 response and does not retry", async () => {
  respondWith = () => ({ status: 400, body: '{"reason":"bad_signature"}\0\u001b[31m' });
  const { stderr, stdout } = await listen("--print-json");
  const refused = await generateImage();
  await waitUntil(stderr, (text) => text.includes("bad_signature"));
  // Messages are forwarded in order, so a retry would have come before the next one.
  respondWith = () => ({ status: 204 });
  const next = await generateImage();
  await waitForMessages(2);
  expect(received.map(({ runId }) => runId)).toEqual([refused, next]);
  expect(stderr()).toMatch(/ 400 {2}\d+ ms {2}\{"reason":"bad_signature"\}/);
  expect(stderr()).not.toContain("\u001b");
  await waitUntil(stdout, (text) => text === received.map(({ body }) => `${body}\n`).join(""));
});

it("signs with the given secret and does not show it", async () => {
  const own = "a secret of my own, long enough";
  const { stderr } = await listen("--secret", own);
  await client.webhooks.trigger({});
  const [message] = await waitForMessages(1);
  expect(await unwrap(message!.body, message!.headers, own)).toMatchObject({ type: "webhook.test" });
  expect(stderr()).not.toContain(own);
});

it("trigger reports whether a message reached the listeners or a webhook endpoint", async () => {
  const withoutListener = await finish(["trigger", "--data", data]);
  expect(withoutListener.code).toBe(1);
  expect(withoutListener.stderr).toContain("No listener is running.");

  await listen();
  const toListener = await finish(["trigger", "run.completed", "--data", data, "--metadata", '{"order":"4711"}']);
  expect({ ...toListener, stderr: "" }).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(toListener.stderr).toMatch(new RegExp(`run\\.completed   cli:${hostname()} +204`));
  expect(JSON.parse((await waitForMessages(1))[0]!.body).data.metadata).toEqual({ order: "4711", test: true });

  const hook = await client.webhooks.create({ url: `http://${RECEIVER_HOST}:${port}/hook` });
  const parameters = ["trigger", "run.failed", "--endpoint", hook.id, "--data", data, "--json"];
  const toWebhook = await finish(parameters);
  expect(toWebhook.code).toBe(0);
  expect(JSON.parse(toWebhook.stdout)).toMatchObject({ delivered: true, deliveries: [{ url: hook.url, attempts: 1 }] });
  respondWith = () => ({ status: 500 });
  expect((await finish(parameters)).code).toBe(1);
  await client.webhooks.delete(hook.id);
});

it("exits with a code and an error message for each kind of failure", async () => {
  const target = ["--forward-to", "3000/hook"];
  const env = { GESSO_URL: gesso.url, GESSO_API_KEY: gesso.key };
  const endings: [string[], Record<string, string>, number, string][] = [
    [["listen"], env, 2, "--forward-to"],
    [["listen", ...target, "--events", "run.done"], env, 2, "Unknown event type: run.done."],
    [["listen", "--forward-to", "ftp://here"], env, 2, "Must be an http or https URL"],
    [["listen", ...target, "--secret", "short"], env, 2, "secret: Must have at least 16 bytes."],
    [["listen", ...target], {}, 3, "No API key."],
    [["listen", ...target], { ...env, GESSO_API_KEY: "gsk_wrong" }, 3, "gesso webhooks listen: "],
    [["listen", ...target], { ...env, GESSO_URL: "http://127.0.0.1:9" }, 1, "Cannot reach Gesso at http://127.0.0.1:9"],
    [["trigger", "run.done"], env, 2, "Allowed choices"],
    [["trigger", "--endpoint", "01990c3e-2f00-7000-8000-6f0c1a2b3c4d"], env, 4, "route_not_found"],
  ];
  for (const [parameters, own, code, message] of endings) {
    const ended = await finish(parameters, own);
    expect([parameters, ended.code, ended.stdout]).toEqual([parameters, code, ""]);
    expect(ended.stderr).toContain(message);
  }
  // The key of gesso dev is not sent to another server.
  const elsewhere = await finish(["trigger", "--data", data], { GESSO_URL: "http://127.0.0.1:9" });
  expect(elsewhere.code).toBe(3);
});
