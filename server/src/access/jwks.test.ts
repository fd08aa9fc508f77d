import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { trustedHttpGet } from "../outbound/trusted-http-get.ts";
import { createJwks } from "./jwks.ts";

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
