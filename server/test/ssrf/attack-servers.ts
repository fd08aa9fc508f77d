// Attack servers on a loopback address that the tests treat as public. They redirect, drip, flood and present invalid
// TLS as the corpus requires, and count connections.
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { type Authority, type Certificate, createAuthority } from "./certificates.ts";

/** Stands for the public internet: nothing else of this machine is allowed. */
export const PUBLIC_TEST_IP = "127.0.0.40";
export const ATTACK_HOST = "front.ssrf.test";

export type AttackServers = {
  authority: Authority;
  http: string;
  https: string;
  /** Servers whose TLS is not in order, by what is wrong. */
  invalidTls: Record<"expired" | "wrong host" | "old", string>;
  blackhole: string;
  ports: number[];
  connections(): number;
  /** How many bytes of bodies went out so far. */
  sent(): number;
  close(): Promise<void>;
};

export const IMAGE_BYTES = Buffer.from("bytes of an image");
const MUCH = Buffer.alloc(64 * 1024);

export async function startAttackServers(): Promise<AttackServers> {
  const servers: Server[] = [];
  const count = { connections: 0, sent: 0 };
  const authority = createAuthority();
  const listen = async (server: Server, scheme: string): Promise<string> => {
    servers.push(server);
    server.on("connection", () => {
      count.connections += 1;
    });
    await new Promise<void>((done) => server.listen(0, PUBLIC_TEST_IP, done));
    return `${scheme}://${ATTACK_HOST}:${(server.address() as AddressInfo).port}`;
  };
  const response = createRequestListener((bytes) => {
    count.sent += bytes;
  });
  const secure = (certificate: Certificate, more = {}) =>
    listen(createSecureServer({ ...certificate, ...more }, response), "https");
  const old = { minVersion: "TLSv1", maxVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" };
  const hole = await startBlackhole();
  const urls = {
    http: await listen(createServer(response), "http"),
    https: await secure(authority.issue(ATTACK_HOST)),
    expired: await secure(authority.issue(ATTACK_HOST, { fromDays: -30, toDays: -1 })),
    "wrong host": await secure(authority.issue("another.ssrf.test")),
    old: await secure(authority.issue(ATTACK_HOST), old),
    blackhole: `http://${ATTACK_HOST}:${hole.port}`,
  };
  const { http, https, blackhole, ...broken } = urls;
  return {
    authority,
    http,
    https,
    invalidTls: broken,
    blackhole,
    ports: Object.values(urls).map((url) => Number(new URL(url).port)),
    connections: () => count.connections,
    sent: () => count.sent,
    async close() {
      for (const server of servers) {
        server.close();
        if ("closeAllConnections" in server) (server as { closeAllConnections(): void }).closeAllConnections();
      }
      await hole.close();
    },
  };
}

/** `/redirect?302=<location>`, `/chain/3`, and one path for each way in which a body can be wrong. */
function createRequestListener(note: (bytes: number) => void): RequestListener {
  const bodies: Record<string, (response: ServerResponse) => void> = {
    image: (response) => response.writeHead(200, { "content-type": "image/png" }).end(IMAGE_BYTES),
    drip: (response) => every(10_000, response, () => response.write(".")),
    endless: (response) => flood(response, note),
    "huge-declared": (response) => response.writeHead(200, { "content-length": String(10e9) }).write("x"),
    "huge-undeclared": (response) => {
      // Past the writer that keeps to what was declared: straight to the socket.
      const socket = response.socket!;
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 10\r\n\r\n");
      floodSocket(socket, note);
    },
    packed: (response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(10_000_000))),
    page: (response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>"),
    "206": (response) => response.writeHead(206, { "content-range": "bytes 0-17/18" }).end(IMAGE_BYTES),
    "204": (response) => response.writeHead(204).end(),
    empty: (response) => response.writeHead(200, { "content-type": "image/png" }).end(),
    refresh: (response) => response.writeHead(200, { refresh: "0;url=http://127.0.0.1/" }).end(),
  };
  return (request, response) => {
    const url = new URL(request.url!, "http://front");
    const [, first = "", left] = url.pathname.split("/");
    const [status, location] = [...url.searchParams][0] ?? [];
    if (first === "redirect") return void response.writeHead(Number(status), { location }).end();
    if (first === "loop") return void response.writeHead(302, { location: "/loop" }).end();
    if (first === "chain") {
      const next = Number(left) > 0 ? `/chain/${Number(left) - 1}` : "/image";
      return void response.writeHead(302, { location: next }).end();
    }
    (bodies[first] ?? bodies["204"])!(response);
  };
}

function every(milliseconds: number, response: ServerResponse, write: () => void): void {
  response.writeHead(200, { "content-type": "image/png" });
  write();
  const timer = setInterval(write, milliseconds);
  response.on("close", () => clearInterval(timer));
}

function flood(response: ServerResponse, note: (bytes: number) => void): void {
  const more = () => {
    while (!response.destroyed && response.write(MUCH)) note(MUCH.length);
  };
  response.on("drain", more);
  more();
}

function floodSocket(socket: Socket, note: (bytes: number) => void): void {
  const more = () => {
    while (!socket.destroyed && socket.write(MUCH)) note(MUCH.length);
  };
  socket.on("drain", more).on("error", () => {});
  more();
}

/** Listens and never accepts: when its queue is full, the system drops new connections. */
async function startBlackhole(): Promise<{ port: number; close(): Promise<void> }> {
  const program = `
    const { parentPort } = require("node:worker_threads");
    const server = require("node:net").createServer();
    server.listen({ port: 0, host: "${PUBLIC_TEST_IP}", backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });`;
  const worker = new Worker(program, { eval: true });
  const port = await new Promise<number>((done) => worker.once("message", done));
  const waiting = Array.from({ length: 8 }, () => connect(port, PUBLIC_TEST_IP).on("error", () => {}));
  await new Promise((done) => setTimeout(done, 200));
  return {
    port,
    async close() {
      for (const socket of waiting) socket.destroy();
      await worker.terminate();
    },
  };
}
