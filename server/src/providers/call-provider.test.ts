import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { until } from "../../test/support/until.ts";
import { createProviderHttpClient, type ProviderHttpClient } from "../outbound/provider-http-client.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { callProvider, readProviderFailure } from "./call-provider.ts";
import type { ProviderContext } from "./provider.ts";

let server: Server;
let origin: string;
let sender: ProviderHttpClient;
const hanging = new Map<string, ServerResponse>();
const heard: { url: string; authorization: string | undefined }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    heard.push({ url: request.url!, authorization: request.headers.authorization });
    const [, word, value] = request.url!.split("/");
    if (word === "reset") return void request.socket.resetAndDestroy();
    if (word === "hang") return void hanging.set(request.url!, response);
    if (word === "garbage") return void response.writeHead(200).end("<html>");
    if (word === "busy") response.setHeader("retry-after", "7");
    if (word === "later") response.setHeader("retry-after", decodeURIComponent(request.url!.split("/")[3]!));
    if (word === "form") return void request.pipe(response.writeHead(200));
    const status = word === "ok" ? 200 : Number(value);
    response.writeHead(status, { "content-type": "application/json" }).end('{"id":"j1"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  sender = createProviderHttpClient();
});
afterAll(async () => {
  await sender.close();
  server.closeAllConnections();
  server.close();
});

const context: ProviderContext<unknown> = {
  env: {},
  key: "k",
  now: systemClock.now,
  after: systemClock.after,
  send: (url, request) => sender.send(url, { ...request, timeoutSeconds: 1 }),
  timeoutSeconds: 1,
  isPublicUrlReachable: false,
  unreachableSeconds: 0,
  submittedSeconds: 0,
  runPixelTask: () => Promise.reject(new Error("this test has no images")),
};

const ask = (path: string, at = origin) => {
  const headers = { authorization: "Bearer secret" };
  return callProvider(context, { origin, url: `${at}${path}`, headers, body: {}, reply: z.object({ id: z.string() }) });
};
const kindOf = (path: string, at?: string) =>
  ask(path, at).then(
    () => "none",
    (thrown) => readProviderFailure(thrown).kind,
  );

