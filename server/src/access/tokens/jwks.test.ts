import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../../test/support/manual-clock.ts";
import { trustedHttpGet } from "../../outbound/trusted-request.ts";
import { createJwks, type HttpGet, isProtected, type JwksSource } from "./jwks.ts";

let server: Server;
let issuer: string;
let state: { keys: JWK[]; isDown: boolean; fetched: number };
let now = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    if (state.isDown) return void response.destroy();
    const isDiscovery = request.url === "/.well-known/openid-configuration";
    if (!isDiscovery) state.fetched++;
    response.end(JSON.stringify(isDiscovery ? { issuer, jwks_uri: `${issuer}/keys` } : { keys: state.keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(async () => {
  now = 1_000_000;
  state = { keys: [await key("one")], isDown: false, fetched: 0 };
});

const key = async (kid: string): Promise<JWK> => ({
  ...(await exportJWK((await generateKeyPair("ES256")).publicKey)),
  ...{ kid, alg: "ES256" },
});
const open = () => createJwks({ issuer }, trustedHttpGet, { now: () => now });
const ask = async (find: ReturnType<typeof open>, kid: string, alg = "ES256") => find({ alg, kid }, {} as never);
const has = (find: ReturnType<typeof open>, kid: string) =>
  ask(find, kid).then(
    () => true,
    () => false,
  );
const MINUTE = 60_000;

it("uses cached keys for a day while the issuer is unreachable, and no longer", async () => {
  const find = open();
  expect(await has(find, "one")).toBe(true);
  state.isDown = true;
  for (let minute = 0; minute < 23 * 60; minute += 30) {
    now += 30 * MINUTE;
    expect(await has(find, "one")).toBe(true);
  }
  now += 61 * MINUTE;
  await expect(ask(find, "one")).rejects.toMatchObject({
    code: "dependency_unavailable",
  });
});

it("accepts a new key within a minute and drops a removed one within 15 minutes", async () => {
  const find = open();
  expect(await has(find, "one")).toBe(true);
  state.keys = [await key("two")];
  expect(await has(find, "two")).toBe(false);
  now += 31_000;
  expect(await has(find, "two")).toBe(true);
  expect(await has(find, "one")).toBe(false);
  state.keys = [await key("three")];
  now += 15 * MINUTE;
  expect(await has(find, "two")).toBe(false);
});

it("requests keys at most three times a minute, however many unknown key IDs are named", async () => {
  for (const isDown of [false, true]) {
    const find = open();
    await has(find, "one");
    state.isDown = isDown;
    const before = state.fetched;
    for (let n = 0; n < 600; n++) {
      now += 100;
      expect(await has(find, `random-${n}`)).toBe(false);
    }
    expect(state.fetched - before).toBeLessThanOrEqual(3);
  }
});

it("refuses a configuration that names another issuer, and symmetric keys", async () => {
  const lying = createJwks({ issuer: `${issuer}/tenant` }, trustedHttpGet, { now: () => now });
  await expect(ask(lying, "one")).rejects.toMatchObject({
    code: "dependency_unavailable",
  });
  state.keys = [{ kty: "oct", kid: "secret", k: "c2VjcmV0", alg: "HS256" }];
  expect(await ask(open(), "secret", "HS256").catch(() => "none")).toBe("none");
});

describe("fetching keys", () => {
  type Response = { status: number; text: string };
  /** Fetches these documents, and records the requests. Time and documents can be changed. */
  const openFake = (
    documents: Record<string, Response | (() => Promise<Response>)>,
    source: Partial<JwksSource> = {},
  ) => {
    const clock = createManualClock(1_000_000);
    const requests: [url: string, limits: object][] = [];
    const get: HttpGet = async (url, limits) => {
      requests.push([url, limits]);
      const document = documents[url];
      return typeof document === "function" ? document() : (document ?? { status: 404, text: "{}" });
    };
    const find = createJwks({ issuer: "https://id.example", ...source }, get, clock);
    return { clock, requests, documents, has: (kid: string) => has(find, kid), ask: (kid: string) => ask(find, kid) };
  };
  const json = (value: unknown, status = 200): Response => ({ status, text: JSON.stringify(value) });
  const DISCOVERY = "https://id.example/.well-known/openid-configuration";
  const KEYS = "https://keys.example/jwks";
  const discovery = (more: object = {}) => json({ issuer: "https://id.example", jwks_uri: KEYS, ...more });
  const unavailable = { code: "dependency_unavailable" };

  it("asks the issuer for the URL of its keys, with a time and a size limit", async () => {
    const { has, requests } = openFake({ [DISCOVERY]: discovery(), [KEYS]: json({ keys: state.keys }) });
    expect(await has("one")).toBe(true);
    const limits = { timeoutMs: 5000, maxBytes: 524_288 };
    expect(requests).toEqual([
      [DISCOVERY, limits],
      [KEYS, limits],
    ]);
  });

  it("asks at the configured URL if there is one, and once at an issuer with a slash at its end", async () => {
    const configured = openFake({ [KEYS]: json({ keys: state.keys }) }, { jwks_uri: KEYS });
    expect([await configured.has("one"), configured.requests.length]).toEqual([true, 1]);
    const issuer = "https://id.example/";
    const slash = openFake({ [DISCOVERY]: discovery({ issuer }), [KEYS]: json({ keys: state.keys }) }, { issuer });
    expect(await slash.has("one")).toBe(true);
  });

  it.each<[string, Response, cause: string]>([
    ["names another issuer", discovery({ issuer: "https://id.example/" }), `${DISCOVERY} belongs to another issuer`],
    ["names no issuer", json({ jwks_uri: KEYS }), `${DISCOVERY} belongs to another issuer`],
    ["names no keys", json({ issuer: "https://id.example" }), `${DISCOVERY} belongs to another issuer`],
    ["names keys that are no URL", discovery({ jwks_uri: 7 }), `${DISCOVERY} belongs to another issuer`],
    [
      "names keys at an http URL",
      discovery({ jwks_uri: "http://keys.example/jwks" }),
      `${DISCOVERY} names keys at an http URL`,
    ],
    ["has another status", { ...discovery(), status: 201 }, `${DISCOVERY} returned status 201`],
    ["is empty", { status: 200, text: "" }, `${DISCOVERY} returned status 200`],
    ["is not JSON", { status: 200, text: "<html>" }, "Unexpected token"],
    ["is too large", { status: 200, text: discovery().text + " ".repeat(524_288) }, `${DISCOVERY} returned status 200`],
  ])("uses no configuration that %s, and names the cause for the log", async (_, document, cause) => {
    const keys = json({ keys: state.keys });
    const fake = openFake({ [DISCOVERY]: document, [KEYS]: keys, "http://keys.example/jwks": keys });
    const message = expect.stringContaining(cause);
    await expect(fake.ask("one")).rejects.toMatchObject({ ...unavailable, cause: { message } });
    expect(fake.requests.map(([url]) => url)).toEqual([DISCOVERY]);
  });

  it("accepts a document of exactly the size limit", async () => {
    const text = json({ keys: state.keys }).text.padEnd(524_288);
    expect(await openFake({ [KEYS]: { status: 200, text } }, { jwks_uri: KEYS }).has("one")).toBe(true);
    const larger = openFake({ [KEYS]: { status: 200, text: `${text} ` } }, { jwks_uri: KEYS });
    await expect(larger.ask("one")).rejects.toMatchObject(unavailable);
  });

  it.each([{}, { keys: {} }, { keys: null }])("uses no document without a list of keys: %j", async (document) => {
    const fake = openFake({ [KEYS]: json(document) }, { jwks_uri: KEYS });
    await expect(fake.ask("one")).rejects.toMatchObject({ ...unavailable, cause: { message: `${KEYS} has no keys` } });
  });

  it("uses neither symmetric keys nor keys for encryption", async () => {
    const [signing, encryption] = [await key("signing"), await key("encryption")];
    const keys = [
      { ...signing, use: "sig" },
      { ...encryption, use: "enc" },
    ];
    const { has } = openFake({ [KEYS]: json({ keys }) }, { jwks_uri: KEYS });
    expect([await has("signing"), await has("encryption")]).toEqual([true, false]);
  });

  it("starts one request for all tokens that wait for it", async () => {
    const fake = openFake({ [KEYS]: json({ keys: state.keys }) }, { jwks_uri: KEYS });
    expect(await Promise.all(["one", "one", "other"].map(fake.has))).toEqual([true, true, false]);
    expect(fake.requests).toHaveLength(1);
  });

  it("is repeated after 30 seconds for an unknown key, not before", async () => {
    const fake = openFake({ [KEYS]: json({ keys: state.keys }) }, { jwks_uri: KEYS });
    await fake.has("one");
    fake.documents[KEYS] = json({ keys: [...state.keys, await key("two")] });
    fake.clock.at += 29_999;
    expect(await fake.has("two")).toBe(false);
    fake.clock.at += 1;
    expect(await fake.has("two")).toBe(true);
    expect(fake.requests).toHaveLength(2);
  });

  it("happens in the background after 10 minutes, and before the use after 14 minutes", async () => {
    const fake = openFake({ [KEYS]: json({ keys: state.keys }) }, { jwks_uri: KEYS });
    await fake.has("one");
    const later = json({ keys: [await key("two")] });
    fake.clock.at += 10 * MINUTE;
    expect([await fake.has("one"), fake.requests.length]).toEqual([true, 1]);
    // A response that does not come delays no token whose key is known.
    let respond = (_: Response) => {};
    fake.documents[KEYS] = () => new Promise((resolve) => (respond = resolve));
    fake.clock.at += 1;
    expect([await fake.has("one"), fake.requests.length]).toEqual([true, 2]);
    respond(json({ keys: state.keys }));
    await new Promise((resolve) => setImmediate(resolve));
    fake.documents[KEYS] = later;
    fake.clock.at += 14 * MINUTE;
    expect(await fake.has("one")).toBe(true);
    fake.clock.at += 14 * MINUTE + 1;
    expect([await fake.has("one"), await fake.has("two")]).toEqual([false, true]);
  });

  it("that fails keeps the keys for exactly a day", async () => {
    const fake = openFake({ [KEYS]: json({ keys: state.keys }) }, { jwks_uri: KEYS });
    await fake.has("one");
    fake.documents[KEYS] = json({}, 500);
    fake.clock.at += 24 * 60 * MINUTE;
    expect(await fake.has("one")).toBe(true);
    fake.clock.at += 1;
    await expect(fake.ask("one")).rejects.toMatchObject(unavailable);
    expect(await fake.has("one")).toBe(false);
  });

  it("does not hide other faults of a token", async () => {
    const fake = openFake({ [KEYS]: json({ keys: [state.keys[0]!, state.keys[0]!] }) }, { jwks_uri: KEYS });
    await expect(fake.ask("one")).rejects.toMatchObject({ code: "ERR_JWKS_MULTIPLE_MATCHING_KEYS" });
    fake.clock.at += MINUTE;
    await fake.has("one");
    expect(fake.requests).toHaveLength(1);
  });
});

it.each([
  ["https://id.example", true],
  ["http://localhost:8080", true],
  ["http://[::1]:8080", true],
  ["http://127.0.0.1", true],
  ["http://127.10.200.30", true],
  ["http://id.example", false],
  ["http://127.0.0.1.example", false],
  ["http://x.127.0.0.1.example", false],
  ["ftp://id.example", false],
])("keys at %s are protected: %s", (url, isSafe) => expect(isProtected(url)).toBe(isSafe));
