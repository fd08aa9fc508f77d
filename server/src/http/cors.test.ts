// A page of another origin, as the whole server sees it over a real socket: nothing is allowed unless the operator says
// so, and then exactly what the client needs, on answers and on refusals alike.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestEnvironment, type TestEnvironment } from "../../test/support/test-environment.ts";
import { CorsEnv } from "./cors.ts";

const PAGE = "https://app.example.com";
const STRANGER = "https://evil.example.com";

let world: TestEnvironment;
beforeAll(async () => {
  world = await startTestEnvironment();
}, 90_000);
afterAll(() => world?.stop(), 60_000);

const restart = async (origins: string) => {
  await world.stopGracefully("api");
  await world.start("api", { CORS_ORIGINS: origins });
};
const ask = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
  fetch(world.url + path, {
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
const generate = (origin: string, key = world.key) =>
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
  it("answers as if there were no pages", async () => {
    expect((await preflight(PAGE)).status).not.toBe(204);
    expect(corsOf(await preflight(PAGE))).toEqual({});
    expect(corsOf(await generate(PAGE))).toEqual({});
  });
});

describe("with a list of origins", () => {
  beforeAll(() => restart(`${PAGE}/, http://localhost:5173`), 60_000);

  it("tells a browser beforehand what may be asked, and lets it remember", async () => {
    const response = await preflight(PAGE);
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe(PAGE);
    expect(Number(response.headers.get("access-control-max-age"))).toBeGreaterThanOrEqual(600);
    expect(listOf(response, "access-control-allow-methods")).toEqual(
      expect.arrayContaining(["post", "patch", "delete"]),
    );
    expect(listOf(response, "access-control-allow-headers").sort()).toEqual(
      "accept authorization content-type idempotency-key last-event-id prefer x-api-key".split(" "),
    );
    expect(listOf(response, "vary")).toContain("origin");
  });

  it("shows the page what the answer says beside its body, and never allows cookies", async () => {
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

  it("does the same for refusals, so that the page learns why", async () => {
    for (const response of [
      await generate(PAGE, "gsk_nobody"),
      await ask("GET", "/api/v1/nowhere", { origin: PAGE }),
      await ask("POST", "/api/v1/runs/generate", { origin: PAGE, authorization: `Bearer ${world.key}` }, {}),
    ]) {
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(corsOf(response)).toMatchObject({ "access-control-allow-origin": PAGE });
      expect(listOf(response, "vary")).toContain("origin");
      expect(listOf(response, "access-control-expose-headers")).toContain("x-request-id");
    }
  });

  it("allows no other page, also none that only looks alike", async () => {
    for (const origin of [
      STRANGER,
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
  beforeAll(() => restart("*"), 60_000);

  it("allows every page, and says so in one way that caches may keep", async () => {
    for (const response of [
      await preflight(STRANGER),
      await generate(STRANGER),
      await ask("GET", "/openapi.json", { origin: STRANGER }),
    ]) {
      expect(corsOf(response)).toMatchObject({ "access-control-allow-origin": "*" });
      expect(listOf(response, "vary")).not.toContain("origin");
      expect(corsOf(response)).not.toHaveProperty("access-control-allow-credentials");
    }
  });
});

it("refuses a setting that names no origin", () => {
  const read = (text: string) => CorsEnv.safeParse({ CORS_ORIGINS: text });
  expect(read("https://app.example.com/, *").data).toEqual({ CORS_ORIGINS: ["https://app.example.com", "*"] });
  expect(CorsEnv.parse({})).toEqual({ CORS_ORIGINS: [] });
  for (const text of ["app.example.com", "ftp://app.example.com", "https://", "null"])
    expect(read(text).error?.issues[0]?.message).toContain("is not an origin");
});
