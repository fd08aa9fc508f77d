import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { SERVER_TIMEOUTS } from "./minimum-upload-rate.ts";

it("an idle connection stays open longer than a reverse proxy keeps it", async () => {
  const server = createServer(SERVER_TIMEOUTS, (_, outgoing) => outgoing.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [, seconds] = /timeout=(\d+)/.exec(response.headers.get("keep-alive") ?? "") ?? [];
  expect(Number(seconds)).toBeGreaterThan(120);
  server.closeAllConnections();
  server.close();
});
