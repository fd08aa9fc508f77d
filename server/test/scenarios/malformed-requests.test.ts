// Malformed requests, sent byte by byte to a running Gesso: each gets a response or is cut off, none gets a 5xx, and
// other requests are not affected.
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { STORAGE_KEY } from "../../src/db/files/asset-key.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

let environment: TestEnvironment;
let caller: ApiCaller;
let png: Buffer;
/** Where the service may put what it is still reading. */
const folder = mkdtempSync(join(tmpdir(), "gesso-drafts-"));
beforeAll(async () => {
  environment = await startTestEnvironment({ env: { TMPDIR: folder } });
  caller = createHttpCaller(environment);
  png = await sharp({ create: { width: 32, height: 32, channels: 3, background: "teal" } })
    .png()
    .toBuffer();
});
afterAll(async () => {
  await environment?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const MIB = 1024 * 1024;
const boundary = "----hostile";
const TYPE = `multipart/form-data; boundary=${boundary}`;
const part = (name: string, value: string | Buffer, more = "") =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`),
    Buffer.from(value),
    Buffer.from("\r\n"),
  ]);
const file = (name = "file", bytes = png, filename = "a.png") => part(name, bytes, `; filename="${filename}"`);
const formOf = (...parts: Buffer[]) => Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);

const head = (path: string, headers: Record<string, string | number>) => {
  const lines = Object.entries({ host: "gesso", authorization: `Bearer ${environment.key}`, ...headers });
  return `POST /api/v1${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
};

const dial = async (): Promise<Socket> => {
  const { hostname, port } = new URL(environment.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
};

/** The first response on a new connection. */
async function post(
  path: string,
  body: Buffer | string,
  type = TYPE,
): Promise<{ status: number; code?: string; body: any }> {
  const socket = await dial();
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  // A refused body may end in an error of its writer. What counts is the response that arrived before.
  const isClosed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(head(path, { "content-type": type, "content-length": Buffer.byteLength(body), connection: "close" }));
  socket.write(body);
  await isClosed;
  const json = text.slice(text.indexOf("\r\n\r\n") + 4).match(/\{.*\}/s)?.[0] ?? "{}";
  const parsed = JSON.parse(json);
  return { status: Number(text.slice(9, 12)), code: parsed.code, body: parsed };
}

const residentMib = () => {
  const status = readFileSync(`/proc/${environment.pids().api}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
};
const drafts = () => readdirSync(folder).filter((name) => name.startsWith("gesso-form-"));

describe("forms", () => {
  const many = (count: number, make: (n: number) => Buffer) =>
    formOf(...Array.from({ length: count }, (_, n) => make(n)));

  it("with too many parts, or with too large names or values, are refused at little cost", async () => {
    await caller.post("/upload", formWith(png));
    const before = residentMib();
    const responses = [
      await post(
        "/upload",
        many(10_000, (n) => part(`f${n}`, "x")),
      ),
      await post(
        "/upload",
        many(1000, (n) => file(`f${n}`)),
      ),
      await post("/upload", formOf(part("x".repeat(MIB), "v"), file())),
      await post("/upload", formOf(part("x".repeat(101), "v"), file())),
      await post("/upload", formOf(part("description", "x".repeat(MIB + 1)), file())),
      await post(
        "/upload",
        formOf(...Array.from({ length: 5 }, () => part("description", "x".repeat(MIB - 1))), file()),
      ),
      await post("/upload", formOf(part("", "v"), file())),
      await post("/upload", Buffer.concat([Buffer.from(`--${boundary}\r\nx: y\r\n\r\nv\r\n`), formOf(file("other"))])),
    ];
    expect(responses.map(({ status, code }) => `${status} ${code}`)).toEqual([
      ...["413 too_many_parts", "413 too_many_parts", "400 validation_error", "400 validation_error"],
      ...["413 payload_too_large", "413 payload_too_large", "400 validation_error", "400 validation_error"],
    ]);
    expect(residentMib() - before).toBeLessThan(50);
  });

  it("without a boundary, with an empty body, nested or truncated are refused", async () => {
    const whole = formOf(file());
    const nested = part("file", formOf(file()), `\r\ncontent-type: multipart/mixed; boundary=${boundary}`);
    const responses = [
      await post("/upload", whole, "multipart/form-data"),
      await post("/upload", "", TYPE),
      await post("/upload", whole.subarray(0, whole.length - 40)),
      await post("/upload", formOf(nested)),
      await post("/upload", formOf(file(), file())),
      await post("/upload", "--other\r\n\r\n--other--", TYPE),
    ];
    for (const { status } of responses) expect([400, 415, 422]).toContain(status);
  });

  it("cannot reach a prototype, by a name or within JSON", async () => {
    const poisons = ['{"__proto__":{"polluted":1}}', '{"a":{"__proto__":{"polluted":1}}}', '{"a":[{"__proto__":1}]}'];
    const responses = [
      await post("/upload", formOf(part("__proto__", "{}"), file())),
      await post("/upload", formOf(part("__proto__", "x"), part("__proto__", "y"), file())),
      await post("/upload", formOf(part("constructor", "x"), file())),
      ...(await Promise.all(poisons.map((metadata) => post("/upload", formOf(part("metadata", metadata), file()))))),
      ...(await Promise.all(
        poisons.map((metadata) => post("/runs/generate", `{"prompt":"x","metadata":${metadata}}`, "application/json")),
      )),
    ];
    for (const { status } of responses) expect(status).toBe(400);
    // An ordinary field name, as long as nothing is looked up by it.
    const stored = await post(
      "/upload",
      formOf(part("metadata", '{"constructor":{"prototype":{"polluted":1}}}'), file()),
    );
    expect(stored.status).toBe(201);
    expect((await caller.get(`/runs/${stored.body.data.run_id}`)).body.metadata).toEqual({
      constructor: { prototype: { polluted: 1 } },
    });
    expect(({} as { polluted?: unknown }).polluted).toBe(undefined);
    expect((await caller.get("/runs")).body).not.toHaveProperty("polluted");
  });

  it("can have any file name: it is never a path, and no name is refused", async () => {
    const names = [
      "../../x",
      "..\\\\..\\\\x",
      "%2e%2e%2fx",
      "CON",
      ".htaccess",
      "\u202egnp.exe",
      "a".repeat(5000),
      "/etc/passwd",
      "x\0y",
    ];
    for (const name of names) {
      const { status, body } = await post("/upload", formOf(file("file", png, name)));
      expect([name.slice(0, 20), [201, 400].includes(status)]).toEqual([name.slice(0, 20), true]);
      if (status !== 201) continue;
      const [row] = await environment.query<{ storage_key: string }>(
        `select ${STORAGE_KEY} as storage_key from assets where run_id = $1`,
        [body.data.run_id],
      );
      expect(row!.storage_key).toMatch(/^t\/[0-9a-f-]{36}\/r\/[0-9a-f-]{36}\/[0-9a-f]{64}$/);
    }
  });
});

const formWith = (bytes: Buffer) => {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(bytes)]), "a.png");
  return form;
};

describe("bodies over the limit", () => {
  it("are refused by their declared length, before they are sent", async () => {
    for (const [type, length] of [
      [TYPE, 28 * MIB],
      ["application/json", 36 * MIB],
    ] as const) {
      const socket = await dial();
      socket.write(head("/upload", { "content-type": type, "content-length": length }));
      const [response] = await once(socket, "data");
      expect(String(response)).toMatch(/^HTTP\/1.1 (413|415)/);
      socket.destroy();
    }
  });

  it("are cut off while they stream, and nothing is stored", async () => {
    const socket = await dial();
    const before = await environment.query("select count(*) from assets");
    let sent = 0;
    let response = "";
    socket.on("data", (chunk) => {
      response += chunk;
    });
    const isClosed = once(socket, "close");
    const chunk = Buffer.alloc(64 * 1024, 1);
    socket.write(head("/upload", { "content-type": TYPE, "transfer-encoding": "chunked" }));
    const send = (bytes: Buffer) =>
      socket.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]));
    send(Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.png"\r\n\r\n`));
    while (!response && sent < 200 * MIB) {
      if (!send(chunk)) await Promise.race([once(socket, "drain"), isClosed]);
      sent += chunk.length;
      // The response arrives only if the server gets its turn on a busy machine.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(response).toMatch(/^HTTP\/1.1 413/);
    expect(sent).toBeLessThan(60 * MIB);
    // A client that continues is disconnected.
    const more = setInterval(() => send(chunk), 20);
    await isClosed;
    clearInterval(more);
    expect(await environment.query("select count(*) from assets")).toEqual(before);
    await expect.poll(drafts).toEqual([]);
  });

  it("are rejected with a content encoding", async () => {
    const socket = await dial();
    socket.write(head("/upload", { "content-type": TYPE, "content-encoding": "gzip", "content-length": 10 }));
    const [response] = await once(socket, "data");
    expect(String(response)).toContain("unsupported_content_encoding");
    socket.destroy();
  });
});

