// What the environment and the operator's file make of each other, with the providers that there are.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { bundlePrograms } from "../../test/support/bundled-programs.ts";
import { generateApiKey } from "../access/api-key.ts";
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

  it("is disabled if PROVIDERS names others, although its key is set", () => {
    const keys = { OPENAI_API_KEY: "sk-of-the-shell", FAL_KEY: "id:of-the-shell" };
    expect(liveIn({ ...SERVER, ...SANDBOX, ...keys, PROVIDERS: "sandbox, fal" })).toEqual(["local", "fal", "sandbox"]);
    expect(offIn({ ...SERVER, ...keys, PROVIDERS: "sandbox" }, "openai")).toMatchObject({
      reason: "not named in PROVIDERS",
      isMisconfigured: false,
    });
    expect(liveIn({ ...SERVER, ...keys })).toEqual(["local", "fal", "openai"]);
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

  it("if PROVIDERS names an unknown provider, or not one that the catalogue file requires", () => {
    expect(errorOf({ ...SERVER, PROVIDERS: "fall" })).toContain("PROVIDERS: unknown provider fall; did you mean fal?");
    const GESSO_CONFIG = fileOf("providers:\n  fal: on\n");
    expect(errorOf({ ...SERVER, FAL_KEY: "a:b", GESSO_CONFIG, PROVIDERS: "sandbox" })).toContain(
      `${GESSO_CONFIG}:2:8 fal is enabled here, but PROVIDERS does not name it`,
    );
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

describe("a server that other machines can reach", () => {
  const RANDOM = "6f1c2e9ab74d05833fe1d2c4b5a69788";
  const PRODUCTION = {
    DATABASE_URL: "postgres://gesso:9f8a7b6c5d4e@db.internal/gesso",
    GESSO_SECRET: RANDOM,
    PUBLIC_URL: "https://gesso.example.com",
  };
  /** The setting, its bad value, and what else is set. The part of the value that must not be printed. */
  const BAD: [name: string, value: string, secretPart?: string][] = [
    ["GESSO_API_KEY", generateApiKey()],
    ["WEBHOOK_ALLOW_LOOPBACK", "true"],
    ["DEV_CONNECT_FILE", "/tmp/handed-key.json"],
    ["GESSO_SECRET", "short-7f3a"],
    ["GESSO_SECRET", "x".repeat(32)],
    ["GESSO_SECRET", "changeme-changeme-changeme-changeme"],
    ["GESSO_SECRET", "12345678901234567890123456789012"],
    ["GESSO_SECRET", "abcdefghabcdefghabcdefghabcdefgh"],
    ["GESSO_SECRET", "a secret of tests that is long enough to be one"],
    ["GESSO_SECRET", "your-secret-here-0123456789abcdef"],
    ["GESSO_ACCEPTED_SECRETS", "0".repeat(40)],
    ["GESSO_ACCEPTED_SECRETS", "short-7f3a"],
    ["FETCHER_TOKEN", "replace-me-replace-me-replace-me!"],
    ["DATABASE_URL", "postgres://postgres:postgres@db.internal/gesso", ":postgres@"],
    ["DATABASE_URL", "postgres://gesso:changeme@db.internal/gesso", "changeme"],
    ["DIRECT_DATABASE_URL", "postgres://gesso:secret@db.internal/gesso", ":secret@"],
    ["MIGRATION_DATABASE_URL", "postgres://owner:password@db.internal/gesso", ":password"],
    ["S3_SECRET_ACCESS_KEY", "minioadmin"],
  ];
  const NAMED = BAD.map(([name, value, part = value], index) => [index + 1, name, value, part] as const);

  it.each(NAMED)("refuses bad configuration %i: %s is named, and its value is not printed", (_, name, value, part) => {
    expect(BAD).toHaveLength(18);
    for (const reachable of [PRODUCTION, { ...PRODUCTION, PUBLIC_URL: "http://127.0.0.1:7788", HOST: "0.0.0.0" }]) {
      const message = errorOf({ ...reachable, [name]: value });
      expect(message).toContain(`${name}: `);
      expect(message).not.toContain(part);
    }
  });

  it("starts with random secrets, and a server on this machine starts with sample ones", () => {
    expect(readConfig(PRODUCTION).GESSO_SECRET).toBe(RANDOM);
    expect(readConfig({ ...SERVER, GESSO_API_KEY: generateApiKey() }).HOST).toBe("127.0.0.1");
  });

  it.each(NAMED.slice(0, 3))("exits with a code other than 0: bad configuration %i, %s", async (_, name, value) => {
    const { server: main } = await bundlePrograms();
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, ...PRODUCTION, [name]: value };
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, "--role", "api"], {
      env,
      encoding: "utf8",
    });
    expect([status, stderr.includes(`${name}: `)]).toEqual([1, true]);
    expect(stdout + stderr).not.toContain(value);
  });
});
