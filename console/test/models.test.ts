// The Models page: what the catalogue of the API says, and custom models with their grants.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";

let browser: ConsoleBrowser;
let tab: Tab;
beforeAll(async () => {
  browser = await startConsoleBrowser();
  tab = await browser.signIn({ path: "/models" });
});
afterAll(() => browser?.stop());

it("the Models page lists the models of the catalogue, and each opens to show its offers", async () => {
  const { models } = await browser.client.catalogue.get();
  const rows = tab.page.getByRole("list", { name: "Models of this installation" }).locator("details");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(models.length);
  const [first] = models;
  const row = rows.first();
  await row.getByText(first!.model, { exact: true }).click();
  await row.locator("tbody tr").first().waitFor();
  expect(await row.locator("tbody tr").count()).toBe(first!.offers.length);
  expect(await row.locator("tbody").textContent()).toContain(first!.offers[0]!.upstream);
  await row.getByRole("link", { name: `Make with ${first!.model}` }).waitFor();
  await tab.page.getByRole("radio", { name: "Video" }).click();
  const videos = models.filter(({ offers }) => offers.some(({ task }) => task === "video.generate"));
  await expect.poll(() => rows.count()).toBe(videos.length);
  expect(tab.problems).toEqual([]);
});

it("a custom model is registered, edited, granted and deleted", async () => {
  const { page } = tab;
  await page.getByRole("radio", { name: "Custom" }).click();
  await page.getByRole("heading", { name: "No custom models yet" }).waitFor();
  await page.getByRole("button", { name: "Register model" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Ink drawings");
  await dialog.getByLabel("Deployment ID").fill("ink-v2");
  await dialog.getByRole("button", { name: "Register model" }).click();
  // The refusal is at its field, and the focus is there.
  await dialog.getByText("This field is required.").waitFor();
  await dialog.getByRole("combobox", { name: "Model" }).selectOption("wan-image-2.1");
  await dialog.getByRole("button", { name: "Register model" }).click();
  const row = page.getByRole("row").filter({ hasText: "Ink drawings" });
  await row.waitFor();
  const [model] = (await browser.client.models.list()).data;
  expect(model).toMatchObject({ name: "Ink drawings", model_type: "wan-image-2.1", deployment_id: "ink-v2" });

  const choose = async (action: string) => {
    await row.getByRole("button", { name: "Actions for Ink drawings" }).click();
    await page.getByRole("menuitem", { name: action, exact: true }).click();
  };
  await choose("Edit");
  await dialog.getByLabel("Trigger word").fill("inkstyle");
  await dialog.getByRole("button", { name: "Save" }).click();
  await row.filter({ hasText: "inkstyle" }).waitFor();

  await choose("Who can use it");
  await dialog.getByText("No grants yet.").waitFor();
  await dialog.getByLabel("User ID").fill("maria");
  await dialog.getByRole("button", { name: "Add" }).click();
  await dialog.getByRole("button", { name: "Remove maria" }).waitFor();
  const grants = await browser.client.models.grants.list(model!.model_id);
  expect(grants.data).toMatchObject([{ user_id: "maria" }]);
  await dialog.getByRole("button", { name: "Remove maria" }).click();
  await dialog.getByText("No grants yet.").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();

  await choose("Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete the model" }).click();
  await page.getByRole("heading", { name: "No custom models yet" }).waitFor();
  expect((await browser.client.models.list()).data).toEqual([]);
  expect(tab.problems).toEqual([]);
});
