// A collector of OpenTelemetry on a real socket: it receives spans by OTLP over HTTP in protobuf, as a collector does,
// and keeps them.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

export type CollectedSpan = {
  traceId: string;
  spanId: string;
  parentId: string;
  name: string;
  /** As in OTLP: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  startMs: number;
  endMs: number;
  attributes: Record<string, string | number | boolean>;
  /** Attributes of the process that recorded it. */
  resource: Record<string, string | number | boolean>;
};

export type TraceCollector = { url: string; spans: CollectedSpan[]; headers: string[]; close(): Promise<void> };

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const headers: string[] = [];
  const server: Server = createServer(async (request, response) => {
    const body = await readBody(request);
    headers.push(String(request.headers["x-tenant"] ?? ""));
    if (request.url === "/v1/traces") spans.push(...decodeSpans(body));
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  return request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
}

/** Fields of a message by their number: numbers, or bytes of texts and inner messages. */
type Fields = Map<number, (bigint | Buffer)[]>;

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 };

function readFields(message: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const readVarint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => {
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = Number(readVarint());
    const wire = tag & 7;
    const value =
      wire === WIRE.varint
        ? readVarint()
        : wire === WIRE.fixed64
          ? take(8).readBigUInt64LE()
          : wire === WIRE.fixed32
            ? BigInt(take(4).readUInt32LE())
            : take(Number(readVarint()));
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

const messages = (fields: Fields, number: number) =>
  (fields.get(number) ?? []).map((each) => readFields(each as Buffer));
const bytes = (fields: Fields, number: number) => (fields.get(number)?.[0] ?? Buffer.alloc(0)) as Buffer;
/** Divides before the conversion: nanoseconds since 1970 have more digits than a number. */
const milliseconds = (fields: Fields, number: number) =>
  Number(((fields.get(number)?.[0] ?? 0n) as bigint) / 1000n) / 1000;

/** Key and value: texts, booleans, integers and doubles. */
function readAttributes(fields: Fields, number: number): CollectedSpan["attributes"] {
  return Object.fromEntries(
    messages(fields, number).map((pair) => {
      const value = messages(pair, 2)[0]!;
      const text = value.get(1)?.[0] as Buffer | undefined;
      const integer = (value.get(3) ?? value.get(2))?.[0] as bigint | undefined;
      return [bytes(pair, 1).toString(), text === undefined ? Number(integer ?? 0n) : text.toString()];
    }),
  );
}

function decodeSpans(request: Buffer): CollectedSpan[] {
  return messages(readFields(request), 1).flatMap((resourceSpans) => {
    const resource = messages(resourceSpans, 1).map((each) => readAttributes(each, 1))[0] ?? {};
    return messages(resourceSpans, 2).flatMap((scopeSpans) =>
      messages(scopeSpans, 2).map((span) => ({
        traceId: bytes(span, 1).toString("hex"),
        spanId: bytes(span, 2).toString("hex"),
        parentId: bytes(span, 4).toString("hex"),
        name: bytes(span, 5).toString(),
        kind: Number((span.get(6)?.[0] ?? 0n) as bigint),
        startMs: milliseconds(span, 7),
        endMs: milliseconds(span, 8),
        attributes: readAttributes(span, 9),
        resource,
      })),
    );
  });
}
