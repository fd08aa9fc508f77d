// The gallery with 20,000 runs of two and a half years: how fast it opens, jumps and scrolls, and that nothing moves.
// GALLERY_RUNS sets another number of runs, such as 1,000,000.
import type { Run } from "@gesso/client";
import type { Locator, Page, Response } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ConsoleBrowser, startConsoleBrowser, type Tab } from "./support/console-browser.ts";
import { insertPastImages, makeImages } from "./support/past-images.ts";
import { speedLimit } from "./support/speed.ts";

const COUNT = Number(process.env.GALLERY_RUNS ?? 20_000);
const DAYS = 912;
const MAX_MS = speedLimit(1000);
const MAX_FRAME_MS = speedLimit(50);
/** A strong fling: at 60 frames per second eight screens in a second. */
const PIXELS_PER_FRAME = 120;

const SOON = { interval: 10, timeout: 20_000 };

let console: ConsoleBrowser;
let templates: Run[];
let tab: Tab;
beforeAll(async () => {
  console = await startConsoleBrowser();
  templates = await makeImages(console);
  await insertPastImages(console, templates, { count: COUNT, days: DAYS });
  tab = await console.signIn();
}, 900_000);
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
  await expect.poll(() => isDecoded(page), SOON).toBe(true);
}

/** The best of three: other programs on the machine only make it slower. */
async function bestOf(measure: () => Promise<number>, limit: number): Promise<number> {
  let best = await measure();
  for (let repeat = 0; repeat < 2 && best >= limit; repeat++) best = Math.min(best, await measure());
  return best;
}

async function millisecondsOf(action: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await action();
  return performance.now() - startedAt;
}

describe("the gallery of many runs", () => {
  it("[CON-37] opens within a second, with few and small images", async () => {
    const { page } = tab;
    const sizes: number[] = [];
    const recordSize = async (response: Response) => {
      if (response.url().endsWith(".webp") && response.url().includes("/files/"))
        sizes.push((await response.body().catch(() => Buffer.alloc(0))).byteLength);
    };
    page.on("response", recordSize);
    // The first visit compiles statements and loads the page's code.
    await page.getByRole("link", { name: "Gallery" }).first().click();
    await waitForFirstImage(page);
    const opened = await bestOf(async () => {
      await tab.open("/");
      await page.getByRole("link", { name: "Gallery" }).first().waitFor();
      return millisecondsOf(async () => {
        await page.getByRole("link", { name: "Gallery" }).first().click();
        await waitForFirstImage(page);
      });
    }, MAX_MS);
    page.off("response", recordSize);
    expect(opened).toBeLessThan(MAX_MS);
    expect(await page.locator("img").count()).toBeLessThanOrEqual(300);
    expect(sizes.length).toBeGreaterThan(0);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(40_000);
    process.stdout.write(`first tiles ${opened.toFixed(0)} ms, largest thumbnail ${Math.max(...sizes)} bytes\n`);
  });

  it("[CON-37] jumps two years back within a second, and to the oldest run", async () => {
    const { page } = tab;
    const slider = page.getByRole("slider", { name: "Month" });
    const jumped = await bestOf(async () => {
      await tab.open("/gallery");
      await slider.focus();
      expect(Number(await slider.getAttribute("aria-valuemax"))).toBeGreaterThanOrEqual(24);
      await slider.press("PageDown");
      await expect.poll(() => slider.getAttribute("aria-valuenow"), SOON).toBe("12");
      return millisecondsOf(async () => {
        await slider.press("PageDown");
        await expect.poll(() => slider.getAttribute("aria-valuenow"), SOON).toBe("24");
        await waitForFirstImage(page);
      });
    }, MAX_MS);
    expect(jumped).toBeLessThan(MAX_MS);
    await slider.press("End");
    const oldest = page.getByRole("link", { name: new RegExp(`^Open run: .* number ${COUNT - 1}$`) });
    await expect
      .poll(async () => {
        await scroller(page).evaluate((element) => element.scrollTo(0, element.scrollHeight));
        return oldest.count();
      }, SOON)
      .toBe(1);
    await page.getByText("This is the first run.").waitFor();
    await slider.focus();
    await slider.press("Home");
    await page.getByRole("heading", { name: /^Today/ }).waitFor();
    process.stdout.write(`two years back ${jumped.toFixed(0)} ms\n`);
  });

  it("[CON-37] scrolls without a long frame while pages load", async () => {
    const { page } = tab;
    await tab.open("/gallery");
    await waitForFirstImage(page);
    const measure = async () => {
      const times = await scroller(page).evaluate(scrollAndMeasure, { frames: 150, pixels: PIXELS_PER_FRAME });
      const sorted = times.toSorted((one, other) => one - other);
      const [p95, most] = [sorted[Math.floor(sorted.length * 0.95)]!, sorted.at(-1)!];
      process.stdout.write(`scrolling: p95 ${p95.toFixed(0)} ms, longest frame ${most.toFixed(0)} ms\n`);
      return p95;
    };
    const p95 = await bestOf(measure, MAX_FRAME_MS);
    expect(await tiles(page).count()).toBeGreaterThan(0);
    expect(await page.locator("img").count()).toBeLessThanOrEqual(300);
    expect(Math.round(p95)).toBeLessThanOrEqual(MAX_FRAME_MS);
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
    await expect.poll(() => hasFocus(link), SOON).toBe(true);
    const { data } = await console.client.runs.list({ starred: true });
    expect(data.map(({ inputs }) => inputs.prompt)).toEqual(["a red fox in the snow, number 21"]);

    await Promise.all([1, 2, 3].map(() => console.client.images.generate({ prompt: "a new kite" }).wait()));
    await expect.poll(() => page.getByRole("button", { name: / new$/ }).allTextContents(), SOON).toEqual(["3 new"]);
    await check();
    await expect.poll(() => hasFocus(link), SOON).toBe(true);

    await page.keyboard.press("Enter");
    await page.waitForURL(/\/runs\//);
    await page.goBack();
    await expect.poll(() => hasFocus(link), SOON).toBe(true);
    await check();

    await page.keyboard.press("Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await link.waitFor({ state: "detached" });
    await check();
    const next = page.getByRole("link", { name: "Open run: a sailing boat at sunrise, number 22", exact: true });
    await expect.poll(() => hasFocus(next), SOON).toBe(true);

    await page.getByRole("button", { name: "3 new" }).click();
    await expect.poll(() => scroller(page).getByRole("link", { name: "Open run: a new kite" }).count(), SOON).toBe(3);
    expect(await scrollTop(page)).toBe(0);
    expect(tab.problems).toEqual([]);
  });
});

const hasFocus = (locator: Locator) => locator.evaluate((element) => element === document.activeElement);

type Scrolling = { frames: number; pixels: number };

/** Scrolls in the page. Returns the time of each frame. */
async function scrollAndMeasure(element: Element, { frames, pixels }: Scrolling): Promise<number[]> {
  const nextFrame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
  const times: number[] = [];
  let last = await nextFrame();
  for (let frame = 0; frame < frames; frame++) {
    element.scrollTop += pixels;
    const now = await nextFrame();
    times.push(now - last);
    last = now;
  }
  return times;
}
