// A TCP proxy on loopback that misbehaves on request: it refuses, cuts, freezes (keeps sockets open and forwards
// nothing), delays, or swallows what the server answers. Faults reach the product through its real sockets.
import { connect, createServer, type Socket } from "node:net";

export type TcpProxy = {
  port: number;
  /** How many connections were opened so far. */
  connectionCount(): number;
  /** How often a fault of this proxy met something: a connection it closed or refused, data it dropped or delayed. */
  hits(): ProxyHits;
  /** Closes every connection now. New ones pass. */
  cut(): void;
  /** Connections that exist now stay open and carry nothing any more, as if the host had vanished. New ones pass. */
  freeze(): void;
  /** New connections go to this port, as after a failover. */
  retarget(port: number): void;
  /** While set, new connections are closed at once. */
  refuse(isRefusing: boolean): void;
  /** Cuts a connection instead of forwarding the first server data that `matches`, then forwards as before. */
  swallowResponse(matches: (data: Buffer) => boolean): void;
  /**
   * Cuts a connection instead of forwarding the response to the next request that `matches`: the server has performed
   * the request and the client does not know. Undefined: no longer.
   */
  swallowResponseTo(matches: ((data: Buffer) => boolean) | undefined): void;
  /** Closes the connection of each request that `matches`, so many milliseconds after its data was forwarded. */
  cutRequests(matches: (data: Buffer) => boolean, afterMs: number): void;
  /** Holds everything back for this long before it is forwarded. 0: forwards at once. */
  delay(ms: number): void;
  /** Calls `onRequest` with everything clients send, before it is forwarded. */
  onRequest(listener: (data: Buffer) => void): void;
  /** Calls `onResponse` with everything the server sends, before it is forwarded. */
  onResponse(listener: (data: Buffer) => void): void;
  close(): Promise<void>;
};

export type ProxyHits = { cut: number; refused: number; dropped: number; delayed: number; swallowed: number };

type Link = { client: Socket; server: Socket; isFrozen: boolean; isSwallowed: boolean };

/** `targetPort` may be a function: a load balancer that selects the target of each new connection. */
export async function startTcpProxy(targetPort: number | (() => number)): Promise<TcpProxy> {
  let selectTarget = typeof targetPort === "number" ? () => targetPort : targetPort;
  const links = new Set<Link>();
  const listeners: ((data: Buffer) => void)[] = [];
  const responseListeners: ((data: Buffer) => void)[] = [];
  const hits: ProxyHits = { cut: 0, refused: 0, dropped: 0, delayed: 0, swallowed: 0 };
  let opened = 0;
  let isRefusing = false;
  let swallow: ((data: Buffer) => boolean) | undefined;
  let swallowedRequest: ((data: Buffer) => boolean) | undefined;
  let delayMs = 0;
  let cutRequest: { matches(data: Buffer): boolean; afterMs: number } | undefined;

  const end = (link: Link) => {
    link.client.destroy();
    link.server.destroy();
    links.delete(link);
  };
  /** Timers of equal length fire in order, so delayed data stays in order. */
  const forward = (link: Link, to: Socket, data: Buffer) => {
    if (link.isFrozen) return void hits.dropped++;
    if (delayMs === 0) return void to.write(data);
    hits.delayed++;
    setTimeout(() => !link.isFrozen && !to.destroyed && to.write(data), delayMs);
  };
  const server = createServer((client) => {
    opened++;
    client.on("error", () => {});
    if (isRefusing) {
      hits.refused++;
      return void client.destroy();
    }
    const link: Link = { client, server: connect(selectTarget(), "127.0.0.1"), isFrozen: false, isSwallowed: false };
    links.add(link);
    link.server.on("error", () => {});
    client.on("data", (data) => {
      for (const listener of listeners) listener(data);
      if (swallowedRequest?.(data)) {
        swallowedRequest = undefined;
        link.isSwallowed = true;
      }
      forward(link, link.server, data);
      if (cutRequest?.matches(data)) setTimeout(end, cutRequest.afterMs, link);
    });
    link.server.on("data", (data) => {
      for (const listener of responseListeners) listener(data);
      if (link.isSwallowed || swallow?.(data)) {
        if (!link.isSwallowed) swallow = undefined;
        hits.swallowed++;
        return end(link);
      }
      forward(link, client, data);
    });
    // A frozen link keeps its client side open although the server side may go away.
    client.on("close", () => end(link));
    link.server.on("close", () => {
      if (!link.isFrozen) end(link);
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as { port: number };

  return {
    port,
    connectionCount: () => opened,
    hits: () => ({ ...hits }),
    cut: () => {
      hits.cut += links.size;
      [...links].forEach(end);
    },
    freeze: () => {
      for (const link of links) link.isFrozen = true;
    },
    retarget: (to) => {
      selectTarget = () => to;
    },
    refuse: (isOn) => {
      isRefusing = isOn;
    },
    swallowResponse: (matches) => {
      swallow = matches;
    },
    swallowResponseTo: (matches) => {
      swallowedRequest = matches;
    },
    cutRequests: (matches, afterMs) => {
      cutRequest = { matches, afterMs };
    },
    delay: (ms) => {
      delayMs = ms;
    },
    onRequest: (listener) => void listeners.push(listener),
    onResponse: (listener) => void responseListeners.push(listener),
    close: async () => {
      for (const link of links) end(link);
      await new Promise((done) => server.close(done));
    },
  };
}
