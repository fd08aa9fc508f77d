// HTTP servers that play third parties. They log every request and stop after the test.
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach } from "vitest";

export type ExternalServers = {
  /** Answers the origin. */
  serve(listener: RequestListener): Promise<string>;
  /** The server that was started last refuses connections. */
  stopLast(): Promise<void>;
  requestedPaths: string[];
  connections(): number;
};

export function useExternalServers(): ExternalServers {
  const servers: Server[] = [];
  const input: string[] = [];
  let connections = 0;
  beforeEach(() => {
    input.splice(0);
    connections = 0;
  });
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });
  return {
    requestedPaths: input,
    connections: () => connections,
    async serve(listener) {
      const server = createServer((request, response) => {
        input.push(request.url ?? "");
        listener(request, response);
      });
      server.on("connection", () => {
        connections += 1;
      });
      servers.push(server);
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    async stopLast() {
      const server = servers.pop();
      await new Promise((done) => server?.close(done));
    },
  };
}
