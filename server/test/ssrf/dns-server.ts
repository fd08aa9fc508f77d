// A DNS server on a real socket whose responses a test defines: it can do whatever an attacker's DNS server can.
import { createSocket, type RemoteInfo } from "node:dgram";
import { isIP } from "node:net";

export type DnsAnswer = {
  addresses?: string[];
  /** The name is another's, which has the addresses. */
  alias?: string;
  failure?: "no such name" | "server failed";
  delayMs?: number;
};
/** `time` counts from 1: a name may resolve differently each time, and be slow for one record type only. */
export type DnsRecords = Record<string, DnsAnswer | ((time: number, family: 4 | 6) => DnsAnswer)>;

export type DnsServer = {
  /** For the settings of the process that resolves names here. */
  server: string;
  /** How often the name was resolved, counted by A queries, as each lookup sends A and AAAA. */
  queryCount(name: string): number;
  total(): number;
  close(): void;
};

const FAILURES = { "no such name": 3, "server failed": 2 };
const TYPES = { A: 1, CNAME: 5, AAAA: 28 };
const FIRST_NAME = Buffer.from([0xc0, 0x0c]);

export async function startDnsServer(names: DnsRecords): Promise<DnsServer> {
  const counts = new Map<string, number>();
  const times = new Map<string, number>();
  const socket = createSocket("udp4");
  const pending = new Set<NodeJS.Timeout>();
  const answerTo = (query: Buffer, from: RemoteInfo) => {
    const { name, type, end } = readQuestion(query);
    counts.set(`${name} ${type}`, (counts.get(`${name} ${type}`) ?? 0) + 1);
    // Both queries of one lookup get the same response, whichever comes first.
    times.set(name, Math.max(counts.get(`${name} ${TYPES.A}`) ?? 0, counts.get(`${name} ${TYPES.AAAA}`) ?? 0));
    const known = names[name] ?? { failure: "no such name" as const };
    const response = typeof known === "function" ? known(times.get(name)!, type === TYPES.A ? 4 : 6) : known;
    const message = messageOf(
      query,
      end,
      recordsFor(response, type),
      response.failure ? FAILURES[response.failure] : 0,
    );
    const timer = setTimeout(() => {
      pending.delete(timer);
      socket.send(message, from.port, from.address, () => {});
    }, response.delayMs ?? 0).unref();
    pending.add(timer);
  };
  socket.on("message", answerTo);
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done));
  return {
    server: `127.0.0.1:${socket.address().port}`,
    queryCount: (name) => counts.get(`${name} ${TYPES.A}`) ?? 0,
    total: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    close: () => {
      for (const timer of pending) clearTimeout(timer);
      socket.close();
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

type DnsRecord = { name: Buffer; type: number; data: Buffer };

function recordsFor({ addresses = [], alias }: DnsAnswer, type: number): DnsRecord[] {
  const family = type === TYPES.A ? 4 : type === TYPES.AAAA ? 6 : 0;
  const owner = alias ? encodeName(alias) : FIRST_NAME;
  const own = addresses
    .filter((address) => isIP(address) === family)
    .map((address) => ({ name: owner, type, data: family === 4 ? ipv4(address) : ipv6(address) }));
  return alias ? [{ name: FIRST_NAME, type: TYPES.CNAME, data: encodeName(alias) }, ...own] : own;
}

function messageOf(query: Buffer, end: number, records: DnsRecord[], failure: number): Buffer {
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | failure, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  const encoded = records.map(({ name, type, data }) => {
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(type, 0);
    fixed.writeUInt16BE(1, 2);
    // A TTL of zero: the next lookup queries again.
    fixed.writeUInt32BE(0, 4);
    fixed.writeUInt16BE(data.length, 8);
    return Buffer.concat([name, fixed, data]);
  });
  return Buffer.concat([head, query.subarray(12, end), ...encoded]);
}

const encodeName = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

const ipv4 = (address: string): Buffer => Buffer.from(address.split(".").map(Number));

function ipv6(address: string): Buffer {
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [left = "", right] = plain.split("::");
  const content = (text = "") => text.split(":").filter(Boolean);
  const gap = right === undefined ? [] : Array(8 - content(left).length - content(right).length).fill("0");
  const bytes = Buffer.alloc(16);
  for (const [index, word] of [...content(left), ...gap, ...content(right)].entries()) {
    bytes.writeUInt16BE(Number.parseInt(word, 16), index * 2);
  }
  return bytes;
}
