// How soon the price stands on the button, and a new run in the tray.
import type { Page } from "playwright-core";
import type { ConsoleBrowser } from "../support/console-browser.ts";
import { openEmptyForm, promptOf, runButtonOf } from "../support/make-steps.ts";
import { waitUntil } from "../support/wait-until.ts";
import { bestOf, type Figure } from "./figures.ts";

export async function measureMake(browser: ConsoleBrowser): Promise<Figure[]> {
  const { page, context } = await browser.signIn();
  await openEmptyForm(page, "?operation=images.generate");
  await promptOf(page).fill("a paper boat");
  const hasPrice = async () => ((await runButtonOf(page).textContent()) ?? "").includes("$0.03");
  await waitUntil(hasPrice);
  const counts = [4, 2, 3];
  const price = await bestOf(async () => {
    const count = counts.shift() ?? 1;
    return measurePrice(page, String(count), `$${(count * 0.03).toFixed(2)}`);
  });
  let presses = 0;
  const tile = await bestOf(async () => {
    const prompt = `kite ${++presses} of the benchmark`;
    await promptOf(page).fill(prompt);
    return measureTile(page, prompt);
  });
  await context.close();
  return [
    { criterion: "CON-14", name: "the price stands on the button", milliseconds: price, bound: 300 },
    { criterion: "CON-15", name: "a new run stands in the tray", milliseconds: tile, bound: 150 },
  ];
}

/** Chooses a number of images and returns the milliseconds until the button has the price. */
const measurePrice = (page: Page, count: string, price: string): Promise<number> =>
  page.evaluate(
    ([label, expected]) =>
      new Promise<number>((resolve) => {
        const button = document.querySelector('form button[type="submit"]')!;
        const began = performance.now();
        new MutationObserver((_, observer) => {
          if (!button.textContent?.includes(expected)) return;
          observer.disconnect();
          resolve(performance.now() - began);
        }).observe(button, { subtree: true, childList: true, characterData: true });
        const counts = [...document.querySelectorAll<HTMLElement>('[data-field="batch_size"] [role="radio"]')];
        counts.find(({ textContent }) => textContent === label)!.click();
      }),
    [count, price] as const,
  );

/** Presses Run and returns the milliseconds until the tray has a tile with these words. */
const measureTile = (page: Page, words: string): Promise<number> =>
  page.evaluate(
    (expected) =>
      new Promise<number>((resolve) => {
        const button = document.querySelector<HTMLElement>('form button[type="submit"]')!;
        const tray = document.querySelector("aside")!;
        const began = performance.now();
        new MutationObserver((_, observer) => {
          if (!tray.textContent?.includes(expected)) return;
          observer.disconnect();
          resolve(performance.now() - began);
        }).observe(tray, { subtree: true, childList: true });
        button.click();
      }),
    words,
  );
