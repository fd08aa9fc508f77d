// Providers that answer on a real socket: what the doctor makes of their answers.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createProviderHttpClient } from "../outbound/provider-http-client.ts";
import { FREE, flatPrice } from "../prices/price.ts";
import { callProvider } from "../providers/call-provider.ts";
import { defineProvider, type Offer } from "../providers/provider.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { checkDisabledProvider, checkProvider } from "./check-provider.ts";

const WORKING = JSON.stringify({ says: "hello", models: ["a", "b"] });
/** Providers that are wrong in other ways than by a status. */
const FAULTS: Record<string, (response: ServerResponse) => void> = {
  "/well": (response) => response.end(WORKING),
  "/region": (response) => response.writeHead(403).end('{"error":"Not available in your country"}'),
  "/locked": (response) => response.writeHead(403).end('{"detail":"User is locked. Reason: Exhausted balance."}'),
  "/quota": (response) => response.writeHead(429).end('{"error":{"code":"insufficient_quota"}}'),
  "/cut-text": (response) => response.end(WORKING.slice(0, 20)),
  "/cut-body": (response) => response.writeHead(200, { "content-length": 500 }).end(WORKING),
  "/old-date": (response) => response.setHeader("date", new Date(Date.now() - 300_000).toUTCString()).end(WORKING),
  "/new-date": (response) => response.setHeader("date", new Date(Date.now() + 300_000).toUTCString()).end(WORKING),
};

