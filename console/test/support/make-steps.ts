// Steps on the Make page that several tests share.
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";

/** Writes a `gesso.yaml` for a test and returns its path, for `GESSO_CONFIG`. */
export function writeCatalogue(lines: readonly string[]): string {
  const file = join(mkdtempSync(join(tmpdir(), "gesso-console-")), "gesso.yaml");
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

/** The field of the form with this name in the contract. */
export const fieldOf = (page: Page, name: string): Locator => page.locator(`[data-field="${name}"]`).first();

export const promptOf = (page: Page): Locator => page.getByRole("textbox", { name: "Prompt", exact: true });
export const runButtonOf = (page: Page): Locator => page.locator('form button[type="submit"]');
export const trayOf = (page: Page): Locator => page.getByRole("complementary", { name: "Runs in progress" });

/** Follows a link of the console without loading the page anew. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate((next) => {
    history.pushState({}, "", next);
    dispatchEvent(new PopStateEvent("popstate", { state: {} }));
  }, `/console${path}`);
}

/** Opens Make with an empty form. */
export async function openEmptyForm(page: Page, search: string): Promise<void> {
  await follow(page, "/no-such-page");
  await page.getByText("There is no page at this URL.").waitFor();
  await page.evaluate(() => localStorage.removeItem("gesso.draft"));
  await follow(page, `/${search}`);
  await runButtonOf(page).waitFor();
}

/** Shows the request of the form as JSON and reads it. */
export async function readRequest(page: Page): Promise<Record<string, unknown>> {
  await page.getByRole("radio", { name: "JSON" }).click();
  const request = JSON.parse(await page.locator("form textarea").first().inputValue());
  await page.getByRole("radio", { name: "Form" }).click();
  return request;
}
