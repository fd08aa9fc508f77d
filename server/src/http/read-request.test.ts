import { once } from "node:events";
import { existsSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { type ServerType, serve } from "@hono/node-server";
import { Hono } from "hono";
import { afterEach, expect, it } from "vitest";
import type { FilePart } from "../contract/files.ts";
import { toFault } from "../faults/faults.ts";
import { systemClock } from "../runtime/system-clock.ts";
import { createBodyBudget } from "./bodies/body-budget.ts";
import { type HttpBindings, readBody } from "./read-request.ts";

const MEGABYTE = 1024 * 1024;
const RULES = { bodies: ["form"] as const, acceptsInline: false, maxFormBytes: 10 * MEGABYTE };
let server: ServerType | undefined;
afterEach(() => void server?.close());

/** Reads forms with a budget of 3 MB a tenant, and keeps them until `finish` is called. */
async function serveForms() {
  const budget = createBodyBudget({ policy: "form-bytes", ofAll: 5, ofTenant: 3 });
  const held: { path: string; discard(): Promise<unknown> }[] = [];
  const app = new Hono<HttpBindings>();
  app.post("/:tenant", async (context) => {
    const reserveForm = () => budget.reserve(context.req.param("tenant"));
    const admission = { clock: systemClock, add: () => undefined, beginParsing: async () => {}, reserveForm };
    try {
      const { raw, discard } = await readBody(context, RULES, admission);
      held.push({ path: (raw.file as FilePart).path, discard });
      return context.text("kept");
    } catch (thrown) {
      const { code, details } = toFault(thrown);
      return context.text(`${code} ${details.policy ?? ""}`);
    }
  });
  server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const send = async (tenant: string, bytes: number) => {
    const body = new FormData();
    body.append("file", new Blob([Buffer.alloc(bytes)]), "a.png");
    return (await fetch(`http://127.0.0.1:${port}/${tenant}`, { method: "POST", body })).text();
  };
  return { send, held };
}

it("A form for which there is no space is refused while it arrives, and one of another tenant is accepted", async () => {
  const { send } = await serveForms();
  expect(await send("a", 2 * MEGABYTE)).toBe("kept");
  expect(await send("a", 2 * MEGABYTE)).toBe("rate_limited form-bytes");
  expect(await send("b", 2 * MEGABYTE)).toBe("kept");
  expect(await send("c", 2 * MEGABYTE)).toBe("rate_limited form-bytes");
});

it("A form counts until its files are deleted, and a refused one does not", async () => {
  const { send, held } = await serveForms();
  for (let round = 0; round < 5; round++) {
    expect(await send("a", 2 * MEGABYTE)).toBe("kept");
    expect(await send("a", 9 * MEGABYTE)).toBe("rate_limited form-bytes");
    const { path, discard } = held.pop()!;
    expect(existsSync(path)).toBe(true);
    await discard();
    expect(existsSync(path)).toBe(false);
  }
});

it("A form above the limit of its operation is too large, whatever space there is", async () => {
  const { send } = await serveForms();
  expect(await send("a", 11 * MEGABYTE)).toBe("payload_too_large ");
});
