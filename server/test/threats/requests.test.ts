// Requests that try to confuse the server about their end, their origin or their shape, byte by byte over HTTP.
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/access/api-key.ts";
import { operations } from "../../src/operations/all.ts";
import { type ApiCaller, createHttpCaller } from "../support/api-caller.ts";
import { createTestTenant, OPERATOR_SCOPES } from "../support/tenants.ts";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const UNKNOWN_KEYS = 30;
let environment: TestEnvironment;
let key: string;
let caller: ApiCaller;
beforeAll(async () => {
  environment = await startTestEnvironment({ env: { ADDRESS_UNKNOWN_KEYS_PER_MINUTE: String(UNKNOWN_KEYS) } });
  // Of an operator who may read content of tenants: the archive refuses other keys before it looks at a query.
  ({ key } = await createTestTenant(environment, { scopes: [...OPERATOR_SCOPES, "content:read"] }));
  caller = createHttpCaller({ url: environment.url, key });
});
afterAll(() => environment?.stop());

/** Sends bytes on a new connection and returns all that comes back until the server closes it, or is silent. */
async function exchange(bytes: string, silenceMs = 700): Promise<{ text: string; isClosed: boolean }> {
  const { hostname, port } = new URL(environment.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk) => {
    text += chunk;
  });
  await once(socket, "connect");
  socket.write(Buffer.from(bytes, "latin1"));
  const closed = once(socket, "close").then(() => true);
  const silence = new Promise<boolean>((resolve) => setTimeout(resolve, silenceMs, false));
  const isClosed = await Promise.race([closed, silence]);
  socket.destroy();
  return { text, isClosed };
}
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