describe("JSON", () => {
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

  it("that is nested too deeply is rejected, whatever its size", async () => {
    for (const depth of [33, 1000, 100_000, 500_000]) {
      const body = `{"prompt":"x","metadata":{"a":${nested(depth)}}}`;
      const response = await post("/runs/generate", body, "application/json");
      expect([depth, response.status < 500 && response.status >= 400]).toEqual([depth, true]);
    }
    const large = await post("/edits/vendora", `{"prompt":"x","image_url":${nested(3_000_000)}}`, "application/json");
    expect(large.status).toBeGreaterThanOrEqual(400);
    expect(large.status).toBeLessThan(500);
  });

  it("with invalid text is refused, and unusual text is returned unchanged", async () => {
    for (const bad of ['"\\ud800"', '"\\udc00x"', '"a\\u0000b"']) {
      const response = await post("/runs/generate", `{"prompt":${bad}}`, "application/json");
      expect([bad, response.status, response.body.details?.errors?.[0]?.code]).toEqual([bad, 400, "invalid_unicode"]);
    }
    expect(
      (
        await post(
          "/runs/generate",
          Buffer.from([...Buffer.from('{"prompt":"'), 0xff, 0xfe, 0x22, 0x7d]),
          "application/json",
        )
      ).status,
    ).toBe(400);
    const strange = [
      "\u202eabc",
      "e\u0301".repeat(900),
      "\ufeffx",
      "👩‍👩‍👧‍👦",
      "ﷺ",
      "\u2028\u2029",
      "Ω≈ç√",
      "\r\nX-Evil: 1",
    ];
    for (const text of strange) {
      const { body } = await post(
        "/upload",
        formOf(part("description", text), part("metadata", JSON.stringify({ [text]: text })), file()),
      );
      const run = (await caller.get(`/runs/${body.data.run_id}`)).body;
      expect([run.inputs.description, run.metadata]).toEqual([text, { [text]: text }]);
    }
  });
});
