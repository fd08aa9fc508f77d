// The System page on a server whose keys are settings: its providers, and how each is connected.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";

let browser: ConsoleBrowser;
let tab: Tab;
beforeAll(async () => {
  browser = await startConsoleBrowser();
  tab = await browser.signIn({ path: "/system", key: browser.environment.operatorKey });
});
afterAll(() => browser?.stop());

it("every provider has a row that says whether it is connected, what it unlocks and where its key comes from", async () => {
  const { providers, takes_provider_keys } = await browser.operator.system.get();
  expect(takes_provider_keys).toBe(false);
  const rows = tab.page.getByRole("list", { name: "Providers" }).getByRole("listitem");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(providers.length);
  const row = rows.filter({ hasText: "Replicate" });
  await row.getByText("Not connected").waitFor();
  await row.getByText(/^\d+ models for \d+ kinds of work/).waitFor();
  await row.getByText(/^from \$0\.\d+ per image$/).waitFor();
  expect(await row.getByRole("link", { name: "Get a key of Replicate at replicate.com" }).getAttribute("href")).toMatch(
    /^https:/,
  );
  // It needs no key.
  const sandbox = rows.filter({ hasText: "sandbox" });
  expect([await sandbox.getByRole("button").count(), await sandbox.getByRole("link").count()]).toEqual([0, 0]);
});

it("a server takes no keys of providers: it shows the lines for each way to run it, to copy", async () => {
  const { page, context } = tab;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "How to connect: Replicate" }).click();
  const dialog = page.getByRole("dialog", { name: "Connect Replicate" });
  await dialog.getByText("gesso providers connect replicate --production").waitFor();
  expect(await dialog.locator("input").count()).toBe(0);
  await dialog.getByRole("button", { name: "Copy: compose.override.yaml" }).click();
  await dialog.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
    "environment: { REPLICATE_API_TOKEN_FILE: /run/secrets/replicate_api_token }",
  );
  await dialog.getByRole("radio", { name: "Kubernetes" }).click();
  await dialog.getByText("RESTATE_IDENTITY_KEYS, REPLICATE_API_TOKEN]").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  expect(tab.problems).toEqual([]);
});
