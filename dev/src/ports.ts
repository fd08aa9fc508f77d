// Finds ports on the loopback interface that are free now and that nobody is likely to take before they are used.
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { waitUntil } from "./readiness-probe.ts";

// Below the range from which the system lends ports to outgoing connections (Linux 32768, macOS 49152): a part that is
// killed and started again must find its port free, not lent to some client in between.
const MIN_PORT = 15_000;
const MAX_PORT = 32_000;

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * Between finding a port and listening on it there are seconds, in which another process of ours may find it too. The
 * datagram socket of the same number, which nothing else uses, says that it is promised, until this process ends.
 */
function reservePort(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket({ type: "udp4" });
    socket.once("error", () => socket.close(() => resolve(false)));
    socket.bind({ port, address: "127.0.0.1", exclusive: true }, () => resolve(true));
    socket.unref();
  });
}

/**
 * The preferred port when it is free, else the next free one above it; any free port when none is preferred.
 * `patienceSeconds` waits that long for the preferred one first, for when its last holder is known to be ending.
 */
export async function freePort(preferred?: number, patienceSeconds = 0): Promise<number> {
  if (preferred === undefined) return findRandomPort();
  if (await waitUntil(() => isFree(preferred), patienceSeconds)) return preferred;
  for (let port = preferred + 1; port <= Math.min(preferred + 200, 65_535); port++) {
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port between ${preferred} and ${preferred + 200}.`);
}

async function findRandomPort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(MIN_PORT, MAX_PORT);
    if ((await reservePort(port)) && (await isFree(port))) return port;
  }
  throw new Error(`No free port found between ${MIN_PORT} and ${MAX_PORT}.`);
}