describe("a request to a provider", () => {
  it("returns the parsed response", async () => {
    expect(await ask("/ok")).toEqual({ id: "j1" });
  });

  it("fails as busy, with the provider's retry delay", async () => {
    expect(readProviderFailure(await ask("/busy/429").catch((thrown) => thrown))).toMatchObject({
      kind: "busy",
      retryAfterSeconds: 7,
    });
    expect(await kindOf("/busy/503")).toBe("busy");
  });

  it.each([
    ["600", 600],
    ["1000000", 3600],
    ["Infinity", undefined],
    ["soon", undefined],
    ["-5", undefined],
    ["0", 1],
    ["Wed, 01 Jan 2020 00:00:00 GMT", 1],
    ["Fri, 31 Dec 2100 23:59:59 GMT", 3600],
  ])("waits for a Retry-After of %s as long as %s seconds", async (header, seconds) => {
    const thrown = await ask(`/later/429/${encodeURIComponent(header)}`).catch((each) => each);
    expect([readProviderFailure(thrown).kind, readProviderFailure(thrown).retryAfterSeconds]).toEqual([
      "busy",
      seconds,
    ]);
  });

  it("waits until the HTTP date in Retry-After", async () => {
    const date = new Date(Date.now() + 240_000).toUTCString();
    const thrown = await ask(`/later/503/${encodeURIComponent(date)}`).catch((each) => each);
    expect(readProviderFailure(thrown).kind).toBe("busy");
    expect(readProviderFailure(thrown).retryAfterSeconds).toBeGreaterThan(230);
    expect(readProviderFailure(thrown).retryAfterSeconds).toBeLessThanOrEqual(240);
  });

  it.each([400, 401, 403, 404, 409, 413, 422])("fails as refused for status %i", async (status) => {
    expect(await kindOf(`/status/${status}`)).toBe("refused");
  });

  it.each([500, 502, 503, 504])(
    "has an unknown outcome for status %i, because a job may have started",
    async (status) => {
      expect(await kindOf(`/status/${status}`)).toBe("unknown");
    },
  );

  it("has an unknown outcome if the connection is cut, no response comes, or the response is malformed", async () => {
    expect(await kindOf("/reset")).toBe("unknown");
    expect(await kindOf("/hang")).toBe("unknown");
    expect(await kindOf("/garbage")).toBe("unknown");
  });

  it("without side effects fails as unsent, never with an unknown outcome", async () => {
    const asked = callProvider(context, { origin, url: `${origin}/reset`, hasNoSideEffects: true, reply: z.any() });
    expect(readProviderFailure(await asked.catch((thrown) => thrown)).kind).toBe("unsent");
  });

  it("sends a multipart form unchanged", async () => {
    const body = new FormData();
    body.set("prompt", "a tree");
    body.append("image[]", new File(["bytes"], "a.png", { type: "image/png" }));
    const { text } = await sender.send(`${origin}/form`, { method: "POST", headers: {}, body, timeoutSeconds: 1 });
    expect(text).toContain('name="image[]"; filename="a.png"');
  });

  it("fails as unsent if the connection is refused", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const away = `http://127.0.0.1:${port}`;
    const failed = await callProvider(context, { origin: away, url: `${away}/x`, body: {}, reply: z.any() }).catch(
      (thrown) => thrown,
    );
    expect(readProviderFailure(failed).kind).toBe("unsent");
  });

  it("fails as unsent if the TLS handshake fails", async () => {
    const before = heard.length;
    const encrypted = origin.replace("http:", "https:");
    const request = { origin: encrypted, url: `${encrypted}/ok`, body: {}, reply: z.any() };
    const failed = await callProvider(context, request).catch((thrown) => thrown);
    expect(readProviderFailure(failed).kind).toBe("unsent");
    expect(heard).toHaveLength(before);
  });

  it.each([
    ["EHOSTUNREACH", "read"],
    ["ENETUNREACH", "write"],
    ["ETIMEDOUT", "read"],
    ["EPIPE", "write"],
    ["ECONNREFUSED", "read"],
  ])("has an unknown outcome if its connection fails with %s while it is in flight", async (code, syscall) => {
    let socket: Socket | undefined;
    const keepSocket = (message: unknown) => {
      socket = (message as { socket: Socket }).socket;
    };
    const url = `/hang/${code}`;
    subscribe("undici:client:sendHeaders", keepSocket);
    const kind = kindOf(url);
    // The provider has the request, and may do and charge for the job.
    await until(() => heard.some((each) => each.url === url));
    unsubscribe("undici:client:sendHeaders", keepSocket);
    socket!.destroy(Object.assign(new Error(`${syscall} ${code}`), { code, syscall }));
    expect(await kind).toBe("unknown");
  });

  it("fails as unsent if it gets no connection in time, and is not sent when it gets one later", async () => {
    const single = createProviderHttpClient(systemClock, { connections: 1 });
    const send: ProviderContext<unknown>["send"] = (url, request) =>
      single.send(url, { ...request, timeoutSeconds: url.endsWith("/queued") ? 0.2 : 60 });
    const submit = (path: string) =>
      callProvider({ ...context, send }, { origin, url: `${origin}${path}`, body: {}, reply: z.any() }).then(
        () => "none",
        (thrown) => readProviderFailure(thrown).kind,
      );
    const occupying = submit("/hang/first");
    await until(() => heard.some(({ url }) => url === "/hang/first"));
    expect(await submit("/ok/queued")).toBe("unsent");
    hanging.get("/hang/first")!.end('{"id":"j1"}');
    expect(await occupying).toBe("none");
    // One more request on the connection that is free now: had the first one been sent, it would be before it.
    expect(await submit("/ok/later")).toBe("none");
    expect(heard.filter(({ url }) => url === "/ok/queued")).toEqual([]);
    await single.close();
  });

  it("sends credentials to no other origin", async () => {
    const before = heard.length;
    expect(await kindOf("/ok", origin.replace("127.0.0.1", "localhost"))).toBe("refused");
    expect(heard).toHaveLength(before);
  });
});
