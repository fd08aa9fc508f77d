import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../runtime/system-clock.ts";
import { enforceMinimumDownloadRate } from "./minimum-download-rate.ts";

const RATE = { windowMs: 600, minBytesPerSecond: 100_000, checkIntervalMs: 100 };
let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Serves as many bytes as asked for, and says whether the response was completely sent. */
async function serveBytes(size: number, silenceMs = 0): Promise<{ port: number; outcome: Promise<string> }> {
  const { promise: outcome, resolve } = Promise.withResolvers<string>();
  server = createServer((_, response) => {
    response.on("close", () => resolve(response.writableFinished ? "complete" : "cut"));
    setTimeout(() => response.end(Buffer.alloc(size)), silenceMs);
  });
  enforceMinimumDownloadRate(server, systemClock, RATE);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { port: (server.address() as AddressInfo).port, outcome };
}

it("disconnects a client that does not read", async () => {
  const { port, outcome } = await serveBytes(64 * 1024 * 1024);
  const client = connect(port, "127.0.0.1", () => client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n"));
  client.on("error", () => {});
  client.pause();
  expect(await outcome).toBe("cut");
});

it("lets a client finish that reads fast enough", async () => {
  const { port, outcome } = await serveBytes(8 * 1024 * 1024);
  const body = await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
  expect(body.byteLength).toBe(8 * 1024 * 1024);
  expect(await outcome).toBe("complete");
});

it("does not count the time in which the server has nothing to send", async () => {
  const { port, outcome } = await serveBytes(1024, 1500);
  expect((await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer()).byteLength).toBe(1024);
  expect(await outcome).toBe("complete");
});
