// Waits until a page shows something and has no open request but its event stream.
import type { Page, Request } from "playwright-core";

const QUIET_CHECKS = 3;
const CHECK_MS = 50;
const TIMEOUT_MS = 20_000;

const isStream = (request: Request) => request.url().includes("/events");

/** Returns a function that opens a URL and resolves when the page is complete. */
export function createPageOpener(page: Page) {
  const open = new Set<Request>();
  page.on("request", (request) => {
    if (!isStream(request)) open.add(request);
  });
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
  return async (url: string) => {
    open.clear();
    const response = await page.goto(url);
    const hasWords = () => (document.getElementById("root")?.innerText.trim() ?? "") !== "";
    await page.waitForFunction(hasWords).catch((thrown) => {
      throw new Error(`${url} shows nothing`, { cause: thrown });
    });
    const until = Date.now() + TIMEOUT_MS;
    for (let quiet = 0; quiet < QUIET_CHECKS; quiet = open.size === 0 ? quiet + 1 : 0) {
      if (Date.now() > until) throw new Error(`${url} waits for ${[...open].map((each) => each.url()).join(", ")}`);
      // On a busy machine the page may not have rendered yet, and requests follow from what it renders.
      await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
      await page.waitForTimeout(CHECK_MS);
    }
    return response;
  };
}
