// What the environment and the operator's file make of each other, with the providers that there are.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { inspectConfiguration, isConfigurationError, readConfig } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
const fileOf = (text: string) => {
  const path = join(folder, `${++count}.yaml`);
  writeFileSync(path, text);
  return path;
};
const SERVER = { DATABASE_URL: "postgres://x", GESSO_SECRET: "x".repeat(32) };
const SANDBOX = { SANDBOX_URL: "http://127.0.0.1:1", SANDBOX_KEY: "key" };

const errorOf = (env: Record<string, string>): string => {
  try {
    readConfig(env);
  } catch (thrown) {
    if (isConfigurationError(thrown)) return thrown.message;
    throw thrown;
  }
  throw new Error("it was not refused");
};
const liveIn = (env: Record<string, string>) => readConfig(env).providers.map(({ provider }) => provider.id);
const offIn = (env: Record<string, string>, id: string) =>
  inspectConfiguration(env).disabledProviders.find(({ provider }) => provider.id === id);

describe("a provider", () => {
  it("is enabled if all its settings are set, and otherwise names the missing ones", () => {
    expect(liveIn({ ...SERVER, ...SANDBOX })).toContain("sandbox");
    expect(liveIn(SERVER)).not.toContain("sandbox");
    expect(offIn(SERVER, "sandbox")).toMatchObject({
      reason: "set SANDBOX_URL and SANDBOX_KEY",
      isMisconfigured: false,
    });
  });

  it("is disabled if its setting is empty", () => {
    expect(offIn({ ...SERVER, SANDBOX_URL: "", SANDBOX_KEY: "" }, "sandbox")).toMatchObject({ isMisconfigured: false });
  });

  it.each([
    [{ SANDBOX_URL: "http://127.0.0.1:1" }, "set SANDBOX_KEY"],
    [{ SANDBOX_URL: "nowhere", SANDBOX_KEY: "key" }, "SANDBOX_URL: Invalid URL"],
  ])("is misconfigured, not just disabled, if its settings are incomplete: %j", (env, reason) => {
    expect(offIn({ ...SERVER, ...env } as Record<string, string>, "sandbox")).toMatchObject({
      reason,
      isMisconfigured: true,
    });
  });

  it("is disabled if the catalogue file says so, whatever the environment contains", () => {
    const GESSO_CONFIG = fileOf("providers:\n  sandbox: off\n");
    expect(liveIn({ ...SERVER, ...SANDBOX, GESSO_CONFIG })).not.toContain("sandbox");
    expect(offIn({ ...SERVER, ...SANDBOX, GESSO_CONFIG }, "sandbox")?.reason).toBe(`disabled in ${GESSO_CONFIG}`);
  });

  it("has the offers and rate limits of the catalogue file", () => {
    const text =
      "providers:\n  sandbox: { concurrent: 3 }\nmodels:\n  vendorc: [{ provider: sandbox, like: flux-dev, as: c }]";
    const { providers } = readConfig({ ...SERVER, ...SANDBOX, GESSO_CONFIG: fileOf(text) });
    const { provider } = providers.find((live) => live.provider.id === "sandbox")!;
    expect(provider.rateLimit).toEqual({ concurrent: 3 });
    expect(provider.offers.find(({ model }) => model === "vendorc")).toMatchObject({ upstreamModel: "c", price: null });
  });
});

describe("a start is refused", () => {
  it("with every missing or invalid setting", () => {
    expect(errorOf({ PORT: "many" }).split("\n")).toEqual([
      "The configuration is incomplete:",
      expect.stringMatching(/^PORT: /),
      "GESSO_SECRET is not set",
      "DATABASE_URL is not set",
    ]);
  });

  it("with every error of the catalogue file, with its position", () => {
    const GESSO_CONFIG = fileOf("providers:\n  sandbax: off\nmodels:\n  flux-dev: [sandbox, nobody]\n");
    const [head, first, second] = errorOf({ ...SERVER, GESSO_CONFIG }).split("\n");
    expect(head).toBe("The catalogue is invalid:");
    expect(first).toBe(`${GESSO_CONFIG}:2:3 unknown provider sandbax; did you mean sandbox?`);
    expect(second).toMatch(`${GESSO_CONFIG}:4:23 unknown provider nobody`);
  });

  it("if the catalogue file requires a provider that the environment does not enable", () => {
    const GESSO_CONFIG = fileOf("providers:\n  sandbox: on\n");
    expect(errorOf({ ...SERVER, GESSO_CONFIG })).toContain(
      `${GESSO_CONFIG}:2:12 sandbox is enabled here, but its settings are incomplete: set SANDBOX_URL and SANDBOX_KEY`,
    );
    expect(liveIn({ ...SERVER, ...SANDBOX, GESSO_CONFIG })).toContain("sandbox");
  });

  it("if the named catalogue file does not exist", () => {
    expect(errorOf({ ...SERVER, GESSO_CONFIG: join(folder, "none.yaml") })).toContain("file not found");
  });
});

describe("a worker that other machines can reach", () => {
  it("needs the identity keys of the engine", () => {
    const reachable = { ...SERVER, WORKER_HOST: "0.0.0.0" };
    expect(errorOf(reachable)).toContain("WORKER_HOST: not a loopback address, so RESTATE_IDENTITY_KEYS is required");
    expect(inspectConfiguration(reachable).missing).toHaveLength(1);
    expect(errorOf({ ...reachable, RESTATE_IDENTITY_KEYS: "key" })).toContain("every key begins with publickeyv1_");
    const key = "publickeyv1_2G8dCQhArfvGpzPw5Vx2ALciR4xCLHfS5YaT93XjNxX9";
    expect(readConfig({ ...reachable, RESTATE_IDENTITY_KEYS: key }).RESTATE_IDENTITY_KEYS).toEqual([key]);
    for (const WORKER_HOST of ["127.0.0.1", "127.0.0.9", "::1", "localhost"])
      expect(readConfig({ ...SERVER, WORKER_HOST }).WORKER_HOST).toBe(WORKER_HOST);
  });
});
