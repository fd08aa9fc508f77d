// The fetcher as a process of its own: what it must not hold, whom it serves, how bytes and faults come through, and
// that neither side believes the other.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createFetcherClient } from "../../src/outbound/fetcher-client.ts";
import type { UrlFetcher } from "../../src/outbound/url-fetcher.ts";
import { readFetcherConfig } from "../../src/settings/config.ts";
import {
  FETCHER_TEST_TOKEN,
  type FetcherProcess,
  startFetcherOrThrow,
  startFetcherProcess,
} from "./fetcher-process.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-fetcher-"));
const limits = { maxBytes: 100_000, timeoutSeconds: 5 };
const servers: Server[] = [];
let running: FetcherProcess;
let fetcher: UrlFetcher;

const serve = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const through = (url: string, token = FETCHER_TEST_TOKEN) => createFetcherClient({ url, token, checkUrl: () => {} });
const fetchFrom = (origin: string, options = {}) =>
  fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin], ...options });

beforeAll(async () => {
  running = await startFetcherOrThrow();
  fetcher = through(running.url);
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
afterAll(async () => {
  await running.stop();
  rmSync(folder, { recursive: true });
});

describe("its environment", () => {
  test("contains only the fetch settings, and no longer the token", () => {
    const names = readFileSync(`/proc/${running.child.pid}/environ`, "utf8")
      .split("\0")
      .filter(Boolean)
      .map((line) => line.split("=")[0]);
    expect(names.sort()).toEqual(["FETCHER_LISTEN", "PATH"]);
  });

  test("with another credential prevents the start", async () => {
    const env = { DATABASE_URL: "postgres://somewhere", OPENAI_API_KEY: "secret" };
    const started = await startFetcherProcess(env);
    expect(started).toMatchObject({ code: 1, output: expect.stringContaining("DATABASE_URL is set") });
    expect(started).toMatchObject({ output: expect.stringContaining("OPENAI_API_KEY is set") });
  });

  test.each([
    ...["DATABASE_URL", "GESSO_SECRET", "GESSO_API_KEY", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "SANDBOX_KEY"],
    ...["OPENAI_API_KEY", "GEMINI_API_KEY", "FAL_KEY", "REPLICATE_API_TOKEN", "BFL_API_KEY", "COMFYUI_TOKEN"],
  ])("does not contain %s", (name) => {
    const env = { FETCHER_TOKEN: FETCHER_TEST_TOKEN, [name]: "something" };
    expect(() => readFetcherConfig(env)).toThrow(`${name} is set: the fetcher must not have this credential`);
  });

  test("without a token or with an invalid setting prevents the start", async () => {
    const bare = await startFetcherProcess({ FETCHER_TOKEN: "", FETCH_ALLOW_CIDRS: "10.0.0.0/33" });
    expect(bare).toMatchObject({ code: 1, output: expect.stringContaining("FETCHER_TOKEN is not set") });
    expect(bare).toMatchObject({ output: expect.stringContaining("10.0.0.0/33 is not an IP range") });
  });
});

describe("a caller of the fetcher", () => {
  const order = (url: string) => JSON.stringify({ url, max_bytes: 1000, timeout_seconds: 5, trusted_origins: [url] });
  const ask = (init: RequestInit, path = "/fetch") => fetch(`${running.url}${path}`, { method: "POST", ...init });

  test("must show the token", async () => {
    let input = 0;
    const origin = await serve((_, response) => {
      input += 1;
      response.end("pixels");
    });
    for (const authorization of [
      "",
      "Bearer",
      `Bearer ${FETCHER_TEST_TOKEN}x`,
      FETCHER_TEST_TOKEN,
      `Bearer ${FETCHER_TEST_TOKEN.slice(1)}`,
    ]) {
      expect((await ask({ headers: { authorization }, body: order(origin) })).status).toBe(401);
    }
    await expect(through(running.url, "x".repeat(40)).fetchBytes(origin, limits)).rejects.toMatchObject({
      code: "dependency_unavailable",
      details: { dependency: "fetcher" },
    });
    expect(input).toBe(0);
  });

  test("must send a valid request within bounds", async () => {
    const headers = { authorization: `Bearer ${FETCHER_TEST_TOKEN}` };
    const whole = JSON.parse(order("http://127.0.0.1:1"));
    expect((await ask({ headers, body: "{}" }, "/other")).status).toBe(404);
    for (const body of [
      "",
      "{}",
      "[]",
      "{",
      JSON.stringify({ ...whole, max_bytes: 1e12 }),
      JSON.stringify({ ...whole, timeout_seconds: 1e6 }),
      JSON.stringify({ ...whole, socket_path: "/var/run/docker.sock" }),
      JSON.stringify({ ...whole, url: "x".repeat(70_000) }),
    ]) {
      expect((await ask({ headers, body })).status).toBe(400);
    }
  });

  test("needs no token for the health check only", async () => {
    expect((await fetch(`${running.url}/livez`)).status).toBe(200);
  });
});

describe("a fetch", () => {
  test("returns bytes and type, and passes the provider's error body on", async () => {
    let reported: string | undefined;
    const origin = await serve((request, response) => {
      reported = request.headers.authorization;
      response.setHeader("content-type", "image/webp").end(Buffer.alloc(50_000, 7));
    });
    const { bytes, media_type } = await fetchFrom(origin, { headers: { authorization: "Bearer of a provider" } });
    expect(Buffer.from(bytes).equals(Buffer.alloc(50_000, 7))).toBe(true);
    expect([media_type, reported]).toEqual(["image/webp", "Bearer of a provider"]);
  });

  test("is streamed, not buffered", async () => {
    let finish = () => {};
    const origin = await serve((_, response) => {
      response.write("first");
      finish = () => response.end("second");
    });
    const body = JSON.stringify({ url: origin, max_bytes: 1000, timeout_seconds: 5, trusted_origins: [origin] });
    const headers = { authorization: `Bearer ${FETCHER_TEST_TOKEN}` };
    const reader = (await fetch(`${running.url}/fetch`, { method: "POST", headers, body })).body!.getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("first");
    finish();
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("second");
  });

  test("of a large file is handed on as it arrives, with the size that the server announced", async () => {
    const size = 3 * 1024 * 1024;
    let finish = () => {};
    const origin = await serve((_, response) => {
      response.writeHead(200, { "content-length": String(size) }).write("first");
      finish = () => response.end(Buffer.alloc(size - 5));
    });
    const options = { maxBytes: size, timeoutSeconds: 3600, trustedOrigins: [origin] };
    const { size_bytes, bytes } = await fetcher.open(origin, options);
    expect([size_bytes, Buffer.from((await bytes.next()).value!).toString()]).toEqual([size, "first"]);
    finish();
    let length = 5;
    for await (const chunk of bytes) length += chunk.byteLength;
    expect(length).toBe(size);
  });

  test("of a file that the caller leaves closes the connection", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const origin = await serve((_, response) => void response.on("close", resolve).write("first"));
    const { bytes } = await fetcher.open(origin, { ...limits, trustedOrigins: [origin] });
    for await (const _ of bytes) break;
    await closed;
  });

  test("is aborted when the caller disconnects", async () => {
    let isGivenUp = false;
    const origin = await serve((_, response) => {
      response.write("first");
      response.on("close", () => {
        isGivenUp = true;
      });
    });
    const leaving = new AbortController();
    const body = JSON.stringify({ url: origin, max_bytes: 1000, timeout_seconds: 60, trusted_origins: [origin] });
    const headers = { authorization: `Bearer ${FETCHER_TEST_TOKEN}` };
    const reply = await fetch(`${running.url}/fetch`, { method: "POST", headers, body, signal: leaving.signal });
    expect(reply.status).toBe(200);
    leaving.abort();
    for (let tries = 0; tries < 50 && !isGivenUp; tries++) await sleep(20);
    expect(isGivenUp).toBe(true);
  });

  test("ends with the fault that it has, before the first byte or in the middle", async () => {
    const cases: [RequestListener, object, object?][] = [
      [(_, response) => response.writeHead(404).end(), { reason: "status", status: 404 }],
      [(_, response) => response.end(), { reason: "empty" }],
      [(_, response) => void response.write("half"), { reason: "timeout" }, { timeoutSeconds: 0.3 }],
      [
        (_, response) => {
          response.writeHead(200, { "content-length": "1000" }).write("half");
          setTimeout(() => response.destroy(), 50);
        },
        { reason: "connection" },
      ],
    ];
    for (const [listener, details, options] of cases) {
      const fetched = fetchFrom(await serve(listener), options);
      await expect(fetched).rejects.toMatchObject({ code: "source_fetch_failed", details });
    }
    const flood = await serve((_, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(40_000)), 10);
      response.on("close", () => clearInterval(timer));
    });
    await expect(fetchFrom(flood)).rejects.toMatchObject({
      code: "source_too_large",
      details: { max_bytes: 100_000 },
    });
    await expect(fetcher.fetchBytes("http://127.0.0.1/", limits)).rejects.toMatchObject({
      code: "url_not_allowed",
      details: { reason: "address" },
    });
  });

  test("works through a Unix socket, also if a dead process left one behind", async () => {
    const socket = join(folder, "fetcher.sock");
    const origin = await serve((_, response) => response.end("pixels"));
    for (let round = 0; round < 2; round++) {
      const near = await startFetcherOrThrow({}, socket);
      const { bytes } = await through(near.url).fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
      expect(Buffer.from(bytes).toString()).toBe("pixels");
      await near.stop();
    }
  });
});

