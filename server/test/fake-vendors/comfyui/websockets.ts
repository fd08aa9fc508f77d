// The websockets of a server: one for each client ID, the newest wins, and messages about a job go only to its client.
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

export function createWebSockets(isAllowed: (authorization: string | undefined) => boolean) {
  const sockets = new Map<string, WebSocket>();
  const webSockets = new WebSocketServer({ noServer: true });
  const received = new WeakSet<Server>();

  const onConnection = (socket: WebSocket, request: IncomingMessage) => {
    const sid = new URL(request.url!, "http://here").searchParams.get("clientId") || `${Math.random()}`;
    sockets.set(sid, socket);
    // As ComfyUI does: an older connection that closes later takes the newer one of its client ID with it. The newer
    // one stays open and gets nothing any more.
    socket.on("close", () => sockets.delete(sid));
    const status = { exec_info: { queue_remaining: 0 } };
    socket.send(JSON.stringify({ type: "status", data: { status, sid } }));
  };

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const isWebSocketPath = /^(\/api)?\/ws(\?|$)/.test(request.url ?? "") && isAllowed(request.headers.authorization);
    if (isWebSocketPath) return webSockets.handleUpgrade(request, socket, head, onConnection);
    socket.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
  };

  return {
    /** The server behind a request; it is heard from then on. */
    attach: ({ socket }: IncomingMessage) => {
      const { server } = socket as unknown as { server: Server };
      if (received.has(server)) return;
      received.add(server);
      server.on("upgrade", upgrade);
    },
    tell: (type: string, data: Record<string, unknown>, clientId?: string) => {
      const message = JSON.stringify({ type, data });
      for (const [sid, socket] of sockets) if (clientId === undefined || clientId === sid) socket.send(message);
    },
    /** An image of work under way, as bytes. */
    preview: (bytes: Uint8Array) => {
      for (const socket of sockets.values()) socket.send(Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 2]), bytes]));
    },
    cut: () => {
      for (const socket of sockets.values()) socket.terminate();
      sockets.clear();
    },
    count: () => sockets.size,
  };
}
