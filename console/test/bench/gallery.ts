// How fast the gallery of many runs opens, jumps and scrolls.
import type { Page } from "playwright-core";
import type { ConsoleBrowser } from "../support/console-browser.ts";
import { insertPastImages, makeImages } from "../support/past-images.ts";
import { waitUntil } from "../support/wait-until.ts";
import { bestOf, type Figure, millisecondsOf, percentileOf } from "./figures.ts";

const DAYS = 912;
/** A strong fling: at 60 frames per second eight screens in a second. */
const FLING = { frames: 150, pixels: 120 };

const firstImage = (page: Page) => page.locator("[data-tile] img[width]").first();
const isDecoded = (page: Page) =>
  firstImage(page).evaluate(
    (image) => (image as HTMLImageElement).complete && (image as HTMLImageElement).naturalWidth > 0,
  );

async function waitForFirstImage(page: Page): Promise<void> {
  await firstImage(page).waitFor();
  await waitUntil(() => isDecoded(page));
}

export async function measureGallery(browser: ConsoleBrowser, count: number): Promise<Figure[]> {
  await insertPastImages(browser, await makeImages(browser), { count, days: DAYS });
  const { page, open, context } = await browser.signIn();
  const link = page.getByRole("link", { name: "Gallery" }).first();
  // The first visit compiles statements and loads the page's code.
  await link.click();
  await waitForFirstImage(page);
  const opening = await bestOf(async () => {
    await open("/");
    await link.waitFor();
    return millisecondsOf(async () => {
      await link.click();
      await waitForFirstImage(page);
    });
  });

  const slider = page.getByRole("slider", { name: "Month" });
  const isAt = (month: string) => async () => (await slider.getAttribute("aria-valuenow")) === month;
  const jump = await bestOf(async () => {
    await open("/gallery");
    await slider.focus();
    await slider.press("PageDown");
    await waitUntil(isAt("12"));
    return millisecondsOf(async () => {
      await slider.press("PageDown");
      await waitUntil(isAt("24"));
      await waitForFirstImage(page);
    });
  });

  await open("/gallery");
  await waitForFirstImage(page);
  const scroller = page.locator('[class*="scroller"]').first();
  const frames = await bestOf(async () => percentileOf(await scroller.evaluate(scrollAndMeasure, FLING), 0.95));
  await context.close();
  const runs = count.toLocaleString("en");
  return [
    { criterion: "CON-37", name: `the gallery of ${runs} runs opens`, milliseconds: opening, bound: 1000 },
    { criterion: "CON-37", name: `it jumps two years back`, milliseconds: jump, bound: 1000 },
    { criterion: "CON-37", name: `95 % of its frames while it scrolls`, milliseconds: frames, bound: 50 },
  ];
}

/** Scrolls in the page. Returns the time of each frame. */
async function scrollAndMeasure(element: Element, { frames, pixels }: typeof FLING): Promise<number[]> {
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
