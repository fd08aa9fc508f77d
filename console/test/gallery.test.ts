// The gallery with 20,000 runs of two and a half years: it opens, jumps and scrolls with work that does not grow with
// the number of runs, and nothing moves. `npm run bench -- console` measures how fast.
import type { Run } from "@gesso/client";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";
import { countCalls } from "./support/function-calls.ts";
import { insertPastImages, makeImages } from "./support/past-images.ts";

const COUNT = 20_000;
const DAYS = 912;
/** Of the first page, and of one that follows. */
const [FIRST_PAGE, PAGE] = [60, 50];

const SCROLL_STEPS = 40;
const MAX_ELEMENTS = 1000;
/** A jump reads the month and the days around it, not the two years between. */
const MAX_LISTS = 12;

let console: ConsoleBrowser;
let templates: Run[];
let tab: Tab;
beforeAll(async () => {
  console = await startConsoleBrowser();
  templates = await makeImages(console);
  await insertPastImages(console, templates, { count: COUNT, days: DAYS });
  tab = await console.signIn();
});
afterAll(() => console?.stop());

const tiles = (page: Page) => page.locator("[data-tile]");
const firstImage = (page: Page) => page.locator("[data-tile] img[width]").first();
const scroller = (page: Page) => page.locator('[class*="scroller"]').first();
const scrollTop = (page: Page) => scroller(page).evaluate((element) => element.scrollTop);
const isDecoded = (page: Page) =>
  firstImage(page).evaluate(
    (image) => (image as HTMLImageElement).complete && (image as HTMLImageElement).naturalWidth > 0,
  );

async function waitForFirstImage(page: Page): Promise<void> {
  await firstImage(page).waitFor();
  await expect.poll(() => isDecoded(page)).toBe(true);
}

/** Lists of runs that a page asks for and how many runs each has, beside the three of the tray. */
function recordLists(page: Page): number[] {
  const lists: number[] = [];
  page.on("response", async (response) => {
    const { pathname, searchParams } = new URL(response.url());
    if (!pathname.endsWith("/api/v1/runs") || searchParams.get("status") !== "completed") return;
    // The browser drops the body of a response whose page it has left, which counts no list.
    const body = await response.json().catch(() => undefined);
    if (body) lists.push(body.data.length);
  });
  return lists;
}

const countElements = (page: Page) => page.locator("*").count();

