import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { encodeBase58 } from "../init/base58.ts";
import { DEPLOYMENT_SECRETS } from "../init/deployment-secrets.ts";
import { initCommand } from "./init.ts";

let folder: string;
let output: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gesso-init-"));
  output = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    output += text;
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const init = (...flags: string[]) => initCommand().parseAsync(["--dir", folder, ...flags], { from: "user" });
const read = (name: string) => readFileSync(join(folder, "secrets", name), "utf8").trimEnd();

describe("gesso init", () => {
  it("writes every secret into a folder that other users cannot open, and prints none", async () => {
    const umask = process.umask(0o077);
    await init().finally(() => process.umask(umask));
    expect(readdirSync(join(folder, "secrets")).sort()).toEqual(DEPLOYMENT_SECRETS.map(({ name }) => name).sort());
    expect(statSync(join(folder, "secrets")).mode & 0o777).toBe(0o700);
    // The users of the containers read them.
    expect(statSync(join(folder, "secrets/gesso_secret")).mode & 0o777).toBe(0o444);
    expect(read("gesso_secret")).toMatch(/^[0-9a-f]{64}$/);
    expect(read("database_url")).toBe(`postgres://gesso:${read("database_password")}@postgres:5432/gesso`);
    expect(read("restate_identity_pem")).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(read("restate_identity_keys")).toMatch(/^publickeyv1_[1-9A-HJ-NP-Za-km-z]{43,44}$/);
    for (const name of ["gesso_secret", "database_password", "fetcher_token"]) expect(output).not.toContain(read(name));
  });

  it("writes every file that the services mount, and a page of next steps", async () => {
    await init();
    const compose = readFileSync(join(folder, "compose.yaml"), "utf8");
    const mounted = [...compose.matchAll(/"(\.\/[^:"]+):/g), ...compose.matchAll(/file: (secrets\/\w+)/g)];
    expect(mounted.length).toBeGreaterThan(8);
    for (const [, path = ""] of mounted) expect(existsSync(join(folder, path)), path).toBe(true);
    for (const path of ["compose.dev.yaml", "monitoring/alerts.yaml", "monitoring/dashboards/gesso-overview.json"])
      expect(existsSync(join(folder, path)), path).toBe(true);
    expect(readFileSync(join(folder, "gesso.env"), "utf8")).toContain("# FAL_KEY=\n");
    const steps = readFileSync(join(folder, "NEXT-STEPS.md"), "utf8");
    expect(steps).toContain("docker compose up --detach --wait");
    expect(steps).toContain("curl --cacert root.crt https://localhost/api/v1/runs/generate");
    for (const [, page] of steps.matchAll(/blob\/main\/([^)#]+)/g)) expect(existsSync(page ?? ""), page).toBe(true);
  });

  it("trusts its own proxy by the range of its network in compose.yaml", async () => {
    await init();
    const range = /^REVERSE_PROXY=(.+)$/m.exec(readFileSync(join(folder, ".env"), "utf8"))?.[1];
    const compose = readFileSync(join(folder, "compose.yaml"), "utf8");
    expect(compose).toContain(`edge: { internal: true, ipam: { config: [{ subnet: ${range} }] } }`);
  });

  it("names the host in the settings and in the next steps", async () => {
    await init("--host", "Gesso.example.com");
    const settings = readFileSync(join(folder, ".env"), "utf8");
    expect(settings).toContain("\nGESSO_HOST=gesso.example.com\n");
    expect(settings).toContain("\nPUBLIC_URL=https://gesso.example.com\n");
    expect(readFileSync(join(folder, "NEXT-STEPS.md"), "utf8")).toContain("curl https://gesso.example.com/api/v1/runs");
  });

  it("adds missing settings to what .env has, once, and changes no file that exists", async () => {
    writeFileSync(join(folder, ".env"), "PUBLIC_URL=https://gesso.example.com");
    writeFileSync(join(folder, "compose.yaml"), "mine");
    for (const state of ["created", "kept"]) {
      output = "";
      await init("--no-proxy");
      expect(output).toMatch(new RegExp(`${state} +\\.env`));
    }
    const lines = readFileSync(join(folder, ".env"), "utf8").split("\n");
    expect(lines.filter((line) => !line.startsWith("#"))).toEqual([
      "PUBLIC_URL=https://gesso.example.com",
      "COMPOSE_PROFILES=monitoring",
      "REVERSE_PROXY=172.30.254.1",
      "",
    ]);
    expect(readFileSync(join(folder, "compose.yaml"), "utf8")).toBe("mine");
    expect(output).toMatch(/kept +compose\.yaml/);
  });

  it("writes nothing but secrets if asked", async () => {
    await init("--secrets-only");
    expect(readdirSync(folder)).toEqual(["secrets"]);
  });

  it("keeps what exists, and derives what is missing from it", async () => {
    await init();
    const before = { secret: read("gesso_secret"), keys: read("restate_identity_keys") };
    for (const name of ["database_url", "restate_identity_keys"]) rmSync(join(folder, "secrets", name));
    rmSync(join(folder, "secrets/database_password"));
    writeFileSync(join(folder, "secrets/database_password"), "a/b\n");
    await init();
    expect({ secret: read("gesso_secret"), keys: read("restate_identity_keys") }).toEqual(before);
    expect(read("database_url")).toBe("postgres://gesso:a%2Fb@postgres:5432/gesso");
    expect(output).toMatch(/kept +gesso_secret/);
  });

  it("refuses a derived secret without its source, and writes nothing", async () => {
    await init();
    for (const name of ["restate_identity_pem", "gesso_secret"]) rmSync(join(folder, "secrets", name));
    await expect(init()).rejects.toThrow("restate_identity_pem, which it belongs to, does not");
    expect(readdirSync(join(folder, "secrets"))).not.toContain("gesso_secret");
  });
});

it("base58 keeps leading zeros", () => {
  expect(encodeBase58(Buffer.from("00010966776006953D5567439E5E39F86A0D273BEED61967F6", "hex"))).toBe(
    "16UwLL9Risc3QfPqBUvKofHmBQ7wMtjvM",
  );
  expect(encodeBase58(Buffer.alloc(2))).toBe("11");
});
