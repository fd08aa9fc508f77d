import { describe, expect, it } from "vitest";
import { createLogger } from "../observe/log.ts";
import { NO_TRACING } from "../observe/tracing.ts";
import type { CallbackRequest } from "../providers/provider.ts";
import { callbackPath, callbackRoutes, createCallbackSigner } from "./provider-callbacks.ts";

const [oldKey, newKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const signer = createCallbackSigner([newKey, oldKey]);
const target = { provider: "fal", run_id: "0199a0a0-0000-7000-8000-000000000001", request_index: 0, attempt_number: 1 };

/** Routes without providers: a callback with a valid signature is refused only after its body was read. */
const routes = () => {
  const log = createLogger({ LOG_LEVEL: "silent" }, "test");
  return callbackRoutes({ providers: { enabled: [] }, log, tracing: NO_TRACING } as never, signer);
};
const post = (path: string, body: BodyInit) =>
  routes().request(path, { method: "POST", body, duplex: "half" } as RequestInit);

describe("the callback route", () => {
  it("answers 404 to a signature with characters outside of ASCII", async () => {
    const path = callbackPath(target, signer).replace(/[^/]+$/, encodeURIComponent("ü".repeat(22)));
    expect((await post(path, "{}")).status).toBe(404);
  });

  it("stops reading a body without a length at the limit", async () => {
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        sent += 65_536;
        if (sent > 64 * 1024 * 1024) controller.close();
        else controller.enqueue(new Uint8Array(65_536));
      },
    });
    expect((await post(callbackPath(target, signer), body)).status).toBe(404);
    expect(sent).toBeLessThan(2 * 1024 * 1024);
  });

  it("passes body, headers and query to the adapter, of a body up to the limit and not one byte more", async () => {
    const received: [size: number, start: string, header: string | null, query: string | null][] = [];
    const provider = {
      id: "fal",
      parseCallback: async ({ body, headers, query }: CallbackRequest) => {
        received.push([body.length, body.slice(0, 3), headers.get("x-signature"), query?.get("a") ?? null]);
        throw new Error("not for this provider");
      },
    };
    const log = createLogger({ LOG_LEVEL: "silent" }, "test");
    const providers = { enabled: [{ provider }], createContext: () => ({}) };
    const app = callbackRoutes({ providers, log, tracing: NO_TRACING } as never, signer);
    const send = (body: BodyInit, headers = {}) =>
      app.request(`${callbackPath(target, signer)}?a=b`, {
        ...{ method: "POST", body, duplex: "half" },
        headers: { "x-signature": "s", ...headers },
      } as RequestInit);
    const limit = 1024 * 1024;
    const stream = (size: number) => new Blob(["é", "x".repeat(size - 2)]).stream();
    const forged = callbackPath(target, signer).replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    const refusal = await app.request(forged, { method: "POST", body: "{}" });
    expect([refusal.status, ((await refusal.json()) as { code: string }).code]).toEqual([404, "route_not_found"]);
    const statuses = [
      (await send("{}", { "content-length": String(limit + 1) })).status,
      (await send(stream(limit + 1))).status,
      (await send("{}", { "content-length": String(limit) })).status,
      (await send(stream(limit))).status,
    ];
    expect(statuses).toEqual([404, 404, 404, 404]);
    expect(received).toEqual([
      [2, "{}", "s", "b"],
      [limit - 1, "éxx", "s", "b"],
    ]);
  });

  it.each([
    ["provider", { provider: "bfl" }],
    ["run", { run_id: "0199a0a0-0000-7000-8000-000000000002" }],
    ["request", { request_index: 1 }],
    ["attempt", { attempt_number: 2 }],
  ])("binds a signature to its %s", (_, other) => {
    const signature = signer.sign(target);
    expect([signer.verify(target, signature), signature.length]).toEqual([true, 22]);
    expect(signer.verify({ ...target, ...other }, signature)).toBe(false);
    expect([signer.verify(target, signature.slice(1)), signer.verify(target, `${signature}x`)]).toEqual([false, false]);
  });

  it("accepts signatures of every accepted secret and signs with the first", () => {
    expect(signer.verify(target, createCallbackSigner([oldKey]).sign(target))).toBe(true);
    expect(signer.sign(target)).toBe(createCallbackSigner([newKey]).sign(target));
    expect(createCallbackSigner([newKey]).verify(target, createCallbackSigner([oldKey]).sign(target))).toBe(false);
  });
});
