// System in `gesso dev`: a provider is connected with a key that is entered there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { FakeVendor } from "../../server/test/fake-vendors/fake-vendor.ts";
import { fakeFal } from "../../server/test/fake-vendors/fal.ts";
import { startTraceCollector, type TraceCollector } from "../../server/test/support/trace-collector.ts";
import type { ConsoleBrowser, Tab } from "./support/console-browser.ts";
import { promptOf, runButtonOf } from "./support/make-steps.ts";
import { type DevInstallation, startDevConsoleBrowser } from "./support/start-dev.ts";

let [vendor, collector] = [] as unknown as [FakeVendor, TraceCollector];
let browser: ConsoleBrowser<DevInstallation>;
let tab: Tab;
let key: string;
beforeAll(async () => {
  [vendor, collector] = await Promise.all([fakeFal.start(), startTraceCollector()]);
  const { FAL_KEY = "", ...addresses } = fakeFal.env(vendor);
  key = FAL_KEY;
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, LOG_LEVEL: "debug" };
  browser = await startDevConsoleBrowser({ ...addresses, ...settings });
  tab = await browser.signIn({ path: "/system" });
});
afterAll(async () => {
  await browser?.stop();
  await Promise.all([vendor?.close(), collector?.close()]);
});

it("a key is checked, shown nowhere and used at once: the first image comes from the provider", async () => {
  const { page } = tab;
  await page.getByRole("button", { name: "Connect: fal" }).click();
  const dialog = page.getByRole("dialog", { name: "Connect fal" });
  const field = dialog.getByLabel("API key of fal.ai");
  expect(await field.getAttribute("type")).toBe("password");
  const connect = dialog.getByRole("button", { name: "Connect" });

  await connect.click();
  await dialog.getByText("Paste the key first.").waitFor();
  await field.fill("wrong:key-7f3a");
  await connect.click();
  await dialog.getByText(/^fal refused the key \(HTTP 401\)\. Nothing was saved\./).waitFor();
  expect(await field.inputValue()).toBe("");
  expect(await browser.client.catalogue.get().then(({ models }) => providersOf(models))).not.toContain("fal");

  // An old login: the page asks for a new one above this dialog, and sends the same key once there is one.
  const refusal = {
    status: 403,
    json: { code: "login_too_old", message: "Sign in again.", details: { method: "key" } },
  };
  await page.route("**/api/v1/system/providers/**", (route) => route.fulfill(refusal), { times: 1 });
  await field.fill(key);
  await connect.click();
  const stepUp = page.getByRole("dialog", { name: "Sign in again" });
  await stepUp.getByLabel("API key").fill(browser.key);
  await stepUp.getByRole("button", { name: "Sign in with key" }).click();
  await stepUp.waitFor({ state: "detached" });
  await dialog.getByText("fal is connected.").waitFor();
  const price = dialog.getByRole("row").filter({ has: page.getByRole("cell", { name: "nanobanana", exact: true }) });
  expect(await price.first().textContent()).toContain("$0.04 per image");
  expect(vendor.ledger).toEqual([]);

  await dialog.getByRole("link", { name: "Make an image" }).click();
  await page.goto(`${browser.url}/console/?operation=images.generate&model=nanobanana`);
  await promptOf(page).fill("a lighthouse by the sea");
  await runButtonOf(page).click();
  const newest = async () => (await browser.client.runs.list({ limit: 1 })).data[0];
  await expect.poll(newest).toMatchObject({ status: "completed", provider: "fal" });
  expect(vendor.ledger).toHaveLength(1);

  await tab.open("/system");
  await page.getByRole("button", { name: "Replace key: fal" }).waitFor();
  // The only place of the key is the file of `gesso dev` and the settings of its server.
  expect(readFileSync(join(browser.environment.data, "providers.json"), "utf8")).toContain(key);
  const audit = await browser.client.audit.list({ limit: 100 });
  expect(audit.data.filter(({ action }) => action === "system.connectProvider")).toHaveLength(1);
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  const spans = collector.spans.map(({ name, attributes }) => JSON.stringify([name, attributes]));
  expect(spans.some((span) => span.includes("system/providers"))).toBe(true);
  const seen = [kept, await page.content(), JSON.stringify(audit.data), ...spans, browser.environment.readLogs()];
  for (const text of seen) for (const secret of [key, "7f3a"]) expect(text.includes(secret)).toBe(false);
  // The refusal, and requests while the server starts again, are errors of the network to the browser.
  expect(tab.problems.filter((problem) => !problem.includes("Failed to load resource"))).toEqual([]);
});

const providersOf = (models: { offers: { provider: string }[] }[]) =>
  models.flatMap(({ offers }) => offers.map(({ provider }) => provider));
