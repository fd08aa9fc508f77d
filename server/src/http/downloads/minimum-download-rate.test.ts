import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/support/manual-clock.ts";
import { enforceMinimumDownloadRate } from "./minimum-download-rate.ts";

const RATE = { windowMs: 600, minBytesPerSecond: 100_000, checkIntervalMs: 100 };
/** One write. The kernel takes it in steps of up to some megabytes. */
const LARGE = 64 * 1024 * 1024;
const STEP = 4 * 1024 * 1024;
let server: Server;
let clock: ManualClock;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

type Served = {
  url: string;
  /** When the request has arrived. */
  response: Promise<ServerResponse>;
  /** Whether the response was completely sent. */
  outcome: Promise<string>;
};

/** A server whose time only the test moves. It sends nothing by itself. */
async function serve(): Promise<Served> {
  const [response, outcome] = [Promise.withResolvers<ServerResponse>(), Promise.withResolvers<string>()];
  clock = createManualClock();
  server = createServer((_, outgoing) => {
    outgoing.on("close", () => outcome.resolve(outgoing.writableFinished ? "complete" : "cut"));
    response.resolve(outgoing);
  });
  enforceMinimumDownloadRate(server, clock, RATE);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, response: response.promise, outcome: outcome.promise };
}

it("disconnects a client that does not read", async () => {
  const { url, response, outcome } = await serve();
  const client = connect(Number(new URL(url).port), "127.0.0.1", () =>
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n"),
  );
  client.on("error", () => {});
  client.pause();
  const outgoing = await response;
  outgoing.end(Buffer.alloc(LARGE));
  await expect.poll(() => outgoing.socket?.writableLength).toBeGreaterThan(0);
  await clock.advance(2 * RATE.windowMs);
  expect(await outcome).toBe("cut");
});

it("lets a client finish that reads fast enough", async () => {
  const { url, response, outcome } = await serve();
  void response.then((outgoing) => outgoing.end(Buffer.alloc(LARGE)));
  let [read, isDue] = [0, STEP];
  for await (const chunk of (await fetch(url)).body!) {
    read += chunk.length;
    if (read < isDue) continue;
    isDue = read + STEP;
    await clock.advance(RATE.checkIntervalMs);
  }
  expect(read).toBe(LARGE);
  expect(clock.monotonic()).toBeGreaterThan(2 * RATE.windowMs);
  expect(await outcome).toBe("complete");
});

it("does not count the time in which the server has nothing to send", async () => {
  const { url, response, outcome } = await serve();
  const reading = fetch(url).then((reply) => reply.arrayBuffer());
  const outgoing = await response;
  await clock.advance(3 * RATE.windowMs);
  outgoing.end(Buffer.alloc(1024));
  expect((await reading).byteLength).toBe(1024);
  expect(await outcome).toBe("complete");
});
