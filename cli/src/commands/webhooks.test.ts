// `gesso webhooks` as people call it, beside a Gesso that runs: what is passed on is what a webhook would get, once and in
// order, whatever sleeps or is started again meanwhile.
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
import { type GessoInstance, startGesso } from "@gesso/dev/start";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";

const BIN = fileURLToPath(new URL("../../bin/gesso.js", import.meta.url));
/** The long form, by `npm run test:listen-sleep`, is a minute. */
const ASLEEP_SECONDS = Number(process.env.LISTEN_SLEEP_SECONDS ?? 8);
const RECEIVER_HOST = "127.0.0.50";

type Message = { path: string; headers: IncomingHttpHeaders; body: string; runId: string };

const folder = mkdtempSync(join(tmpdir(), "gesso-webhooks-"));
const data = join(folder, "data");
const received: Message[] = [];
let answers: (message: Message) => { status: number; body?: string } = () => ({ status: 204 });
let receiver: Server;
let port: number;
let gesso: GessoInstance;
let client: Client;
const children: ChildProcess[] = [];

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = { path: request.url ?? "", headers: request.headers, body, runId: JSON.parse(body).data.run_id };
    received.push(message);
    const { status, body: says } = answers(message);
    response.writeHead(status).end(says);
  });
  await new Promise<void>((resolve) => receiver.listen(0, RECEIVER_HOST, resolve));
  port = (receiver.address() as AddressInfo).port;
  const env = { WEBHOOK_ALLOW_HTTP: "true", FETCH_ALLOW_CIDRS: `${RECEIVER_HOST}/32`, FETCH_PORTS: String(port) };
  Object.assign(process.env, env);
  gesso = await startGesso({ dataDir: data, port: await freePort(), log: () => {} });
  client = createClient({ baseUrl: gesso.url, apiKey: gesso.key });
}, 120_000);

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  received.splice(0);
  answers = () => ({ status: 204 });
});

