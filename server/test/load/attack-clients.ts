// One attack on a running Gesso: reports when it is ready, attacks on a message, and reports the responses.
// `attack-clients.ts URL KEY ATTACK SECONDS`. All attackers but those with unknown keys have other client addresses
// than the healthy traffic, as they would have in production.
import { once } from "node:events";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { generateApiKey } from "../../src/access/api-key.ts";
import {
  type AttackRequest,
  decoderBombs,
  deepBodies,
  hugeBodies,
  largeUpload,
  wideBodies,
} from "./attack-requests.ts";

const [, , url = "", key = "", attack = "", seconds = "1"] = process.argv;
const { hostname, port } = new URL(url);
const DURATION_MS = Number(seconds) * 1000;
const CONNECTIONS = 8;
/** Between two requests of a connection: the attacker does not need the CPU that the service would have. */
const PAUSE_MS = 50;
const SLOW_CLIENTS = 1000;
const UNKNOWN_KEYS = 10_000;
/** The short version of the campaign attacks for 4 s. */
const FILES = Number(seconds) < 10 ? 60 : 200;
const ADDRESSES = Array.from({ length: 8 }, (_, n) => `127.0.0.${n + 2}`);

const responses: Record<string, number> = {};
const countResponse = (name: string) => {
  responses[name] = (responses[name] ?? 0) + 1;
};

type Received = { status: string; text: string };
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
const fileAgent = new Agent({ maxSockets: FILES });
const send = (
  { method, path, type, body }: AttackRequest,
  authorization: string,
  localAddress?: string,
  usedAgent = agent,
) =>
  new Promise<Received>((resolve) => {
    const headers = { authorization, ...(body.length > 0 && { "content-type": type, "content-length": body.length }) };
    const sent = request(`${url}${path}`, { method, agent: usedAgent, headers, ...(localAddress && { localAddress }) });
    sent.on("response", async (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", () => resolve({ status: "cut off", text: "" }));
      response.on("end", () =>
        resolve({ status: String(response.statusCode), text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on("error", (thrown: NodeJS.ErrnoException) => resolve({ status: String(thrown.code), text: "" }));
    sent.end(body);
  });

/** Sends the requests in turn over a few connections until the time is over. */
const repeat = (requests: AttackRequest[]) => async () => {
  const end = performance.now() + DURATION_MS;
  let next = 0;
  const work = async () => {
    while (performance.now() < end) {
      countResponse((await send(requests[next++ % requests.length]!, `Bearer ${key}`, ADDRESSES[0])).status);
      await pause(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
};

/** At a steady rate, so that all are sent within the time, or as many as a short time allows. */
const tryUnknownKeys = async () => {
  const count = Math.min(UNKNOWN_KEYS, Number(seconds) * 500);
  const keys = Array.from({ length: count }, () => generateApiKey());
  return async () => {
    const startedAt = performance.now();
    const list: AttackRequest = { method: "GET", path: "/api/v1/runs", type: "", body: Buffer.alloc(0) };
    const work = async (first: number) => {
      for (let n = first; n < count; n += CONNECTIONS) {
        await pause(Math.max(0, startedAt + (n / count) * DURATION_MS - performance.now()));
        countResponse((await send(list, `Bearer ${keys[n]}`)).status);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => work(n)));
  };
};

/** Connections that send `head(n)` and then `drip`, if any, each second; they read nothing if `isReader`. */
const openConnections = async (head: (n: number) => string, { drip, isReader }: { drip?: string; isReader?: true }) => {
  const sockets = Array.from({ length: SLOW_CLIENTS }, (_, n) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: ADDRESSES[n % ADDRESSES.length]! });
    let response = isReader ? "unread" : "none";
    if (isReader) socket.pause();
    else socket.on("data", (chunk) => (response = String(chunk).slice(9, 12)));
    socket.once("connect", () => socket.write(head(n)));
    socket.on("error", () => undefined);
    return { socket, response: () => (socket.closed && response === "none" ? "cut off" : response) };
  });
  const dripping = setInterval(() => {
    for (const { socket } of sockets) if (drip && socket.writable && !socket.connecting) socket.write(drip);
  }, 1000);
  await pause(DURATION_MS);
  clearInterval(dripping);
  for (const { socket, response } of sockets) {
    countResponse(response());
    socket.destroy();
  }
};

const headers = (lines: string[]) =>
  `${["host: gesso", `authorization: Bearer ${key}`, ...lines].join("\r\n")}\r\n\r\n`;
const SLOW_FORM = headers(["content-type: multipart/form-data; boundary=slow", "content-length: 20000000"]);
const SLOW_JSON = headers(["content-type: application/json", "content-length: 900000"]);
const sendSlowly = (n: number) => {
  // A third does not finish its headers.
  if (n % 3 === 0) return `POST /api/v1/runs/generate HTTP/1.1\r\n${SLOW_JSON.slice(0, 60)}`;
  if (n % 3 === 1) return `POST /api/v1/runs/generate HTTP/1.1\r\n${SLOW_JSON}{"prompt":"`;
  return `POST /api/v1/upload HTTP/1.1\r\n${SLOW_FORM}--slow\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n`;
};

const readSlowly = async () => {
  const { text } = await send(await largeUpload(), `Bearer ${key}`);
  const { pathname } = new URL(JSON.parse(text).data.image_url);
  const paths = [pathname, "/api/v1/events", "/api/v1/runs?limit=100"];
  return () => openConnections((n) => `GET ${paths[n % 3]} HTTP/1.1\r\n${headers([])}`, { isReader: true });
};

/** All at once: how many are in memory at a time is up to the service. */
const verifyFiles = async () => {
  const file = { ...(await largeUpload()), path: "/api/v1/provenance/verify" };
  return async () => {
    const sent = Array.from({ length: FILES }, () => send(file, `Bearer ${key}`, ADDRESSES[0], fileAgent));
    for (const { status } of await Promise.all(sent)) countResponse(status);
  };
};

/** Prepares an attack and returns the function that performs it. */
const attacks: Record<string, () => Promise<() => Promise<void>>> = {
  wide: async () => repeat(wideBodies()),
  deep: async () => repeat(deepBodies()),
  huge: async () => repeat(hugeBodies()),
  slow: async () => () => openConnections(sendSlowly, { drip: "x" }),
  bombs: async () => repeat(await decoderBombs()),
  readers: readSlowly,
  keys: tryUnknownKeys,
  files: verifyFiles,
};

const perform = await attacks[attack]!();
process.send?.("ready");
await once(process, "message");
await perform();
process.send?.(responses, () => process.exit());
