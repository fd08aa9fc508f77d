// A TCP proxy that loses the first response to every idempotency key: the server has performed the request and the
// client does not know.

import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

export type ResettingProxy = { url: string; resetCount(): number; close(): void };

export async function startResettingProxy(targetPort: number): Promise<ResettingProxy> {
  const seen = new Set<string>();
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(targetPort, "127.0.0.1");
    let isLost = false;
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    }
    client.on("data", (data) => {
      const key = /^idempotency-key: (.+?)\r?$/im.exec(data.toString("latin1"))?.[1];
      if (key && !seen.has(key)) {
        seen.add(key);
        isLost = true;
      }
      target.write(data);
    });
    target.on("data", (data) => {
      if (isLost) client.resetAndDestroy();
      else client.write(data);
    });
    client.on("close", () => target.destroy());
    target.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    resetCount: () => seen.size,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
