import type { RequestListener } from "node:http";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { useExternalServers } from "../../test/ssrf/external-servers.ts";
import { createManualClock } from "../../test/support/manual-clock.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { DEFAULT_MINIMUM_DOWNLOAD_RATE, openResponseBody, type UndiciResponse } from "./response-body.ts";
import { createUrlFetcher, DEFAULT_FETCH_TIMEOUTS } from "./url-fetcher.ts";

const limits = { maxBytes: 100_000, timeoutSeconds: 5 };
const { serve } = useExternalServers();
/** How often a body with 100 ms of grace is looked at. */
const LOOK_MS = 10;
const clock = createManualClock();
const fetcher = createUrlFetcher({ clock });
afterAll(() => fetcher.close());

describe("source_too_large", () => {
  const refusal = { code: "source_too_large", details: { max_bytes: 100_000 } };

  test("by the declared length, before the body is read", async () => {
    const origin = await serve((_, response) => response.writeHead(200, { "content-length": "100001" }).flushHeaders());
    await expect(fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] })).rejects.toMatchObject(refusal);
  });

  test("by the received bytes, cut soon after the limit", async () => {
    let sent = 0;
    const origin = await serve((_, response) => {
      const more = () => {
        while (!response.destroyed && sent < 50_000_000 && response.write(Buffer.alloc(16_384))) sent += 16_384;
      };
      response.on("drain", more);
      more();
    });
    await expect(fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] })).rejects.toMatchObject(refusal);
    expect(sent).toBeLessThan(25_000_000);
  });

  test("is not thrown for a body exactly at the limit", async () => {
    const origin = await serve((_, response) => response.end(Buffer.alloc(100_000)));
    expect((await fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] })).bytes.byteLength).toBe(100_000);
  });
});

describe("source_fetch_failed", () => {
  const fails = async (origin: string, details: object, timeoutSeconds = 5) => {
    const fetched = fetcher.fetchBytes(origin, { ...limits, timeoutSeconds, trustedOrigins: [origin] });
    await expect(fetched).rejects.toMatchObject({ code: "source_fetch_failed", details });
  };

  test.each([204, 206, 304, 404, 500])("for status %i", async (status) => {
    await fails(await serve((_, response) => response.writeHead(status).end()), { reason: "status", status });
  });

  test("for a compressed response, because plain bytes were requested", async () => {
    const packed = gzipSync(Buffer.alloc(1_000));
    const origin = await serve((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(packed));
    await fails(origin, { reason: "encoding" });
  });

  test("for a body below the minimum transfer rate, also without any bytes", async () => {
    const hasty = createUrlFetcher({ clock, pace: { graceMs: 100, bytesPerSecond: 1_000 } });
    for (const bytes of [0, 99]) {
      const origin = await serve((_, response) => {
        response.flushHeaders();
        response.write(Buffer.alloc(bytes));
      });
      const fetched = hasty.fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
      fetched.catch(() => {});
      await clock.waitForTimer(LOOK_MS);
      await clock.advance(100);
      await expect(fetched).rejects.toMatchObject({ code: "source_fetch_failed", details: { reason: "too_slow" } });
    }
    let end = () => {};
    const steady = await serve((_, response) => {
      response.write(Buffer.alloc(500));
      end = () => void response.end("end");
    });
    const { bytes } = await hasty.open(steady, { ...limits, trustedOrigins: [steady] });
    let size = 0;
    for await (const chunk of bytes) {
      size += chunk.byteLength;
      if (size !== 500) continue;
      await clock.advance(500);
      end();
    }
    expect(size).toBe(503);
    await hasty.close();
  });

  test("for a slow body, but not within the initial grace period", async () => {
    const patient = createUrlFetcher({ clock, pace: { graceMs: 100, bytesPerSecond: 1_000_000 } });
    let end = () => {};
    const origin = await serve((_, response) => {
      response.flushHeaders();
      end = () => void response.end("pixels");
    });
    const fetched = patient.fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
    await clock.waitForTimer(LOOK_MS);
    await clock.advance(99);
    end();
    expect((await fetched).bytes.byteLength).toBe(6);
    await patient.close();
  });

  test("for an HTML page or an empty body", async () => {
    for (const type of ["text/html; charset=utf-8", "application/xhtml+xml"]) {
      const origin = await serve((_, response) => response.setHeader("content-type", type).end("<h1>Log in</h1>"));
      await fails(origin, { reason: "page" });
    }
    await fails(await serve((_, response) => response.end()), { reason: "empty" });
  });
});

describe("the rest of a response", () => {
  /** Begins an answer that never ends, and tells when the other side hung up. */
  const endless = (status: number, headers: Record<string, string> = {}) => {
    const hungUp = Promise.withResolvers<void>();
    const listener: RequestListener = (_, response) => {
      response.writeHead(status, headers).write("a beginning");
      response.on("close", () => hungUp.resolve());
    };
    return { listener, hungUp: hungUp.promise };
  };

  test.each([
    [404, {}],
    [200, { "content-encoding": "gzip" }],
    [200, { "content-type": "text/html" }],
    [200, { "content-length": "100001" }],
  ])("is not read if it is useless: %i %j", async (status, headers) => {
    const { listener, hungUp } = endless(status, headers as unknown as Record<string, string>);
    const origin = await serve(listener);
    await expect(fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] })).rejects.toThrow();
    await hungUp;
  });

  test("is not read if the caller needs no more of it", async () => {
    const { listener, hungUp } = endless(200);
    const origin = await serve(listener);
    const { bytes } = await fetcher.open(origin, { ...limits, trustedOrigins: [origin] });
    for await (const _chunk of bytes) break;
    await hungUp;
  });

  test("is aborted when the caller aborts", async () => {
    const { listener, hungUp } = endless(200);
    const origin = await serve(listener);
    const leaving = new AbortController();
    const { bytes } = await fetcher.open(origin, { ...limits, trustedOrigins: [origin], signal: leaving.signal });
    leaving.abort();
    const rest = async () => {
      for await (const _chunk of bytes);
    };
    await expect(rest()).rejects.toMatchObject({ code: "source_fetch_failed", details: { reason: "connection" } });
    await hungUp;
  });

  test("leaves no timer running", async () => {
    const origin = await serve((_, response) => response.end("pixels"));
    for (let round = 0; round < 5; round++) await fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
    expect(clock.timers()).toEqual([]);
  });
});

