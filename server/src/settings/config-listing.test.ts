import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { environmentSchemas } from "./config.ts";
import { listConfiguration, renderListing } from "./config-listing.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-config-"));
const file = join(folder, "gesso.yaml");
writeFileSync(file, "providers:\n  fal: off\n  sandbox: { concurrent: 4 }\nmodels:\n  flux-dev:\n    - sandbox\n");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SECRETS = {
  GESSO_SECRET: "0123456789-0123456789-0123456789-secret",
  GESSO_ACCEPTED_SECRETS: "9876543210-9876543210-9876543210-secret",
  FAL_KEY: "fal-secret",
  S3_SECRET_ACCESS_KEY: "s3-secret",
  FETCHER_TOKEN: "fetcher-secret",
  DATABASE_URL: "postgres://gesso:database-secret@db.example.com/gesso",
  OIDC_ISSUERS: JSON.stringify([
    {
      ...{ id: "corp", issuer: "https://id.example.com", audience: "gesso" },
      tenant_id: "00000000-0000-7000-8000-000000000001",
      console: { client_id: "console", client_secret: "client-secret" },
    },
  ]),
};
const list = (environment: Record<string, string>) =>
  listConfiguration(["WORKER_PORT"], { LOCAL_MODELS_DIR: "/nowhere", GESSO_CONFIG: file, ...environment });
const find = (listing: ReturnType<typeof list>, name: string) => listing.settings.find((each) => each.name === name);

it("lists every setting once, with its parsed value and its source", () => {
  const listing = list({ PORT: "9000", WORKER_PORT: "9001", SHED_MS: "" });
  expect(find(listing, "PORT")).toEqual({ name: "PORT", value: 9000, source: "environment" });
  expect(find(listing, "WORKER_PORT")).toEqual({ name: "WORKER_PORT", value: 9001, source: "gesso dev" });
  expect(find(listing, "SHED_MS")).toEqual({ name: "SHED_MS", value: 1000, source: "default" });
  expect(find(listing, "GESSO_SECRET")).toEqual({ ...named("GESSO_SECRET"), problem: "required" });
  expect(find(listing, "FAL_KEY")).toEqual(named("FAL_KEY"));
  expect(find(listing, "providers.fal")).toEqual({ name: "providers.fal", value: "off", source: file });
  expect(find(listing, "providers.local")).toMatchObject({ value: "on", source: "default" });
  expect(find(listing, "providers.sandbox.concurrent")).toMatchObject({ value: 4, source: file });
  expect(find(listing, "models.flux-dev.0.provider")).toMatchObject({ value: "sandbox", source: file });
  const names = listing.settings.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const expected = Object.values(environmentSchemas).flatMap(({ shape }) => Object.keys(shape));
  expect(expected.filter((name) => !names.includes(name))).toEqual([]);
});
const named = (name: string) => ({ name, value: null, source: "default" });

it("prints no secret, as text or as JSON", () => {
  const listing = list(SECRETS);
  for (const text of [renderListing(listing, true), renderListing(listing, false), JSON.stringify(listing)]) {
    expect(text).not.toMatch(/-secret/);
    expect(text).toContain("postgres://gesso:[redacted]@db.example.com/gesso");
    expect(text).toContain('"client_secret":"[redacted]"');
    expect(text).toContain("at+jwt");
  }
});

it("says why the server refuses a value, without the value", () => {
  const listing = list({ GESSO_SECRET: "too-short-secret", PORT: "http", SANDBOX_URL: "not a url" });
  expect(find(listing, "PORT")).toMatchObject({ value: null, problem: expect.stringContaining("expected number") });
  expect(find(listing, "GESSO_SECRET")?.problem).toContain("32");
  expect(renderListing(listing, true)).not.toContain("too-short-secret");
  expect(renderListing(listing, true)).toMatch(/^PORT +environment +\(invalid: .*expected number/m);
});