describe("the gallery of many runs", () => {
  it("[CON-37] opens with the newest 60 of 20,000 runs, in few and small images", async () => {
    const { page } = tab;
    const lists = recordLists(page);
    const sizes: Promise<number>[] = [];
    page.on("response", (response) => {
      if (response.url().endsWith(".webp") && response.url().includes("/files/"))
        sizes.push(response.body().then(({ byteLength }) => byteLength));
    });
    await page.getByRole("link", { name: "Gallery" }).first().click();
    await waitForFirstImage(page);
    const largest = Math.max(...(await Promise.all(sizes)));
    expect(lists).toEqual([FIRST_PAGE]);
    expect(await page.locator("img").count()).toBeLessThanOrEqual(300);
    expect(largest).toBeGreaterThan(0);
    expect(largest).toBeLessThanOrEqual(40_000);
  });

  it("[CON-37] jumps two years back with few requests, and to the oldest run", async () => {
    const { page } = tab;
    const slider = page.getByRole("slider", { name: "Month" });
    await tab.open("/gallery");
    await slider.focus();
    expect(Number(await slider.getAttribute("aria-valuemax"))).toBeGreaterThanOrEqual(24);
    await slider.press("PageDown");
    await expect.poll(() => slider.getAttribute("aria-valuenow")).toBe("12");
    const lists = recordLists(page);
    await slider.press("PageDown");
    await expect.poll(() => slider.getAttribute("aria-valuenow")).toBe("24");
    await waitForFirstImage(page);
    expect(lists.length).toBeLessThanOrEqual(MAX_LISTS);
    expect(Math.max(...lists)).toBeLessThanOrEqual(FIRST_PAGE);

    await slider.press("End");
    const oldest = page.getByRole("link", { name: new RegExp(`^Open run: .* number ${COUNT - 1}$`) });
    await expect
      .poll(async () => {
        await scroller(page).evaluate((element) => element.scrollTo(0, element.scrollHeight));
        return oldest.count();
      })
      .toBe(1);
    await page.getByText("This is the first run.").waitFor();
    expect(await countElements(page)).toBeLessThanOrEqual(MAX_ELEMENTS);
    await slider.focus();
    await slider.press("Home");
    await page.getByRole("heading", { name: /^Today/ }).waitFor();
  });

  it("[CON-37] draws only what is near the screen, and scrolling a long way takes no more work per step", async () => {
    const { page } = tab;
    await tab.open("/gallery");
    await waitForFirstImage(page);
    const lists = recordLists(page);
    const scroll = () => countCalls(page, () => scroller(page).evaluate(scrollDown, SCROLL_STEPS));
    const calls: number[] = [];
    while (lists.length < 10) calls.push(await scroll());
    expect(calls.at(-1)).toBeLessThan(calls[0]! * 1.5);
    expect(new Set(lists)).toEqual(new Set([PAGE]));
    expect(await countElements(page)).toBeLessThanOrEqual(MAX_ELEMENTS);
    expect(await page.locator("img").count()).toBeLessThanOrEqual(300);
    expect(await tiles(page).count()).toBeGreaterThan(0);
  });

  it("[CON-38] stays in its place after a star, a deletion, new results and the way back from a run", async () => {
    const { page } = tab;
    await tab.open("/gallery");
    await waitForFirstImage(page);
    await scroller(page).evaluate((element) => element.scrollTo(0, 1500));
    const link = page.getByRole("link", { name: "Open run: a red fox in the snow, number 21", exact: true });
    await link.focus();
    const before = await scrollTop(page);
    const check = async () => expect(await scrollTop(page)).toBe(before);

    await page.keyboard.press(".");
    await page
      .getByRole("button", { name: "Star: a red fox in the snow, number 21", exact: true, pressed: true })
      .waitFor();
    await check();
    await expect.poll(() => hasFocus(link)).toBe(true);
    const { data } = await console.client.runs.list({ starred: true });
    expect(data.map(({ inputs }) => inputs.prompt)).toEqual(["a red fox in the snow, number 21"]);

    await Promise.all([1, 2, 3].map(() => console.client.images.generate({ prompt: "a new kite" }).wait()));
    await expect.poll(() => page.getByRole("button", { name: / new$/ }).allTextContents()).toEqual(["3 new"]);
    await check();
    await expect.poll(() => hasFocus(link)).toBe(true);

    await page.keyboard.press("Enter");
    await page.waitForURL(/\/runs\//);
    await page.goBack();
    await expect.poll(() => hasFocus(link)).toBe(true);
    await check();

    await page.keyboard.press("Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await link.waitFor({ state: "detached" });
    await check();
    const next = page.getByRole("link", { name: "Open run: a sailing boat at sunrise, number 22", exact: true });
    await expect.poll(() => hasFocus(next)).toBe(true);

    await page.getByRole("button", { name: "3 new" }).click();
    await expect.poll(() => scroller(page).getByRole("link", { name: "Open run: a new kite" }).count()).toBe(3);
    expect(await scrollTop(page)).toBe(0);
    expect(tab.problems).toEqual([]);
  });
});

const hasFocus = (locator: Locator) => locator.evaluate((element) => element === document.activeElement);

/** Scrolls by 120 px per frame, and waits at the end until the next page is there. Runs in the page. */
async function scrollDown(element: Element, steps: number): Promise<void> {
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (let step = 0; step < steps; step++) {
    while (element.scrollHeight - element.scrollTop - element.clientHeight < 120) await nextFrame();
    element.scrollTop += 120;
    await nextFrame();
  }
}
