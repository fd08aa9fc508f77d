// Finds free ports on the loopback interface and reserves them until they are used.
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { waitUntil } from "./readiness-probe.ts";

// Below the ephemeral range (Linux from 32768, macOS from 49152): while a killed component restarts, the system must
// not give its port to an outgoing connection.
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
 * Seconds pass between finding a port and listening on it, and another gesso process may find the same port. A UDP
 * socket on the same number, which nothing else uses, reserves the port until this process exits.
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
 * Returns the preferred port if it is free, otherwise the next free one above it; without a preference, any free port.
 * Waits up to `waitSeconds` for the preferred port, because its previous holder may be shutting down.
 */
export async function freePort(preferred?: number, waitSeconds = 0): Promise<number> {
  if (preferred === undefined) return findRandomPort();
  if (await waitUntil(() => isFree(preferred), waitSeconds)) return preferred;
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
