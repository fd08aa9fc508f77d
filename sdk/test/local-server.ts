// A small HTTP server for responses that the real server never sends, and a proxy that cuts connections.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer as createLineServer } from "node:net";

export type LocalServer = { url: string; requests: LoggedRequest[]; close(): Promise<void> };
export type LoggedRequest = {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
  at: number;
};

async function listen(listener: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((done) => {
      server.closeAllConnections();
      server.close(() => done());
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** Forwards bytes and cuts every connection the given number of milliseconds after its response began. */
export async function startDisconnectingProxy(upstream: string, afterMs: number) {
  const { hostname, port } = new URL(upstream);
  let cuts = 0;
  const server = createLineServer((near) => {
    const far = connect(Number(port), hostname);
    for (const line of [near, far]) line.on("error", () => {});
    near.pipe(far);
    far.once("data", () =>
      setTimeout(() => {
        if (near.destroyed) return;
        cuts++;
        near.destroy();
        far.destroy();
      }, afterMs),
    );
    far.pipe(near);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const close = () => new Promise<void>((done) => server.close(() => done()));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cuts: () => cuts, close };
}

/** Answers each request with what `reply` writes. */
export async function startLocalServer(
  reply: (seen: LoggedRequest, response: ServerResponse, count: number) => unknown,
): Promise<LocalServer> {
  const requests: LoggedRequest[] = [];
  const at = await listen(async (request, response) => {
    const body = (await bodyOf(request)).toString();
    const seen = {
      method: request.method ?? "",
      url: request.url ?? "",
      headers: request.headers,
      body,
      at: Date.now(),
    };
    requests.push(seen);
    await reply(seen, response, requests.length);
  });
  return { ...at, requests };
}

export const respondJson = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) => response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

/**
 * Forwards everything. Where `cuts` says so, the response is read from upstream and the connection to the caller is
 * cut: before its first byte, or within it.
 */
export async function startProxy(
  upstream: string,
  cuts: (request: IncomingMessage) => boolean | "within",
  change: (headers: Record<string, string>) => void = () => {},
) {
  return listen(async (request, response) => {
    const body = await bodyOf(request);
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !["host", "connection", "content-length"].includes(name)),
    ) as Record<string, string>;
    change(headers);
    const reply = await fetch(upstream + request.url, {
      method: request.method ?? "GET",
      headers,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const bytes = Buffer.from(await reply.arrayBuffer());
    const cut = cuts(request);
    if (cut === true) return request.socket.destroy();
    const {
      "content-encoding": _,
      "content-length": __,
      "transfer-encoding": ___,
      ...rest
    } = Object.fromEntries(reply.headers);
    if (!cut) return response.writeHead(reply.status, rest).end(bytes);
    response.writeHead(reply.status, { ...rest, "content-length": bytes.length });
    response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy());
  });
}
