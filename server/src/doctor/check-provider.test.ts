// Providers that answer on a real socket: what the doctor makes of their answers.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { createProviderHttpClient } from "../outbound/provider-http-client.ts";
import { FREE } from "../prices/price.ts";
import { callProvider } from "../providers/call-provider.ts";
import { defineProvider, type Offer } from "../providers/provider.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { checkDisabledProvider, checkProvider } from "./check-provider.ts";

let server: Server;
let url = "";
const sender = createProviderHttpClient();

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://x");
    if (pathname === "/hang") return;
    if (/^\/\d+$/.test(pathname)) response.writeHead(Number(pathname.slice(1))).end("{}");
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
  ])("%s is reported as key %s, %s", async (path, key, message, fix) => {
    expect(await examine(path)).toMatchObject({ status: "fail", key, message, fix });
  });

  it("is reported with the reason if it is unreachable", async () => {
    expect(await examine("/", "http://127.0.0.1:1")).toMatchObject({
      ...{ status: "fail", key: "unknown", message: "not reachable (ECONNREFUSED)" },
    });
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