afterAll(async () => {
  await gesso?.stop();
  receiver?.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

type Run = { child: ChildProcess; stdout: () => string; stderr: () => string; closed: Promise<number | null> };

function start(parameters: string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [BIN, "webhooks", ...parameters], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
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

async function until<T>(read: () => T | Promise<T>, isSo: (value: T) => boolean, seconds = 30): Promise<T> {
  for (const end = Date.now() + seconds * 1000; ; await sleep(25)) {
    const value = await read();
    if (isSo(value)) return value;
    if (Date.now() > end) throw new Error(`not so after ${seconds} s: ${JSON.stringify(value)?.slice(0, 2000)}`);
  }
}
const came = (count: number, seconds?: number) =>
  until(
    () => [...received],
    ({ length }) => length >= count,
    seconds,
  );

async function listen(...flags: string[]) {
  const run = start(["listen", "--data", data, "--forward-to", `${RECEIVER_HOST}:${port}/local`, ...flags]);
  const said = () => run.stderr() + run.stdout();
  await until(said, (text) => /Ready\.|"ready"/.test(text)).catch(() => {
    throw new Error(`it did not begin: ${said()}`);
  });
  const secret = /whsec_[A-Za-z0-9+/=]+/.exec(said())?.[0] ?? "";
  return { ...run, secret };
}

const picture = async (metadata: Record<string, unknown> = {}) =>
  (await client.images.generate({ prompt: "a boat", width: 64, height: 64, metadata }).wait()).run_id;

const deliveryOf = async (eventId: string, url: string) => {
  const { data: page } = await client.webhooks.deliveries.list({ limit: 100 });
  return page.find((delivery) => delivery.event_id === eventId && delivery.url === url);
};

it("passes on what a webhook gets, byte for byte and under the same id", async () => {
  const hook = await client.webhooks.create({ url: `http://${RECEIVER_HOST}:${port}/hook` });
  const { secret, stderr } = await listen();
  for (const words of ["short", "long ".repeat(3_000)])
    await picture({ words, quote: '"\u2028é', 10: "ten", 9: "nine" });
  const messages = await came(4);
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
}, 60_000);

it("passes on a hundred, all of them signed, in order", async () => {
  const { secret, child, closed, stderr } = await listen("--events", "run.failed");
  const ids: string[] = [];
  for (let n = 0; n < 100; n++)
    ids.push((await client.webhooks.trigger({ type: "run.failed", metadata: { n } })).event_id);
  const messages = await came(100);
  expect(messages.map(({ headers }) => headers["webhook-id"])).toEqual(ids);
  for (const [n, { body, headers }] of messages.entries()) {
    const event = await unwrap<{ metadata: unknown }>(body, headers, secret);
    expect(event).toMatchObject({ type: "run.failed", data: { metadata: { n, test: true } } });
  }
  child.kill("SIGINT");
  expect(await closed).toBe(0);
  expect(stderr()).toContain("Stopped. 100 messages arrived.");
}, 60_000);

it(
  `passes on everything once and in order after it was asleep for ${ASLEEP_SECONDS} s`,
  async () => {
    const { child, stderr } = await listen();
    const first = await picture();
    await came(1);
    child.kill("SIGSTOP");
    const beginning = Date.now();
    const missed: string[] = [];
    for (let n = 0; n < 5; n++) missed.push(await picture());
    await sleep(ASLEEP_SECONDS * 1000 - (Date.now() - beginning));
    expect(received).toHaveLength(1);
    child.kill("SIGCONT");
    await came(6);
    const last = await picture();
    await came(7);
    await until(stderr, (text) => /Resumed after \d+(\.\d)? s: 5 missed events passed on\./.test(text), 10);
    expect(received.map(({ runId }) => runId)).toEqual([first, ...missed, last]);
  },
  (ASLEEP_SECONDS + 60) * 1000,
);

it("goes on where it was when the server is killed and started again", async () => {
  const { stderr } = await listen();
  const first = await picture();
  await came(1);
  const server = gesso.parts.findIndex(({ name }) => name === "server");
  await gesso.parts[server]!.kill();
  await until(stderr, (text) => text.includes("Gesso cannot be reached."));
  const environment = JSON.parse(readFileSync(join(data, "environment.json"), "utf8"));
  gesso.parts[server] = await startServer({ dataDir: join(data, "server"), url: gesso.url, environment });
  const second = await picture();
  await came(2);
  await until(stderr, (text) => /Resumed after .*: (nothing was missed|1 missed event passed on)\./.test(text));
  expect(received.map(({ runId }) => runId)).toEqual([first, second]);
}, 90_000);

it("is in the log of deliveries with what it was answered, and asks again who does not answer", async () => {
  answers = ({ headers }) =>
    headers["x-webhook-attempt"] === "1" ? { status: 503, body: "just\nstarting" } : { status: 200 };
  const { stdout } = await listen("--json");
  const runId = await picture();
  const [, again] = await came(2);
  const destination = `cli:${hostname()}`;
  const eventId = String(again!.headers["webhook-id"]);
  const found = await until(
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
    { kind: "answer", attempt: 1, status: 503, run_id: runId, event_id: eventId },
    { kind: "answer", attempt: 2, status: 200 },
  ]);

  await client.webhooks.deliveries.redeliver(found!.id);
  const third = (await came(3, 2))[2]!;
  expect([third.headers["webhook-id"], third.body]).toEqual([eventId, again!.body]);
  expect(third.headers["x-webhook-attempt"]).toBe("3");
  await until(
    () => deliveryOf(eventId, destination),
    (row) => row?.attempts === 3,
  );
}, 60_000);

it("shows what a receiver says that does not take a message, and does not ask it again", async () => {
  answers = () => ({ status: 400, body: '{"reason":"bad_signature"}\0\u001b[31m' });
  const { stderr, stdout } = await listen("--print-json");
  await picture();
  await until(stderr, (text) => text.includes("bad_signature"));
  await sleep(1_500);
  expect(received).toHaveLength(1);
  expect(stderr()).toMatch(/ 400 {2}\d+ ms {2}\{"reason":"bad_signature"\}/);
  expect(stderr()).not.toContain("\u001b");
  expect(stdout()).toBe(`${received[0]!.body}\n`);
}, 60_000);

it("signs with a secret that it is given, and does not show it", async () => {
  const own = "a secret of my own, long enough";
  const { stderr } = await listen("--secret", own);
  await client.webhooks.trigger({});
  const [message] = await came(1);
  expect(await unwrap(message!.body, message!.headers, own)).toMatchObject({ type: "webhook.test" });
  expect(stderr()).not.toContain(own);
}, 30_000);

it("trigger tells how a message fared, with who listens and with a webhook", async () => {
  const nobody = await finish(["trigger", "--data", data]);
  expect(nobody.code).toBe(1);
  expect(nobody.stderr).toContain("Nobody listens.");

  await listen();
  const heard = await finish(["trigger", "run.completed", "--data", data, "--metadata", '{"order":"4711"}']);
  expect({ ...heard, stderr: "" }).toEqual({ code: 0, stdout: "", stderr: "" });
  expect(heard.stderr).toMatch(new RegExp(`run\\.completed   cli:${hostname()} +204`));
  expect(JSON.parse((await came(1))[0]!.body).data.metadata).toEqual({ order: "4711", test: true });

  const hook = await client.webhooks.create({ url: `http://${RECEIVER_HOST}:${port}/hook` });
  const parameters = ["trigger", "run.failed", "--endpoint", hook.id, "--data", data, "--json"];
  const told = await finish(parameters);
  expect(told.code).toBe(0);
  expect(JSON.parse(told.stdout)).toMatchObject({ arrived: true, deliveries: [{ url: hook.url, attempts: 1 }] });
  answers = () => ({ status: 500 });
  expect((await finish(parameters)).code).toBe(1);
  await client.webhooks.delete(hook.id);
}, 60_000);

it("ends with a code and a sentence where it cannot begin", async () => {
  const target = ["--forward-to", "3000/hook"];
  const env = { GESSO_URL: gesso.url, GESSO_API_KEY: gesso.key };
  const endings: [string[], Record<string, string>, number, string][] = [
    [["listen"], env, 2, "--forward-to"],
    [["listen", ...target, "--events", "run.done"], env, 2, "There is no run.done"],
    [["listen", "--forward-to", "ftp://here"], env, 2, "An http or https address"],
    [["listen", ...target, "--secret", "short"], env, 2, "secret: At least 16 bytes."],
    [["listen", ...target], {}, 3, "There is no key."],
    [["listen", ...target], { ...env, GESSO_API_KEY: "gsk_wrong" }, 3, "gesso webhooks listen: "],
    [
      ["listen", ...target],
      { ...env, GESSO_URL: "http://127.0.0.1:9" },
      1,
      "Gesso does not answer at http://127.0.0.1:9",
    ],
    [["trigger", "run.done"], env, 2, "Allowed choices"],
    [["trigger", "--endpoint", "01990c3e-2f00-7000-8000-6f0c1a2b3c4d"], env, 4, "route_not_found"],
  ];
  for (const [parameters, own, code, words] of endings) {
    const ended = await finish(parameters, own);
    expect([parameters, ended.code, ended.stdout]).toEqual([parameters, code, ""]);
    expect(ended.stderr).toContain(words);
  }
  // The key of development is not shown to anybody else.
  const elsewhere = await finish(["trigger", "--data", data], { GESSO_URL: "http://127.0.0.1:9" });
  expect(elsewhere.code).toBe(3);
}, 90_000);