test.each([
  ["image/PNG; charset=utf-8", "image/png"],
  ["image/webp ;q=1", "image/webp"],
  ["", "application/octet-stream"],
  [undefined, "application/octet-stream"],
])("the media type of a response is normalized: %s", async (given, media_type) => {
  const headers = given === undefined ? {} : { "content-type": given };
  const origin = await serve((_, response) => response.writeHead(200, headers).end("pixels"));
  const fetched = await fetcher.fetchBytes(origin, { ...limits, trustedOrigins: [origin] });
  expect(fetched.media_type).toBe(media_type);
});

describe("one response on a connection that others use", () => {
  const answer = (statusCode: number) => {
    const body = Readable.from([Buffer.from("pix"), Buffer.from("els")]);
    return { body, response: { statusCode, headers: {}, body } as unknown as UndiciResponse };
  };

  test("is closed if it is refused", () => {
    const { body, response } = answer(404);
    expect(() =>
      openResponseBody(response, { maxBytes: 100, pace: DEFAULT_MINIMUM_DOWNLOAD_RATE, clock: systemClock }),
    ).toThrow();
    expect(body.destroyed).toBe(true);
  });

  test("is closed if it is too large, and its timer is stopped", async () => {
    const { body, response } = answer(200);
    const clocks = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = clocks();
    const read = async () => {
      for await (const _chunk of openResponseBody(response, {
        maxBytes: 4,
        pace: DEFAULT_MINIMUM_DOWNLOAD_RATE,
        clock: systemClock,
      }).bytes)
        expect(clocks()).toBe(before + 1);
    };
    await expect(read()).rejects.toMatchObject({ code: "source_too_large" });
    expect([body.destroyed, clocks()]).toEqual([true, before]);
  });
});

test("the default bounds", () => {
  expect(DEFAULT_FETCH_TIMEOUTS).toEqual({ connectMs: 5_000, silenceMs: 10_000 });
  expect(DEFAULT_MINIMUM_DOWNLOAD_RATE).toEqual({ graceMs: 5_000, bytesPerSecond: 10_000 });
});
