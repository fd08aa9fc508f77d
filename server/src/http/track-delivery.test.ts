import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import type { Log } from "../observe/log.ts";
import { trackDelivery } from "./track-delivery.ts";

const log = { warn() {} } as unknown as Log;

/** Sends one request and returns what was reported. `isGone`: the client closes the connection before the response. */
async function deliver({ isGone }: { isGone: boolean }): Promise<string[]> {
  const outcomes: string[] = [];
  const reported = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = createServer((_, outgoing) => {
    const end = async (outcome: string) => {
      outcomes.push(outcome);
      reported.resolve();
    };
    trackDelivery(outgoing, { idempotencyKey: "key", isJoined: false, end }, log);
    arrived.resolve(outgoing);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const client = new AbortController();
  const { port } = server.address() as AddressInfo;
  const response = fetch(`http://127.0.0.1:${port}`, { signal: client.signal }).catch(() => undefined);
  const outgoing = await arrived.promise;
  if (isGone) client.abort();
  else outgoing.end("complete");
  await response;
  await reported.promise;
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  return outcomes;
}

it("a response that was written completely is answered, once", async () => {
  expect(await deliver({ isGone: false })).toEqual(["answered"]);
});

it("a response whose connection closed before is lost, once", async () => {
  expect(await deliver({ isGone: true })).toEqual(["lost"]);
});
