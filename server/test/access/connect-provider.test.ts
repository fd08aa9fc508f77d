// The key of a provider that an operator enters in the console of `gesso dev`: what is checked, what is handed over,
// and where the key is not.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { FakeVendor } from "../fake-vendors/fake-vendor.ts";
import { fakeFal } from "../fake-vendors/fal.ts";
import { sendOverHttp } from "../support/api-caller.ts";
import { createTestTenant, OPERATOR_SCOPES, type TestTenant } from "../support/tenants.ts";
import { startTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { startTestApi, type TestApi } from "./isolation.ts";

const folder = mkdtempSync(join(tmpdir(), "gesso-connect-"));
const FILE = join(folder, "handed-key.json");
let [database, vendor, dev, server, operator] = [] as unknown as [
  TestDatabase,
  FakeVendor,
  TestApi,
  TestApi,
  TestTenant,
];
let key: string;

beforeAll(async () => {
  [database, vendor] = await Promise.all([startTestDatabase(), fakeFal.start()]);
  const { FAL_KEY = "", ...addresses } = fakeFal.env(vendor);
  key = FAL_KEY;
  const query = (text: string, values?: unknown[]) =>
    database.owner.query(`test.${text.length}`, text, values) as never;
  operator = await createTestTenant({ url: "", query }, { scopes: OPERATOR_SCOPES });
  dev = await startTestApi(database, { ...addresses, STORAGE_DIR: folder, DEV_CONNECT_FILE: FILE });
  server = await startTestApi(database, { ...addresses, STORAGE_DIR: folder });
});
afterAll(async () => {
  await Promise.all([dev?.close(), server?.close()]);
  await Promise.all([database?.stop(), vendor?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

const connect = (api: TestApi, settings: object, provider = "fal") =>
  sendOverHttp({ url: api.url, key: operator.key })("POST", `/api/v1/system/providers/${provider}`, {
    body: { settings },
  });
const readEntries = () =>
  database.owner.query<{ action: string; subject: string }>(
    "test.entries",
    "select * from audit_log where action = 'system.connectProvider'",
  );

it("gives a key that the provider accepted to gesso dev, and has it in no response and no audit entry", async () => {
  const { status, body } = await connect(dev, { FAL_KEY: key });
  expect([status, body]).toMatchObject([200, { provider: "fal", checked: true, in_use: false, fix: null }]);
  const found = body.offers.find(({ model, task }: never) => model === "nanobanana" && task === "image.generate");
  expect(found).toEqual({ task: "image.generate", model: "nanobanana", price: 0.04, per: "image", at_most: false });
  expect(JSON.parse(readFileSync(FILE, "utf8"))).toEqual({ provider: "fal", settings: { FAL_KEY: key } });
  expect(statSync(FILE).mode & 0o777).toBe(0o600);
  const entries = await readEntries();
  expect(entries).toMatchObject([{ subject: "provider fal" }]);
  expect(JSON.stringify([body, entries])).not.toContain(key);
  rmSync(FILE);
});

it.each([
  ["a key that the provider refuses", { FAL_KEY: "wrong:7f3a" }, 422, "unusable_provider_key"],
  ["no key", {}, 400, "validation_error"],
  ["an empty key", { FAL_KEY: "" }, 400, "validation_error"],
  ["another setting of the provider", { FAL_KEY: "wrong:7f3a", FAL_API_URL: "http://x" }, 400, "validation_error"],
])("saves nothing for %s, and does not repeat it", async (_name, settings, status, code) => {
  const before = (await readEntries()).length;
  const response = await connect(dev, settings);
  expect([response.status, response.body.code]).toEqual([status, code]);
  expect(JSON.stringify(response.body)).not.toContain("7f3a");
  expect(existsSync(FILE)).toBe(false);
  expect(await readEntries()).toHaveLength(before);
});

it("says that the provider refused the key, or that it cannot be asked", async () => {
  expect((await connect(dev, { FAL_KEY: "wrong:7f3a" })).body).toMatchObject({
    message: "fal refused the key: HTTP 401. Nothing was saved.",
    details: { provider: "fal", key: "refused", reason: "HTTP 401", fix: "check FAL_KEY" },
  });
  await vendor.stopListening();
  const { body } = await connect(dev, { FAL_KEY: key });
  await vendor.startListening();
  expect(body).toMatchObject({ code: "unusable_provider_key", details: { key: "unknown" } });
  expect(existsSync(FILE)).toBe(false);
});

it("is refused on a server that gesso dev did not start, with the lines to add and no request to the provider", async () => {
  // The vendor records every request with a wrong key.
  const asked = vendor.invalidRequests.length;
  const { status, body } = await connect(server, { FAL_KEY: "wrong:7f3a" });
  expect([status, body.code]).toEqual([409, "key_belongs_in_settings"]);
  expect(body.details.setup.map(({ platform }: { platform: string }) => platform)).toEqual([
    ...["Docker Compose", "Kubernetes", "systemd"],
  ]);
  expect(JSON.stringify(body.details.setup)).toContain("FAL_KEY_FILE: /run/secrets/fal_key");
  expect(JSON.stringify(body)).not.toContain("7f3a");
  expect(vendor.invalidRequests).toHaveLength(asked);
  expect((await connect(dev, { FAL_KEY: "wrong:7f3a" })).status).toBe(422);
  expect(vendor.invalidRequests.length).toBeGreaterThan(asked);
  expect(existsSync(FILE)).toBe(false);
});

it("knows no provider without an account", async () => {
  for (const name of ["sandbox", "local", "acme"])
    expect((await connect(dev, { FAL_KEY: key }, name)).body.code).toBe("route_not_found");
});