let server: Server;
let url = "";
const sender = createProviderHttpClient();

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://x");
    if (pathname === "/hang") return;
    const fault = FAULTS[pathname];
    if (fault) fault(response);
    else if (/^\/\d+$/.test(pathname)) response.writeHead(Number(pathname.slice(1))).end("{}");
    else if (pathname === "/page") response.end("<html>");
    else response.end(JSON.stringify({ says: "hello\u001b[2J", models: ["a"] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await sender.close();
  server.closeAllConnections();
  server.close();
});

const offer = (model: string, upstreamModel: string): Offer => ({
  ...{ task: "image.generate", model, upstreamModel, recovery: "none", price: FREE, parameters: {} },
});
const vendor = (path: string, at = url) =>
  defineProvider<{ ACME_KEY: string }>({
    id: "acme",
    env: z.object({ ACME_KEY: z.string() }),
    offers: [offer("flux-dev", "a"), offer("vendora", "b"), offer("nanobanana", "b"), offer("gemini-2.5", "c")],
    resultOrigins: () => [],
    submit: () => Promise.reject(new Error("the doctor sends no jobs")),
    poll: () => Promise.reject(new Error("the doctor has no jobs")),
    async probe(asked, context) {
      const reply = z.object({ says: z.string(), models: z.array(z.string()) });
      const { says, models } = await callProvider(context, {
        origin: at,
        url: `${at}${path}`,
        reply,
        hasNoSideEffects: true,
      });
      const names = asked.map(({ upstreamModel }) => upstreamModel);
      return {
        message: says,
        missing: names.filter((upstreamModel) => upstreamModel !== "c" && !models.includes(upstreamModel)),
        unasked: ["c"],
      };
    },
  });
const examine = (path: string, at?: string) =>
  checkProvider({ provider: vendor(path, at), env: { ACME_KEY: "secret" } }, sender.send, systemClock);

describe("a provider that responds", () => {
  it("has each upstream model counted once, and retired ones listed with the affected models", async () => {
    expect(await examine("/")).toMatchObject({
      ...{ name: "acme", status: "fail", key: "works", known: 1, unasked: 1 },
      missing: [{ as: "b", models: ["vendora", "nanobanana"] }],
      fix: "set another upstream model (as) in gesso.yaml, or disable these offers",
    });
  });

  it("cannot write control characters to the terminal", async () => {
    expect((await examine("/")).message).toBe("hello [2J");
  });
});

describe("a provider that does not work", () => {
  it.each([
    ["/401", "refused", "HTTP 401", "check ACME_KEY"],
    ["/403", "refused", "HTTP 403", "check ACME_KEY"],
    ["/402", "works", "HTTP 402: no credit left", "add credit at the provider"],
    ["/500", "unknown", "HTTP 500", "try again later"],
    ["/page", "unknown", "unreadable response", "check its URL setting"],
    [
      "/region",
      "unknown",
      "HTTP 403: it refuses requests from this region",
      "run the workers in a region that acme serves",
    ],
    [
      "/451",
      "unknown",
      "HTTP 451: it refuses requests from this region",
      "run the workers in a region that acme serves",
    ],
    ["/locked", "works", "HTTP 403: no credit left", "add credit at the provider"],
    ["/quota", "works", "HTTP 429: no credit left", "add credit at the provider"],
    [
      ...(["/429", "unknown", "HTTP 429: it limits the requests of this key"] as const),
      "try again in a minute; if it stays, see what else uses the key",
    ],
    [
      ...(["/cut-text", "unknown", "its response ends in the middle"] as const),
      "look at proxies between Gesso and the provider; try again",
    ],
  ])("%s is reported as key %s, %s", async (path, key, message, fix) => {
    expect(await examine(path)).toMatchObject({ status: "fail", key, message, fix });
  });

  it("is reported as cut off if its connection ends before the response does", async () => {
    expect((await examine("/cut-body")).message).toMatch(/^its response ends in the middle/);
  });

  it("is reported with the reason if it is unreachable", async () => {
    expect(await examine("/", "http://127.0.0.1:1")).toMatchObject({
      ...{ status: "fail", key: "unknown", message: "not reachable (ECONNREFUSED)" },
    });
  });
});

describe("a provider that works, but not as expected", () => {
  it.each([
    ["/old-date", "ahead of"],
    ["/new-date", "behind"],
  ])("%s has a clock that ours is %s", async (path, side) => {
    const { status, message, fix } = await examine(path);
    expect(status).toBe("warn");
    expect(message).toMatch(new RegExp(`^hello The clock here is (29|30)\\d s ${side} that of acme\\.$`));
    expect(fix).toContain("set the clock");
  });

  it("is reported with the time that a free request took", async () => {
    let now = Date.now();
    const send: typeof sender.send = async (...request) => {
      const response = await sender.send(...request);
      now += 6200;
      return response;
    };
    const clock = { ...systemClock, now: () => now };
    expect(await checkProvider({ provider: vendor("/well"), env: { ACME_KEY: "secret" } }, send, clock)).toMatchObject({
      ...{ status: "warn", message: "hello A free request took 6.2 s." },
      fix: "look at the network, and at the status page of acme",
    });
  });

  it("is reported with the prices that are other ones today, in units that can be compared", async () => {
    const price = (usd: number) => flatPrice(usd);
    const offers = [
      { ...offer("flux-dev", "a"), price: price(0.025) },
      { ...offer("vendora", "b"), price: price(0.04) },
    ];
    const readPrices = async () => [
      { upstreamModel: "a", usd: 0.03, unit: "images" },
      { upstreamModel: "b", usd: 0.04, unit: "images" },
      { upstreamModel: "b", usd: 5, unit: "video segments" },
    ];
    const provider = { ...vendor("/well"), offers, readPrices };
    expect(await checkProvider({ provider, env: { ACME_KEY: "secret" } }, sender.send, systemClock)).toMatchObject({
      ...{ status: "warn", prices: [{ as: "a", unit: "image", here: 0.025, there: 0.03 }] },
      fix: "set the prices of these models in gesso.yaml",
    });
  });

  it("still works if its prices cannot be read", async () => {
    const provider = { ...vendor("/well"), readPrices: () => Promise.reject(new Error("no such route")) };
    const offers = provider.offers.filter(({ upstreamModel }) => upstreamModel !== "c");
    const checked = { provider: { ...provider, offers }, env: { ACME_KEY: "secret" } };
    expect(await checkProvider(checked, sender.send, systemClock)).toMatchObject({ status: "pass", prices: [] });
  });
});

describe("a provider that is not probed", () => {
  it("counts as working if it has no probe", async () => {
    const { probe: _, ...silent } = vendor("/");
    expect(await checkProvider({ provider: silent, env: {} }, sender.send, systemClock)).toMatchObject({
      ...{ status: "pass", key: "unasked", unasked: 3 },
    });
  });

  it("is not a failure if it is disabled, and is one if its settings are incomplete", () => {
    const provider = vendor("/");
    expect(checkDisabledProvider({ provider, reason: "set ACME_KEY", isMisconfigured: false })).toMatchObject({
      ...{ status: "skip", key: "off", message: "set ACME_KEY" },
    });
    expect(checkDisabledProvider({ provider, reason: "set ACME_KEY", isMisconfigured: true })).toMatchObject({
      ...{ status: "fail", fix: "set ACME_KEY" },
    });
  });
});
