// An API whose people sign in to the console at a real identity provider, for the tests of one file.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { v7 } from "uuid";
import { afterAll, beforeAll } from "vitest";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestApi, type TestApi } from "./isolation.ts";
import { CONSOLE_CLIENT, type LoginProvider, startLoginProvider } from "./login-provider.ts";

/** The API of the test has another port than the URL under which its users know it. */
export const PUBLIC_URL = "http://127.0.0.1:7788";
/** Where a person begins to sign in. */
export const START = "/console/session/oidc/corp";
/** What requests of the console's own pages have. */
export const OWN_PAGE = { "sec-fetch-site": "same-origin", "x-gesso-console": "1" };

type CorpIssuer = { id: string; issuer: string; audience: string; tenant_id: string; console: typeof CONSOLE_CLIENT };

export type LoginInstallation = {
  tenant: string;
  /** Both are there when the tests begin. */
  provider(): LoginProvider;
  url(): string;
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
};

/** `issuersOf` returns the issuers of the settings, made of the one that signs in the people of the tenant. */
export function setUpLoginInstallation(issuersOf: (corp: CorpIssuer) => object[]): LoginInstallation {
  const tenant = v7();
  const storage = mkdtempSync(join(tmpdir(), "gesso-login-"));
  let [database, provider, api] = [] as unknown as [TestDatabase, LoginProvider, TestApi];
  const query = async <Row>(text: string, values: unknown[] = []): Promise<Row[]> =>
    (await database.owner.query(v7(), text, values)) as Row[];

  beforeAll(async () => {
    database = await startTestDatabase();
    await query("insert into tenants (tenant_id, name) values ($1, 'Corp')", [tenant]);
    provider = await startLoginProvider(
      () => [`${PUBLIC_URL}${START}/callback`],
      () => `${api.url}${START}/logout`,
    );
    const corp = { id: "corp", issuer: provider.issuer, audience: "gesso", tenant_id: tenant, console: CONSOLE_CLIENT };
    api = await startTestApi(database, { STORAGE_DIR: storage, OIDC_ISSUERS: JSON.stringify(issuersOf(corp)) });
  });
  afterAll(async () => {
    await api?.close();
    provider?.close();
    await database?.stop();
    rmSync(storage, { recursive: true, force: true });
  });
  return { tenant, provider: () => provider, url: () => api.url, query };
}