describe("the end of a request", () => {
  /** A request that must not be seen as one: it is the body of the request before, or what follows a refused one. */
  const SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
  const post = (headers: string, body: string) =>
    `POST /api/v1/runs/generate HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;
  const chunked = (headers = "Transfer-Encoding: chunked\r\n") => post(headers, `0\r\n\r\n${SMUGGLED}`);
  const LENGTH = `Content-Length: ${5 + SMUGGLED.length}\r\n`;
  const CASES: Record<string, string> = {
    "length and chunks": chunked(`${LENGTH}Transfer-Encoding: chunked\r\n`),
    "chunks and length": chunked(`Transfer-Encoding: chunked\r\n${LENGTH}`),
    "two lengths": post("Content-Length: 0\r\nContent-Length: 44\r\n", SMUGGLED),
    "the same length twice": post("Content-Length: 0\r\nContent-Length: 0\r\n", SMUGGLED),
    "a list of lengths": post("Content-Length: 0, 44\r\n", SMUGGLED),
    "a length with a sign": post("Content-Length: +0\r\n", SMUGGLED),
    "a negative length": post("Content-Length: -1\r\n", SMUGGLED),
    "a hexadecimal length": post("Content-Length: 0x0\r\n", SMUGGLED),
    "a length with a space": post("Content-Length: 0 0\r\n", SMUGGLED),
    "a length above all numbers": post(`Content-Length: ${"9".repeat(40)}\r\n`, SMUGGLED),
    "a space before the colon": chunked("Transfer-Encoding : chunked\r\n"),
    "another transfer coding": chunked("Transfer-Encoding: xchunked\r\n"),
    "chunks that are not the last coding": chunked("Transfer-Encoding: chunked, identity\r\n"),
    "a vertical tab before the coding": chunked("Transfer-Encoding: \x0bchunked\r\n"),
    "a folded header": chunked("X-A: b\r\n Transfer-Encoding: chunked\r\nX-C:\r\n d\r\n"),
    "a carriage return alone in a header": chunked("X-A: b\rTransfer-Encoding: chunked\r\n"),
    "a line feed alone between headers": chunked("X-A: b\nTransfer-Encoding: chunked\n"),
    "NUL in a header": chunked("X-A: b\x00\r\nTransfer-Encoding: chunked\r\n"),
    "a chunk size with other characters": post("Transfer-Encoding: chunked\r\n", `0x0\r\n\r\n${SMUGGLED}`),
    "a negative chunk size": post("Transfer-Encoding: chunked\r\n", `-1\r\n\r\n${SMUGGLED}`),
    "a chunk size above all numbers": post("Transfer-Encoding: chunked\r\n", `${"f".repeat(20)}\r\n\r\n${SMUGGLED}`),
    "a chunk that is longer than its size": post("Transfer-Encoding: chunked\r\n", `1\r\nab\r\n0\r\n\r\n${SMUGGLED}`),
    "a chunk size that a line feed alone ends": post("Transfer-Encoding: chunked\r\n", `0\n\n${SMUGGLED}`),
    "no host": `GET /livez HTTP/1.1\r\n\r\n${SMUGGLED}`,
  };

  it.each(Object.entries(CASES))(
    "is not read differently with %s: one refusal, and the connection closes",
    async (_, bytes) => {
      const { text, isClosed } = await exchange(bytes);
      // Without a credential, a request may be refused before its body arrives.
      expect([statusesIn(text), isClosed]).toEqual([[expect.toSatisfy((status) => [400, 401].includes(status))], true]);
      expect(text).not.toContain("route_not_found");
    },
  );

  it("is found in two requests that follow each other, so that the refusals above mean something", async () => {
    const { text } = await exchange(`GET /livez HTTP/1.1\r\nHost: a\r\n\r\n${SMUGGLED}`);
    expect(statusesIn(text)).toEqual([200, 404]);
  });

  it("comes within 16 KiB of headers, or the response is 431", async () => {
    const send = (bytes: number) => exchange(`GET /livez HTTP/1.1\r\nHost: a\r\nX-A: ${"a".repeat(bytes)}\r\n\r\n`);
    expect(statusesIn((await send(15_000)).text)).toEqual([200]);
    const large = await send(20_000);
    expect([statusesIn(large.text), large.isClosed]).toEqual([[431], true]);
    expect(large.text).toContain('"code":"headers_too_large"');
  });
});

describe("a forged host", () => {
  /** fetch() sets the Host header itself. */
  const send = (method: string, path: string, body = ""): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = {
        ...{ host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "gopher" },
        ...{ forwarded: "host=evil.example;proto=gopher", "x-original-host": "evil.example" },
        ...{ authorization: `Bearer ${key}`, "content-type": "application/json" },
      };
      const outgoing = request(`${environment.url}${path}`, { method, headers }, async (response) => {
        const chunks = await response.setEncoding("utf8").toArray();
        resolve(`${response.rawHeaders.join("\n")}\n${chunks.join("")}`);
      });
      outgoing.on("error", reject).end(body);
    });

  it("is in no URL of a response, a run or an event", async () => {
    const body = JSON.stringify({ prompt: "[sandbox:delay=0] a kite", width: 64, height: 64, sync: true });
    const created = await send("POST", "/api/v1/runs/generate", body);
    const runId = /"run_id":"([^"]+)"/.exec(created)![1]!;
    const run = await caller.waitUntilEnded(runId);
    const texts = [
      created,
      await send("GET", `/api/v1/runs/${runId}`),
      await send("GET", `/api/v1/runs/${runId}/tree`),
      await send("GET", `/api/v1/runs/${runId}/layers`),
      (await caller.get(`/runs/${runId}/events`)).bytes.toString(),
      JSON.stringify(run),
      ...(await environment.query("select to_jsonb(r)::text as row from runs r")).map(({ row }) => String(row)),
    ];
    expect(run.image_url.startsWith(`${environment.url}/`)).toBe(true);
    expect(texts.filter((text) => /evil\.example|gopher/.test(text))).toEqual([]);
    expect(texts.filter((text) => text.includes(environment.url)).length).toBeGreaterThan(3);
  });
});

it("a thousand forged client addresses count as the one that sends them", async () => {
  // From another address of this machine, so that the limit does not apply to the other tests.
  const ask = async (headers: Record<string, string>): Promise<number> => {
    const outgoing = request(`${environment.url}/api/v1/runs`, { headers, localAddress: "127.0.0.2" }).end();
    const [response] = await once(outgoing, "response");
    response.resume();
    return response.statusCode;
  };
  const codes = new Map<number, number>();
  const worker = async (first: number) => {
    for (let n = first; n < 1000; n += 10) {
      const status = await ask({ "x-api-key": generateApiKey(), "x-forwarded-for": `203.0.${n >> 8}.${n & 255}` });
      codes.set(status, (codes.get(status) ?? 0) + 1);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: 10 }, (_, first) => worker(first)));
  const minutes = (performance.now() - started) / 60_000;
  expect([...codes.keys()].sort()).toEqual([401, 429]);
  // Ten requests may be in progress when the limit is reached, and the bucket refills meanwhile.
  expect(codes.get(401)).toBeLessThanOrEqual(UNKNOWN_KEYS * (1 + minutes) + 11);
  expect((await caller.get("/runs?limit=1")).status).toBe(200);
});

describe("a query or a form", () => {
  /** The only field of a query that is a list. */
  const LIST = "types";
  /** Every field of a query that is a single value. */
  const fields = operations
    .filter(({ http }) => http.method === "GET" && http.bodies === undefined && !http.path.includes(":"))
    .flatMap(({ http, input }) => Object.keys(input.shape).map((name) => ({ path: http.path, name })))
    .filter(({ name }) => name !== LIST);

  it("with a repeated or nested name is refused with 400, for every field of every list", async () => {
    const cases = fields.flatMap(({ path, name }) =>
      [`${name}=1&${name}=2`, `${name}[]=1`, `${name}[a]=1`, `${name}.a=1`].map((query) => `${path}?${query}`),
    );
    expect(cases.length).toBeGreaterThanOrEqual(50);
    const accepted: string[] = [];
    for (const path of cases) {
      const response = await caller.get(path);
      if (response.status !== 400 || response.body.code !== "validation_error")
        accepted.push(`${response.status} ${path}`);
    }
    expect(accepted).toEqual([]);
  });

  it("may repeat the name of a list, and every value counts", async () => {
    const read = (types: string[]) =>
      caller.get(`/events?${types.map((type) => `${LIST}=${type}`).join("&")}`, { accept: "application/json" });
    expect((await read(["run.completed", "run.failed"])).status).toBe(200);
    expect((await read(["run.completed", "no.such_type"])).status).toBe(400);
  });

  it("may repeat no text field of a form", async () => {
    const form = new FormData();
    form.set("file", new Blob([Buffer.from("x")]), "a.png");
    form.append("description", "one");
    form.append("description", "two");
    const response = await caller.post("/upload", form);
    expect([response.status, JSON.stringify(response.body)]).toEqual([400, expect.stringContaining("/description")]);
  });
});

describe("a JSON body", () => {
  const nested = (depth: number) => `{"prompt":"x","metadata":${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}}`;
  const send = (body: string) => caller.send("POST", "/api/v1/runs/generate", { body });

  it("of 33 levels, or 100,000, is refused with an error of the catalogue, and the process goes on", async () => {
    const pid = environment.pids().api;
    const refused = [await send(nested(33)), await send(nested(100_000)), await send("[".repeat(100_000))];
    for (const { status, body } of refused) expect([status, body.code]).toEqual([400, "invalid_json"]);
    expect([environment.pids().api, (await fetch(`${environment.url}/livez`)).status]).toEqual([pid, 200]);
  });

  it("with a name twice has the last of the two values, in the request as in what is stored", async () => {
    const { status, body } = await send(
      '{"prompt":"first","prompt":"[sandbox:delay=0] second","width":64,"height":64}',
    );
    expect([status, body.inputs.prompt]).toEqual([202, "[sandbox:delay=0] second"]);
    const run = await caller.waitUntilEnded(body.run_id);
    expect([run.inputs.prompt, JSON.stringify(run).includes("first")]).toEqual(["[sandbox:delay=0] second", false]);
  });
});
