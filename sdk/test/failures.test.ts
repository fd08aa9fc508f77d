// Behaviour of the client when a server fails: it honours Retry-After, respects its timeouts and logs no secrets.
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import {
  AbortedError,
  AuthError,
  BudgetError,
  ConnectionError,
  createClient,
  GessoError,
  PermissionError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from "../src/index.ts";
import { backoffMs } from "../src/retry.ts";
import { type LocalServer, respondJson, startLocalServer } from "./local-server.ts";

const KEY = "gsk_0123456789abcdefghijklmnopqrstuvwxyzABCD123456";
const ID = "01990c3e-2f00-7000-8000-6f0c1a2b3c4d";
const RUN = {
  run_id: ID,
  status: "completed",
  outputs: [],
  image_urls: [],
  image_url: null,
  video_url: null,
  error: null,
};
const PROMPT = { prompt: "a red bicycle" };

let server: LocalServer;
afterEach(() => server?.close());

const start = async (...parameters: Parameters<typeof startLocalServer>) => {
  server = await startLocalServer(...parameters);
  return createClient({ baseUrl: server.url, apiKey: KEY });
};
const gaps = () => server.requests.slice(1).map(({ at }, index) => at - server.requests[index]!.at);

describe("options of a call", () => {
  it("are the first argument of an operation without input", async () => {
    const client = await start((_, response) => respondJson(response, 503, { message: "no" }));
    await expect(client.me.get({ maxRetries: 0, headers: { "x-trace": "a" } })).rejects.toThrow(ServerError);
    expect(server.requests).toMatchObject([{ url: "/api/v1/me", headers: { "x-trace": "a" } }]);
  });
});

describe("retries", () => {
  it("[SDK-3] waits as long as the server requests", async () => {
    const client = await start((_, response, count) =>
      count === 1
        ? respondJson(response, 429, { message: "busy" }, { "retry-after": "1" })
        : respondJson(response, 202, RUN),
    );
    await client.images.generate(PROMPT);
    expect(gaps()[0]).toBeGreaterThanOrEqual(995);
  });

  it("[SDK-3] prefers retry-after-ms to retry-after, and x-should-retry to its own rules", async () => {
    const client = await start((_, response, count) => {
      if (count === 1) return respondJson(response, 429, {}, { "retry-after": "30", "retry-after-ms": "50" });
      return respondJson(response, 503, { message: "no" }, { "x-should-retry": "false" });
    });
    await expect(client.images.generate(PROMPT)).rejects.toThrow(ServerError);
    expect(server.requests).toHaveLength(2);
    // With the other header it would wait 30 s.
    expect(gaps()[0]).toBeLessThan(30_000);
  });

  it("[SDK-4] waits 0.5 s, then 1 s, minus random jitter, never more than 8 s", async () => {
    expect([backoffMs(0, () => 1), backoffMs(0, () => 0)]).toEqual([375, 500]);
    expect([backoffMs(1, () => 1), backoffMs(1, () => 0)]).toEqual([750, 1000]);
    expect(backoffMs(30, () => 0)).toBe(8000);
    const client = await start((_, response) => respondJson(response, 503, { message: "no" }));
    await expect(client.images.generate(PROMPT)).rejects.toThrow(ServerError);
    const [first = 0, second = 0, ...more] = gaps();
    expect(more).toEqual([]);
    expect(first).toBeGreaterThanOrEqual(370);
    expect(second).toBeGreaterThanOrEqual(745);
  });

  it("send the same key every time, and another for another call", async () => {
    const client = await start((_, response, count) => respondJson(response, count % 2 ? 500 : 202, RUN));
    await client.images.generate(PROMPT);
    await client.images.generate(PROMPT);
    const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).toBe(keys[3]);
    expect(keys[0]).not.toBe(keys[2]);
  });

  it("times out, and the error contains the idempotency key that finds the run", async () => {
    const client = await start(() => {});
    // Long enough for the request to reach the server on a busy machine.
    const call = client.images.generate(PROMPT, { timeout: 500, maxRetries: 0 });
    const error: TimeoutError = await call.catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error.idempotencyKey).toBe(server.requests[0]!.headers["idempotency-key"]);
  });

  it("throws an error of the family of each status", async () => {
    const statuses = { 402: BudgetError, 403: PermissionError, 418: GessoError, 429: RateLimitError, 500: ServerError };
    for (const [status, family] of Object.entries(statuses)) {
      const client = await start((_, response) =>
        respondJson(response, Number(status), { message: "no", code: "some_code" }),
      );
      await expect(client.runs.list({}, { maxRetries: 0 })).rejects.toThrow(family);
      await server.close();
    }
  });
});

