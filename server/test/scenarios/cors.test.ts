// Requests from pages of other origins: no origin is allowed unless the operator lists it. A listed origin gets the
// headers that the client needs, on successful responses and on errors.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestEnvironment, type TestEnvironment } from "../support/test-environment.ts";

const PAGE = "https://app.example.com";
const OTHER_ORIGIN = "https://evil.example.com";

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await startTestEnvironment();
});
afterAll(() => environment?.stop());

const restart = async (origins: string) => {
  await environment.stopGracefully("api");
  await environment.start("api", { CORS_ORIGINS: origins });
};
const ask = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  fetch(environment.url + path, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const preflight = (origin: string, path = "/api/v1/runs/generate") =>
  ask("OPTIONS", path, {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,idempotency-key,prefer",
  });
const generate = (origin: string, key = environment.key) =>
  ask(
    "POST",
    "/api/v1/runs/generate",
    { origin, authorization: `Bearer ${key}` },
    { prompt: "a red bicycle", width: 64, height: 64 },
  );
const corsOf = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith("access-control-")));
const listOf = (response: Response, name: string) => (response.headers.get(name) ?? "").toLowerCase().split(", ");

describe("without the setting", () => {
  it("sends no CORS headers", async () => {
    expect((await preflight(PAGE)).status).not.toBe(204);
    expect(corsOf(await preflight(PAGE))).toEqual({});
    expect(corsOf(await generate(PAGE))).toEqual({});
  });
});

describe("with a list of origins", () => {
  beforeAll(() => restart(`${PAGE}/, http://localhost:5173`));

  it("responds to preflight requests with the allowed methods and headers, cacheable", async () => {
    const response = await preflight(PAGE);
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe(PAGE);
    expect(Number(response.headers.get("access-control-max-age"))).toBeGreaterThanOrEqual(600);
    expect(listOf(response, "access-control-allow-methods")).toEqual(
      expect.arrayContaining(["post", "patch", "delete"]),
    );
    expect(listOf(response, "access-control-allow-headers").sort()).toEqual(
      "accept authorization content-type idempotency-key last-event-id mcp-method mcp-name mcp-protocol-version prefer x-api-key".split(
        " ",
      ),
    );
    expect(listOf(response, "vary")).toContain("origin");
  });

  it("exposes the response headers to the page, and never allows cookies", async () => {
    const response = await generate(PAGE);
    expect(response.status).toBe(202);
    expect(response.headers.get("access-control-allow-origin")).toBe(PAGE);
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    const shown = listOf(response, "access-control-expose-headers");
    for (const name of "location x-run-id x-request-id retry-after deprecation link ratelimit ratelimit-policy".split(
      " ",
    ))
      expect(shown).toContain(name);
    expect(response.headers.get("x-run-id")).toBeTruthy();
  });

  it("does the same for errors, so that the page can read them", async () => {
    for (const response of [
      await generate(PAGE, "gsk_unknown"),
      await ask("GET", "/api/v1/nowhere", { origin: PAGE }),
      await ask("POST", "/api/v1/runs/generate", { origin: PAGE, authorization: `Bearer ${environment.key}` }, {}),
    ]) {
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(corsOf(response)).toMatchObject({ "access-control-allow-origin": PAGE });
      expect(listOf(response, "vary")).toContain("origin");
      expect(listOf(response, "access-control-expose-headers")).toContain("x-request-id");
    }
  });

  it("allows no other origin, including similar ones", async () => {
    for (const origin of [
      OTHER_ORIGIN,
      `${PAGE}.evil.example.com`,
      "http://app.example.com",
      "null",
      "http://localhost:5174",
    ]) {
      for (const response of [await preflight(origin), await generate(origin)]) {
        expect(corsOf(response)).toEqual({});
        expect(listOf(response, "vary")).toContain("origin");
      }
    }
    expect((await preflight("http://localhost:5173")).status).toBe(204);
  });
});

describe("with *", () => {
  beforeAll(() => restart("*"));

  it("allows every origin, in one form that caches can store", async () => {
    for (const response of [
      await preflight(OTHER_ORIGIN),
      await generate(OTHER_ORIGIN),
      await ask("GET", "/openapi.json", { origin: OTHER_ORIGIN }),
    ]) {
      expect(corsOf(response)).toMatchObject({ "access-control-allow-origin": "*" });
      expect(listOf(response, "vary")).not.toContain("origin");
      expect(corsOf(response)).not.toHaveProperty("access-control-allow-credentials");
    }
  });
});
