import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/support/manual-clock.ts";
import type { HttpBindings } from "../read-request.ts";
import { drainRequestBody } from "./drain-request.ts";

/** Refuses every request before it reads its body, as a server does without a valid key. */
function startServer(clock: ManualClock): Promise<Server> {
  const app = new Hono<HttpBindings>();
  app.use(async (context, next) => {
    await next();
    await drainRequestBody(context.env.incoming, clock);
  });
  app.all("*", (context) => context.text(context.req.path, 401));
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server;
  return once(server, "listening").then(() => server);
}

it("a refused request whose body is two seconds late is answered, and its connection serves the next", async () => {
  const clock = createManualClock();
  const server = await startServer(clock);
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let received = "";
  socket.setEncoding("utf8").on("data", (text: string) => (received += text));
  socket.write("POST /first HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n");
  await clock.waitForTimer(5000);
  await clock.advance(2000);
  socket.write("bodyGET /second HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  await once(socket, "close");
  expect(received.match(/HTTP\/1\.1 401|\/first|\/second/g)).toEqual([
    ...["HTTP/1.1 401", "/first"],
    ...["HTTP/1.1 401", "/second"],
  ]);
  expect(clock.timers()).toEqual([]);
  server.close();
});
