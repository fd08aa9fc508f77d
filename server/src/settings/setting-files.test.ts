import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { inspectConfiguration, readConfig, readFetcherConfig } from "./config.ts";
import { listConfiguration } from "./config-listing.ts";
import { readSettingFiles } from "./setting-files.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-setting-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = "6f1c2e9ab74d05833fe1d2c4b5a69788";
const fileOf = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const secretFile = fileOf("secret", `${SECRET}\n`);
const urlFile = fileOf("url", "postgres://x");
const missingFile = join(folder, "missing");

describe("a setting", () => {
  it("is the contents of its file, without the line breaks at its end", () => {
    const env = { DATABASE_URL_FILE: urlFile, GESSO_SECRET_FILE: fileOf("windows", ` ${SECRET} \r\n\n`) };
    expect(readConfig(env)).toMatchObject({ DATABASE_URL: "postgres://x", GESSO_SECRET: ` ${SECRET} ` });
  });

  it("of a provider is read from a file too, and enables the provider", () => {
    const env = { DATABASE_URL: "postgres://x", GESSO_SECRET: SECRET, FAL_KEY_FILE: fileOf("fal", "key") };
    expect(readConfig(env).providers.map(({ provider }) => provider.id)).toContain("fal");
  });

  it("may not be set twice: the start is refused, and both names are said", () => {
    const env = { DATABASE_URL: "postgres://y", DATABASE_URL_FILE: urlFile, GESSO_SECRET: SECRET };
    expect(() => readConfig(env)).toThrow("DATABASE_URL and DATABASE_URL_FILE are both set: remove one of them");
    expect(readConfig({ ...env, DATABASE_URL: "" }).DATABASE_URL).toBe("postgres://x");
  });

  it("whose file cannot be read or is empty prevents the start, and is not called missing", () => {
    const env = { DATABASE_URL_FILE: missingFile, GESSO_SECRET_FILE: fileOf("empty", "\n") };
    expect(inspectConfiguration(env)).toMatchObject({ settings: undefined });
    expect(inspectConfiguration(env).missing.sort()).toEqual([
      `DATABASE_URL_FILE: ${missingFile} cannot be read (ENOENT)`,
      `GESSO_SECRET_FILE: ${join(folder, "empty")} is empty`,
    ]);
    const other = { DATABASE_URL: "postgres://x", GESSO_SECRET: SECRET, FAL_KEY_FILE: folder };
    expect(() => readConfig(other)).toThrow(`FAL_KEY_FILE: ${folder} cannot be read (EISDIR)`);
  });

  it("from a file is listed with the file as its source, and a secret is not shown", () => {
    const { settings, problems } = listConfiguration([], { GESSO_SECRET_FILE: secretFile, FAL_KEY_FILE: missingFile });
    expect(settings.find(({ name }) => name === "GESSO_SECRET")).toEqual({
      ...{ name: "GESSO_SECRET", value: "[redacted]", source: secretFile },
    });
    expect(problems).toEqual([`FAL_KEY_FILE: ${missingFile} cannot be read (ENOENT)`]);
  });
});

describe("the fetcher", () => {
  it("reads its token from a file", () => {
    expect(readFetcherConfig({ FETCHER_TOKEN_FILE: secretFile }).FETCHER_TOKEN).toBe(SECRET);
  });

  it("does not start with the file of another credential", () => {
    const env = { FETCHER_TOKEN_FILE: secretFile, DATABASE_URL_FILE: urlFile };
    expect(() => readFetcherConfig(env)).toThrow("DATABASE_URL is set: the fetcher must not have this credential");
  });
});

it("variables of other programs are not read", () => {
  const environment = { SSL_CERT_FILE: missingFile, PORT: "1" };
  expect(readSettingFiles(environment, ["PORT"])).toMatchObject({ environment, problems: new Map() });
});
