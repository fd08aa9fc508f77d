// Runs a complete Gesso with its default settings and reports, as one line of JSON, which names were looked up and how
// many packets left the machine. `egress.test.ts` starts it in a network namespace of its own, whose only way out is
// the interface `egress0`, and whose DNS server is this process.
import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment } from "../support/test-environment.ts";

/** Most duties run every few seconds. */
const IDLE_MS = 6000;
const DNS_PORT = 53;
const NAME_NOT_FOUND = 3;
/** An address for documentation (RFC 5737), which belongs to no host. */
const ELSEWHERE = "198.51.100.7";

/** The column "packets sent" of the interface, as Linux counts it. */
function countSentPackets(): number {
  const [, columns = ""] = /egress0:(.*)/.exec(readFileSync("/proc/net/dev", "utf8")) ?? [];
  return Number(columns.trim().split(/\s+/)[9]);
}

/** The first name of a DNS query: labels after the header of 12 bytes, each with its length before it. */
function readQueryName(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; query[at]; at += query[at]! + 1) labels.push(query.toString("latin1", at + 1, at + 1 + query[at]!));
  return labels.join(".");
}

/** A DNS server that knows no name, and the names that it was asked for. */
async function recordLookups(): Promise<Set<string>> {
  const names = new Set<string>();
  const server = createSocket("udp4");
  server.on("message", (query, { port, address }) => {
    names.add(readQueryName(query));
    const response = Buffer.from(query);
    response.writeUInt16BE(0x8180 | NAME_NOT_FOUND, 2);
    server.send(response, port, address);
  });
  await new Promise<void>((done) => server.bind(DNS_PORT, "127.0.0.1", done));
  return names;
}

async function sendElsewhere(): Promise<void> {
  const socket = createSocket("udp4");
  await new Promise((done) => socket.send("x", DNS_PORT, ELSEWHERE, done));
  socket.close();
}

const names = await recordLookups();
const environment = await startTestEnvironment();
try {
  const caller = createHttpCaller(environment);
  const { body } = await caller.generate({ prompt: "a boat", width: 64, height: 64, sync: true });
  await fetch(`${environment.url}/readyz`);
  await sleep(IDLE_MS);
  const observed = { status: body.status, names: [...names], sentPackets: countSentPackets() };
  // Shows that both recorders work.
  await lookup("telemetry.example").catch(() => undefined);
  await sendElsewhere();
  const control = { isNameSeen: names.has("telemetry.example"), packets: countSentPackets() - observed.sentPackets };
  console.log(JSON.stringify({ ...observed, control }));
} finally {
  await environment.stop();
}
process.exit(0);