describe("a faulty fetcher", () => {
  const verdictOf = async (listener: RequestListener, timeoutSeconds = 5) =>
    through(await serve(listener))
      .fetchBytes("https://example.com/", { maxBytes: 1_000, timeoutSeconds })
      .then(
        () => "complete",
        (thrown) => [thrown.code, thrown.details],
      );
  const away = ["dependency_unavailable", { dependency: "fetcher" }];
  const reported = (verdict: string, body = "pixels") =>
    verdictOf((_, response) => {
      response.writeHead(200, { trailer: "x-outcome" });
      response.write(body);
      response.addTrailers({ "x-outcome": verdict });
      response.end();
    });

  test("is trusted only if it reports that the bytes are complete", async () => {
    expect(await reported("complete")).toBe("complete");
    expect(await verdictOf((_, response) => response.end("pixels"))).toEqual(away);
    expect(await reported("completely")).toEqual(away);
    expect(await reported("{}")).toEqual(away);
  });

  test("can return the faults of fetching with public messages, and no others", async () => {
    const fault = { code: "source_fetch_failed", details: { reason: "status", status: 500, secret: "x" } };
    expect(await reported(JSON.stringify(fault))).toEqual(["source_fetch_failed", { reason: "status", status: 500 }]);
    expect(await reported(JSON.stringify({ ...fault, code: "run_deleted" }))).toEqual(away);
    const early = verdictOf((_, response) => response.writeHead(422).end(JSON.stringify(fault)));
    expect(await early).toEqual(["source_fetch_failed", { reason: "status", status: 500 }]);
    expect(await verdictOf((_, response) => response.writeHead(422).end("sorry"))).toEqual(away);
  });

  test("cannot return more bytes than requested", async () => {
    expect(await reported("complete", "x".repeat(1_000))).toBe("complete");
    expect(await reported("complete", "x".repeat(1_001))).toEqual(["source_too_large", { max_bytes: 1_000 }]);
  });

  test("does not block other requests", async () => {
    expect(await verdictOf(() => {}, 0.2)).toEqual(["source_fetch_failed", { reason: "timeout" }]);
    expect(await verdictOf((_, response) => void response.write("x"), 0.2)).toEqual([
      "source_fetch_failed",
      { reason: "timeout" },
    ]);
  });

  test("or an unreachable one is reported as an unavailable dependency", async () => {
    expect(await verdictOf((_, response) => response.writeHead(503).end())).toEqual(away);
    expect(await verdictOf((_, response) => void response.destroy())).toEqual(away);
    const dead = await startFetcherOrThrow();
    await dead.stop();
    await expect(through(dead.url).fetchBytes("https://example.com/", limits)).rejects.toMatchObject({
      code: "dependency_unavailable",
    });
  });
});

test("requests beyond its capacity are refused, and the others are not disturbed", async () => {
  const waiting: (() => void)[] = [];
  const origin = await serve((_, response) => {
    waiting.push(() => response.end("pixels"));
  });
  let sentAway = 0;
  const requests = Array.from({ length: 300 }, () =>
    fetchFrom(origin, { timeoutSeconds: 40 }).then(
      () => "done",
      ({ code }) => {
        sentAway += 1;
        return code;
      },
    ),
  );
  // No request is served before all excess requests are rejected.
  for (let tries = 0; tries < 1_000 && sentAway < 44; tries++) await sleep(20);
  const release = setInterval(() => {
    for (const end of waiting.splice(0)) end();
  }, 20);
  const received = await Promise.all(requests);
  clearInterval(release);
  expect(received.filter((each) => each === "done")).toHaveLength(256);
  expect(received.filter((each) => each === "dependency_unavailable")).toHaveLength(44);
});