describe("statuses that the client does not know", () => {
  it("never block a waiting caller", async () => {
    const odd = { ...RUN, status: "archived", finished_at: "2026-11-15T04:00:00Z" };
    const client = await start(({ method }, response) => respondJson(response, method === "POST" ? 202 : 200, odd));
    expect(await client.images.generate(PROMPT).wait({ timeout: 5000 })).toMatchObject({ status: "archived" });
    await server.close();
    const dreaming = { ...RUN, status: "dreaming", finished_at: null };
    const other = await start((_, response) => respondJson(response, 200, dreaming));
    const logger = { ...console, warn: () => {} };
    const impatientClient = createClient({ baseUrl: server.url, apiKey: KEY, logger });
    await expect(impatientClient.images.generate(PROMPT).wait({ timeout: 300 })).rejects.toThrow(TimeoutError);
    expect(await other.runs.get(ID)).toMatchObject({ status: "dreaming" });
  });
});

describe("secrets", () => {
  it("[SDK-12] are in no line of the log", async () => {
    server = await startLocalServer((_, response, count) => respondJson(response, count === 1 ? 500 : 202, RUN));
    const lines: unknown[] = [];
    const say = (...more: unknown[]) => void lines.push(...more);
    const logger = { error: say, warn: say, info: say, debug: say };
    const client = createClient({ baseUrl: server.url, apiKey: KEY, debug: true, logger });
    const sourceImage = Buffer.from("an image ".repeat(100)).toString("base64");
    await client.images.describe({ image_url: sourceImage, webhook_secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" });
    await client.images.describe({ image_url: `data:image/png;base64,${sourceImage}` });
    const tokens = createClient({ baseUrl: server.url, getToken: () => "the-access-token", debug: true, logger });
    await tokens.runs.get(ID);
    const output = JSON.stringify(lines);
    expect(lines.length).toBeGreaterThan(6);
    for (const secret of [KEY, "whsec_", "MfKQ9r8G", "the-access-token", sourceImage.slice(0, 40)])
      expect(output).not.toContain(secret);
  });
});

describe("credentials", () => {
  const jwt = (exp: number) => `h.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.s`;

  it("[SDK-13] refuses a key in a page, and names what to do", async () => {
    const page = globalThis as { document?: unknown };
    page.document = {};
    try {
      expect(() => createClient({ apiKey: KEY })).toThrow(/getToken.*proxyUrl/s);
      expect(() => createClient({ apiKey: KEY, dangerouslyAllowBrowser: true })).not.toThrow();
      expect(() => createClient({ getToken: () => "t" })).not.toThrow();
      expect(() => createClient({ proxyUrl: "/gesso" })).not.toThrow();
    } finally {
      delete page.document;
    }
    expect(() => createClient({ apiKey: KEY, getToken: () => "t" })).toThrow(/not both/);
  });

  it("[SDK-13] requests a token once, caches it until it expires, and requests another after a 401", async () => {
    const now = Math.floor(Date.now() / 1000);
    const tokens = [jwt(now + 10), jwt(now + 900), jwt(now + 901)];
    let input = 0;
    let refused = "";
    server = await startLocalServer(({ headers }, response) => {
      const isRefused = headers.authorization === `Bearer ${refused}`;
      return isRefused ? respondJson(response, 401, { message: "no" }) : respondJson(response, 200, RUN);
    });
    const client = createClient({ baseUrl: server.url, getToken: async () => tokens[input++] ?? null });
    await Promise.all([client.runs.get(ID), client.runs.get(ID)]);
    expect(input).toBe(1);
    // The first ends within twenty seconds, so it is not used again.
    await Promise.all([client.runs.get(ID), client.runs.get(ID), client.runs.get(ID)]);
    expect(input).toBe(2);
    await client.runs.get(ID);
    expect(input).toBe(2);
    refused = tokens[1]!;
    await client.runs.get(ID);
    expect(input).toBe(3);
    await server.close();
    server = await startLocalServer((_, response) => respondJson(response, 401, { message: "no" }));
    const unauthenticated = createClient({ baseUrl: server.url, getToken: () => "never good" });
    await expect(unauthenticated.runs.get(ID)).rejects.toThrow(AuthError);
    expect(server.requests).toHaveLength(2);
    const broken = createClient({
      baseUrl: server.url,
      getToken: () => {
        throw new Error("no session");
      },
    });
    await expect(broken.runs.get(ID)).rejects.toThrow(AuthError);
    expect(server.requests).toHaveLength(2);
  });

  it("sends nothing for a signal that has already ended", async () => {
    const client = await start((_, response) => respondJson(response, 202, RUN));
    const call = client.images.generate(PROMPT).wait({ signal: AbortSignal.abort() });
    await expect(call).rejects.toThrow(AbortedError);
    expect(server.requests).toHaveLength(0);
  });

  it("sends no credential without an API key, and the mask edit to edit_server_url", async () => {
    const client = createClient({ getToken: () => null, baseUrl: "http://127.0.0.1:9" });
    server = await startLocalServer((_, response) =>
      response.writeHead(200, { "content-type": "image/png" }).end("bytes"),
    );
    const given = { original_image_url: "https://a.example/a.png", mask_image_url: "https://a.example/b.png" };
    const media = await client.edit.maskImage(given, { edit_server_url: `${server.url}/` });
    expect(Buffer.from(await media.arrayBuffer()).toString()).toBe("bytes");
    expect(server.requests[0]).toMatchObject({ method: "POST", url: "/api/v1/edits/mask" });
    expect(server.requests[0]!.headers.authorization).toBeUndefined();
    const own = createClient({ edit_server_url: server.url, baseUrl: "http://127.0.0.1:9" });
    await own.edit.maskImage.json(given);
    expect(server.requests).toHaveLength(2);
  });

  it("waits and cancels at edit_server_url for a mask edit that was sent there", async () => {
    const open = { ...RUN, status: "processing", finished_at: null };
    server = await startLocalServer(({ method, url }, response) =>
      url.endsWith("/events")
        ? response.writeHead(404).end()
        : respondJson(response, method === "POST" ? 202 : 200, open),
    );
    const logger = { ...console, warn: () => {} };
    const client = createClient({ baseUrl: "http://127.0.0.1:9", edit_server_url: server.url, logger });
    const given = { original_image_url: "https://a.example/a.png", mask_image_url: "https://a.example/b.png" };
    const stop = new AbortController();
    const onProgress = () => stop.abort();
    await expect(client.edit.maskImage(given).wait({ signal: stop.signal, onProgress })).rejects.toThrow(AbortedError);
    await expect.poll(() => server.requests.at(-1)?.url).toBe(`/api/v1/runs/${ID}/cancel`);
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "POST /api/v1/edits/mask",
      `GET /api/v1/runs/${ID}/events`,
      `GET /api/v1/runs/${ID}`,
      `POST /api/v1/runs/${ID}/cancel`,
    ]);
  });
});

it("[SDK-8] sends a stream of 50 MB without keeping it", async () => {
  let received = 0;
  const sink = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => {
      received += chunk.length;
    });
    request.on("end", () => respondJson(response, 201, { success: true, message: "", data: {} }));
  });
  await new Promise<void>((done) => sink.listen(0, "127.0.0.1", done));
  const { port } = sink.address() as AddressInfo;
  const program = `
    const { createClient } = await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)});
    const client = createClient({ baseUrl: "http://127.0.0.1:${port}" });
    const chunk = new Uint8Array(65536).fill(7);
    async function* bytes(count) { for (let sent = 0; sent < count; sent++) yield chunk; }
    await client.images.upload({ file: bytes(16) });
    globalThis.gc();
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => { most = Math.max(most, process.memoryUsage.rss()); }, 5);
    await client.images.upload({ file: bytes(800) });
    clearInterval(watch);
    console.log(most - before);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", "--input-type=module", "-e", program]);
  await new Promise((done) => sink.close(done));
  expect(received).toBeGreaterThan(816 * 65536);
  expect(Number(stdout)).toBeLessThan(32 * 1024 * 1024);
});
