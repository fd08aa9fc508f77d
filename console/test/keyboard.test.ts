// The console by keyboard alone, and how much work its responses are. `npm run bench -- console` measures how fast they
// are.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser } from "./support/console-browser.ts";
import { countCalls } from "./support/function-calls.ts";
import { promptOf } from "./support/make-steps.ts";

const MAX_TAB_PRESSES = 150;
/** Longer than the form waits before it asks for the price again. */
const TYPING_PAUSE_MS = 1000;
/** Calls of functions. The console needs 92,000, 330,000 and 650,000. */
const MAX_CALLS_PER_KEY = 150_000;
const MAX_CALLS_OF_CHOICES = 500_000;
const MAX_CALLS_OF_VISITS = 1_000_000;

let console: ConsoleBrowser;
beforeAll(async () => {
  console = await startConsoleBrowser();
});
afterAll(() => console?.stop());

/** The accessible name of the element that has the focus. */
const focusedName = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement & { labels?: NodeListOf<HTMLElement> };
    const words = element === document.body ? "" : element.textContent;
    return (element.getAttribute("aria-label") ?? element.labels?.[0]?.innerText ?? words ?? "").trim();
  });

/** Presses Tab until an element with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let press = 0; press < MAX_TAB_PRESSES; press++) {
    const focused = await focusedName(page);
    if (name.test(focused)) return;
    passed.push(focused);
    await page.keyboard.press("Tab");
  }
  throw new Error(`no element named ${name} among ${passed.join(" | ")}`);
}

async function makeByKeyboard(page: Page, prompt: string): Promise<void> {
  await tabTo(page, /^Prompt/);
  await page.keyboard.press("Control+A");
  await page.keyboard.type(prompt);
  await page.keyboard.press("Control+Enter");
  await expect.poll(async () => (await console.client.runs.list({ q: prompt })).data[0]?.status).toBe("completed");
}

it("[CON-40] make, open, compare and download by keyboard alone", async () => {
  const tab = await console.signIn();
  const { page } = tab;
  await makeByKeyboard(page, "a heron among reeds");
  await page.reload();
  await makeByKeyboard(page, "a heron above reeds");
  await tabTo(page, /^Open.*a heron above reeds/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/console\/runs\/[0-9a-f-]{36}/);
  await page.getByRole("heading", { name: "Generate", exact: true }).waitFor();
  await tabTo(page, /^Back to gallery/);
  await page.keyboard.press("Enter");
  // The tray has links to the same runs; the gallery follows after its last control.
  await tabTo(page, /^Row height/);
  await tabTo(page, /^Open run: a heron above reeds/);
  await page.keyboard.press("x");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("x");
  await tabTo(page, /^Compare$/);
  await page.keyboard.press("Enter");
  const handle = page.getByRole("slider");
  await handle.waitFor();
  await page.reload();
  await handle.waitFor();
  await tabTo(page, /^Border between the images/);
  const before = await handle.getAttribute("aria-valuenow");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => handle.getAttribute("aria-valuenow")).not.toBe(before);
  await page.reload();
  await tabTo(page, /^Back to run/);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Generate", exact: true }).waitFor();
  await tabTo(page, /^Download$/);
  const download = page.waitForEvent("download");
  await page.keyboard.press("Enter");
  expect((await download).suggestedFilename()).toMatch(/^[0-9a-f-]{36}\.(png|jpg|webp)$/);
  expect(tab.problems).toEqual([]);
  await tab.context.close();
});

it("[CON-40] key presses, choices and changes of page take little work", async () => {
  const tab = await console.signIn();
  const { page } = tab;
  const words = "a kite";
  await promptOf(page).click();
  const typing = await countCalls(page, async () => {
    // Typed fast or on a slow machine, more or fewer key presses share one question for the price.
    await page.keyboard.type(words, { delay: TYPING_PAUSE_MS });
    await expect.poll(() => promptOf(page).inputValue()).toBe(words);
  });
  expect(typing / words.length).toBeLessThan(MAX_CALLS_PER_KEY);
  const choosing = await countCalls(page, async () => {
    for (const name of ["JSON", "Code", "Form"]) await page.getByRole("radio", { name }).first().click();
    await promptOf(page).waitFor();
  });
  expect(choosing).toBeLessThan(MAX_CALLS_OF_CHOICES);
  const visiting = await countCalls(page, async () => {
    for (const name of ["Gallery", "Runs", "Usage", "Make"]) {
      await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { level: 1 }).first().waitFor();
    }
    await promptOf(page).waitFor();
  });
  expect(visiting).toBeLessThan(MAX_CALLS_OF_VISITS);
  expect(tab.problems).toEqual([]);
  await tab.context.close();
});
