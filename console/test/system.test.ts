// The System page: the providers that are not connected, with the command that connects each.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";

let browser: ConsoleBrowser;
let tab: Tab;
beforeAll(async () => {
  browser = await startConsoleBrowser();
  tab = await browser.signIn({ path: "/system", key: browser.environment.operatorKey });
});
afterAll(() => browser?.stop());

it("a provider that is off says what it unlocks, where its key comes from and how it is connected", async () => {
  const { providers } = await browser.operator.system.get();
  const off = providers.filter(({ key }) => key === "off").map(({ name }) => name);
  expect(off).toContain("replicate");
  const rows = tab.page.getByRole("list", { name: "Connect a provider" }).getByRole("listitem");
  await rows.first().waitFor();
  // Models on the machine of the server need no key.
  const withoutKey = off.filter((name) => name.startsWith("local"));
  expect(await rows.count()).toBe(off.length - withoutKey.length);
  await tab.page.getByText(`Also off: ${withoutKey.join(", ")}.`).waitFor();
  const row = rows.filter({ hasText: "Replicate" });
  await row.getByText("gesso providers connect replicate", { exact: true }).waitFor();
  expect(await row.getByRole("link", { name: "Get a key of Replicate at replicate.com" }).getAttribute("href")).toMatch(
    /^https:/,
  );
  expect(tab.problems).toEqual([]);
});
