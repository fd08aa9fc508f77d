// How soon the console responds to a person on a computer of a quarter of the speed, by the browser's own measure.
import type { Page } from "playwright-core";
import type { ConsoleBrowser } from "../support/console-browser.ts";
import { promptOf } from "../support/make-steps.ts";
import { waitUntil } from "../support/wait-until.ts";
import { bestOf, type Figure, percentileOf } from "./figures.ts";

const SLOWDOWN = 4;
const ENOUGH_INTERACTIONS = 20;

export async function measureInteractions(browser: ConsoleBrowser): Promise<Figure[]> {
  const { page, context } = await browser.signIn();
  const session = await context.newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  const p75 = await bestOf(async () => percentileOf(await useConsole(page), 0.75));
  await context.close();
  return [{ criterion: "CON-40", name: "75 % of the interactions, at 1/4 speed", milliseconds: p75, bound: 200 }];
}

/** What a person does in a minute: types a prompt, chooses, runs, and looks at other pages. */
async function useConsole(page: Page): Promise<number[]> {
  await page.evaluate(observeInteractions);
  await promptOf(page).click();
  await page.keyboard.press("Control+A");
  await page.keyboard.type("a lighthouse", { delay: 60 });
  await page.getByRole("button", { name: /Model/ }).first().click();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Escape");
  for (const name of ["JSON", "Code", "Form"]) await page.getByRole("radio", { name }).first().click();
  await page.keyboard.press("Control+Enter");
  for (const name of ["Gallery", "Runs", "Usage", "Make"]) {
    await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
    await page.getByRole("heading", { level: 1 }).first().waitFor();
  }
  await page.keyboard.press("Control+k");
  await page.keyboard.type("lighthouse", { delay: 60 });
  await page.keyboard.press("Escape");
  const read = () =>
    page.evaluate(() => [...(globalThis as unknown as { durations: Map<number, number> }).durations.values()]);
  await waitUntil(async () => (await read()).length > ENOUGH_INTERACTIONS);
  return read();
}

/** Durations in milliseconds of the interactions from now on. Runs in the page. */
function observeInteractions(): void {
  const known = (globalThis as unknown as { durations?: Map<number, number> }).durations;
  known?.clear();
  if (known) return;
  const durations = new Map<number, number>();
  Object.assign(globalThis, { durations });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { interactionId: number })[]) {
      if (!entry.interactionId) continue;
      durations.set(entry.interactionId, Math.max(durations.get(entry.interactionId) ?? 0, entry.duration));
    }
  }).observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
}
